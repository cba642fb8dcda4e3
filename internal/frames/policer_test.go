package frames_test

import (
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/engine/sim"
	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/report"
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
