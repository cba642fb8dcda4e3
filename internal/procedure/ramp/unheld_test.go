package ramp_test

import (
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/procedure/ramp"
	"github.com/linerate-dev/linerate/internal/units"
)

// disturbedWhenHeld voids all long windows, and all later ones, as a neighbour does that comes when the load is held, and stays: a hundredth of what was sent
// didn't come back while others had the processors.
func disturbedWhenHeld() func(*report.Window) {
	came := false
	return func(w *report.Window) {
		if came = came || w.Duration.Std() >= 10*time.Second; !came {
			return
		}
		w.Quality = report.Invalid
		for i := range w.Directions {
			d := &w.Directions[i]
			d.Quality, d.DisturbedFrames = report.Invalid, d.Sent.Packets
			d.Returned.Packets -= d.Sent.Packets / 100
		}
	}
}

// What was clean for a short window, and couldn't be judged when it was held, is a lower bound where nothing else is clean: nobody refuted it.
func TestALoadThatCouldNotBeJudgedWhenHeldIsABound(t *testing.T) {
	p := rampOf(func(p *plan.Procedure) { p.Ramp.RampDuration = plan.Duration(2 * time.Second) }) // one step: nothing below the search is clean
	history, trace := carryOut(t, p, limited(52_000, 0), disturbedWhenHeld())
	c := ramp.New(p).Conclude(history)
	if c.Window == procedure.None || c.Saturated || c.Confirmed || c.Reason != report.MachineLimited {
		t.Fatalf("%+v\n%s", c, strings.Join(trace, "\n"))
	}
	if w := history[c.Window]; w.Quality != report.Good || w.Load < 50*units.One/100 || w.Load > 52*units.One/100 {
		t.Errorf("window %d at %s is claimed, want the highest that was clean below 52 %%", w.Number, w.Load)
	}
}

// One that lost frames when it was held was refuted, and is no bound, nor is any load above it.
func TestALoadThatLostFramesWhenHeldIsNoBound(t *testing.T) {
	p := rampOf()
	fooled := func(s procedure.Step, asked float64) (float64, float64) { // nothing passes for long
		if s.Judge >= 10*time.Second {
			return asked, asked / 2
		}
		return limited(52_000, 0)(s, asked)
	}
	history, _ := carryOut(t, p, fooled)
	if c := ramp.New(p).Conclude(history); c.Window != procedure.None {
		t.Errorf("%+v", c)
	}
}
