package backtoback_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/procedure/backtoback"
	"github.com/linerate-dev/linerate/internal/units"
	. "github.com/linerate-dev/linerate/test/rigs/proceduretest"
	"github.com/linerate-dev/linerate/test/rigs/tier"
)

// bursts are usual ones, asked for at Full: five searches after a trial of ten seconds.
func bursts(options ...func(*plan.BackToBack)) backtoback.BackToBack {
	b := plan.BackToBack{Rate: units.Rate{Kind: units.Packets, Micros: Full * 1_000_000},
		WarmupDuration: plan.Duration(time.Second), TrialDuration: plan.Duration(10 * time.Second),
		MaxBurstDuration: plan.Duration(2 * time.Second), Resolution: units.One / 100, Repetitions: 5}
	for _, o := range options {
		o(&b)
	}
	return backtoback.New(plan.Procedure{Type: plan.TypeBackToBack, BackToBack: &b})
}

func repeated(n int) func(*plan.BackToBack) {
	return func(b *plan.BackToBack) { b.Repetitions = n }
}

func resolved(r units.Ratio) func(*plan.BackToBack) {
	return func(b *plan.BackToBack) { b.Resolution = r }
}

// queue is a device that forwards at a rate and holds so many frames, behind a generator that sends no faster
// than fastest.
type queue struct {
	rate, fastest float64
	depth         int64
	untold        bool          // how fast a burst is sent
	squeezed      time.Duration // by how much less time a burst takes than at the rate of the trial, which nobody tells
	// so many times as long a burst takes as at the rate of the trial, by what the generator says; 0: once
	stretched int
}

// shows is what a direction shows of a step, asked for at a rate.
func (q queue) shows(s procedure.Step, direction int, asked float64) report.Direction {
	offered, lasts := min(asked, q.fastest), s.Judge.Seconds()
	m := report.Direction{Intended: report.Flow{PacketsPerSecond: int64(asked)},
		Offered: report.Flow{PacketsPerSecond: int64(offered)}, Quality: report.Good}
	if s.Frames != nil {
		lasts = float64(s.Frames[direction]) / offered
		lasts -= min(lasts, q.squeezed.Seconds())
		m.Burst = &report.SentBurst{Frames: s.Frames[direction]}
		if !q.untold {
			m.Burst.Sending = plan.Duration(lasts*1e9) * plan.Duration(max(1, q.stretched))
		}
	}
	m.Sent.Packets = int64(offered*lasts + 0.5)
	if s.Frames != nil {
		m.Sent.Packets = s.Frames[direction]
	}
	m.Returned.Packets = min(m.Sent.Packets, int64(q.rate*lasts)+q.depth)
	m.LossRatioMin = units.RatioOf(m.Sent.Packets-m.Returned.Packets, m.Sent.Packets)
	switch {
	case m.Sent.Packets > m.Returned.Packets:
		m.Quality = report.Lossy
	case offered < asked*0.99:
		m.Quality = report.Short
	}
	return m
}

// carryOut carries a procedure out against a device in each direction.
func carryOut(t *testing.T, p procedure.Procedure, outward, homeward queue, edits ...Edit) []report.Window {
	t.Helper()
	history, _ := CarryOutBy(t, p, func(s procedure.Step, n int) report.Window {
		w := report.Window{Number: n + 1, Phase: s.Phase, Load: s.Load, Duration: plan.Duration(s.Judge),
			Quality: report.Good}
		for i, q := range []queue{outward, homeward} {
			m := q.shows(s, i, Full)
			m.From, m.To = []string{"west", "east"}[i], []string{"east", "west"}[i]
			w.Directions = append(w.Directions, m)
		}
		for _, edit := range edits {
			edit(n, &w)
		}
		return w
	})
	return history
}

// encloses says that an interval has the truth in it, give or take a frame at either end.
func encloses(f backtoback.Interval, truth, slack float64) bool {
	return f.Low.Float() <= truth+slack && f.High.Float() >= truth-slack
}

