package frames_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/run/runner"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/sim"
	"github.com/linerate-dev/linerate/test/rigs/unitstest"
)

func constantLoad(rate string) option {
	return func(s *scenario) {
		s.plan.Procedure = plan.Procedure{Type: plan.TypeConstantLoad, MaxLossRatio: units.One / 1000,
			ConstantLoad: &plan.ConstantLoad{Rate: unitstest.Rate(rate), WarmupDuration: seconds(3),
				Duration: seconds(40), Window: seconds(10)}}
	}
}

// frameLoss descends from 20 kpps in fifths, twice the limit of the scene's device.
func frameLoss(s *scenario) {
	s.plan.Procedure = plan.Procedure{Type: plan.TypeFrameLoss, MaxLossRatio: units.One / 1000,
		FrameLoss: &plan.FrameLoss{MaxRate: unitstest.Rate("20kpps"), MinRate: unitstest.Rate("4kpps"),
			Step: unitstest.Rate("4kpps"), WarmupDuration: seconds(2), TrialDuration: seconds(5), CleanTrials: 2}}
}

func maximumOfferedLoad(trials int) option {
	return func(s *scenario) {
		s.plan.Procedure = plan.Procedure{Type: plan.TypeMaximumOfferedLoad, MaxLossRatio: units.One / 1000,
			MaximumOfferedLoad: &plan.MaximumOfferedLoad{Rate: unitstest.Rate("100%"), WarmupDuration: seconds(2),
				TrialDuration: seconds(5), Trials: trials}}
	}
}

// isNear says whether a figure is what the device, whose limit the procedure doesn't know, makes of the load:
// to so many parts in a thousand.
func isNear(got, want, thousandths float64) bool {
	return math.Abs(got-want) <= want*thousandths/1000
}

func TestAConstantLoadIsJudgedWindowByWindow(t *testing.T) {
	for name, c := range map[string]struct {
		scene    *scenario
		reason   report.Reason
		received float64 // of each direction
		windows  int     // that count
	}{
		"below the device's limit": {scene(constantLoad("8kpps")), report.TargetReached, 8000, 4},
		"above it":                 {scene(constantLoad("12500pps")), report.LoadHeld, 10_000, 4},
		"more than the generator sends": {scene(constantLoad("9kpps"),
			onGenerator(func(g *sim.Generator) { g.MaxRate = 5 * kpps })), report.GeneratorLimited, 5000, 4},
	} {
		t.Run(name, func(t *testing.T) {
			r := c.scene.run(t)
			if r.Ending != report.Completed || r.Answer.Reason != c.reason || !r.Answer.Measured || r.Answer.Saturated {
				t.Fatalf("%s, %+v", r.Ending, r.Answer)
			}
			counted := 0
			for _, w := range r.Windows {
				if w.Phase == report.Hold && w.Quality != report.Invalid {
					counted++
				}
			}
			if counted != c.windows {
				t.Errorf("%d windows count, want %d", counted, c.windows)
			}
			for _, d := range r.Answer.Directions {
				if !isNear(float64(d.Received.PacketsPerSecond), c.received, 2) {
					t.Errorf("%s→%s: %d came back, want %.0f", d.From, d.To, d.Received.PacketsPerSecond, c.received)
				}
			}
		})
	}
}

// A trial is counted when all that will come back has come back. A device that holds frames for half a second loses
// none.
func TestTheCurveOfADevice(t *testing.T) {
	for name, s := range map[string]*scenario{
		"": scene(frameLoss),
		"that delays what it forwards": scene(frameLoss,
			onDevice(func(d *sim.Device) { d.Delay = 500 * time.Millisecond })),
		"behind two generators": scene(frameLoss, replicas(2)),
		"behind a generator slow to read": scene(frameLoss,
			onGenerator(func(g *sim.Generator) { g.ReadTakes = 40 * time.Millisecond })),
	} {
		t.Run(name, func(t *testing.T) {
			r := s.run(t)
			if r.Ending != report.Completed || r.Answer.Reason != report.CurveMeasured {
				t.Fatalf("%s, %+v", r.Ending, r.Answer)
			}
			loads := map[units.Ratio]bool{}
			for _, f := range figures.Of(r) {
				if f.Load == 0 || f.Metric != figures.LossRatio {
					continue
				}
				loads[f.Load] = true
				want := max(0, 1-10_000/(20_000*f.Load.Float()))
				if got := f.High.Float(); math.Abs(got-want) > 0.003 || f.Low != f.High {
					t.Errorf("%s at %s: %s to %s is lost, want %.4f exactly", f.Direction, f.Load.Percent(), f.Low,
						f.High, want)
				}
			}
			if len(loads) != 4 { // 20, 16, 12 kpps lose frames, and 8 and 4 none
				if len(loads) != 5 {
					t.Errorf("%d loads", len(loads))
				}
			}
			for _, w := range r.Windows {
				for _, d := range w.Directions {
					if d.EdgeFrames != 0 {
						t.Errorf("window %d: %d frames on the wrong side of an edge of a drained trial", w.Number,
							d.EdgeFrames)
					}
				}
			}
		})
	}
}

