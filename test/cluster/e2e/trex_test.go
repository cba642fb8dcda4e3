//go:build full

package e2e

import (
	"strings"
	"testing"
	"time"
)

// TestTRexPods: everything around TRex in a pod, with a server that takes TRex's command line and configuration, and is our own engine.
func TestTRexPods(t *testing.T) {
	if err := lab.Cables(t.Context(), "trexwest", "trexeast"); err != nil {
		t.Fatal(err)
	}
	t.Run("the launcher is copied in, starts TRex, is told of the runner, and the answer is known", func(t *testing.T) {
		s := begin(t)
		s.apply("trex", trexLinks, limited, quick, trexGenerator+"}")
		test := s.complete("trex", patience)
		s.answers(test, 10_000)
		for _, p := range s.report(test).Generators[0].Ports {
			if p.Network != "default/trex"+p.Link {
				t.Errorf("the launcher said of port %d that it is on network %q: %+v", p.Index, p.Network, p)
			}
		}
	})
	t.Run("a TRex that can't start is reported with its last words", func(t *testing.T) {
		s := begin(t)
		s.apply("trex-fails", trexLinks, limited, quick, trexGenerator+`, args: [--fail]}`)
		test := s.complete("trex-fails", time.Minute)
		s.want(test, "Complete=True GeneratorFailed", "Passed=Unknown NoCriteria", "Stalled=True GeneratorFailed")
		if words := message(test, "Complete"); !strings.Contains(words, "255") || !strings.Contains(words, "this is what was asked for") {
			t.Errorf("the message doesn't say how TRex ended: %s", words)
		}
	})
}
