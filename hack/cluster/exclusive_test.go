//go:build full

package main

import (
	"fmt"
	"strings"
	"testing"
)

// alone asks for one whole processor.
func alone(name, node string) string {
	return fmt.Sprintf(`
apiVersion: v1
kind: Pod
metadata: {name: %s}
spec:
  nodeName: %s
  terminationGracePeriodSeconds: 1
  containers:
  - name: probe
    image: "linerate.dev/probe:1"
    resources: {limits: {cpu: "1", memory: 50Mi}}
---
`, name, node)
}

func TestExclusiveCPUs(t *testing.T) {
	r := newRig(t, "lrcpus")
	allowed, err := allowedCPUs()
	if err != nil {
		t.Fatal(err)
	}
	if len(allowed) < 4 {
		if out, err := r.try("up", "--exclusive-cpus"); err == nil || !strings.Contains(out, "leave it off") {
			t.Errorf("with %d processors the answer is %v: %s", len(allowed), err, out)
		}
		return
	}
	r.do(t, "up", "--exclusive-cpus")
	r.loadProbe(t)
	r.apply(t, alone("one", "node-1")+alone("two", "node-2"))
	r.kubectl(t, "wait", "--for=condition=Ready", "--timeout=60s", "pod/one", "pod/two")
	one := r.kubectl(t, "exec", "one", "--", "/probe", "cpus")
	two := r.kubectl(t, "exec", "two", "--", "/probe", "cpus")
	for _, cpus := range []string{one, two} {
		if got, err := parseCPUs(strings.TrimSpace(cpus)); err != nil || len(got) != 1 {
			t.Errorf("a container that asked for one processor has %q (%v)", cpus, err)
		}
	}
	if one == two {
		t.Errorf("both nodes gave away processor %s", one)
	}
	t.Run("a cluster that is up isn't changed under its pods", func(t *testing.T) {
		if out, err := r.try("up"); err == nil || !strings.Contains(out, "take it down first") {
			t.Errorf("answer %v: %s", err, out)
		}
	})
}
