package constantload_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/procedure/constantload"
	"github.com/linerate-dev/linerate/internal/units"
	. "github.com/linerate-dev/linerate/test/rigs/proceduretest"
)

// usual is a usual constant load: 5 windows after a warm-up.
func usual(options ...func(*plan.ConstantLoad)) constantload.ConstantLoad {
	c := plan.ConstantLoad{Rate: units.Rate{Kind: units.Packets, Micros: Full * 1_000_000},
		WarmupDuration: plan.Duration(5 * time.Second),
		Duration:       plan.Duration(50 * time.Second), Window: plan.Duration(10 * time.Second)}
	for _, o := range options {
		o(&c)
	}
	return constantload.New(plan.Procedure{Type: plan.TypeConstantLoad, ConstantLoad: &c})
}

func cold(c *plan.ConstantLoad) { c.WarmupDuration = 0 }

func lasting(lasts, window time.Duration) func(*plan.ConstantLoad) {
	return func(c *plan.ConstantLoad) { c.Duration, c.Window = plan.Duration(lasts), plan.Duration(window) }
}

// steps are the procedure's, as words.
func steps(p procedure.Procedure) (steps []string) {
	var history []report.Window
	for s := p.Next(nil); !s.End; s = p.Next(history) {
		steps = append(steps, fmt.Sprintf("%s %d/%d %s+%s", s.Phase, s.Number, s.Total, s.Settle, s.Judge))
		history = append(history, Window(Limited(Full), s, len(history)))
	}
	return steps
}

func TestTheWindowsThatCoverADuration(t *testing.T) {
	for name, c := range map[string]struct {
		procedure procedure.Procedure
		want      string
	}{
		"after a warm-up nothing settles": {usual(lasting(20*time.Second, 10*time.Second)),
			"WarmUp 0/0 0s+5s, Holding 1/2 0s+10s, Holding 2/2 0s+10s"},
		"without one the first settles": {usual(cold, lasting(20*time.Second, 10*time.Second)),
			"Holding 1/2 500ms+10s, Holding 2/2 0s+10s"},
		"a short window settles for half": {usual(cold, lasting(600*time.Millisecond, 300*time.Millisecond)),
			"Holding 1/2 150ms+300ms, Holding 2/2 0s+300ms"},
		"a remainder is left out": {usual(cold, lasting(29*time.Second, 10*time.Second)),
			"Holding 1/2 500ms+10s, Holding 2/2 0s+10s"},
		"a short duration is one window": {usual(cold, lasting(4*time.Second, 10*time.Second)), "Holding 1/1 500ms+4s"},
		"no window: the whole duration":  {usual(cold, lasting(20*time.Second, 0)), "Holding 1/1 500ms+20s"},
		"nothing set":                    {constantload.New(plan.Procedure{}), "Holding 1/1 0s+0s"},
	} {
		if got := strings.Join(steps(c.procedure), ", "); got != c.want {
			t.Errorf("%s: %s\nwant %s", name, got, c.want)
		}
	}
}

func TestTheTimeItTakes(t *testing.T) {
	p := usual()
	if got, want := p.Bound(), (procedure.Bound{Steps: 6, Time: 55 * time.Second}); got != want ||
		p.Usual() != want.Time {
		t.Errorf("%+v, usually %s; want %+v", got, p.Usual(), want)
	}
	history, _ := CarryOut(t, p, Limited(Full))
	for n, want := range []int{55, 50, 40, 30, 20, 10, 0} {
		if got := p.Remaining(history[:n]); got != time.Duration(want)*time.Second {
			t.Errorf("after %d windows %s remain, want %ds", n, got, want)
		}
	}
	if got := usual(cold).Remaining(nil); got != 50500*time.Millisecond {
		t.Errorf("without a warm-up %s remain at first, want 50.5s", got)
	}
}

func TestWhatItSaysOfItself(t *testing.T) {
	p := usual(lasting(8*time.Hour, 10*time.Second))
	if got, want := p.Describe().Sentence, "hold 20kpps per direction for 8h0m0s in windows of 10s"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	rates := p.Rates()
	if rates.Full.Field != "constantLoad.rate" || rates.WarmUp != rates.Full || rates.Full.String() != "20kpps" {
		t.Errorf("%+v", rates)
	}
	if rates := usual(cold).Rates(); rates.WarmUp.Field != "" {
		t.Errorf("without a warm-up %+v", rates)
	}
}

