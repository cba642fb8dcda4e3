package proceduretest

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/tier"
)

// Device is what a generator and a device make of a load, in packets per second of one direction. Window counts from 0.
type Device func(window int, asked float64) (offered, received float64)

// Limited forwards at most this rate.
func Limited(limit float64) Device {
	return func(_ int, asked float64) (float64, float64) { return asked, min(asked, limit) }
}

// Throttled is the device behind a generator that offers no more than most.
func (d Device) Throttled(capacity float64) Device {
	return func(n int, asked float64) (float64, float64) { return d(n, min(asked, capacity)) }
}

// Edit disturbs a window after it was measured. Window counts from 0.
type Edit func(window int, w *report.Window)

// Void makes the windows Invalid, for the reason.
func Void(reason string, windows ...int) Edit {
	return func(n int, w *report.Window) {
		for _, v := range windows {
			if v == n {
				w.Quality, w.Reason = report.Invalid, reason
				for i := range w.Directions {
					w.Directions[i].Quality, w.Directions[i].Reason = report.Invalid, reason
				}
			}
		}
	}
}

// Full is what a load of one is in these tests, in packets per second of each direction.
const Full = 20_000

// Window is what a step shows of a device that does the same in both directions, judged like measure does at a limit
// of 0.1 %, without edges.
func Window(d Device, s procedure.Step, n int) report.Window {
	return pair([2]Device{d, d}).Window(s, n)
}

// pair makes one device of one function from west to east, and another one back.
func pair(devices [2]Device) Paired {
	return func(n int, asked [2]float64) (offered, received [2]float64) {
		for i, d := range devices {
			offered[i], received[i] = d(n, asked[i])
		}
		return offered, received
	}
}

// Paired is what a generator and a device make of the loads of two directions at once, west→east and east→west,
// all in packets per second. Window counts from 0.
type Paired func(window int, asked [2]float64) (offered, received [2]float64)

// Window is what a step shows of the device, judged in the same way.
func (d Paired) Window(s procedure.Step, n int) report.Window {
	w := report.Window{Number: n + 1, Phase: s.Phase, Load: s.Load, Varied: s.Varied,
		Start: plan.Duration(n) * plan.Duration(time.Minute), Duration: plan.Duration(s.Judge),
		Quality: report.Good, GeneratorCPUPercent: -1}
	asked := [2]float64{Full * float64(s.LoadOf(0)) / float64(units.One),
		Full * float64(s.LoadOf(1)) / float64(units.One)}
	offered, received := d(n, asked)
	for i, names := range [][2]string{{"west", "east"}, {"east", "west"}} {
		m := report.Direction{From: names[0], To: names[1], Intended: flow(asked[i]), Offered: flow(offered[i]),
			Received: flow(received[i]), Quality: report.Good}
		m.Sent.Packets, m.Returned.Packets = int64(offered[i]*s.Judge.Seconds()+0.5),
			int64(received[i]*s.Judge.Seconds()+0.5)
		if i < len(s.Frames) {
			m.Burst = &report.SentBurst{Frames: s.Frames[i]}
			m.Sent.Packets, m.Returned.Packets = s.Frames[i], int64(float64(s.Frames[i])*received[i]/max(1, offered[i]))
		}
		m.LossRatio = units.RatioOf(m.Sent.Packets-m.Returned.Packets, m.Sent.Packets)
		m.LossRatioMin = m.LossRatio
		m.Reason = fmt.Sprintf("%s %% lost", m.LossRatio.Percent())
		switch {
		case s.Varied != "" && s.Varied != m.Name():
			m.Quality = report.Unjudged
		case m.LossRatio > units.One/1000:
			m.Quality = report.Lossy
		case offered[i] < asked[i]*0.99:
			m.Quality = report.Short
		}
		w.Directions = append(w.Directions, m)
	}
	w.Quality, w.Reason = measure.Worst(w.Directions)
	return w
}

func flow(pps float64) report.Flow { return report.Flow{PacketsPerSecond: int64(pps + 0.5)} }

// CarryOut carries the procedure out to its end, within its bound, and returns the windows and the reasons that
// steps gave. With every step it checks what all procedures promise.
func CarryOut(t *testing.T, p procedure.Procedure, d Device, edits ...Edit) (history []report.Window, trace []string) {
	t.Helper()
	return CarryOutOf(t, p, [2]Device{d, d}, edits...)
}

// CarryOutOf is CarryOut against a device that is one function from west to east, and another one back.
func CarryOutOf(
	t *testing.T, p procedure.Procedure, devices [2]Device, edits ...Edit,
) (history []report.Window, trace []string) {
	t.Helper()
	return CarryOutBoth(t, p, pair(devices), edits...)
}

