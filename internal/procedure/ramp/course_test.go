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

// bloated forwards at most so much, and holds so many frames of what is too much for it. They come back with a
// later load's, unless traffic rests in between.
func bloated(limit, holds float64) device {
	var backlog float64
	pass := func(asked float64, d time.Duration) (forwarded float64) {
		queued := backlog + asked*d.Seconds()
		forwarded = min(queued, limit*d.Seconds())
		backlog = min(holds, queued-forwarded)
		return forwarded
	}
	return func(s procedure.Step, asked float64) (float64, float64) {
		if s.Rested || s.Kind == procedure.Trial {
			backlog = 0
		}
		pass(asked, s.Settle)
		return asked, pass(asked, s.Judge) / s.Judge.Seconds()
	}
}

// A device may hold frames for seconds: what it held of an overload comes back with the loads below, which
// can't be judged. The search lets traffic rest there, and finds the limit.
func TestTheLimitOfADeviceThatHoldsFramesIsFound(t *testing.T) {
	for _, limit := range []float64{7_300, 31_000, 48_300, 77_700} {
		for _, seconds := range []float64{0.5, 2, 6} {
			p := rampOf(func(p *plan.Procedure) { p.Ramp.SettleDuration = plan.Duration(200 * time.Millisecond) })
			history, trace := carryOut(t, p, bloated(limit, limit*seconds))
			c := ramp.New(p).Conclude(history)
			if !c.Saturated || !c.Confirmed || c.Window == procedure.NoWindow {
				t.Errorf("limit %v, %v s held: %+v\n%s", limit, seconds, c, strings.Join(trace, "\n"))
				continue
			}
			if got := target * float64(history[c.Window].Load) / float64(units.One); got > limit*1.002 ||
				got < limit*0.985 {
				t.Errorf("limit %v, %v s held: the answer is %.0f\n%s", limit, seconds, got, strings.Join(trace, "\n"))
			}
		}
	}
}

// Where more comes back for another reason, as from a device that sends frames twice, traffic rests a few
// times, and the run ends within its bounds.
func TestTrafficRestsAFewTimesOnly(t *testing.T) {
	p := rampOf()
	rests := 0
	twice := func(s procedure.Step, asked float64) (float64, float64) {
		if s.Rested {
			rests++
		}
		return asked, 1.5 * asked
	}
	history, _ := carryOut(t, p, twice)
	if c := ramp.New(p).Conclude(history); c.Window != procedure.NoWindow || c.Confirmed {
		t.Errorf("%+v", c)
	}
	if maxRests := ramp.New(p).Bound().Rests; rests != maxRests {
		t.Errorf("traffic rested %d times, want %d", rests, maxRests)
	}
}

// Loss, a disturbance of the machine and a generator's pause are no reason to stop.
func TestTrafficRestsForNothingElse(t *testing.T) {
	p := rampOf()
	plain := limited(52_000, 0)
	n := 0
	carryOut(t, p, func(s procedure.Step, asked float64) (float64, float64) {
		if s.Rested {
			t.Errorf("a step of %s rests: %s", s.Phase, s.Reason)
		}
		return plain(s, asked)
	}, func(w *report.Window) {
		if n++; n%5 == 0 {
			w.Quality = report.Invalid
			for i := range w.Directions {
				w.Directions[i].Quality = report.Invalid
			}
		}
	})
}
