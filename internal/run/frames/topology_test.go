package frames_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/run/runner"
	"github.com/linerate-dev/linerate/test/rigs/sim"
)

// perLink is a scene in which each of n replicas has a generator for west and one for east, on machines of their own.
func perLink(n int, options ...option) *scenario {
	s := scene(append([]option{func(s *scenario) {
		s.world.Generators = make([]sim.Generator, 2*n)
		s.world.Receiver = func(_, generator int) int { return generator ^ 1 }
	}}, options...)...)
	s.plan.Generators = nil
	for g := range 2 * n {
		whole := replica(g/2, n)
		side := g % 2
		s.plan.Generators = append(s.plan.Generators, plan.Generator{Name: fmt.Sprintf("generator-%d-%s", g/2,
			whole.Ports[side].Link), Ports: whole.Ports[side : side+1]})
	}
	return s
}

// oneWay leaves the direction from west to east.
func oneWay(s *scenario) {
	s.plan.Directions, s.world.Directions = s.plan.Directions[:1], s.world.Directions[:1]
}

func TestAGeneratorPerLink(t *testing.T) {
	tests := map[string]*scenario{
		"one replica":                     perLink(1),
		"two replicas":                    perLink(2),
		"three replicas through a bridge": perLink(3, forwarding(plan.L2)),
		"two replicas, one way":           perLink(2, oneWay),
		"readings that take their time": perLink(2,
			func(s *scenario) { s.world.Generators[1].ReadTakes = 4 * time.Millisecond }),
		"a device that changes MACs alone": perLink(2, forwarding(plan.MACRewrite)),
	}
	for name, s := range tests {
		t.Run(name, func(t *testing.T) {
			rep := s.run(t)
			if rep.Ending != report.Completed || !rep.Answer.Saturated {
				t.Fatalf("%s: %s\n%s", rep.Ending, rep.Message, trace(rep))
			}
			for _, d := range rep.Answer.Directions {
				if got := d.Received.PacketsPerSecond; got < 9_850 || got > 10_100 {
					t.Errorf("%s→%s: %d packets/s of 10000", d.From, d.To, got)
				}
			}
			for i, total := range rep.Totals {
				if !total.Drained || total.Returned.Packets != s.forwarded[i] {
					t.Errorf("%s→%s: %d came back of %d forwarded, drained %v", total.From, total.To,
						total.Returned.Packets, s.forwarded[i], total.Drained)
				}
			}
			if len(rep.Silence) != len(s.plan.Generators) {
				t.Errorf("silence of %d ports, and there are %d", len(rep.Silence), len(s.plan.Generators))
			}
		})
	}
}

func TestTheNextHopThroughABridgeIsTheReplicasOwnFarPort(t *testing.T) {
	rep := perLink(2, forwarding(plan.L2)).run(t)
	for g, want := range []string{"02:00:00:00:01:01", "02:00:00:00:00:00", "02:00:00:00:03:01", "02:00:00:00:02:00"} {
		if got := rep.Generators[g].Ports[0].NextHopMAC; got != want {
			t.Errorf("%s sends to %s, want %s", rep.Generators[g].Name, got, want)
		}
	}
}

func TestFramesOfAnotherReplica(t *testing.T) {
	// generator-0-west's frames come out at generator-1-east, and so on
	crossed := func(direction, generator int) int { return generator ^ 3 }
	t.Run("are no proof of the path", func(t *testing.T) {
		s := perLink(2)
		s.world.Receiver = crossed
		rep := s.run(t)
		if rep.Ending != report.PathNotProven ||
			!strings.Contains(rep.Message, "instead of east; check the cabling and the device") {
			t.Errorf("%s: %s", rep.Ending, rep.Message)
		}
	})
	t.Run("void windows, once they come", func(t *testing.T) {
		s := perLink(2, deviceLimit(0))
		ramping := false
		s.options.Progress = func(p runner.Progress) { ramping = ramping || p.Phase == report.Ramping }
		s.world.Receiver = func(direction, generator int) int {
			if ramping && generator == 0 {
				return 3
			}
			return generator ^ 1
		}
		rep := s.run(t)
		if w := rep.Windows[3]; w.Quality != report.Invalid || !strings.Contains(w.Reason, "generator-1-east") {
			t.Errorf("%s: %s", w.Quality, w.Reason)
		}
	})
}

func TestAGeneratorWithoutCounterpartIsRefused(t *testing.T) {
	s := perLink(2)
	s.plan.Generators, s.world.Generators = s.plan.Generators[:3], s.world.Generators[:3]
	s.world.Receiver = func(_, generator int) int { return min(2, generator^1) }
	rep := s.run(t)
	if rep.Ending != report.Failed || !strings.Contains(rep.Message,
		"generator-1-west on link west has no counterpart on link east") {
		t.Errorf("%s: %s", rep.Ending, rep.Message)
	}
}

func TestSharesOfGenerators(t *testing.T) {
	shares := func(s *scenario) []report.GeneratorShare { return s.run(t).Answer.Generators }
	t.Run("one alone has none", func(t *testing.T) {
		if got := shares(scene()); got != nil {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("replicas send and get equal parts", func(t *testing.T) {
		for _, s := range shares(scene(replicas(2))) {
			if s.OfferedPacketsPerSecond < 9_850 || s.OfferedPacketsPerSecond > 10_100 ||
				s.ReceivedPacketsPerSecond < 9_850 || s.ReceivedPacketsPerSecond > 10_100 {
				t.Errorf("got %+v", s)
			}
		}
	})
	t.Run("one way, one machine sends and the other gets", func(t *testing.T) {
		got := shares(perLink(1, oneWay))
		if len(got) != 2 || got[0].ReceivedPacketsPerSecond != 0 || got[1].OfferedPacketsPerSecond != 0 ||
			got[0].OfferedPacketsPerSecond < 9_850 || got[1].ReceivedPacketsPerSecond < 9_850 {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("skew is that of those who send", func(t *testing.T) {
		for _, s := range shares(perLink(1, oneWay)) {
			if s.StartSkew != 0 {
				t.Errorf("%s started %s late", s.Name, s.StartSkew.Std())
			}
		}
	})
}
