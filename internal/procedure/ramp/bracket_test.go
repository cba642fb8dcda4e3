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

// stumbling sends less than asked in the first so many long windows, and passes them through unharmed.
func (d device) stumbling(windows int, share float64) device {
	return func(s procedure.Step, asked float64) (float64, float64) {
		if s.Phase == report.Confirm && windows > 0 {
			windows--
			return asked * share, asked * share
		}
		return d(s, asked)
	}
}

func TestAConfirmationThatFellShort(t *testing.T) {
	p := rampOf()
	t.Run("is repeated, and the answer comes from the window in which all was sent", func(t *testing.T) {
		history, trace := carryOut(t, p, limited(52_000, 0).stumbling(1, 0.97))
		if !strings.Contains(strings.Join(trace, "\n"), "the generator sent less than") {
			t.Errorf("the trace does not say why it is repeated:\n%s", strings.Join(trace, "\n"))
		}
		c := ramp.New(p).Conclude(history)
		if got := history[c.Window].Directions[0].Received.PacketsPerSecond; !c.Saturated || !c.Confirmed ||
			got < 51_700 || got > 52_000 {
			t.Errorf("%+v, %d packets/s of a limit of 52000", c, got)
		}
		if c.Resolution > p.Ramp.Precision {
			t.Errorf("resolution %s, asked for %s", c.Resolution, p.Ramp.Precision)
		}
	})
	t.Run("again and again is not preferred to the window in which all was sent", func(t *testing.T) {
		history, _ := carryOut(t, p, limited(52_000, 0).stumbling(1000, 0.97))
		c := ramp.New(p).Conclude(history)
		if got := history[c.Window].Directions[0].Offered.PacketsPerSecond; !c.Saturated || c.Confirmed ||
			got < 51_700 || got > 52_100 {
			t.Errorf("%+v, %d packets/s offered; want the limit of 52000, unconfirmed", c, got)
		}
	})
	t.Run("by no more than the noise of a reading is the answer all the same", func(t *testing.T) {
		history, _ := carryOut(t, p, limited(52_000, 0).stumbling(1000, 0.991))
		c := ramp.New(p).Conclude(history)
		if !c.Saturated || !c.Confirmed || c.Resolution < 9*units.One/1000 {
			t.Errorf("%+v; want it confirmed, with a resolution that says that 0.9 %% less was sent", c)
		}
	})
}

// bursting loses a tenth of what a generator sends that is asked for more than so much, though it sends no more
// than before.
func (d device) bursting(threshold float64) device {
	return func(s procedure.Step, asked float64) (float64, float64) {
		offered, received := d(s, asked)
		if asked > threshold {
			received = min(received, 0.9*offered)
		}
		return offered, received
	}
}

func TestLossOfAGeneratorThatIsAskedForTooMuch(t *testing.T) {
	for name, p := range map[string]plan.Procedure{"refined": rampOf(), "by steps alone": rampOf(refineTo(0)),
		"to the top": rampOf(toTheTop)} {
		t.Run(name+" is no limit of the device", func(t *testing.T) {
			for _, threshold := range []float64{84_000, 88_000, 93_000} {
				history, trace := carryOut(t, p, limited(1e9, 0).throttled(80_000).bursting(threshold))
				c := ramp.New(p).Conclude(history)
				if c.Lossy == procedure.NoWindow && threshold < 90_000 || c.Saturated ||
					c.Reason != report.GeneratorLimited {
					t.Errorf("lossy above %.0f: %+v\n%s", threshold, c, strings.Join(trace, "\n"))
				}
			}
		})
	}
}

func TestAGeneratorThatAlwaysSendsALittleLess(t *testing.T) {
	for name, p := range map[string]plan.Procedure{"refined": rampOf(), "by steps alone": rampOf(refineTo(0))} {
		t.Run(name+" finds the limit, as sharply as it can tell", func(t *testing.T) {
			history, trace := carryOut(t, p, func(s procedure.Step, asked float64) (float64, float64) {
				return limited(52_000, 0)(s, 0.97*asked)
			})
			c := ramp.New(p).Conclude(history)
			if !c.Saturated || !c.Confirmed || c.Reason != report.LossAboveLimit || c.Resolution < 3*units.One/100 {
				t.Errorf("%+v\n%s", c, strings.Join(trace, "\n"))
			}
		})
	}
}

