package ramp_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
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

const target = 100_000 // packets per second of both directions in these tests

// rampOf is a usual ramp; options change what matters to a case.
func rampOf(options ...func(*plan.Procedure)) plan.Procedure {
	p := plan.Procedure{Type: "Ramp", MaxLossRatio: units.One / 1000, Ramp: plan.Ramp{
		WarmupDuration: plan.Duration(5 * time.Second), RampDuration: plan.Duration(40 * time.Second),
		StepDuration:   plan.Duration(2 * time.Second),
		SettleDuration: plan.Duration(500 * time.Millisecond), Precision: units.One / 200,
		ConfirmDuration: plan.Duration(10 * time.Second), StopAtSaturation: true,
	}}
	for _, o := range options {
		o(&p)
	}
	return p
}

func hold(d time.Duration) func(*plan.Procedure) {
	return func(p *plan.Procedure) { p.Ramp.HoldDuration = plan.Duration(d) }
}

func toTheTop(p *plan.Procedure) { p.Ramp.StopAtSaturation = false }

func refineTo(r units.Ratio) func(*plan.Procedure) {
	return func(p *plan.Procedure) { p.Ramp.Precision = r }
}

// device makes the windows that a generator and a device would give: a function of the load asked for, in
// packets per second.
type device func(step procedure.Step, asked float64) (offered, received float64)

// limited forwards at most so much; the saved-up burst is spent within a step.
func limited(limit, burst float64) device {
	return func(s procedure.Step, asked float64) (float64, float64) {
		excess := max(0, asked-limit)
		saved := burst - excess*s.Settle.Seconds()
		return asked, min(asked, limit+max(0, saved)/s.Judge.Seconds())
	}
}

// throttled is a generator that offers no more than fastest.
func (d device) throttled(fastest float64) device {
	return func(s procedure.Step, asked float64) (float64, float64) { return d(s, min(asked, fastest)) }
}

// window judges like measure does, without its edges.
func (d device) window(s procedure.Step, number int) report.Window {
	asked := target * float64(s.Load) / float64(units.One)
	if s.Phase == report.WarmUp {
		asked = 1000
	}
	w := report.Window{Number: number, Phase: s.Phase, Load: s.Load, Duration: plan.Duration(s.Judge),
		Quality: report.Good}
	offered, received := d(s, asked)
	for _, names := range [][2]string{{"west", "east"}, {"east", "west"}} {
		m := report.Direction{From: names[0], To: names[1], Intended: flow(asked), Offered: flow(offered),
			Received: flow(received), Quality: report.Good}
		m.Sent.Packets, m.Returned.Packets = int64(offered*s.Judge.Seconds()), int64(received*s.Judge.Seconds())
		m.LossRatio = units.RatioOf(m.Sent.Packets-m.Returned.Packets, m.Sent.Packets)
		switch {
		case m.LossRatio > units.One/1000:
			m.Quality = report.Lossy
		case m.LossRatio < -units.One/1000:
			m.Quality = report.Invalid
		case offered < asked*0.99:
			m.Quality = report.Short
		}
		w.Quality, w.Reason = m.Quality, fmt.Sprintf("%s lost", m.LossRatio.Percent().FormatFixed()+" %")
		w.Directions = append(w.Directions, m)
	}
	return w
}

func flow(pps float64) report.Flow { return report.Flow{PacketsPerSecond: int64(pps + 0.5)} }

// carryOut runs the procedure to its end against the device.
func carryOut(
	t *testing.T, p plan.Procedure, d device, edits ...func(*report.Window),
) (history []report.Window, trace []string) {
	t.Helper()
	var took time.Duration
	for range ramp.New(p).Bound().Steps + 1 {
		s := ramp.New(p).Next(history)
		if s.Reason != "" {
			trace = append(trace, s.Reason)
		}
		if s.End {
			if took > ramp.New(p).Bound().Time {
				t.Fatalf("took %s, more than the bound of %s", took, ramp.New(p).Bound().Time)
			}
			return history, trace
		}
		took += s.Settle + s.Judge
		w := d.window(s, len(history)+1)
		for _, edit := range edits {
			edit(&w)
		}
		history = append(history, w)
	}
	t.Fatalf("no end after %d steps:\n%s", len(history), strings.Join(trace, "\n"))
	return nil, nil
}

