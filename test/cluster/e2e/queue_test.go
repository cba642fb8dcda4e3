//go:build full

package e2e

import (
	"fmt"
	"strings"
	"testing"

	lineratev1alpha1 "github.com/linerate-dev/linerate/api/v1alpha1"
)

// TestQueue: more tests than there are network cards for.
func TestQueue(t *testing.T) {
	t.Parallel()
	t.Run("ten tests that want the same four functions take turns, oldest first, and one that is deleted frees its place", func(t *testing.T) {
		t.Parallel()
		few := scarce()
		s := enter(t, few, few.west, few.east)
		const tests, deleted = 10, 7
		for i := range tests {
			s.apply(inLine(i), links, limited, brief)
		}
		last := s.condition(inLine(tests-1), "Scheduled=False Queued")
		if words := message(last, "Scheduled"); !strings.Contains(words, "in line for "+s.resource("west")) {
			t.Errorf("the message doesn't have the place in line: %s", words)
		}
		s.hasNoPods(inLine(tests - 1))
		s.delete(inLine(deleted))
		var before *lineratev1alpha1.LoadTest
		for i := range tests {
			if i == deleted {
				continue
			}
			now := s.complete(inLine(i), patience)
			s.want(now, "Complete=True Measured")
			if before != nil {
				s.after(before, now)
			}
			before = now
		}
	})
	t.Run("a test whose network cards are in use begins by itself when they are free", func(t *testing.T) {
		s := beside(t)
		first, second := s.holder("node-1"), s.holder("node-2")
		s.apply("patient", onWest, gentle, "dut: {type: Loopback}")
		s.condition("patient", "Scheduled=False Unschedulable")
		first()
		s.want(s.complete("patient", patience), "Complete=True Measured")
		second()
	})
	t.Run("a test whose generator and device are on one physical port is refused, and says the way out", func(t *testing.T) {
		s := besideOnOnePort(t)
		s.apply("cramped", limited, gentle, `
generator: {engine: Software, pod: {nodeSelector: {kubernetes.io/hostname: node-1}}}
links: [{name: west, network: default/one, lineRate: 1gbps}, {name: east, network: default/one, lineRate: 1gbps}]
`)
		test := s.complete("cramped", patience)
		s.want(test, "Complete=True SharedPort")
		if words := message(test, "Complete"); !strings.Contains(words, "sharedPort: Allowed") {
			t.Errorf("the message doesn't say the way out: %s", words)
		}
	})
}

// TestOnePort: two tests on different functions of one physical port are never on it at once. It has the lab to itself: both tests' generators have to be placed
// before one is told that the other has the port, and each requests a whole processor of two.
func TestOnePort(t *testing.T) {
	s := enter(t, allLanes()[0], "one")
	for _, name := range []string{"first", "second"} {
		s.apply(name, limited, onOnePort, neighbourly)
	}
	holder, held := s.oneHasThePort("first", "second")
	if words := message(s.get(held), "Scheduled"); !strings.Contains(words, s.namespace+"/"+holder) {
		t.Errorf("the message doesn't name who holds the port: %s", words)
	}
	earlier, later := s.complete(holder, patience), s.complete(held, 2*patience)
	s.want(earlier, "Complete=True Measured")
	s.want(later, "Complete=True Measured")
	s.after(earlier, later)
}

// brief is gentle, and over in about 5 s: who waits for it waits for little else.
const brief = `
procedure:
  ramp: {warmupRate: 200pps, warmupDuration: 1s, targetRate: 1kpps, rampDuration: 1s, stepDuration: 1s, settleDuration: 300ms, confirmDuration: 1s, holdDuration: 0s}
  maxLossRatio: 5%
`

// onWest takes two functions of one node.
const onWest = `
links: [{name: west, network: default/west, lineRate: 1gbps}, {name: east, network: default/west, lineRate: 1gbps}]
`

// onOnePort has a function of the same physical port as every other such test.
const onOnePort = `
generator: {engine: Software, placement: {separateNodes: true}}
links: [{name: west, network: default/one, lineRate: 1gbps}, {name: east, network: default/east, lineRate: 1gbps}]
`

func inLine(i int) string { return fmt.Sprintf("in-line-%d", i) }

// oneHasThePort waits until the status of one of two tests says that the other one has the port: the one whose pods were up first has it.
func (s *scene) oneHasThePort(one, other string) (holder, held string) {
	s.Helper()
	s.until("one of "+one+" and "+other+" waits for the port", func() bool {
		for _, pair := range [][2]string{{one, other}, {other, one}} {
			if condition(s.get(pair[1]), "Scheduled") == "Scheduled=False PortHeld" {
				holder, held = pair[0], pair[1]
				return true
			}
		}
		return false
	})
	return holder, held
}
