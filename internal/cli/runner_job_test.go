package cli

import "testing"

func TestPortsAreTakenByForceOnlyFromOneself(t *testing.T) {
	for name, c := range map[string]struct {
		engine       string
		attempt, run int
		want         bool
	}{
		"pods are the test's own":                        {"Software", 1, 1, true},
		"TRex in pods, too":                              {"TRex", 1, 1, true},
		"a server that already runs may be in use":       {"External", 1, 1, false},
		"a run of this test was lost, and had its ports": {"External", 1, 2, true},
		"an attempt of this test was void":               {"External", 2, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := mayForce(c.engine, c.attempt, c.run); got != c.want {
				t.Errorf("mayForce(%s, attempt %d, run %d) = %v, want %v", c.engine, c.attempt, c.run, got, c.want)
			}
		})
	}
}