func TestTheStaircase(t *testing.T) {
	p := rampOf(hold(30 * time.Second))
	history, _ := carryOut(t, p, limited(1e9, 0))
	if got := history[0].Phase; got != report.WarmUp {
		t.Fatalf("the first window is %s, not the warm-up", got)
	}
	for k := 1; k <= 20; k++ {
		if got, want := history[k].Load, units.One*units.Ratio(k)/20; got != want ||
			history[k].Phase != report.Ramping {
			t.Errorf("step %d: %s at %s, want Ramping at %s", k, history[k].Phase, got, want)
		}
	}
	if got := history[21]; got.Phase != report.Hold || got.Load != units.One || len(history) != 22 {
		t.Errorf("after the staircase: %s at %s, %d windows; want the hold at the target to be the end", got.Phase,
			got.Load, len(history))
	}
	c := ramp.New(p).Conclude(history)
	if c.Reason != report.TargetReached || c.Saturated || !c.Confirmed || c.Window != 21 {
		t.Errorf("conclusion %+v", c)
	}
}

func TestThePublishedStaircase(t *testing.T) {
	p := rampOf(hold(30*time.Second), toTheTop, refineTo(0), func(p *plan.Procedure) {
		p.Ramp.RampDuration, p.Ramp.StepDuration, p.Ramp.ConfirmDuration = plan.Duration(10*time.Minute),
			plan.Duration(6*time.Second), 0
	})
	history, _ := carryOut(t, p, limited(50_000, 0))
	if len(history) != 1+100+1 {
		t.Fatalf("%d windows, want warm-up, 100 steps of 1 %% and the hold", len(history))
	}
	for k := 1; k <= 100; k++ {
		if got := history[k]; got.Load != units.One*units.Ratio(k)/100 ||
			got.Duration != plan.Duration(5500*time.Millisecond) {
			t.Errorf("step %d: %s for %s", k, got.Load, got.Duration.Std())
		}
	}
	c := ramp.New(p).Conclude(history)
	if !c.Saturated || c.Confirmed || c.Window != 50 || c.Lossy != 51 ||
		c.Resolution.Percent().FormatFixed() != "1.96" {
		t.Errorf("%+v", c)
	}
}

func TestTheSameHistoryGivesTheSameStep(t *testing.T) {
	p := rampOf()
	history, _ := carryOut(t, p, limited(31_000, 100))
	for n := range history {
		a, b := ramp.New(p).Next(history[:n]), ramp.New(p).Next(history[:n])
		if !reflect.DeepEqual(a, b) || a.End {
			t.Fatalf("after %d windows: %+v and %+v", n, a, b)
		}
	}
}

func TestTheRemainingTimeEnds(t *testing.T) {
	p := rampOf(hold(10 * time.Second))
	history, _ := carryOut(t, p, limited(31_000, 0))
	first, final := ramp.New(p).Remaining(nil), ramp.New(p).Remaining(history)
	if first < 55*time.Second || first > ramp.New(p).Bound().Time || final != 0 {
		t.Errorf("%s at first, %s at last, bound %s", first, final, ramp.New(p).Bound().Time)
	}
}

func TestAWarmUpThatReturnsNothingEndsTheRun(t *testing.T) {
	p := rampOf()
	history, trace := carryOut(t, p, func(_ procedure.Step, asked float64) (float64, float64) { return asked, 0 })
	c := ramp.New(p).Conclude(history)
	if c.Reason != report.NotMeasured || len(history) != 1 ||
		!strings.Contains(trace[0], "none of 4500 frames came back from west to east") {
		t.Errorf("%+v after %d windows: %v", c, len(history), trace)
	}
}

func TestAProcedureWithoutDurationsStillEnds(t *testing.T) {
	for name, p := range map[string]plan.Procedure{
		"nothing set":              {},
		"a settle longer than all": rampOf(func(p *plan.Procedure) { p.Ramp.SettleDuration = plan.Duration(time.Minute) }),
		"no warm-up":               rampOf(func(p *plan.Procedure) { p.Ramp.WarmupDuration = 0 }),
		"no refinement":            rampOf(refineTo(0)),
		"a target for no time":     rampOf(func(p *plan.Procedure) { p.Ramp.RampDuration = 0 }),
	} {
		for _, limit := range []float64{0.001, 10_000, 1e9} {
			history, trace := carryOut(t, p, limited(limit, 0))
			if !ramp.New(p).Conclude(history).Finished {
				t.Errorf("%s: %v", name, trace)
			}
		}
	}
}

