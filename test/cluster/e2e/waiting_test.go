//go:build full

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	lineratev1alpha1 "github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/test/rigs/fabric"
)

// softly is over in about 10 s, and sends next to nothing: several go at a time.
const softly = `
procedure:
  ramp: {warmupRate: 200pps, warmupDuration: 1s, targetRate: 1kpps, rampDuration: 3s, stepDuration: 1s, settleDuration: 300ms, confirmDuration: 2s, holdDuration: 0s}
`

// gentle asks for no figure: a machine that is busy otherwise reads two ports' counters some ms apart, and nobody could say whether frames of
// that time were lost.
const gentle = softly + `  maxLossRatio: 5%
`

// neighbourly doesn't mind the frames either by which others on the same wire look for each other.
const neighbourly = softly + `  maxLossRatio: 10%
`

// TestWaiting: what isn't there yet is waited for, by name.
func TestWaiting(t *testing.T) {
	t.Parallel()
	t.Run("a network that is missing is waited for, and the test goes on when it comes", func(t *testing.T) {
		s := beside(t)
		s.apply("network", limited, gentle, `links: [{name: west, network: later, lineRate: 1gbps}, {name: east, network: default/east, lineRate: 1gbps}]`)
		waits := s.condition("network", "Scheduled=False NetworkMissing")
		if words := message(waits, "Scheduled"); !strings.Contains(words, "later") {
			t.Errorf("the message doesn't name the network: %s", words)
		}
		s.want(waits, "Complete=False Waiting", "Reconciling=True Waiting")
		s.network("later", s.resource("west"))
		s.want(s.complete("network", patience), "Complete=True Measured", "Stalled=")
	})
	t.Run("a test that has waited long enough gives up", func(t *testing.T) {
		s := beside(t)
		s.apply("patient", limited, gentle, "schedulingDeadline: 10s", `links: [{name: west, network: never, lineRate: 1gbps}, {name: east, network: default/east, lineRate: 1gbps}]`)
		s.want(s.complete("patient", time.Minute), "Complete=True SchedulingDeadlineExceeded", "Stalled=True SchedulingDeadlineExceeded")
	})
	t.Run("the youngest of three waits for network cards that the other two have, and runs when one gives back its own", func(t *testing.T) {
		s := beside(t)
		for i := range 3 {
			s.apply(loop(i), onOneWire, neighbourly, "dut: {type: Loopback}")
		}
		short := s.condition(loop(2), "Scheduled=False Queued")
		if words := message(short, "Scheduled"); !strings.Contains(words, s.resource("west")) {
			t.Errorf("the message doesn't name the resource: %s", words)
		}
		first, second, third := s.complete(loop(0), patience), s.complete(loop(1), patience), s.complete(loop(2), patience)
		for _, test := range []*lineratev1alpha1.LoadTest{first, second, third} {
			s.want(test, "Complete=True Measured")
		}
		if second.Status.CompletionTime.Before(first.Status.CompletionTime) { // the two that go at once may end in either order
			first, second = second, first
		}
		s.after(first, third)
	})
}

// onOneWire takes two functions of node-1's four.
const onOneWire = `
generator: {engine: Software, pod: {nodeSelector: {kubernetes.io/hostname: node-1}}}
links: [{name: west, network: default/west, lineRate: 1gbps}, {name: east, network: default/west, lineRate: 1gbps}]
`

// network makes one in the scene's namespace.
func (s *scene) network(name, resource string) {
	s.Helper()
	s.networkIn(s.namespace, name, resource)
}

// networkIn makes one in another.
func (s *scene) networkIn(namespace, name, resource string) {
	s.Helper()
	manifest, err := fabric.NetworkAttachment(namespace, name, resource)
	if err != nil {
		s.Fatal(err)
	}
	s.kubectl(string(manifest), "apply", "-f", "-")
}

// kubectl runs it as the administrator, also when the test is over, and returns what it printed.
func (s *scene) kubectl(in string, args ...string) string {
	s.Helper()
	out, err := lab.Cluster.Run(context.WithoutCancel(s.Context()), in, "kubectl", append([]string{"--"}, args...)...)
	if err != nil {
		s.Fatal(err)
	}
	return out
}

func loop(i int) string { return fmt.Sprintf("loop-%d", i) }