// Whatever the device forwards and holds, which the procedure doesn't know, and however fast the generator is, each
// direction's figures enclose that.
func TestTheIntervalHasTheDevicesTruthInIt(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range tier.Times(150, 3000) {
		fastest := Full * (0.2 + rnd.Float64())
		sent := min(Full, fastest)
		drawn := func() queue {
			return queue{rate: sent * (0.02 + 0.95*rnd.Float64()), fastest: fastest,
				depth: int64(math.Exp(rnd.Float64() * 8))}
		}
		devices := [2]queue{drawn(), drawn()}
		resolution := units.Ratio(float64(units.One) * math.Exp(-2-4*rnd.Float64()))
		p := bursts(repeated(1+rnd.IntN(4)), resolved(resolution))
		history := carryOut(t, p, devices[0], devices[1])
		c, shown := p.Conclude(history), backtoback.Shown(p, history)
		if answers := shown[0] != nil || shown[1] != nil; !c.Finished ||
			answers != (c.Reason == report.BurstsMeasured) {
			t.Fatalf("%+v", c)
		}
		for i, q := range devices {
			f, longest := shown[i], float64(q.depth)/(1-q.rate/sent)
			// longer than the trial of ten seconds, and than the longest burst allowed
			if fits := longest > sent*9.99; fits && f == nil || longest > sent*1.99 && f != nil {
				continue
			}
			if f == nil {
				t.Fatalf("%+v behind %.0f/s: a trial of 10 s fills the buffer, and there is no answer: %+v", q, fastest,
					c)
			}
			slack := 3 + 2/(1-q.rate/sent) // whole frames: of those forwarded, sent and held
			if !encloses(f.Frames, longest, slack) || !encloses(f.Buffer, float64(q.depth), 3+float64(q.depth)/100) {
				t.Fatalf("%+v behind %.0f/s at resolution %s: %+v, want bursts of %.1f frames", q, fastest, resolution,
					f, longest)
			}
			if width := f.Frames.High.Float() - f.Frames.Low.Float(); width > 1+
				resolution.Float()*f.Frames.High.Float() {
				t.Fatalf("%+v: the ends lie %.1f frames apart", f, width)
			}
			if want := float64(q.depth) / sent * 1e6; math.Abs(f.BufferMicroseconds.Low.Float()-want) > want*(0.01+
				resolution.Float())+4e6/sent {
				t.Fatalf("%+v: the buffer takes %s µs, want %.0f", q, f.BufferMicroseconds.Low, want)
			}
		}
	}
}

// A TRex doesn't report the time of a burst. It begins late and sends at once what it missed, up to 1.4 ms: a
// device that holds 269 frames was said to hold 263.
func TestTheBufferIsEnclosedWhereBurstsAreSqueezedAndNobodyTells(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for range 50 {
		q := queue{rate: Full * (0.1 + 0.8*rnd.Float64()), fastest: 1e9, depth: 100 + rnd.Int64N(2000), untold: true,
			squeezed: time.Duration(rnd.Int64N(int64(1500 * time.Microsecond)))}
		p := bursts()
		f := backtoback.Shown(p, carryOut(t, p, q, q))[0]
		if f == nil || !encloses(f.Buffer, float64(q.depth), 2) {
			t.Errorf("%+v: %+v", q, f)
		}
		if width := f.Buffer.High.Float() - f.Buffer.Low.Float(); width > 2+f.Frames.High.Float()/100+q.rate*0.002 {
			t.Errorf("%+v: the ends lie %.1f frames apart", q, width)
		}
	}
}

// The frames that a burst lost tell where the end lies.
func TestASearchTakesFewBursts(t *testing.T) {
	q := queue{rate: 10_000, fastest: 1e9, depth: 700}
	p := bursts(repeated(10))
	searches := backtoback.Shown(p, carryOut(t, p, q, q))[0].Searches
	took := 0
	for _, s := range searches {
		took += s.Bursts
	}
	if took > 40 { // 2 each where the device is always the same, and some more for the first
		t.Errorf("%d bursts in 10 searches: %+v", took, searches)
	}
}