// CarryOutBoth is CarryOut against a device whose directions may share what it has.
func CarryOutBoth(
	t *testing.T, p procedure.Procedure, d Paired, edits ...Edit,
) (history []report.Window, trace []string) {
	t.Helper()
	return CarryOutBy(t, p, func(s procedure.Step, n int) report.Window {
		w := d.Window(s, n)
		for _, edit := range edits {
			edit(n, &w)
		}
		return w
	})
}

// Measure is what a step shows. Window counts from 0.
type Measure func(s procedure.Step, window int) report.Window

// CarryOutBy is CarryOut where the test itself measures the windows.
func CarryOutBy(t *testing.T, p procedure.Procedure, measured Measure) (history []report.Window, trace []string) {
	t.Helper()
	bound, took, trials, rests := p.Bound(), time.Duration(0), 0, 0
	for {
		s := p.Next(history)
		check(t, p, s, history)
		if s.Reason != "" {
			trace = append(trace, s.Reason)
		}
		if s.End {
			return history, trace
		}
		took += s.Settle + s.Judge
		history = append(history, measured(s, len(history)))
		if s.Kind == procedure.Trial {
			trials++
		}
		if s.Rested {
			rests++
		}
		if len(history) > bound.Steps || rests > bound.Rests || took > bound.Time || trials > bound.Trials ||
			s.Kind == procedure.Trial && s.Judge > bound.Trial {
			t.Fatalf("%d steps in %s, %d of them trials, the last of %s, and %d from rest; the bound is %+v\n%v",
				len(history), took, trials, s.Judge, rests, bound, trace)
		}
	}
}

// check tests what every procedure promises at any moment. The same history gives the same step, what remains is
// within the bound, nothing remains at the end, and the windows of a conclusion are in the history.
func check(t *testing.T, p procedure.Procedure, s procedure.Step, history []report.Window) {
	t.Helper()
	if repeated := p.Next(history); !reflect.DeepEqual(s, repeated) {
		t.Fatalf("after %d windows %+v, asked again %+v", len(history), s, repeated)
	}
	if remaining := p.Remaining(history); remaining < 0 || remaining > p.Bound().Time || s.End && remaining > 0 ||
		s.Judge > 0 && remaining == 0 {
		t.Fatalf("after %d windows %s remain of %s, and the next step is %+v", len(history), remaining, p.Bound().Time,
			s)
	}
	c := p.Conclude(history)
	if complete := s.End || s.Optional; c.Finished != complete {
		t.Fatalf("after %d windows, the next step being %+v: %+v", len(history), s, c)
	}
	checkConclusion(t, c, len(history))
	if s.End != (s.Kind == "") || s.End && s.Judge != 0 {
		t.Fatalf("after %d windows: %+v", len(history), s)
	}
}

// checkConclusion is that the windows of a conclusion, and of each direction's own, are in the history.
func checkConclusion(t *testing.T, c procedure.Conclusion, windows int) {
	t.Helper()
	if c.Window < procedure.NoWindow || c.Window >= windows || c.Lossy < procedure.NoWindow || c.Lossy >= windows {
		t.Fatalf("after %d windows: %+v", windows, c)
	}
	for _, d := range c.Directions {
		if d.Window < procedure.NoWindow || d.Window >= windows || d.Lossy < procedure.NoWindow || d.Lossy >= windows ||
			d.Saturated && d.Lossy == procedure.NoWindow {
			t.Fatalf("after %d windows a direction is concluded as %+v", windows, d)
		}
	}
}

// AnyHistoryEnds proves that a procedure ends within its bound after any windows, also after windows without
// directions. Each run draws a procedure.
func AnyHistoryEnds(t *testing.T, drawn func(*rand.Rand) procedure.Procedure) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(5, 6))
	qualities := []report.Quality{report.Good, report.Short, report.Lossy, report.Invalid, ""}
	for range tier.Times(50, 500) { // some hundred steps a run; 500 runs take all procedures a minute of processor time
		p, variety := drawn(rnd), 1+rnd.IntN(len(qualities))
		windowOf := func(s procedure.Step, n int) report.Window {
			w := Window(Limited(Full*rnd.Float64()), s, n)
			w.Directions = w.Directions[:rnd.IntN(3)]
			w.Quality = qualities[rnd.IntN(variety)]
			for i := range w.Directions {
				w.Directions[i].Quality = qualities[rnd.IntN(variety)]
				w.Directions[i].Sent.Packets *= rnd.Int64N(3)
			}
			return w
		}
		history, _ := CarryOutBy(t, p, windowOf)
		// A history that no step asked for has more windows than there are steps, of other phases.
		for range 3 {
			w := windowOf(procedure.Step{Phase: report.Ramping, Load: units.Ratio(rnd.Int64N(int64(units.One)))},
				len(history))
			history = append([]report.Window{w}, history...)
			p.Next(history)
			p.Remaining(history)
			p.Conclude(history)
		}
	}
}