// Whatever the windows say, the run ends within its bound, and what is concluded is one of the windows.
func TestPropertyAnyHistoryEnds(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	qualities := []report.Quality{report.Good, report.Short, report.Lossy, report.Invalid}
	for range tier.Times(250, 1000) {
		weights := []int{rnd.IntN(5), rnd.IntN(3), rnd.IntN(5), rnd.IntN(3)}
		p := rampOf(hold(time.Duration(rnd.IntN(2)) * 20 * time.Second))
		p.Ramp.StopAtSaturation = rnd.IntN(2) == 0
		orderly, knee := rnd.IntN(2) == 0, 1+rnd.IntN(20)
		p.MaxLossRatio *= units.Ratio(rnd.IntN(2))
		var history []report.Window
		var took time.Duration
		var trials int
		for {
			s := ramp.New(p).Next(history)
			if s.End {
				if s.Reason == "" {
					t.Fatalf("after %d windows the run ends and says no reason", len(history))
				}
				break
			}
			took += s.Settle + s.Judge
			w := limited(1e9, 0).window(s, len(history)+1)
			for i := range w.Directions {
				d := &w.Directions[i]
				d.Quality = qualities[pick(rnd, weights)]
				if s.Phase == report.Ramping && orderly {
					d.Quality = qualities[2*min(1, s.Number/knee)] // Good below the knee, Lossy above
				}
				if d.Quality == report.Lossy {
					d.LossRatio = units.Ratio(rnd.Int64N(int64(units.One)))
				}
				if s.Kind == procedure.Hold {
					d.EdgeFrames = rnd.Int64N(1000)
				}
			}
			history = append(history, w)
			if s.Kind == procedure.Trial {
				trials++
			}
			if b := ramp.New(p).Bound(); trials > b.Trials || s.Kind == procedure.Trial && s.Judge > b.Trial {
				t.Fatalf("%d trials, the last of %s; the bound is %+v", trials, s.Judge, b)
			}
			if len(history) > ramp.New(p).Bound().Steps || took > ramp.New(p).Bound().Time {
				t.Fatalf("%d windows in %s, at most %d in %s", len(history), took, ramp.New(p).Bound().Steps,
					ramp.New(p).Bound().Time)
			}
		}
		c := ramp.New(p).Conclude(history)
		if c.Window != procedure.NoWindow {
			for _, d := range history[c.Window].Directions {
				if d.Quality != report.Good && d.Quality != report.Short {
					t.Fatalf("the answer is a window that is %s", d.Quality)
				}
			}
		}
		if c.Saturated && (c.Lossy == procedure.NoWindow || c.Window == procedure.NoWindow ||
			history[c.Lossy].Load <= history[c.Window].Load) {
			t.Fatalf("saturated, but no lossy window lies above: %+v", c)
		}
	}
}

// pick draws an index with these weights; all zero: any.
func pick(rnd *rand.Rand, weights []int) int {
	sum := 0
	for _, w := range weights {
		sum += w
	}
	if sum == 0 {
		return rnd.IntN(len(weights))
	}
	n := rnd.IntN(sum)
	for i, w := range weights {
		if n < w {
			return i
		}
		n -= w
	}
	return 0
}

// TestPropertyAStumbleOfTheGeneratorIsNotTheLimit: in one or two windows anywhere the generator stands still,
// catches up in a burst, and the device loses some of that.
func TestPropertyAStumbleOfTheGeneratorIsNotTheLimit(t *testing.T) {
	p := rampOf()
	calm, _ := carryOut(t, p, limited(50_400, 0))
	for first := 1; first < len(calm); first++ {
		for second := first; second < first+4; second++ {
			n := 0
			history, trace := carryOut(t, p, func(s procedure.Step, asked float64) (float64, float64) {
				offered, received := limited(50_400, 0)(s, asked)
				if n++; n == first || n == second {
					return 0.94 * offered, min(received, 0.91*offered)
				}
				return offered, received
			})
			c := ramp.New(p).Conclude(history)
			if !c.Saturated || !c.Confirmed || len(history) > len(calm)+12 {
				t.Fatalf("stumbling in %d and %d: %d windows, %+v\n%s", first, second, len(history), c,
					strings.Join(trace, "\n"))
			}
			if got := history[c.Window].Directions[0].Received.PacketsPerSecond; got < 49_900 || got > 50_500 {
				t.Fatalf("stumbling in %d and %d: %d\n%s", first, second, got, strings.Join(trace, "\n"))
			}
		}
	}
}

