package observe

import (
	"fmt"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// sampled is a series of values at these times, in milliseconds.
func sampled(kind report.VitalKind, unit string, samples ...[2]float64) *series {
	s := &series{VitalSign: report.VitalSign{Name: "x", Unit: unit, Kind: kind}}
	for _, v := range samples {
		s.clocks = append(s.clocks, time.Hour+time.Duration(v[0]*float64(time.Millisecond)))
		s.doubts = append(s.doubts, 0)
		s.Samples = append(s.Samples, report.VitalSample{Time: plan.Duration(v[0] * float64(time.Millisecond)), Value: v[1]})
	}
	return s
}

// said is what is made of a window, in a line.
func said(o report.Observed) string {
	switch {
	case o.Mean == nil:
		return "missing: " + o.Missing
	case o.Min == nil:
		return fmt.Sprintf("%g %s over %s", *o.Mean, o.Unit, o.Over.Std())
	}
	return fmt.Sprintf("%g %s, %g to %g, over %s", *o.Mean, o.Unit, *o.Min, *o.Max, o.Over.Std())
}

func TestWhatASeriesWasInAWindow(t *testing.T) {
	gauge := func(samples ...[2]float64) *series { return sampled(report.Gauge, "°C", samples...) }
	counter := func(samples ...[2]float64) *series { return sampled(report.Counter, "packets", samples...) }
	for name, c := range map[string]struct {
		series   *series
		from, to time.Duration
		want     string
	}{
		"a gauge that is read often": {gauge([2]float64{900, 90}, [2]float64{1000, 40}, [2]float64{1500, 42}, [2]float64{2000, 47}, [2]float64{2100, 90}),
			time.Second, 2 * time.Second, "43 °C, 40 to 47, over 1s"},
		"a gauge that is read each 5 s, in the window": {gauge([2]float64{0, 40}, [2]float64{5000, 50}, [2]float64{10000, 60}),
			4500 * time.Millisecond, 5500 * time.Millisecond, "50 °C, 50 to 50, over 1s"},
		"a gauge that is read each 5 s, not in the window": {gauge([2]float64{0, 40}, [2]float64{5000, 50}, [2]float64{10000, 60}),
			7 * time.Second, 8 * time.Second, "missing: it was not read within the window; it was last 50 °C, 2s before"},
		"a gauge that was read just before the window, of another load": {gauge([2]float64{900, 40}),
			time.Second, 2 * time.Second, "missing: it was not read within the window; it was last 40 °C, 100ms before"},
		"a gauge that was first read after the window": {gauge([2]float64{2001, 40}),
			time.Second, 2 * time.Second, "missing: it was not read within the window, nor before"},
		"a gauge that nobody read": {gauge(), time.Second, 2 * time.Second, "missing: it was not read within the window, nor before"},

		"a counter that is read at the edges": {counter([2]float64{1000, 0}, [2]float64{1500, 50}, [2]float64{2000, 300}),
			time.Second, 2 * time.Second, "300 packets/s over 1s"},
		"a counter that is read nearer before the edges than after": {counter([2]float64{900, 0}, [2]float64{1300, 400}, [2]float64{1900, 1000}, [2]float64{2300, 9000}),
			time.Second, 2 * time.Second, "1000 packets/s over 1s"},
		"a counter that is read each 800 ms, in a window of 2 s": {counter([2]float64{600, 0}, [2]float64{1400, 800}, [2]float64{2200, 1600}, [2]float64{3000, 2400}),
			time.Second, 3 * time.Second, "1000 packets/s over 2.4s"},
		"a counter that is read each 800 ms, in a window of 200 ms: its rate would be of four times as long": {counter([2]float64{1700, 0}, [2]float64{2500, 800}),
			2 * time.Second, 2200 * time.Millisecond, "missing: it was not read within 50ms of the window's edges, a quarter of its length"},
		"a counter that is read often enough for a window of 200 ms": {counter([2]float64{1960, 0}, [2]float64{2060, 100}, [2]float64{2160, 200}, [2]float64{2260, 300}),
			2 * time.Second, 2200 * time.Millisecond, "1000 packets/s over 200ms"},
		"a counter that is read each 5 s, in a window of 3 s": {counter([2]float64{0, 0}, [2]float64{5000, 100}),
			2 * time.Second, 5 * time.Second, "missing: it was not read within 400ms of the window's edges"},
		"a counter that was cleared": {counter([2]float64{1000, 500}, [2]float64{2000, 0}),
			time.Second, 2 * time.Second, "missing: the counter went back: it was cleared, or what counts was restarted"},
		"a counter that was cleared, and is higher again by the end": {counter([2]float64{1000, 500}, [2]float64{1500, 0}, [2]float64{2000, 600}),
			time.Second, 2 * time.Second, "missing: the counter went back: it was cleared, or what counts was restarted"},
		"a counter that was cleared before the window": {counter([2]float64{500, 700}, [2]float64{1000, 0}, [2]float64{2000, 600}),
			time.Second, 2 * time.Second, "600 packets/s over 1s"},
		"a window without time": {counter([2]float64{1000, 0}, [2]float64{1001, 10}),
			time.Second, time.Second, "missing: it was read only once around the window, which is too short for it"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := said(c.series.join(c.from, c.to, reachOf(c.from, c.to))); got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
		})
	}
}