func TestForwardingRateAtTheHighestOfferedLoad(t *testing.T) {
	maxRate := func(r units.PacketRate) option { return onGenerator(func(g *sim.Generator) { g.MaxRate = r }) }
	for name, c := range map[string]struct {
		scene             *scenario
		reason            report.Reason
		offered, received float64
	}{
		"of a generator stronger than the device": {scene(maximumOfferedLoad(3), maxRate(40*kpps)),
			report.MaximumOffered, 40_000, 10_000},
		"of one weaker than the device": {scene(maximumOfferedLoad(1), maxRate(6*kpps)),
			report.GeneratorLimited, 6000, 6000},
	} {
		t.Run(name, func(t *testing.T) {
			r := c.scene.run(t)
			if r.Ending != report.Completed || r.Answer.Reason != c.reason {
				t.Fatalf("%s, %+v", r.Ending, r.Answer)
			}
			for _, d := range r.Answer.Directions {
				if !isNear(float64(d.Offered.PacketsPerSecond), c.offered, 1) ||
					!isNear(float64(d.Received.PacketsPerSecond), c.received, 5) {
					t.Errorf("%s→%s: %d of %d came back, want %.0f of %.0f", d.From, d.To, d.Received.PacketsPerSecond,
						d.Offered.PacketsPerSecond, c.received, c.offered)
				}
			}
		})
	}
}

// Whatever becomes of the runner in the middle of a trial, the generators are silent when the trial is over.
func TestATrialEndsWithoutItsRunner(t *testing.T) {
	s := scene(frameLoss, func(s *scenario) {
		s.ctx = func(ctx context.Context) context.Context {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(8*time.Second, cancel)
			return ctx
		}
	})
	r := s.run(t)
	latest := r.Windows[len(r.Windows)-1]
	if r.Ending != report.Interrupted || latest.Quality != report.Invalid {
		t.Fatalf("%s: %s; the last window is %s: %s", r.Ending, r.Message, latest.Quality, latest.Reason)
	}
}

// Counters that go on counting after a trial's end are foreign frames, or of unknown origin, so that such a trial
// shows nothing.
func TestATrialWhoseCountersDoNotStandStillIsInvalid(t *testing.T) {
	r := scene(frameLoss, onDevice(func(d *sim.Device) { d.Delay = 4 * time.Second })).run(t)
	for _, w := range r.Windows {
		if w.Phase == report.Trial && w.Quality != report.Invalid {
			t.Errorf("window %d is %s: %s", w.Number, w.Quality, w.Reason)
		}
	}
	if r.Answer.Measured {
		t.Errorf("%+v", r.Answer)
	}
}

// How long generators send if nobody attends to them is reported before the first frame, and is no longer than
// the run may take.
func TestUnattendedTrafficIsNoLongerThanTheRunMayTake(t *testing.T) {
	for name, c := range map[string]struct {
		scene   *scenario
		message string
	}{
		"a ramp without a deadline": {scene(), "it ends by itself after 13m7s"},
		"a ramp with one": {scene(func(s *scenario) { s.plan.ActiveDeadline = seconds(90) }),
			"it ends by itself after 1m3"},
		"trials": {scene(frameLoss, func(s *scenario) { s.plan.ActiveDeadline = seconds(90) }),
			"each trial is finite; even if the runner dies, its traffic ends by itself, after 10s at most"},
	} {
		t.Run(name, func(t *testing.T) {
			var messages []string
			c.scene.options.Progress = func(p runner.Progress) {
				if p.Window == nil && p.OfferedPacketsPerSecond == 0 {
					messages = append(messages, p.Message)
				}
			}
			r := c.scene.run(t)
			if !slices.ContainsFunc(messages, func(s string) bool { return strings.Contains(s, c.message) }) {
				t.Errorf("told %q; the notes are %v", messages, r.Notes)
			}
		})
	}
}