func TestWhatIsClaimed(t *testing.T) {
	weak := queue{rate: 9000, fastest: 8000, depth: 100}
	fast := queue{rate: 30_000, fastest: 1e9}
	limited := queue{rate: 10_000, fastest: 1e9, depth: 500}
	deep := queue{rate: 10_000, fastest: 1e9, depth: 1 << 30}
	untold := queue{rate: 10_000, fastest: 1e9, depth: 500, untold: true}
	slower := queue{rate: 10_000, fastest: 1e9, depth: 500, stretched: 3}
	for name, c := range map[string]struct {
		procedure         backtoback.BackToBack
		outward, homeward queue
		edits             []Edit
		reason            report.Reason
		sentence          string // a part of it
		shown             [2]bool
	}{
		"a generator that is slower than the device": {bursts(), weak, weak, nil, report.GeneratorLimited,
			"west→east: no answer: the generators send 8.00 kpps of 20.00 kpps asked for", [2]bool{}},
		"a device that carries all": {bursts(), fast, fast, nil, report.TargetReached,
			"east→west: at 20.00 kpps the device lost none of 200,000 frames in a trial of 10s", [2]bool{}},
		"one direction that carries all": {bursts(), limited, fast, nil, report.BurstsMeasured,
			"east→west: at 20.00 kpps the device lost none of 200,000 frames in a trial of 10s, so that no burst up " +
				"to that long at this rate fills its buffer", [2]bool{true, false}},
		"a limit and a buffer": {bursts(), limited, limited, nil, report.BurstsMeasured,
			"sent at 20.00 kpps, and forwarded at 10.00 kpps meanwhile: the device held 49", [2]bool{true, true}},
		"bursts whose rate nobody tells": {bursts(), untold, untold, nil, report.BurstsMeasured,
			"sent at 20.00 kpps (the trial's rate, as the generators don't report that of a burst)",
			[2]bool{true, true}},
		"a generator below what was asked for": {bursts(), queue{rate: 9000, fastest: 15_000, depth: 300}, limited, nil,
			report.BurstsMeasured, "west→east: bursts of 74", [2]bool{true, true}},
		"a search that was given up": {bursts(repeated(2)), limited, limited,
			[]Edit{Void("link west was down", 2, 3, 4, 5)}, report.BurstsMeasured,
			"1 search could not be finished, as bursts could not be judged", [2]bool{true, true}},
		"only searches that were given up": {bursts(repeated(1)), limited, limited,
			[]Edit{Void("link west was down", 2, 3, 4, 5)}, report.BurstsMeasured,
			"no search for the longest burst without loss was finished", [2]bool{}},
		"a throughput that was given": {bursts(func(b *plan.BackToBack) {
			b.Throughput = units.Rate{Kind: units.Packets, Micros: 12_000 * 1_000_000}
		}), limited, limited, nil, report.BurstsMeasured,
			"forwarded at 12.00 kpps meanwhile: the device held 39", [2]bool{true, true}},
		"a throughput above the bursts' " +
			"rate": {bursts(func(b *plan.BackToBack) {
			b.Throughput = units.Rate{Kind: units.Packets, Micros: 20_000 * 1_000_000}
		}), limited, limited, nil, report.BurstsMeasured,
			"the throughput given, 20kpps, isn't below that", [2]bool{true, true}},
		"bursts that send all that the trial brought": {bursts(), limited, limited, []Edit{broughtOnly(500)},
			report.BurstsMeasured,
			"how fast the device forwards meanwhile, and so how much it holds, is unknown", [2]bool{true, true}},
		"bursts that are sent slower than the trial": {bursts(), slower, slower, nil, report.BurstsMeasured,
			"what the device forwards meanwhile isn't below that, so what it holds is unknown", [2]bool{true, true}},
		"longest bursts that lose nothing, though the trial did": {bursts(func(b *plan.BackToBack) {
			b.TrialDuration, b.MaxBurstDuration = plan.Duration(time.Hour), plan.Duration(time.Second)
		}), queue{rate: 10_000, fastest: 1e9, depth: 20_000}, queue{rate: 10_000, fastest: 1e9, depth: 20_000}, nil,
			report.BurstsMeasured, "nor did the longest burst allowed: a lower bound", [2]bool{true, true}},
		"a buffer that no trial fills": {bursts(), deep, deep, nil, report.TargetReached, "", [2]bool{}},
	} {
		t.Run(name, func(t *testing.T) {
			history := carryOut(t, c.procedure, c.outward, c.homeward, c.edits...)
			got, bursts := c.procedure.Conclude(history), backtoback.Shown(c.procedure, history)
			if got.Reason != c.reason || !strings.Contains(got.Sentence, c.sentence) || !got.Finished {
				t.Errorf("%s: %s\nwant %s: … %s …", got.Reason, got.Sentence, c.reason, c.sentence)
			}
			for i, shown := range c.shown {
				if (bursts[i] != nil) != shown {
					t.Errorf("direction %d: %+v", i, bursts[i])
				}
			}
		})
	}
}

