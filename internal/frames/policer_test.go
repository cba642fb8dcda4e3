package frames_test

import (
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/engine/sim"
	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/units/unitstest"
)

// A policer passes more than its rate after a calm moment. Slow readings let a trial confirm, before which the bucket fills up; what is confirmed is the committed rate all the same.
func TestARampFindsTheCommittedRateOfAPolicer(t *testing.T) {
	short := onRamp(func(r *plan.Ramp) {
		r.RampDuration, r.StepDuration, r.Settle, r.ConfirmDuration = seconds(10), seconds(1), plan.Duration(300*time.Millisecond), seconds(5)
	})
	for name, settings := range map[string]option{"usual": func(*scenario) {}, "short": short} {
		for _, depth := range []time.Duration{100 * time.Millisecond, time.Second, 5 * time.Second} {
			for _, reads := range []time.Duration{0, 8 * time.Millisecond} {
				s := scene(settings, target("40kpps"), onDevice(func(d *sim.Device) { d.Limit, d.Burst = 12_200*kpps/1000, depth }), onGenerator(func(g *sim.Generator) { g.ReadTakes = reads }))
				r := s.run(t)
				if r.Ending != report.Completed || !r.Result.Saturated || !r.Result.Confirmed {
					t.Errorf("%s settings, a bucket of %s, readings of %s: %s, %+v\n%s", name, depth, reads, r.Ending, r.Result, trace(r))
					continue
				}
				for _, d := range r.Result.Directions {
					if got := float64(d.Received.PacketsPerSecond); !within(got, 12_200, 122) {
						t.Errorf("%s settings, a bucket of %s, readings of %s: %s is %.0f packets/s, and the device forwards 12 200\n%s", name, depth, reads, d.Name(), got, trace(r))
					}
				}
			}
		}
	}
}

// Trials follow pauses, in which the bucket fills up. The traffic that goes on after them shows what the policer forwards for as long as one likes.
func TestTrialsOfAPolicerAreFollowedByTrafficWithoutAPause(t *testing.T) {
	for name, c := range map[string]struct {
		procedure option
		reason    report.Reason
	}{
		"a search by the standard": {searching(plan.ClassifyRFC9971, 1, 21), report.BurstsOnly},
		"a faster search":          {searching(plan.ClassifySequential, 1, 21), report.BurstsOnly},
		"the maximum offered load": {func(s *scenario) {
			s.plan.Procedure = plan.Procedure{Type: plan.TypeMaximumOfferedLoad, MaxLossRatio: s.plan.Procedure.MaxLossRatio,
				MaximumOfferedLoad: &plan.MaximumOfferedLoad{Rate: unitstest.Rate("40kpps"), WarmupDuration: seconds(2), TrialDuration: seconds(10), Trials: 1}}
		}, report.MaximumOffered},
	} {
		for _, depth := range []time.Duration{time.Second, 5 * time.Second} {
			r := scene(c.procedure, onDevice(func(d *sim.Device) { d.Limit, d.Burst = 12*kpps, depth })).run(t)
			if r.Ending != report.Completed || r.Result.Reason != c.reason {
				t.Errorf("%s, a bucket of %s: %s, %s: %s\n%s", name, depth, r.Ending, r.Result.Reason, r.Result.Message, trace(r))
				continue
			}
			for _, d := range r.Result.Directions {
				if got := float64(d.Received.PacketsPerSecond); !within(got, 12_000, 120) {
					t.Errorf("%s, a bucket of %s: %s is %.0f packets/s, and the device forwards 12 000: %s", name, depth, d.Name(), got, r.Result.Message)
				}
			}
		}
	}
}
