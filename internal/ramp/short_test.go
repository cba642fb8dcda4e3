package ramp_test

import (
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/ramp"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// stumbling sends less than asked in the first so many long windows, and passes them through unharmed.
func (d device) stumbling(windows int, share float64) device {
	return func(s ramp.Step, asked float64) (float64, float64) {
		if s.Phase == report.Confirm && windows > 0 {
			windows--
			return asked * share, asked * share
		}
		return d(s, asked)
	}
}

func TestAConfirmationThatFellShort(t *testing.T) {
	p := procedure()
	t.Run("is repeated, and the answer comes from the window in which all was sent", func(t *testing.T) {
		history, trace := carryOut(t, p, limited(52_000, 0).stumbling(1, 0.97))
		if !strings.Contains(strings.Join(trace, "\n"), "the generator sent less than") {
			t.Errorf("the trace does not say why it is repeated:\n%s", strings.Join(trace, "\n"))
		}
		c := ramp.Conclude(p, history)
		if got := history[c.Window].Directions[0].Received.PacketsPerSecond; !c.Saturated || !c.Confirmed || got < 51_700 || got > 52_000 {
			t.Errorf("%+v, %d packets/s of a limit of 52000", c, got)
		}
		if c.Resolution > p.Ramp.RefineTo {
			t.Errorf("resolution %s, asked for %s", c.Resolution, p.Ramp.RefineTo)
		}
	})
	t.Run("again and again is taken as the lower bound that it is, with a resolution that says so", func(t *testing.T) {
		history, _ := carryOut(t, p, limited(52_000, 0).stumbling(1000, 0.97))
		c := ramp.Conclude(p, history)
		if c.Resolution < 3*units.One/100 {
			t.Errorf("resolution %s, although 3 %% less was sent than asked for", c.Resolution)
		}
	})
}