// broughtOnly makes the trial bring so few frames in each direction.
func broughtOnly(frames int64) Edit {
	return func(n int, w *report.Window) {
		for i := range w.Directions {
			if n == 1 {
				w.Directions[i].Returned.Packets = frames
			}
		}
	}
}

func TestWhatCannotBeToldIsNoBuffer(t *testing.T) {
	q := queue{rate: 10_000, fastest: 1e9, depth: 500}
	p := bursts()
	for _, f := range backtoback.Shown(p, carryOut(t, p, q, q, broughtOnly(500))) {
		if f.ForwardedPacketsPerSecond != "" || f.Buffer != (backtoback.Interval{}) ||
			f.BufferMicroseconds != (backtoback.Interval{}) || f.Frames.Low == "" || f.ImpliedMicroseconds.Low == "" {
			t.Errorf("%+v", f)
		}
	}
}

// Where a burst lost nothing and one that is a frame longer lost some, both ends are the same.
func TestASearchToTheFrameHasNoWidth(t *testing.T) {
	p := bursts(resolved(1))
	q := queue{rate: 10_000, fastest: 1e9, depth: 40}
	for _, f := range backtoback.Shown(p, carryOut(t, p, q, q)) {
		for _, s := range f.Searches {
			if s.Lossy != s.Clean+1 {
				t.Fatalf("%+v is no search to the frame", s)
			}
		}
		if f.Frames.Low != f.Frames.High || f.Buffer.Low != f.Buffer.High {
			t.Errorf("%+v", f)
		}
	}
}

// Where the longest burst allowed lost nothing, nothing says how long a burst may be at most, and what the device
// holds.
func TestAnOpenEndIsNoBound(t *testing.T) {
	p := bursts(func(b *plan.BackToBack) {
		b.TrialDuration, b.MaxBurstDuration = plan.Duration(time.Hour), plan.Duration(time.Second)
	})
	q := queue{rate: 10_000, fastest: 1e9, depth: 20_000}
	for _, f := range backtoback.Shown(p, carryOut(t, p, q, q)) {
		if f.Frames.Low != "20000" || f.Frames.High != "" || f.ImpliedMicroseconds.High != "" || f.Buffer.High != "" ||
			f.BufferMicroseconds.High != "" {
			t.Errorf("%+v", f)
		}
	}
}

// Frames that reached the generator and found no room there say how fast the device forwards, as those that it took.
func TestWhatTheGeneratorDroppedWasForwarded(t *testing.T) {
	p := bursts()
	q := queue{rate: 10_000, fastest: 1e9, depth: 500}
	measured := backtoback.Shown(p, carryOut(t, p, q, q))[0]
	dropped := backtoback.Shown(p, carryOut(t, p, q, q, func(n int, w *report.Window) {
		if d := &w.Directions[0]; n == 1 {
			d.Returned.Packets, d.ReceiveErrors = d.Returned.Packets-30_000, 30_000
		}
	}))[0]
	if measured.ForwardedPacketsPerSecond != dropped.ForwardedPacketsPerSecond || measured.Buffer != dropped.Buffer {
		t.Errorf("%+v, and where the generator dropped some %+v", measured, dropped)
	}
}

