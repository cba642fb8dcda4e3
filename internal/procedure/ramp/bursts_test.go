package ramp_test

import (
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/procedure/ramp"
	"github.com/linerate-dev/linerate/internal/units"
)

// sentInBursts voids the windows, of those that are asked about, that lost frames: what was lost may be the generator's doing.
func sentInBursts(which func(report.Window) bool) func(*report.Window) {
	return func(w *report.Window) {
		if !which(*w) {
			return
		}
		w.Bursts = []report.Burst{{Generator: "generator-0", Link: "west", Sent: 1000, Due: 200, Count: 1}}
		for i := range w.Directions {
			if d := &w.Directions[i]; d.Quality == report.Lossy {
				d.Quality, d.LossRatioMin = report.Invalid, d.LossRatio
				w.Quality = report.Invalid
			}
		}
	}
}

// restless loses a hundredth of what comes at more than so much, for bursts.
func (d device) restless(above float64) device {
	return func(s procedure.Step, asked float64) (float64, float64) {
		offered, received := d(s, asked)
		if asked > above {
			received = min(received, 0.99*offered)
		}
		return offered, received
	}
}

func always(report.Window) bool { return true }

func TestLossInBursts(t *testing.T) {
	p := rampOf()
	t.Run("at all loads above one makes that a lower bound", func(t *testing.T) {
		history, trace := carryOut(t, p, limited(52_000, 0).restless(31_000), sentInBursts(always))
		c := ramp.New(p).Conclude(history)
		if c.Saturated || c.Reason != report.GeneratorLimited || c.Window == procedure.None || history[c.Window].Load < 30*units.One/100 || history[c.Window].Load > 31*units.One/100 {
			t.Errorf("%+v\n%s", c, strings.Join(trace, "\n"))
		}
	})
	t.Run("at all loads is no figure at all", func(t *testing.T) {
		history, _ := carryOut(t, p, limited(52_000, 0).restless(0), sentInBursts(always))
		if c := ramp.New(p).Conclude(history); c.Reason != report.NoCleanWindow || c.Saturated {
			t.Errorf("%+v", c)
		}
	})
	t.Run("between the figure and the load that surely lost frames is told, and is no limit", func(t *testing.T) {
		history, trace := carryOut(t, p, limited(52_000, 0).restless(31_000), sentInBursts(func(w report.Window) bool { return w.Load < 54*units.One/100 }))
		c := ramp.New(p).Conclude(history)
		if c.Saturated || c.Reason != report.GeneratorLimited || c.Lossy == procedure.None || c.Resolution < units.One/10 {
			t.Errorf("%+v\n%s", c, strings.Join(trace, "\n"))
		}
	})
	t.Run("that does not come again costs a window", func(t *testing.T) {
		once := true
		history, _ := carryOut(t, p, limited(52_000, 0), func(w *report.Window) {
			if w.Load == 30*units.One/100 && once {
				once = false
				w.Directions[0].Quality = report.Lossy
				sentInBursts(always)(w)
			}
		})
		if c := ramp.New(p).Conclude(history); !c.Saturated || !c.Confirmed || c.Resolution > p.Ramp.RefineTo {
			t.Errorf("%+v", c)
		}
	})
	t.Run("is not looked for in longer windows, which have more of them", func(t *testing.T) {
		history, _ := carryOut(t, p, limited(52_000, 0), sentInBursts(func(w report.Window) bool { return w.Phase == report.Refine }))
		usual := p.Ramp.StepDuration - p.Ramp.Settle
		for _, w := range history {
			if w.Phase == report.Refine && w.Duration != usual {
				t.Errorf("window %d lasted %s", w.Number, time.Duration(w.Duration))
			}
		}
	})
	t.Run("that was taken for loss at first is not the device's when it can't be told again", func(t *testing.T) {
		seen := map[units.Ratio]bool{}
		history, trace := carryOut(t, p, limited(52_000, 0).restless(49_000), func(w *report.Window) {
			if w.Phase == report.Refine && seen[w.Load] {
				sentInBursts(always)(w)
			}
			seen[w.Load] = true
		})
		if c := ramp.New(p).Conclude(history); c.Saturated && c.Resolution > 4*p.Ramp.RefineTo {
			t.Errorf("%+v\n%s", c, strings.Join(trace, "\n"))
		}
	})
}