// What is lost of a load is what the device, whose limit only the test knows, doesn't forward.
func TestADeviceOfAKnownLimit(t *testing.T) {
	for name, c := range map[string]struct {
		device  Device
		edits   []Edit
		reason  report.Reason
		worst   int // the window's number
		loss    string
		phrases []string
	}{
		"carries the load": {Limited(30_000), nil, report.TargetReached, 2, "0", []string{
			"50s at 20kpps per direction, in 5 windows that count", "west→east: all 1000000 frames came back",
			"the load was offered in full"}},
		"carries three quarters of it": {Limited(15_000), nil, report.LoadHeld, 2, "0.25", []string{
			"west→east: 250000 of 1000000 frames did not come back: 25 % lost",
			"the most in window 2: 25 % west→east"}},
		"loses frames in one window": {func(n int, asked float64) (float64, float64) {
			return asked, asked * (1 - float64(n/4%2)/10)
		}, nil, report.LoadHeld, 5, "0.04", []string{"the most in window 5: 10 % west→east"}},
		"is offered less than asked": {Limited(30_000).Throttled(5000), nil, report.GeneratorLimited, 2, "0", []string{
			"the generators offered only 5.00 kpps of 20.00 kpps asked for west→east: the figures are of that load"}},
		"is offered a little less, within the noise of a reading": {Limited(30_000).Throttled(19_900), nil,
			report.TargetReached, 2, "0", []string{"the load was offered in full"}},
		"is offered a little less than that": {Limited(30_000).Throttled(19_700), nil,
			report.GeneratorLimited, 2, "0", []string{"offered only 19.70 kpps"}},
		"is behind a generator that drops": {Limited(15_000),
			[]Edit{func(_ int, w *report.Window) { w.Directions[0].ReceiveErrors = 3 }}, report.LoadHeld, 2, "0.25",
			[]string{
				"25 % lost (the generators themselves dropped 15 that reached them)"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := usual()
			history, trace := CarryOut(t, p, c.device, c.edits...)
			got := p.Conclude(history)
			if len(history) != 6 || strings.Join(trace, "") != "the load was held for 50s" {
				t.Errorf("%d windows: %q", len(history), trace)
			}
			if got.Reason != c.reason || !got.Confirmed || got.Saturated || got.Whole == nil ||
				history[got.Window].Number != c.worst {
				t.Fatalf("%+v; want %s, confirmed, window %d", got, c.reason, c.worst)
			}
			if loss := got.Whole.Directions[0].LossRatio.String(); loss != c.loss {
				t.Errorf("lost %s, want %s", loss, c.loss)
			}
			for _, want := range c.phrases {
				if !strings.Contains(got.Sentence, want) {
					t.Errorf("%q does not say %q", got.Sentence, want)
				}
			}
		})
	}
}

// A hold of which windows say nothing was not held for as long as was asked for, whatever the other windows say.
func TestAHoldIsConfirmedForAsLongAsItWasAskedForOnly(t *testing.T) {
	surplus := func(_ int, w *report.Window) {
		if w.Quality == report.Invalid {
			w.Directions[1].Returned.Packets = w.Directions[1].Sent.Packets + 7000
		}
	}
	for name, c := range map[string]struct {
		edits   []Edit
		cause   string
		phrases string
	}{
		"two windows of five": {[]Edit{Void("link west was down", 2, 3)},
			"only 30s of 50s could be judged, as window 3 says nothing about the device (link west was down)",
			"30s at 20kpps per direction, in 3 windows that count"},
		"more comes back one way than was sent": {[]Edit{Void("link west was down", 2, 3), surplus}, "only 30s of 50s",
			"(window 3: link west was down), and 100000 frames missing there are not counted"},
		"all windows but one": {[]Edit{Void("link west was down", 1, 2, 3, 4)}, "only 10s of 50s",
			"10s at 20kpps per direction, in 1 window that counts"},
		"the last window": {[]Edit{Void("the window lasted 12s instead of 10s", 5)},
			"only 40s of 50s", "40s at 20kpps per direction, in 4 windows"},
	} {
		t.Run(name, func(t *testing.T) {
			p := usual()
			history, _ := CarryOut(t, p, Limited(15_000), c.edits...)
			got := p.Conclude(history)
			if got.Confirmed || !strings.Contains(got.NotHeld, c.cause) || !strings.Contains(got.Sentence, c.phrases) {
				t.Errorf("%+v; want it unconfirmed, %q, %q", got, c.cause, c.phrases)
			}
		})
	}
}

