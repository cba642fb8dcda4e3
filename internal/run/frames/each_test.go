package frames_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/sim"
)

// eachDirection varies one direction after the other, while the other one is held.
func eachDirection(otherLoad units.Ratio) option {
	return func(s *scenario) {
		s.plan.Procedure.EachDirection = &plan.EachDirection{Directions: []string{"west→east", "east→west"}, OtherLoad: otherLoad}
	}
}

// asymmetric carries 4 kpps from east to west, and 10 kpps the other way.
func asymmetric(s *scenario) { s.world.Directions[1].Device.Limit = 4 * kpps }

func TestEachDirectionIsMeasuredByItself(t *testing.T) {
	for name, s := range map[string]*scenario{
		"while nothing is sent in the other one": scene(asymmetric, eachDirection(0)),
		"while the other one is held":            scene(asymmetric, eachDirection(units.One/10)),
		"by two generators":                      scene(asymmetric, eachDirection(0), replicas(2)),
		"without a warm-up": scene(asymmetric, eachDirection(0),
			onRamp(func(r *plan.Ramp) { r.WarmupDuration = 0 })),
		"by a generator slow to read": scene(asymmetric, eachDirection(0),
			onGenerator(func(g *sim.Generator) { g.ReadTakes = 5 * time.Millisecond })),
	} {
		t.Run(name, func(t *testing.T) {
			r := s.run(t)
			if r.Ending != report.Completed || !r.Answer.Measured || r.Answer.Reason != report.LossAboveLimit ||
				!r.Answer.Saturated || !r.Answer.Confirmed {
				t.Fatalf("%s: %s, %+v", r.Ending, r.Message, r.Answer)
			}
			for i, want := range []float64{10_000, 4000} {
				d := r.Answer.Directions[i]
				if l := d.Limit; l == nil || !l.Saturated || !l.Confirmed ||
					!isNear(float64(d.Received.PacketsPerSecond), want, 10) ||
					r.Windows[l.Window-1].Varied != s.plan.Procedure.EachDirection.Directions[i] {
					t.Errorf("%s→%s: %d came back by %+v, want %.0f", d.From, d.To, d.Received.PacketsPerSecond,
						d.Limit, want)
				}
			}
			if w := r.Windows[r.Answer.Window-1]; !r.Answer.HeldAtOnce() || w.Phase != report.AllAtOnce ||
				w.Quality != report.Good || !isNear(float64(r.Answer.Total.Received.PacketsPerSecond), 14_000, 10) {
				t.Errorf("all at once: %+v, and the total is %+v", w, r.Answer.Total)
			}
		})
	}
}

// In a direction whose load is nothing, nothing leaves, also not in the moments that aren't judged. A load that is
// held beside decides nothing of the window.
func TestOnlyTheDirectionThatVariesSends(t *testing.T) {
	s := scene(asymmetric, eachDirection(0))
	r := s.run(t)
	var varied [2]int
	for _, w := range r.Windows {
		for i, d := range w.Directions {
			switch fixed := w.Varied != "" && w.Varied != d.From+"→"+d.To; {
			case fixed && (d.Sent.Packets != 0 || d.Quality != report.Unjudged || d.Intended.PacketsPerSecond != 0):
				t.Errorf("window %d, in which %s varied: %s→%s is %s, %+v sent", w.Number, w.Varied, d.From, d.To,
					d.Quality, d.Sent)
			case w.Varied != "" && !fixed && w.Quality != d.Quality:
				t.Errorf("window %d is %s, and %s of %s", w.Number, w.Quality, d.Quality, w.Varied)
			case w.Varied != "" && !fixed:
				varied[i]++
			}
		}
	}
	if varied[0] < 10 || varied[1] < 5 {
		t.Errorf("directions varied in %d windows", varied)
	}
	index := slices.IndexFunc(r.Samples, func(s report.Sample) bool {
		return s.Directions[1].IntendedPacketsPerSecond > 0 && s.Phase != report.WarmUp
	})
	for i, sample := range r.Samples[:index] { // all of the first direction's ramp
		if i > 0 && sample.Phase != report.WarmUp && r.Samples[i-1].Phase != report.WarmUp &&
			sample.Directions[1].Sent != r.Samples[i-1].Directions[1].Sent {
			t.Errorf("at %s %d frames had left from east to west, %d a second before", sample.Time.Std(),
				sample.Directions[1].Sent.Packets, r.Samples[i-1].Directions[1].Sent.Packets)
		}
	}
}

