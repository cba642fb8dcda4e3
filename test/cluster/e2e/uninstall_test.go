//go:build full

package e2e

import (
	"context"
	"testing"
	"time"
)

// TestUninstall: the operator is taken away while a test runs.
func TestUninstall(t *testing.T) {
	t.Run("its run goes on to its end, and whoever installs the chart again finds the result", func(t *testing.T) {
		s := begin(t)
		s.apply("orphan", links, limited, quick)
		s.running("orphan")
		s.uninstalled()
		s.fallsSilent(patience) // the runner has its Plan, and needs no operator
		s.want(s.get("orphan"), "Complete=False Running")
		s.installed(s.Context())
		test := s.complete("orphan", time.Minute)
		s.answers(test, 10_000)
		if test.Status.Attempt != 1 || test.Status.Operator.LostRuns != 0 {
			t.Errorf("attempt %d after %d lost runs, want the first attempt, and none lost", test.Status.Attempt, test.Status.Operator.LostRuns)
		}
		s.released("orphan")
	})
	t.Run("deleted while there is no operator it goes at once, with its pods and its traffic", func(t *testing.T) {
		s := begin(t)
		s.apply("left", links, limited, quick)
		s.running("left")
		s.uninstalled()
		since := time.Now()
		s.delete("left")
		s.gone("left", 10*time.Second)
		s.released("left")
		t.Logf("silent %v after it was deleted", s.silent(since))
		s.home()
	})
}

// uninstalled takes the chart away, until the scene ends.
func (s *scene) uninstalled() {
	s.Helper()
	s.Cleanup(func() { s.installed(context.WithoutCancel(s.Context())) })
	if err := lab.Uninstall(s.Context()); err != nil {
		s.Fatal(err)
	}
}

// installed brings the chart back; it may be there.
func (s *scene) installed(ctx context.Context) {
	s.Helper()
	if err := lab.Upgrade(ctx, lab.Images.Tag); err != nil {
		s.Fatal(err)
	}
}

// fallsSilent waits until nothing has been heard for longer than a run pauses between two loads.
func (s *scene) fallsSilent(bound time.Duration) {
	s.Helper()
	const pause = 8 * time.Second
	deadline := time.Now().Add(bound)
	for {
		last, err := s.wires.LastHeard()
		switch {
		case err != nil:
			s.Fatal(err)
		case time.Since(last) > pause:
			return
		case time.Now().After(deadline):
			s.Fatalf("after %v there still is traffic, %.0f frames/s", bound, s.wires.Rate())
		}
		s.pass(100 * time.Millisecond)
	}
}
