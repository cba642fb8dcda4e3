package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	lineratev1alpha1 "github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/test/fabric"
)

// gentle is over in about 10 s, and sends next to nothing: several go at a time.
const gentle = `
procedure:
  ramp: {warmupRate: 200pps, warmupDuration: 1s, targetRate: 1kpps, rampDuration: 3s, stepDuration: 1s, settle: 300ms, confirmDuration: 2s, holdDuration: 0s}
`

// neighbourly is gentle, and doesn't mind the frames by which others on the same wire look for each other.
const neighbourly = gentle + `  maxLossRatio: "0.1"
`

// TestWaiting: what isn't there yet is waited for, by name.
func TestWaiting(t *testing.T) {
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
	t.Run("a third test waits for network cards that two have, and runs when one gives back its own", func(t *testing.T) {
		s := beside(t)
		for i := range 3 {
			s.apply(loop(i), onOneWire, neighbourly, "dut: {type: Loopback}")
		}
		short := s.short()
		if words := message(short, "Scheduled"); !strings.Contains(words, s.resource("west")) {
			t.Errorf("the message doesn't name the resource: %s", words)
		}
		for i := range 3 {
			s.want(s.complete(loop(i), patience), "Complete=True Measured")
		}
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
	manifest, err := fabric.NetworkAttachment(s.namespace, name, resource)
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

// short waits until one of the three is, and returns it.
func (s *scene) short() *lineratev1alpha1.LoadTest {
	s.Helper()
	bound := time.Now().Add(30 * time.Second)
	for time.Now().Before(bound) {
		for i := range 3 {
			if t := s.get(loop(i)); condition(t, "Scheduled") == "Scheduled=False Queued" {
				return t
			}
		}
		s.pass(100 * time.Millisecond)
	}
	s.Fatal("none of three tests waits for network cards that suffice for two")
	return nil
}
