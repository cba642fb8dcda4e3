package frames_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/test/rigs/sim"
	"github.com/linerate-dev/linerate/test/rigs/tier"
)

// late makes the generator answer late at that time of the traffic, and stop by itself where it hears nothing for ten
// seconds, as the software engine does.
func late(offsets []time.Duration, lasts time.Duration) option {
	return onGenerator(func(g *sim.Generator) {
		g.Lease = 10 * time.Second
		for _, offset := range offsets {
			g.Late = append(g.Late, sim.Lateness{Offset: offset, Duration: lasts})
		}
	})
}

// On full processors counters take seconds. Such a generator was called lost, though it answered after six.
func TestAGeneratorThatAnswersLateIsNotLost(t *testing.T) {
	tier.Plain(t)
	for name, procedure := range eachProcedure {
		t.Run(name, func(t *testing.T) {
			start, end := healthy(t, procedure)
			calm := scene(procedure).run(t)
			shares := []int64{50, 20, 80}
			for _, lasts := range []time.Duration{6 * time.Second, 14 * time.Second} {
				for _, share := range shares[:tier.Times(1, len(shares))] {
					offset := time.Duration(int64(end-start) * share / 100)
					r := scene(procedure, late([]time.Duration{offset}, lasts)).run(t)
					if r.Ending != report.Completed {
						t.Errorf("answers %s late after %s: %s: %s", lasts, offset, r.Ending, r.Message)
						continue
					}
					for i, d := range r.Answer.Directions {
						got, want := d.Received.PacketsPerSecond, calm.Answer.Directions[i].Received.PacketsPerSecond
						if r.Answer.NotHeld == "" && !isNear(float64(got), float64(want), 10) {
							t.Errorf("answers %s late after %s: %s is %d packets/s, and %d without: %s\n%s", lasts, offset,
								d.Name(), got, want, r.Answer.EvidenceText(), trace(r))
						}
					}
				}
			}
		})
	}
}

// A bucket fills up in a pause that nobody saw, and carries more than the device's rate for a while.
func TestALoadIsNotConfirmedAfterAPauseThatNobodySaw(t *testing.T) {
	tier.Plain(t)
	start, end := healthy(t, eachProcedure["Ramp"])
	moments := int64(tier.Times(4, 20))
	for n := range moments {
		offset := start + time.Duration(int64(end-start)*(moments+n)/(2*moments))
		r := scene(late([]time.Duration{offset}, 12*time.Second), onDevice(func(d *sim.Device) {
			d.Burst = 5 * time.Second
		})).run(t)
		if r.Ending != report.Completed {
			t.Errorf("after %s: %s: %s", offset, r.Ending, r.Message)
		}
		for _, d := range r.Answer.Directions {
			if got := float64(d.Received.PacketsPerSecond); r.Answer.Confirmed && !isNear(got, 10_000, 10) {
				t.Errorf("after %s: %.0f packets/s are confirmed, and the device forwards 10 000: %s\n%s", offset, got,
					r.Answer.EvidenceText(), trace(r))
			}
		}
	}
}

// The figure is the machine's bound then, and nothing is claimed above it.
func TestCountersThatComeLateAboveALoadMakeAMachinesBound(t *testing.T) {
	r := scene(deviceLimit(0), func(s *scenario) {
		g := &s.world.Generators[0]
		g.Lease = 10 * time.Second
		for offset := 25 * time.Second; offset < 10*time.Minute; offset += 10 * time.Second {
			g.Late = append(g.Late, sim.Lateness{Offset: offset, Duration: 9 * time.Second})
		}
	}).run(t)
	if r.Ending != report.Completed || r.Answer.Reason != report.MachineLimited || r.Answer.Saturated {
		t.Errorf("%s: %s, %s, saturated %v: %s\n%s", r.Ending, r.Message, r.Answer.Reason, r.Answer.Saturated,
			r.Answer.EvidenceText(), trace(r))
	}
	if !slices.ContainsFunc(r.Windows, report.Window.LostToLateCounters) {
		t.Error("no window says that its counters came late")
	}
	if words := "too busy to report its counters in time"; !strings.Contains(r.Answer.Message, words) {
		t.Errorf("%q is not said in %q", words, r.Answer.Message)
	}
}