// A direction that is held beside the one that varies may lose frames. The Report has its loss, which ends no other
// direction's ramp.
func TestLossInAnotherDirectionIsReported(t *testing.T) {
	// 6 kpps through a limit of 4
	r := scene(eachDirection(units.One*3/10),
		func(s *scenario) { s.world.Directions[1].Device.Limit = 4 * kpps }).run(t)
	for _, w := range r.Windows {
		if reverse := w.Directions[1]; w.Varied == "west→east" && (reverse.Quality != report.Unjudged ||
			reverse.LossRatio < units.One/4 || w.Quality == report.Lossy && w.Directions[0].Quality != report.Lossy) {
			t.Errorf("window %d is %s: %s of it, %s", w.Number, w.Quality, reverse.LossRatio, reverse.Reason)
		}
	}
	if d := r.Answer.Directions[0]; !isNear(float64(d.Received.PacketsPerSecond), 10_000, 10) {
		t.Errorf("%+v", d)
	}
}

// Where nothing may be lost, each direction's answer is confirmed by a trial, and so are all at once, to the frame.
func TestEachDirectionThatMayLoseNothing(t *testing.T) {
	s := scene(asymmetric, eachDirection(0), func(s *scenario) { s.plan.Procedure.MaxLossRatio = 0 },
		onGenerator(func(g *sim.Generator) { g.ReadTakes = 2 * time.Millisecond }))
	r := s.run(t)
	if r.Ending != report.Completed || !r.Answer.Saturated || !r.Answer.Confirmed || !r.Answer.HeldAtOnce() {
		t.Fatalf("%s: %s, %+v\n%s", r.Ending, r.Message, r.Answer, trace(r))
	}
	for i, want := range []float64{10_000, 4000} {
		if d := r.Answer.Directions[i]; d.EdgeFrames != 0 || d.Sent.Packets != d.Returned.Packets ||
			!isNear(float64(d.Received.PacketsPerSecond), want, 10) {
			t.Errorf("%s→%s: %+v, want %.0f", d.From, d.To, d, want)
		}
		if d := r.Answer.Total.Directions[i]; d.EdgeFrames != 0 || d.Sent.Packets != d.Returned.Packets {
			t.Errorf("all at once, %s→%s: %+v", d.From, d.To, d)
		}
	}
}

// Where every direction loses one frame of 5000 and none may be, there is no figure, as what looks clean does
// so only as far as edges tell, and the message says the way out.
func TestADirectionThatLosesFewFramesDoesNotCarryItsLoad(t *testing.T) {
	r := scene(eachDirection(units.One/10), func(s *scenario) { s.plan.Procedure.MaxLossRatio = 0 },
		onGenerator(func(g *sim.Generator) { g.ReadTakes = 2 * time.Millisecond }),
		onDevice(func(d *sim.Device) { d.Loss = units.One / 5000 })).run(t)
	for _, words := range []string{"no load of it is known to be clean",
		"edges of windows that looked clean may hide more loss than the limit allows", "set procedure.maxLossRatio"} {
		if !strings.Contains(r.Answer.EvidenceText(), words) {
			t.Errorf("%q doesn't say %q", r.Answer.EvidenceText(), words)
		}
	}
	if r.Answer.Measured || r.Answer.Confirmed || r.Answer.Saturated {
		t.Errorf("%+v", r.Answer)
	}
}