// TestBurstsOfWhichSomeAreNotTimed were sent at the trial's rate, as far as anybody knows: the others' times
// are not theirs.
func TestBurstsOfWhichSomeAreNotTimed(t *testing.T) {
	p := bursts()
	q := queue{rate: 10_000, fastest: 1e9, depth: 500}
	first := backtoback.Shown(p, carryOut(t, p, q, q))[0].Searches[0].Bursts
	shown := backtoback.Shown(p, carryOut(t, p, q, q, func(n int, w *report.Window) {
		for i := range w.Directions {
			if b := w.Directions[i].Burst; b != nil && n < 2+first {
				b.Sending = 0
			}
		}
	}))
	for _, f := range shown {
		if f.Timed || f.OfferedPacketsPerSecond != "20000" {
			t.Errorf("%+v", f)
		}
	}
}

func TestSearchesThatWereGivenUpAreCounted(t *testing.T) {
	p := bursts(repeated(2))
	q := queue{rate: 10_000, fastest: 1e9, depth: 500}
	history := carryOut(t, p, q, q, Void("link west was down", 2, 3, 4, 5))
	for _, f := range backtoback.Shown(p, history) {
		if len(f.Searches) != 1 {
			t.Errorf("%+v", f)
		}
	}
	if c := p.Conclude(history); !strings.Contains(c.Sentence, "1 search could not be finished") {
		t.Errorf("%s", c.Sentence)
	}
}

// A direction without a search sends for as long as the other one.
func TestADirectionWithoutASearchKeepsTheDeviceAsBusy(t *testing.T) {
	p := bursts()
	for _, w := range carryOut(t, p, queue{rate: 10_000, fastest: 1e9, depth: 500},
		queue{rate: 30_000, fastest: 1e9})[2:] {
		if outward, homeward := w.Directions[0].Burst.Frames, w.Directions[1].Burst.Frames; outward-homeward > 1 ||
			homeward-outward > 1 {
			t.Errorf("window %d: %d frames one way, and %d back, at the same rate", w.Number, outward, homeward)
		}
	}
}

func TestATrialThatCouldNotBeJudged(t *testing.T) {
	q := queue{rate: 10_000, fastest: 1e9, depth: 500}
	p := bursts()
	history := carryOut(t, p, q, q, Void("link west was down", 1, 2, 3, 4))
	if c := p.Conclude(history); len(history) != 4 || c.Reason != report.NotMeasured ||
		c.Ending != "the trial before the bursts could not be judged, however often repeated: link west was down" {
		t.Errorf("%d windows: %+v", len(history), c)
	}
}

func TestAWarmUpThatReturnsNothingEndsTheRun(t *testing.T) {
	q := queue{fastest: 1e9}
	p := bursts()
	history := carryOut(t, p, q, q)
	if c := p.Conclude(history); len(history) != 1 || c.Reason != report.NotMeasured ||
		c.Ending != "warm-up: none of 20000 frames came back from west to east" {
		t.Errorf("%d windows: %+v", len(history), c)
	}
}

func TestWhatItSaysOfItself(t *testing.T) {
	p := bursts()
	if got, want := p.Describe().Sentence, "back-to-back frames: a trial of 10s at 20kpps per direction, then 5 "+
		"searches for the longest burst without loss, of 2s at most"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if p.Usual() != 41*time.Second || !p.Bound().OnlyTrials() {
		t.Errorf("usually %s, at most %+v", p.Usual(), p.Bound())
	}
	if d := backtoback.New(plan.Procedure{}).Describe(); d.Sentence != "" {
		t.Errorf("of nothing: %+v", d)
	}
}

func TestPropertyAnyHistoryEnds(t *testing.T) {
	AnyHistoryEnds(t, func(rnd *rand.Rand) procedure.Procedure {
		return bursts(repeated(rnd.IntN(3)), resolved(units.Ratio(float64(units.One)*math.Exp(-1-8*rnd.Float64()))),
			func(b *plan.BackToBack) { b.WarmupDuration *= plan.Duration(rnd.IntN(2)) })
	})
}