func TestAGeneratorThatAlwaysSendsMuchLessFindsNoLimit(t *testing.T) {
	history, trace := carryOut(t, rampOf(), func(s procedure.Step, asked float64) (float64, float64) {
		return limited(52_000, 0)(s, 0.85*asked)
	})
	if c := ramp.New(rampOf()).Conclude(history); c.Saturated || c.Reason != report.GeneratorLimited {
		t.Errorf("%+v\n%s", c, strings.Join(trace, "\n"))
	}
}

func TestALossyEndThatWasOfferedMoreThanAskedIsBookedAtThat(t *testing.T) {
	p := rampOf(refineTo(0))
	history, _ := carryOut(t, p, func(s procedure.Step, asked float64) (float64, float64) {
		if asked > 52_000 {
			asked *= 1.004
		}
		return limited(52_000, 0)(s, asked)
	})
	c := ramp.New(p).Conclude(history)
	want := units.RatioOf(55_220-50_000, 55_220) // 50 % was clean, 55 % × 1.004 was not
	if c.Resolution < want-10 || c.Resolution > want+10 {
		t.Errorf("resolution %s, want %s", c.Resolution, want)
	}
}

// sentInBursts voids the windows, of those that are asked about, that lost frames: what was lost may be the
// generator's doing.
func sentInBursts(selects func(report.Window) bool) func(*report.Window) {
	return func(w *report.Window) {
		if !selects(*w) {
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
func (d device) restless(threshold float64) device {
	return func(s procedure.Step, asked float64) (float64, float64) {
		offered, received := d(s, asked)
		if asked > threshold {
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
		if c.Saturated || c.Reason != report.GeneratorLimited || c.Window == procedure.NoWindow ||
			history[c.Window].Load < 30*units.One/100 || history[c.Window].Load > 31*units.One/100 {
			t.Errorf("%+v\n%s", c, strings.Join(trace, "\n"))
		}
	})
	t.Run("at all loads is no figure at all", func(t *testing.T) {
		history, _ := carryOut(t, p, limited(52_000, 0).restless(0), sentInBursts(always))
		if c := ramp.New(p).Conclude(history); c.Reason != report.NoCleanLoad || c.Saturated {
			t.Errorf("%+v", c)
		}
	})
	t.Run("between the figure and the load that surely lost frames is told, and is no limit", func(t *testing.T) {
		history, trace := carryOut(t, p, limited(52_000, 0).restless(31_000),
			sentInBursts(func(w report.Window) bool { return w.Load < 54*units.One/100 }))
		c := ramp.New(p).Conclude(history)
		if c.Saturated || c.Reason != report.GeneratorLimited || c.Lossy == procedure.NoWindow ||
			c.Resolution < units.One/10 {
			t.Errorf("%+v\n%s", c, strings.Join(trace, "\n"))
		}
	})
	t.Run("that does not come again costs a window", func(t *testing.T) {
		first := true
		history, _ := carryOut(t, p, limited(52_000, 0), func(w *report.Window) {
			if w.Load == 30*units.One/100 && first {
				first = false
				w.Directions[0].Quality = report.Lossy
				sentInBursts(always)(w)
			}
		})
		if c := ramp.New(p).Conclude(history); !c.Saturated || !c.Confirmed || c.Resolution > p.Ramp.Precision {
			t.Errorf("%+v", c)
		}
	})
	t.Run("is not looked for in longer windows, which have more of them", func(t *testing.T) {
		history, _ := carryOut(t, p, limited(52_000, 0),
			sentInBursts(func(w report.Window) bool { return w.Phase == report.Refine }))
		usual := p.Ramp.StepDuration - p.Ramp.SettleDuration
		for _, w := range history {
			if w.Phase == report.Refine && w.Duration != usual {
				t.Errorf("window %d lasted %s", w.Number, time.Duration(w.Duration))
			}
		}
	})
	t.Run("that was taken for loss at first is not the device's when it can't be told again", func(t *testing.T) {
		visited := map[units.Ratio]bool{}
		history, trace := carryOut(t, p, limited(52_000, 0).restless(49_000), func(w *report.Window) {
			if w.Phase == report.Refine && visited[w.Load] {
				sentInBursts(always)(w)
			}
			visited[w.Load] = true
		})
		if c := ramp.New(p).Conclude(history); c.Saturated && c.Resolution > 4*p.Ramp.Precision {
			t.Errorf("%+v\n%s", c, strings.Join(trace, "\n"))
		}
	})
}