func TestPropertyTheLimitIsFound(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range tier.Times(150, 500) {
		limit := target * (0.004 + 0.99*rnd.Float64())
		burst := limit * 0.1 * rnd.Float64() * rnd.Float64()
		p := rampOf(func(p *plan.Procedure) {
			p.Ramp.StopAtSaturation = rnd.IntN(2) == 0
			p.Ramp.HoldDuration = plan.Duration(rnd.IntN(2)) * plan.Duration(30*time.Second)
			p.Ramp.RampDuration = plan.Duration(2+rnd.IntN(200)) * plan.Duration(time.Second)
		})
		history, trace := carryOut(t, p, limited(limit, burst))
		c := ramp.New(p).Conclude(history)
		if !c.Saturated || !c.Confirmed || c.Reason != report.LossAboveLimit {
			t.Fatalf("limit %.0f burst %.0f: %+v\n%s", limit, burst, c, strings.Join(trace, "\n"))
		}
		got, lossy := history[c.Window], history[c.Lossy]
		ceiling := 1.002*limit + burst/10
		if rate := float64(got.Directions[0].Received.PacketsPerSecond); rate < limit*0.99-1 || rate > ceiling+1 {
			t.Fatalf("limit %.0f burst %.0f: found %.0f\n%s", limit, burst, rate, strings.Join(trace, "\n"))
		}
		if hi := float64(lossy.Directions[0].Offered.PacketsPerSecond); hi < limit-1 {
			t.Fatalf("limit %.0f burst %.0f: the lossy end of the bracket, %.0f, is below the limit", limit, burst, hi)
		}
	}
}

func TestPropertyAWeakGeneratorIsNoWeakDevice(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range tier.Times(150, 500) {
		limit := target * (0.1 + rnd.Float64())
		fastest := limit * (0.05 + 0.9*rnd.Float64())
		p := rampOf(hold(time.Duration(rnd.IntN(2)) * 30 * time.Second))
		history, trace := carryOut(t, p, limited(limit, 0).throttled(fastest))
		c := ramp.New(p).Conclude(history)
		reached := fastest >= target*0.99
		if c.Saturated || reached != (c.Reason == report.TargetReached) || !reached &&
			c.Reason != report.GeneratorLimited {
			t.Fatalf("limit %.0f, generator %.0f: %+v\n%s", limit, fastest, c, strings.Join(trace, "\n"))
		}
	}
}

// A generator that sends less than asked for limits the answer, unless other programs had its processors.
func TestWhoLimitsALoadThatWasNotOffered(t *testing.T) {
	heldUp := func(w *report.Window) {
		for i := range w.Directions {
			w.Directions[i].HeldUp = w.Directions[i].UnderOffered()
		}
	}
	oneWay := func(w *report.Window) {
		if len(w.Directions) > 1 {
			w.Directions[1].HeldUp = w.Directions[1].UnderOffered()
		}
	}
	for name, c := range map[string]struct {
		edit func(*report.Window)
		want report.Reason
	}{
		"the generator by itself":         {func(*report.Window) {}, report.GeneratorLimited},
		"others held it up":               {heldUp, report.MachineLimited},
		"others held it up in one of two": {oneWay, report.GeneratorLimited},
	} {
		t.Run(name, func(t *testing.T) {
			history, trace := carryOut(t, rampOf(), limited(1e9, 0).throttled(40_000), c.edit)
			if got := ramp.New(rampOf()).Conclude(history); got.Saturated || got.Reason != c.want {
				t.Errorf("%s, saturated %v\n%s", got.Reason, got.Saturated, strings.Join(trace, "\n"))
			}
		})
	}
}

// Windows that can't be judged when a load is held are no loss: the highest load that looked clean stays a lower bound.
func TestALoadThatCouldNotBeJudgedWhenHeldLeavesABound(t *testing.T) {
	edges := func(w *report.Window) {
		for i := range w.Directions {
			w.Directions[i].EdgeFrames = w.Directions[i].Sent.Packets / 100
		}
	}
	unclear := voidAt(func(units.Ratio) bool { return true })
	p := rampOf()
	history, trace := carryOut(t, p, limited(62_000, 0), edges, func(w *report.Window) {
		if w.Phase == report.Confirm || w.Phase == report.Refine {
			unclear(w)
		}
	})
	c := ramp.New(p).Conclude(history)
	if c.Window == procedure.NoWindow || c.Unproven || c.Confirmed {
		t.Errorf("%+v\n%s", c, strings.Join(trace, "\n"))
	}
}