// inDoubt makes a window one that was counted correctly, while the generator sent in bursts or the machine was
// busy, so that nobody knows whose its loss is.
func inDoubt(n int, lost int64) Edit {
	return func(number int, w *report.Window) {
		if number != n {
			return
		}
		w.Evidence = &report.Evidence{Directions: make([]report.DirectionEvidence, len(w.Directions))}
		for i := range w.Directions {
			m := &w.Directions[i]
			m.Returned.Packets = m.Sent.Packets - lost
			m.LossRatio, m.LossRatioMin = units.RatioOf(lost, m.Sent.Packets), units.RatioOf(lost, m.Sent.Packets)
			m.Quality, m.Reason = report.Invalid, "the generator sent in bursts"
		}
		w.Quality = report.Invalid
	}
}

// Leaving out windows that a busy machine spoiled, and only those that lost frames, would make the device look
// better than it is.
func TestLossInDoubtCountsAsAnInterval(t *testing.T) {
	p := usual()
	history, _ := CarryOut(t, p, Limited(30_000), inDoubt(3, 20_000))
	c := p.Conclude(history)
	if c.NotHeld != "" || !c.Confirmed || c.Reason != report.Inconclusive {
		t.Fatalf("%+v", c)
	}
	if d := c.Whole.Directions[0]; d.LossRatioMin != 0 || d.MostLost() < units.One*2/100 ||
		d.Quality == report.Invalid || c.Whole.Duration.Std() != 50*time.Second {
		t.Errorf("of 1000000 frames 20000 may be lost, and may be the generator's: %+v", d)
	}
}

func TestAHoldOfWhichNothingCounts(t *testing.T) {
	p := usual()
	history, _ := CarryOut(t, p, Limited(15_000), Void("link west was down", 1, 2, 3, 4, 5))
	c := p.Conclude(history)
	if c.Reason != report.NotMeasured || c.Window != procedure.NoWindow || c.Confirmed || c.Whole != nil ||
		!strings.HasPrefix(c.Sentence, "5 windows say nothing about the device (window 2: ") {
		t.Errorf("%+v", c)
	}
}

func TestAHoldThatEndedEarly(t *testing.T) {
	p := usual()
	history, _ := CarryOut(t, p, Limited(15_000))
	c := p.Conclude(history[:3])
	if c.Finished || c.Reason != report.LoadHeld ||
		!strings.Contains(c.Sentence, "20s at 20kpps per direction, in 2 windows") {
		t.Errorf("%+v", c)
	}
	if c := p.Conclude(history[:1]); c.Reason != report.NotMeasured || c.Window != procedure.NoWindow ||
		c.Sentence != "" {
		t.Errorf("of the warm-up alone: %+v", c)
	}
}

func TestAWarmUpThatReturnsNothingEndsTheRun(t *testing.T) {
	p := usual()
	history, trace := CarryOut(t, p, Limited(0))
	c := p.Conclude(history)
	if len(history) != 1 || c.Reason != report.NotMeasured || c.Ending != trace[0] ||
		trace[0] != "warm-up: none of 100000 frames came back from west to east" {
		t.Errorf("%+v after %d windows: %q", c, len(history), trace)
	}
}

func TestPropertyAnyHistoryEnds(t *testing.T) {
	AnyHistoryEnds(t, func(rnd *rand.Rand) procedure.Procedure {
		return usual(lasting(time.Duration(rnd.IntN(100))*time.Second, time.Duration(rnd.IntN(20))*time.Second),
			func(c *plan.ConstantLoad) {
				c.WarmupDuration *= plan.Duration(rnd.IntN(2))
			})
	})
}
