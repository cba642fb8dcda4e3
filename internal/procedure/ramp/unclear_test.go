package ramp_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/procedure/ramp"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/tier"
)

// voidAt voids the windows at the loads that are asked about: others have the machine that plays the device.
func voidAt(which func(units.Ratio) bool) func(*report.Window) {
	return func(w *report.Window) {
		if w.Phase == report.WarmUp || !which(w.Load) {
			return
		}
		w.Quality = report.Invalid
		for i := range w.Directions {
			w.Directions[i].Quality = report.Invalid
		}
	}
}

// twoSteps climbs to half of the target, and to all of it.
func twoSteps(p *plan.Procedure) {
	p.Ramp.RampDuration = 2 * p.Ramp.StepDuration
}

func TestATopThatCouldNotBeJudged(t *testing.T) {
	above := func(load units.Ratio) func(*report.Window) {
		return voidAt(func(at units.Ratio) bool { return at >= load })
	}
	t.Run("hides no limit below it", func(t *testing.T) {
		p := rampOf(twoSteps)
		for _, limit := range []float64{51_000, 62_000, 74_000, 86_000} {
			history, trace := carryOut(t, p, limited(limit, 0), above(95*units.One/100))
			c := ramp.New(p).Conclude(history)
			if c.Window == procedure.None || !c.Saturated || !c.Confirmed || c.Reason != report.LossAboveLimit || c.Resolution > p.Ramp.RefineTo {
				t.Errorf("%.0f: %+v\n%s", limit, c, strings.Join(trace, "\n"))
				continue
			}
			if got := receivedAt(history, c); got < 0.99*limit || got > limit {
				t.Errorf("%.0f packets/s of %.0f\n%s", got, limit, strings.Join(trace, "\n"))
			}
		}
	})
	t.Run("hides no loss that was seen once below it", func(t *testing.T) {
		p := rampOf(func(p *plan.Procedure) { p.Ramp.RampDuration = 4 * p.Ramp.StepDuration })
		history, trace := carryOut(t, p, limited(70_000, 0), above(80*units.One/100))
		c := ramp.New(p).Conclude(history)
		if !c.Saturated || !c.Confirmed || c.Resolution > p.Ramp.RefineTo || receivedAt(history, c) > 70_000 {
			t.Errorf("%+v\n%s", c, strings.Join(trace, "\n"))
		}
		if says := "75.00 % of the target lost frames, and was not looked at again"; !strings.Contains(strings.Join(trace, "\n"), says) {
			t.Errorf("%q is not said in\n%s", says, strings.Join(trace, "\n"))
		}
	})
	t.Run("leaves a lower bound where nothing above can be judged", func(t *testing.T) {
		p := rampOf(twoSteps)
		history, trace := carryOut(t, p, limited(62_000, 0), above(51*units.One/100))
		c := ramp.New(p).Conclude(history)
		if c.Window == procedure.None || c.Saturated || !c.Confirmed || c.Reason != report.Inconclusive || history[c.Window].Load < units.One/2 {
			t.Errorf("%+v\n%s", c, strings.Join(trace, "\n"))
		}
		looked := map[units.Ratio]bool{}
		for _, w := range history {
			if w.Phase == report.Refine {
				looked[w.Load] = true
			}
		}
		if len(looked) != 4 {
			t.Errorf("%d loads were looked at\n%s", len(looked), strings.Join(trace, "\n"))
		}
	})
	t.Run("leaves the bound that was confirmed where a higher one can't be", func(t *testing.T) {
		p := rampOf(twoSteps)
		history, trace := carryOut(t, p, limited(1e9, 0), func(w *report.Window) {
			if w.Phase == report.Confirm && w.Load > units.One/2 || w.Phase != report.WarmUp && w.Load >= units.One {
				voidAt(func(units.Ratio) bool { return true })(w)
			}
		})
		c := ramp.New(p).Conclude(history)
		if c.Window == procedure.None || c.Saturated || !c.Confirmed || history[c.Window].Load != units.One/2 || !strings.Contains(c.Ending, "can't be judged") {
			t.Errorf("%+v\n%s", c, strings.Join(trace, "\n"))
		}
	})
	t.Run("is no reason to look where the generator had no more", func(t *testing.T) {
		p := rampOf(twoSteps)
		history, trace := carryOut(t, p, limited(1e9, 0).throttled(40_000), above(95*units.One/100))
		for _, w := range history {
			if w.Phase == report.Refine {
				t.Fatalf("window %d looks at %s\n%s", w.Number, w.Load, strings.Join(trace, "\n"))
			}
		}
	})
	t.Run("was the end of a run before, whose conclusion stands", func(t *testing.T) {
		p := rampOf(twoSteps)
		history, _ := carryOut(t, p, limited(62_000, 0), above(95*units.One/100))
		for n := range history {
			s := ramp.New(p).Next(history[:n])
			if !s.Optional {
				continue
			}
			c := ramp.New(p).Conclude(history[:n])
			if !c.Finished || !c.Confirmed || c.Ending != "confirmed at 50.00 % of the target" || c.Saturated || c.Window != n-1 {
				t.Errorf("after %d windows: %+v", n, c)
			}
			return
		}
		t.Error("no step is optional")
	})
}

// TestPropertyNoVoidLoadsFeignALimit: whatever loads can't be judged, the answer is a load that the device carries, and a limit is one of the device.
func TestPropertyNoVoidLoadsFeignALimit(t *testing.T) {
	rnd := rand.New(rand.NewPCG(11, 12))
	for range tier.Times(200, 2000) {
		p := rampOf(func(p *plan.Procedure) {
			p.Ramp.RampDuration = plan.Duration(time.Duration(1+rnd.IntN(6)) * p.Ramp.StepDuration.Std())
		})
		limit, from := 20_000+80_000*rnd.Float64(), units.Ratio(rnd.Int64N(int64(units.One)))
		to := from + units.Ratio(rnd.Int64N(int64(units.One)))
		history, trace := carryOut(t, p, limited(limit, 0), voidAt(func(at units.Ratio) bool { return from <= at && at <= to }))
		c := ramp.New(p).Conclude(history)
		if c.Window == procedure.None {
			continue
		}
		got := receivedAt(history, c)
		high := float64(0)
		if c.Saturated {
			high = float64(history[c.Lossy].Directions[0].Offered.PacketsPerSecond)
		}
		if got > limit+1 || c.Saturated && high < limit { // whole packets/s
			t.Fatalf("%.0f to %.0f is claimed of a device that carries %.0f\n%s", got, high, limit, strings.Join(trace, "\n"))
		}
	}
}
