package ramp_test

import (
	"strings"
	"testing"

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
		if got := history[c.Window].Directions[0].Received.PacketsPerSecond; !c.Saturated || !c.Confirmed || got < 51_700 || got > 52_000 {
			t.Errorf("%+v, %d packets/s of a limit of 52000", c, got)
		}
		if c.Resolution > p.Ramp.RefineTo {
			t.Errorf("resolution %s, asked for %s", c.Resolution, p.Ramp.RefineTo)
		}
	})
	t.Run("again and again is not preferred to the window in which all was sent", func(t *testing.T) {
		history, _ := carryOut(t, p, limited(52_000, 0).stumbling(1000, 0.97))
		c := ramp.New(p).Conclude(history)
		if got := history[c.Window].Directions[0].Offered.PacketsPerSecond; !c.Saturated || c.Confirmed || got < 51_700 || got > 52_100 {
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

// bursting loses a tenth of what a generator sends that is asked for more than so much, though it sends no more than before.
func (d device) bursting(above float64) device {
	return func(s procedure.Step, asked float64) (float64, float64) {
		offered, received := d(s, asked)
		if asked > above {
			received = min(received, 0.9*offered)
		}
		return offered, received
	}
}

func TestLossOfAGeneratorThatIsAskedForTooMuch(t *testing.T) {
	for name, p := range map[string]plan.Procedure{"refined": rampOf(), "by steps alone": rampOf(refineTo(0)), "to the top": rampOf(toTheTop)} {
		t.Run(name+" is no limit of the device", func(t *testing.T) {
			for _, above := range []float64{84_000, 88_000, 93_000} {
				history, trace := carryOut(t, p, limited(1e9, 0).throttled(80_000).bursting(above))
				c := ramp.New(p).Conclude(history)
				if c.Lossy == procedure.None && above < 90_000 || c.Saturated || c.Reason != report.GeneratorLimited {
					t.Errorf("lossy above %.0f: %+v\n%s", above, c, strings.Join(trace, "\n"))
				}
			}
		})
	}
}

func TestAGeneratorThatAlwaysSendsALittleLess(t *testing.T) {
	for name, p := range map[string]plan.Procedure{"refined": rampOf(), "by steps alone": rampOf(refineTo(0))} {
		t.Run(name+" finds the limit, as sharply as it can tell", func(t *testing.T) {
			history, trace := carryOut(t, p, func(s procedure.Step, asked float64) (float64, float64) { return limited(52_000, 0)(s, 0.97*asked) })
			c := ramp.New(p).Conclude(history)
			if !c.Saturated || !c.Confirmed || c.Reason != report.LossAboveLimit || c.Resolution < 3*units.One/100 {
				t.Errorf("%+v\n%s", c, strings.Join(trace, "\n"))
			}
		})
	}
}

func TestAGeneratorThatAlwaysSendsMuchLessFindsNoLimit(t *testing.T) {
	history, trace := carryOut(t, rampOf(), func(s procedure.Step, asked float64) (float64, float64) { return limited(52_000, 0)(s, 0.85*asked) })
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