// TestARateIsMostlyOfItsWindow: whenever samples are taken, the time that a rate is of is between half and one and
// a half of the window's.
func TestARateIsMostlyOfItsWindow(t *testing.T) {
	joined := 0
	for _, window := range []time.Duration{200 * time.Millisecond, time.Second, 3 * time.Second} {
		for every := 10 * time.Millisecond; every < 2*window; every += 37 * time.Millisecond {
			for phase := time.Duration(0); phase < every; phase += every / 5 {
				s := sampled(report.Counter, "s")
				for at := phase; at < 10*time.Second; at += every {
					s.clocks, s.doubts, s.Samples = append(s.clocks, at), append(s.doubts, 0), append(s.Samples, report.VitalSample{Time: plan.Duration(at), Value: at.Seconds()})
				}
				o := s.join(2*time.Second, 2*time.Second+window, reachOf(0, window))
				if o.Missing != "" {
					continue
				}
				if joined++; o.Over.Std() < window/2 || o.Over.Std() > window*3/2 {
					t.Errorf("a window of %s, read each %s from %s: a rate over %s", window, every, phase, o.Over.Std())
				}
			}
		}
	}
	if joined == 0 {
		t.Error("nothing was ever read often enough")
	}
}

// TestALimitThatIsSlowToAnswer: whenever between question and answer a limit counted, its true rate is within what
// is said of it.
func TestALimitThatIsSlowToAnswer(t *testing.T) {
	const rate = 1000.0 // packets/s
	counted := func(at time.Duration) []report.Limiter {
		return []report.Limiter{{Passed: int64(rate * at.Seconds())}}
	}
	for _, slow := range []time.Duration{0, 2 * time.Millisecond, 200 * time.Millisecond} {
		for _, early := range []bool{true, false} {
			l := NewLog([]plan.Observer{{Name: "limit", Observed: plan.OfDUT, Type: plan.ObserveLimiter}}, Setup{Directions: []plan.Direction{{From: "west", To: "east"}}})
			for i, asked := range []time.Duration{time.Second, 2 * time.Second} {
				at := asked
				if early == (i == 0) { // the first as early and the last as late as can be, or the other way round
					at += slow
				}
				l.Add(Moment{At: asked + slow, Limited: counted(at), Asked: asked, Answered: asked + slow})
			}
			o := l.Window(time.Second+slow/2, 2*time.Second+slow/2)[0]
			if o.Mean == nil || *o.Mean-o.Unsure > rate+1e-6 || *o.Mean+o.Unsure < rate-1e-6 {
				t.Errorf("answered after %s: %+v, want %g in it", slow, o, rate)
			}
			if slow == 0 && o.Unsure != 0 || slow > 0 && o.Unsure <= 0 {
				t.Errorf("answered after %s: unsure by %g", slow, o.Unsure)
			}
		}
	}
	l := NewLog([]plan.Observer{{Name: "limit", Observed: plan.OfDUT, Type: plan.ObserveLimiter}}, Setup{Directions: []plan.Direction{{From: "west", To: "east"}}})
	for _, asked := range []time.Duration{time.Second, 1200 * time.Millisecond} {
		l.Add(Moment{At: asked + 300*time.Millisecond, Limited: counted(asked), Asked: asked, Answered: asked + 300*time.Millisecond})
	}
	if o := l.Window(1150*time.Millisecond, 1350*time.Millisecond)[0]; o.Mean != nil || o.Missing == "" {
		t.Errorf("asked for longer than the window lasts: %+v", o)
	}
}
