package ramp_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/procedure/ramp"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/pages/published"
	"github.com/linerate-dev/linerate/test/rigs/tier"
)

var update = flag.Bool("update", false, "count the table of docs/measured/simulated-searches.md from 2 000 runs a "+
	"row, and write it")

// losing loses that share more of what is sent, in windows that are asked about.
func (d device) losing(share float64, affects func(procedure.Step) bool) device {
	return func(s procedure.Step, asked float64) (float64, float64) {
		offered, received := d(s, asked)
		if affects(s) {
			received = min(received, (1-share)*offered)
		}
		return offered, received
	}
}

// tired carries less than d where it is loaded for five seconds and more.
func (d device) tired(limit float64) device {
	return func(s procedure.Step, asked float64) (float64, float64) {
		offered, received := d(s, asked)
		if s.Judge >= 5*time.Second {
			received = min(received, limit)
		}
		return offered, received
	}
}

// heldNumbers says of each long look at a load which one it is, from 1.
func heldNumbers(numbers ...int) func(procedure.Step) bool {
	n := 0
	return func(s procedure.Step) bool {
		if s.Judge < 5*time.Second || s.Phase == report.WarmUp {
			return false
		}
		n++
		for _, w := range numbers {
			if n == w {
				return true
			}
		}
		return false
	}
}

func receivedAt(history []report.Window, c procedure.Conclusion) float64 {
	return float64(history[c.Window].Directions[0].Received.PacketsPerSecond)
}

func TestALongWindowThatLosesFrames(t *testing.T) {
	p := rampOf()
	t.Run("is looked at again, outvoted by two that don't, and told", func(t *testing.T) {
		history, trace := carryOut(t, p, limited(52_000, 0).losing(0.08, heldNumbers(1)))
		c := ramp.New(p).Conclude(history)
		if got := receivedAt(history, c); !c.Saturated || !c.Confirmed || got < 51_700 || got > 52_000 {
			t.Fatalf("%+v: %.0f packets/s of 52000\n%s", c, got, strings.Join(trace, "\n"))
		}
		if len(c.Outvoted) != 1 || len(c.Outvoted[0].Lossy) != 1 || c.Outvoted[0].Judged != 3 ||
			history[c.Outvoted[0].Lossy[0]-1].Quality != report.Lossy || c.Outvoted[0].Load != history[c.Window].Load {
			t.Errorf("outvoted: %+v", c.Outvoted)
		}
		for _, phrase := range []string{"tried again, as loss is believed when it repeats", "the next decides",
			"confirmed at"} {
			if !strings.Contains(strings.Join(trace, "\n"), phrase) {
				t.Errorf("%q is not said in\n%s", phrase, strings.Join(trace, "\n"))
			}
		}
	})
	t.Run("is believed when the next one does, without a third", func(t *testing.T) {
		history, trace := carryOut(t, p, limited(52_000, 0).tired(50_000))
		c := ramp.New(p).Conclude(history)
		if got := receivedAt(history, c); !c.Saturated || !c.Confirmed || got < 49_700 || got > 50_000 ||
			len(c.Outvoted) > 0 {
			t.Errorf("%+v: %.0f packets/s of 50000\n%s", c, got, strings.Join(trace, "\n"))
		}
		visits := map[units.Ratio]int{}
		for _, w := range history {
			if w.Phase == report.Confirm {
				visits[w.Load]++
			}
		}
		for load, n := range visits {
			if n > 2 {
				t.Errorf("%d windows at %s\n%s", n, load, strings.Join(trace, "\n"))
			}
		}
	})
	t.Run("is believed when the third does", func(t *testing.T) {
		history, trace := carryOut(t, p, limited(52_000, 0).losing(0.08, heldNumbers(1, 3)))
		c := ramp.New(p).Conclude(history)
		if history[c.Window].Load >= history[c.Lossy].Load || history[c.Lossy].Phase != report.Confirm &&
			history[c.Lossy].Phase != report.Refine {
			t.Errorf("%+v\n%s", c, strings.Join(trace, "\n"))
		}
		if !strings.Contains(strings.Join(trace, "\n"), "when held, and so did another") {
			t.Errorf("the trace does not say that it is believed:\n%s", strings.Join(trace, "\n"))
		}
	})
	t.Run("is no less outvoted where one between says nothing", func(t *testing.T) {
		n := 0
		history, trace := carryOut(t, p, limited(52_000, 0).losing(0.08, heldNumbers(1)), func(w *report.Window) {
			if w.Phase != report.Confirm {
				return
			}
			if n++; n == 2 || n == 4 {
				for i := range w.Directions {
					w.Directions[i].Quality = report.Invalid
				}
			}
		})
		c := ramp.New(p).Conclude(history)
		if got := receivedAt(history, c); !c.Saturated || !c.Confirmed || got < 51_700 || n != 5 {
			t.Errorf("%+v: %.0f packets/s of 52000 after %d long windows\n%s", c, got, n, strings.Join(trace, "\n"))
		}
	})
	t.Run("is not believed and not forgotten where no other can be judged", func(t *testing.T) {
		n := 0
		history, trace := carryOut(t, p, limited(52_000, 0).losing(0.08, heldNumbers(1)), func(w *report.Window) {
			if w.Duration < plan.Duration(5*time.Second) || w.Phase == report.WarmUp {
				return
			}
			if n++; n > 1 && n < 5 {
				for i := range w.Directions {
					w.Directions[i].Quality = report.Invalid
				}
			}
		})
		c := ramp.New(p).Conclude(history)
		if high := float64(history[c.Lossy].Directions[0].Offered.PacketsPerSecond); c.Lossy == procedure.NoWindow ||
			high < 52_000 {
			t.Errorf("%+v: the lossy end is %.0f, below the limit\n%s", c, high, strings.Join(trace, "\n"))
		}
	})
}

func TestTheHoldIsJudgedBestOfThree(t *testing.T) {
	p := rampOf(hold(30 * time.Second))
	inHold := func(numbers ...int) func(procedure.Step) bool {
		n := 0
		return func(s procedure.Step) bool {
			if s.Phase != report.Hold {
				return false
			}
			n++
			for _, w := range numbers {
				if n == w {
					return true
				}
			}
			return false
		}
	}
	t.Run("once disturbed", func(t *testing.T) {
		history, trace := carryOut(t, p, limited(1e9, 0).losing(0.05, inHold(1)))
		c := ramp.New(p).Conclude(history)
		if c.Reason != report.TargetReached || !c.Confirmed || history[c.Window].Load != units.One ||
			len(c.Outvoted) != 1 || c.Outvoted[0].Judged != 3 {
			t.Errorf("%+v\n%s", c, strings.Join(trace, "\n"))
		}
	})
	t.Run("lossy whenever it is long", func(t *testing.T) {
		history, trace := carryOut(t, p, limited(1e9, 0).tired(90_000))
		c := ramp.New(p).Conclude(history)
		if got := receivedAt(history, c); !c.Saturated || !c.Confirmed || got < 89_500 || got > 90_000 {
			t.Errorf("%+v: %.0f packets/s of 90000\n%s", c, got, strings.Join(trace, "\n"))
		}
		holds := 0
		for _, w := range history {
			if w.Phase == report.Hold {
				holds++
			}
		}
		if holds != 2 {
			t.Errorf("%d holds", holds)
		}
	})
}

// A device that carries 90 % of the target later doesn't lose frames at half of it, however often that is looked at.
func TestADisturbedStepIsNotWhereSaturationBegins(t *testing.T) {
	p := rampOf(func(p *plan.Procedure) {
		p.Ramp.RampDuration, p.Ramp.StepDuration, p.Ramp.SettleDuration = plan.Duration(time.Second),
			plan.Duration(500*time.Millisecond), plan.Duration(100*time.Millisecond)
	})
	disturbed := func(s procedure.Step) bool { return s.Phase == report.Ramping && s.Number == 1 }
	history, trace := carryOut(t, p, limited(90_000, 0).losing(0.05, disturbed))
	c := ramp.New(p).Conclude(history)
	if got := receivedAt(history, c); !c.Saturated || !c.Confirmed || got < 90_000*0.994 ||
		!strings.Contains(trace[1], "100.00 %") {
		t.Errorf("%+v: %.0f packets/s of 90000\n%s", c, got, strings.Join(trace, "\n"))
	}
	for _, w := range history[1:] {
		if w.Phase != report.Ramping && w.Directions[0].Intended.PacketsPerSecond < 80_000 {
			t.Errorf("window %d looks at %d packets/s\n%s", w.Number, w.Directions[0].Intended.PacketsPerSecond,
				strings.Join(trace, "\n"))
		}
	}
}

// One disturbed window is not the limit, whichever window of a run it is, and however much it loses.
func TestPropertyOneDisturbedWindowIsNotTheLimit(t *testing.T) {
	for _, p := range []plan.Procedure{rampOf(), rampOf(hold(20*time.Second), toTheTop)} {
		calm, _ := carryOut(t, p, limited(50_400, 0))
		for number := 1; number < len(calm); number++ {
			for _, share := range []float64{0.003, 0.02, 0.1, 0.6} {
				n := 0
				history, trace := carryOut(t, p, limited(50_400, 0).losing(share,
					func(procedure.Step) bool { n++; return n == number+1 }))
				c := ramp.New(p).Conclude(history)
				if got := receivedAt(history, c); !c.Saturated || !c.Confirmed || got < 50_400*0.994 || got > 50_451 {
					t.Fatalf("%.1f %% lost in window %d: %.0f packets/s of 50400, %+v\n%s", 100*share, number+1, got, c,
						strings.Join(trace, "\n"))
				}
				if len(history) > len(calm)+12 {
					t.Fatalf("%.1f %% lost in window %d: %d windows, %d without\n%s", 100*share, number+1, len(history),
						len(calm), strings.Join(trace, "\n"))
				}
			}
		}
	}
}

// searchScenario is what a row of the table is counted from.
type searchScenario struct {
	name string
	p    plan.Procedure
	// long is how long the windows are of which a share is disturbed, of shorter ones in proportion.
	long   time.Duration
	share  float64
	device func(rnd *rand.Rand) (d device, truth float64)
	single string // what became of it when a single long window was believed: counted once, for comparison
}

func labs() []searchScenario {
	steady := func(rnd *rand.Rand) (device, float64) {
		limit := target * (0.1 + 0.8*rnd.Float64())
		return limited(limit, 0), limit
	}
	tired := func(rnd *rand.Rand) (device, float64) {
		limit := target * (0.1 + 0.8*rnd.Float64())
		truth := limit * (0.88 + 0.11*rnd.Float64())
		return limited(limit, 0).tired(truth), truth
	}
	long := rampOf(func(p *plan.Procedure) { p.Ramp.ConfirmDuration = plan.Duration(30 * time.Second) })
	quick := rampOf(func(p *plan.Procedure) {
		p.Ramp.RampDuration, p.Ramp.StepDuration, p.Ramp.SettleDuration = plan.Duration(time.Second),
			plan.Duration(500*time.Millisecond), plan.Duration(100*time.Millisecond)
		p.Ramp.ConfirmDuration = plan.Duration(time.Second)
	})
	return []searchScenario{
		{"steady, confirmed for 30 s", long, 30 * time.Second, 0, steady, "0.0 %, -0.3 %, 66 s"},
		{"steady, confirmed for 30 s", long, 30 * time.Second, 0.05, steady, "1.6 %, -12.3 %, 76 s"},
		{"steady, confirmed for 30 s", long, 30 * time.Second, 0.10, steady, "3.8 %, -14.1 %, 83 s"},
		{"steady, confirmed for 1 s", quick, time.Second, 0.05, steady, "1.2 %, -45.6 %, 10 s"},
		{"steady, confirmed for 1 s", quick, time.Second, 0.10, steady, "3.5 %, -44.0 %, 10 s"},
		{"1 to 12 % less when held, 30 s", long, 30 * time.Second, 0, tired, "0.0 %, -0.3 %, 128 s"},
		{"1 to 12 % less when held, 30 s", long, 30 * time.Second, 0.05, tired, "0.9 %, -10.4 %, 135 s"},
		{"1 to 12 % less when held, 30 s", long, 30 * time.Second, 0.10, tired, "3.9 %, -18.1 %, 144 s"},
	}
}

// tally is what came of a row's runs.
type tally struct {
	low, unconfirmed, high, runs int
	worst                        float64 // relative to the truth, of those that are confirmed
	longs, seconds               float64
}

// count measures drawn devices; what a window loses when disturbed is drawn, too: 0.2 to 12 %.
func (l searchScenario) count(t *testing.T, runs int) (sum tally) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(17, 4))
	sum.runs = runs
	for range runs {
		d, truth := l.device(rnd)
		disturbed := func(s procedure.Step) bool {
			return rnd.Float64() < 1-math.Pow(1-l.share, s.Judge.Seconds()/l.long.Seconds())
		}
		lost := 0.0
		hiccup := func(s procedure.Step, asked float64) (float64, float64) {
			lost = 0.002 + 0.118*rnd.Float64()
			return d.losing(lost, disturbed)(s, asked)
		}
		history, _ := carryOut(t, l.p, hiccup)
		sum.add(l.p, history, truth)
	}
	return sum
}

func (s *tally) add(p plan.Procedure, history []report.Window, truth float64) {
	for _, w := range history {
		s.seconds += (w.Duration.Std() + p.Ramp.SettleDuration.Std()).Seconds()
		if w.Phase != report.WarmUp && w.Duration >= p.Ramp.ConfirmDuration {
			s.longs++
		}
	}
	c := ramp.New(p).Conclude(history)
	if !c.Saturated || !c.Confirmed {
		s.unconfirmed++
		return
	}
	deviation := receivedAt(history, c)/truth - 1
	s.worst = min(s.worst, deviation)
	if deviation < -0.01 {
		s.low++
	}
	if deviation > 0.0025 {
		s.high++
	}
}

func (s tally) row(l searchScenario) string {
	part := func(n int) string { return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(s.runs)) }
	return fmt.Sprintf("| %s | %.0f %% | %s | %.1f %% | %s | %s | %.2f | %.0f s | %s |\n", l.name, 100*l.share,
		part(s.low), 100*s.worst, part(s.high), part(s.unconfirmed),
		s.longs/float64(s.runs), s.seconds/float64(s.runs), l.single)
}

// TestWhatDisturbedWindowsCost counts the table of docs/measured/simulated-searches.md, and what it may be at
// most: no run that wasn't disturbed is off, and few that were.
func TestWhatDisturbedWindowsCost(t *testing.T) {
	table := "| device, windows | of these are disturbed | more than 1 % too low | worst | more than 0.25 % too high " +
		"| not confirmed | long windows | time | one window believed: too low, worst, time " +
		"|\n|---|---|---|---|---|---|---|---|---|\n"
	for _, l := range labs() {
		runs := 25
		if *update {
			runs = 2000
		}
		sum := l.count(t, runs)
		table += sum.row(l)
		tolerated := math.Ceil(l.share * l.share * float64(runs)) // two disturbed windows of one load, in a row
		if float64(sum.low) > tolerated || sum.high > 0 {
			t.Errorf("%s, %.0f %% disturbed: %d of %d figures are too low, %d too high", l.name, 100*l.share, sum.low,
				sum.runs, sum.high)
		}
	}
	if *update {
		publish(t, "disturbed", table)
	}
}

const document = "../../../docs/measured/simulated-searches.md"

// publish writes a table into the document.
func publish(t *testing.T, name, table string) {
	t.Helper()
	if err := published.Section(document, name, table); err != nil {
		t.Fatal(err)
	}
}

// read carries the ramp out where both edges of a held window together are so long that frames of that time may
// be on either side of them; a trial has no edges. Widened changes a window.
func read(t *testing.T, p plan.Procedure, d device, edges time.Duration,
	widened func(*report.Window)) (history []report.Window, kinds []procedure.Kind, trace []string) {
	t.Helper()
	for range ramp.New(p).Bound().Steps {
		s := ramp.New(p).Next(history)
		trace = append(trace, s.Reason)
		if s.End {
			return history, kinds, trace
		}
		w := d.window(s, len(history)+1)
		for i := range w.Directions {
			if m := &w.Directions[i]; s.Kind == procedure.Hold {
				m.EdgeFrames = 2 + m.Offered.PacketsPerSecond*int64(edges)/int64(time.Second)
			}
		}
		if widened != nil {
			widened(&w)
		}
		history, kinds = append(history, w), append(kinds, s.Kind)
	}
	t.Fatalf("no end:\n%s", strings.Join(trace, "\n"))
	return nil, nil, nil
}

// A load is confirmed by a trial where the edges of a held window could hide or feign more loss than the limit
// allows; 10 s at 0.1 % allow as much as passes in 10 ms.
func TestTheConfirmationIsATrialWhereEdgesWouldDecide(t *testing.T) {
	loss := func(r units.Ratio) func(*plan.Procedure) { return func(p *plan.Procedure) { p.MaxLossRatio = r } }
	for name, c := range map[string]struct {
		edges   time.Duration
		options []func(*plan.Procedure)
		want    procedure.Kind
		windows int // of the confirmation's length
	}{
		"a limit of zero": {0, []func(*plan.Procedure){loss(0)}, procedure.Trial, 1},
		"a limit of zero, after a hold": {0, []func(*plan.Procedure){loss(0), hold(10 * time.Second)},
			procedure.Trial, 2},
		"a small limit":   {2 * time.Millisecond, []func(*plan.Procedure){loss(units.One / 10_000)}, procedure.Trial, 1},
		"the usual limit": {2 * time.Millisecond, nil, procedure.Hold, 1},
		"the usual limit, after a hold": {2 * time.Millisecond,
			[]func(*plan.Procedure){hold(10 * time.Second)}, procedure.Hold, 1},
		"the usual limit, with long readings":    {11 * time.Millisecond, nil, procedure.Trial, 1},
		"the usual limit, with readings as long": {9900 * time.Microsecond, nil, procedure.Hold, 1},
		"a small limit, with windows of no edges": {-time.Second, []func(*plan.Procedure){loss(units.One / 10_000)},
			procedure.Hold, 1},
		"a small limit, confirmed for long enough": {2 * time.Millisecond,
			[]func(*plan.Procedure){loss(units.One / 10_000),
				func(p *plan.Procedure) { p.Ramp.ConfirmDuration = plan.Duration(30 * time.Second) }}, procedure.Hold,
			1},
	} {
		t.Run(name, func(t *testing.T) {
			p := rampOf(c.options...)
			history, kinds, trace := read(t, p, limited(1e9, 0), c.edges, nil)
			long := 0
			for i, w := range history {
				if w.Duration >= p.Ramp.ConfirmDuration {
					long++
				} else if kinds[i] != procedure.Hold {
					t.Errorf("window %d of the search is a trial", w.Number)
				}
			}
			end := len(history) - 1
			if got := ramp.New(p).Conclude(history); kinds[end] != c.want || long != c.windows || !got.Confirmed ||
				got.Reason != report.TargetReached || got.Window != end {
				t.Errorf("%d long windows, the last is %s; %+v\n%s", long, kinds[end], got, strings.Join(trace, "\n"))
			}
		})
	}
}

// A held window whose edges came out wider than those before, so that they hide more than the limit, confirms
// nothing; a trial of the same load does.
func TestAHeldWindowThatIsNotSureIsRepeatedAsATrial(t *testing.T) {
	p := rampOf()
	history, kinds, trace := read(t, p, limited(1e9, 0), time.Millisecond, func(w *report.Window) {
		if w.Phase == report.Confirm && w.Directions[0].EdgeFrames > 0 {
			w.Directions[0].EdgeFrames = w.Directions[0].Sent.Packets / 100
		}
	})
	end := len(history) - 1
	if got := ramp.New(p).Conclude(history); kinds[end-1] != procedure.Hold || kinds[end] != procedure.Trial ||
		history[end].Load != history[end-1].Load || !got.Confirmed || got.Window != end {
		t.Errorf("%s, then %s; %+v\n%s", kinds[end-1], kinds[end], got, strings.Join(trace, "\n"))
	}
}

// What a trial loses that held windows hid at every load is a limit of nothing: no load was shown to be clean,
// and the answer says so.
func TestLossThatOnlyTrialsShowProvesNoLoadBelowThem(t *testing.T) {
	p := rampOf(func(p *plan.Procedure) { p.MaxLossRatio = 0 })
	history, _, trace := read(t, p, limited(1e9, 0), 2*time.Millisecond, func(w *report.Window) {
		for i := range w.Directions {
			if m := &w.Directions[i]; m.EdgeFrames == 0 && w.Phase != report.WarmUp {
				m.Returned.Packets, m.Quality, w.Quality, m.LossRatio, m.LossRatioMin = m.Sent.Packets-2, report.Lossy,
					report.Lossy, 2000, 2000
			}
		}
	})
	got := ramp.New(p).Conclude(history)
	if got.Saturated || got.Confirmed || !got.Unproven || got.Reason != report.Inconclusive ||
		got.Window != procedure.NoWindow {
		t.Errorf("%+v\n%s", got, strings.Join(trace, "\n"))
	}
}

// A device that loses a little more than is allowed of every load looks clean in a short window now and then,
// where its edges happen to hide that. That says nothing, and is no lower bound either.
func TestADeviceThatLosesALittleOfEveryLoadHasNoAnswer(t *testing.T) {
	doubtful := 0
	for seed := range uint64(300) {
		p, chance := rampOf(func(p *plan.Procedure) { p.Ramp.ConfirmDuration = plan.Duration(4 * time.Second) }),
			rand.New(rand.NewPCG(seed, 500))
		history, _, trace := read(t, p, limited(1e9, 0), 3*time.Millisecond, func(w *report.Window) {
			w.Quality = report.Good
			for i := range w.Directions {
				m := &w.Directions[i]
				missing := max(0, m.Sent.Packets/500+chance.Int64N(2*m.EdgeFrames+1)-m.EdgeFrames)
				m.Returned.Packets, m.LossRatio, m.Quality = m.Sent.Packets-missing,
					units.RatioOf(missing, m.Sent.Packets), report.Good
				switch {
				case measure.OnlyEdgesSay(*m, p.MaxLossRatio):
					m.Quality = report.Invalid
				case m.LossRatio > p.MaxLossRatio:
					m.Quality = report.Lossy
				}
				if m.Quality == report.Lossy || w.Quality == report.Good {
					w.Quality = m.Quality
				}
			}
		})
		got := ramp.New(p).Conclude(history)
		if got.Window != procedure.NoWindow || got.Saturated || got.Confirmed {
			t.Fatalf("seed %d: %+v\n%s", seed, got, strings.Join(trace, "\n"))
		}
		if got.Unproven {
			doubtful++
		}
	}
	if doubtful == 0 {
		t.Error("no load looked clean in any of them: this shows nothing")
	}
}

// Of a short window that misses more frames than the limit allows, all of which its edges may account for, a
// longer one tells more, unless even the longest of the search would not.
func TestALongerWindowTellsWhatShortEdgesLeaveOpen(t *testing.T) {
	for name, c := range map[string]struct {
		limit    units.Ratio
		repeated bool
	}{"at a limit that a longer one can tell": {units.One / 1000, true}, "at a limit of zero": {0, false}} {
		t.Run(name, func(t *testing.T) {
			p := rampOf(func(p *plan.Procedure) { p.MaxLossRatio = c.limit })
			_, _, trace := read(t, p, limited(52_000, 0), 3*time.Millisecond, func(w *report.Window) {
				if m := &w.Directions[0]; w.Phase == report.Refine && m.Quality == report.Good && m.EdgeFrames > 0 &&
					w.Duration.Std() < 2*time.Second {
					m.Returned.Packets = m.Sent.Packets - m.EdgeFrames
				}
			})
			if got := strings.Contains(strings.Join(trace, "\n"),
				"is repeated for longer, which shows more"); got != c.repeated {
				t.Errorf("repeated: %v\n%s", got, strings.Join(trace, "\n"))
			}
		})
	}
}

// The same of a load at which a trial lost frames once, and later ones could not be judged.
func TestLossThatATrialShowedOnceIsNotForgotten(t *testing.T) {
	p := rampOf(func(p *plan.Procedure) { p.MaxLossRatio = 0 })
	tried := 0
	history, _, trace := read(t, p, limited(1e9, 0), 2*time.Millisecond, func(w *report.Window) {
		if w.Phase != report.Confirm {
			return
		}
		tried++
		w.Quality = map[bool]report.Quality{true: report.Lossy, false: report.Invalid}[tried == 1]
		for i := range w.Directions {
			w.Directions[i].Quality = w.Quality
		}
	})
	if got := ramp.New(p).Conclude(history); got.Saturated || got.Confirmed || !got.Unproven ||
		got.Reason != report.Inconclusive || got.Window != procedure.NoWindow {
		t.Errorf("%+v\n%s", got, strings.Join(trace, "\n"))
	}
}

// pausing carries no more than slow for a share of the time, which windows shorter than five seconds don't see.
func (d device) pausing(share, slow float64) device {
	return func(s procedure.Step, asked float64) (float64, float64) {
		offered, received := d(s, asked)
		if s.Judge >= 5*time.Second {
			received -= share * max(0, received-slow)
		}
		return offered, received
	}
}

// pausingIrregularly is slow for another share of each long window: anything up to twice the share.
func (d device) pausingIrregularly(share, slow float64, rnd *rand.Rand) device {
	return func(s procedure.Step, asked float64) (float64, float64) {
		return d.pausing(2*share*rnd.Float64(), slow)(s, asked)
	}
}

// pauses are what runs of a device gave that is slow now and then.
type pauses struct {
	confirmed, low int
	worst, longs   float64
}

// countPauses measures drawn devices that are slower by so much for a share of the time. What a confirmed run
// says, that the limit lies between the answer and the load that lost frames, has to be true of each.
func countPauses(t *testing.T, p plan.Procedure, share, slowdown float64, runs int) (sum pauses) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(29, 3))
	for range runs {
		fast := target * (0.1 + 0.8*rnd.Float64())
		slow := fast * (1 - slowdown)
		limit := min(fast, slow/(1-p.MaxLossRatio.Float()/share)) // where the loss limit is lost
		history, trace := carryOut(t, p, limited(fast, 0).pausing(share, slow))
		for _, w := range history[1:] {
			if w.Duration >= p.Ramp.ConfirmDuration {
				sum.longs++
			}
		}
		c := ramp.New(p).Conclude(history)
		if !c.Confirmed {
			continue
		}
		sum.confirmed++
		carried := receivedAt(history, c)
		if high := carried / (1 - c.Resolution.Float()); carried > limit*1.001 || high < limit*0.999 {
			t.Fatalf("slow by %.0f %% for %.0f %% of the time: the limit is %.0f packets/s, which is not between "+
				"%.0f and %.0f\n%s", 100*slowdown, 100*share, limit, carried, high, strings.Join(trace, "\n"))
		}
		deviation := carried/limit - 1
		sum.worst = min(sum.worst, deviation)
		if deviation < -0.01 {
			sum.low++
		}
	}
	return sum
}

// TestADeviceThatIsSlowNowAndThen counts the table of docs/measured/simulated-searches.md: its loss says little
// of how far above the limit it is, and yet the search gets there.
func TestADeviceThatIsSlowNowAndThen(t *testing.T) {
	p := rampOf(func(p *plan.Procedure) { p.Ramp.ConfirmDuration = plan.Duration(30 * time.Second) })
	table := "| slower by | for this share of the time | confirmed | more than 1 % too low | worst | long windows " +
		"|\n|---|---|---|---|---|---|\n"
	runs := 25
	if *update {
		runs = 2000
	}
	for _, slowdown := range []float64{0.05, 0.10, 0.20, 0.40} {
		for _, share := range []float64{0.02, 0.05, 0.10} {
			sum := countPauses(t, p, share, slowdown, runs)
			if sum.confirmed < runs*9/10 {
				t.Errorf("slow by %.0f %% for %.0f %% of the time: only %d of %d are confirmed", 100*slowdown,
					100*share, sum.confirmed, runs)
			}
			part := func(n int) string { return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(runs)) }
			table += fmt.Sprintf("| %.0f %% | %.0f %% | %s | %s | %.1f %% | %.1f |\n", 100*slowdown, 100*share,
				part(sum.confirmed), part(sum.low), 100*sum.worst, sum.longs/float64(runs))
		}
	}
	if *update {
		publish(t, "slow now and then", table)
	}
}

// TestADeviceThatIsSlowNowAndThenIrregularly counts how many runs are confirmed of devices that lose more of a
// load in one window than in the next, and sometimes more than of a higher load: that isn't the same share of
// every load.
func TestADeviceThatIsSlowNowAndThenIrregularly(t *testing.T) {
	p := rampOf(func(p *plan.Procedure) { p.Ramp.ConfirmDuration = plan.Duration(30 * time.Second) })
	table := "| slower by | for this share of the time, on average | confirmed | least figure ÷ slow rate | mean " +
		"figure ÷ slow rate | largest |\n|---|---|---|---|---|---|\n"
	runs := 50
	if *update {
		runs = 2000
	}
	for _, slowdown := range []float64{0.2, 0.4, 0.6} {
		for _, share := range []float64{0.1, 0.3, 0.5} {
			rnd, figures := rand.New(rand.NewPCG(29, 4)), []float64{}
			for range runs {
				fast := target * (0.1 + 0.8*rnd.Float64())
				slow := fast * (1 - slowdown)
				history, _ := carryOut(t, p, limited(fast, 0).pausingIrregularly(share, slow, rnd))
				if c := ramp.New(p).Conclude(history); c.Confirmed {
					figures = append(figures, receivedAt(history, c)/slow)
				}
			}
			if len(figures) < runs*2/3 {
				t.Fatalf("slow by %.0f %% for about %.0f %% of the time: only %d of %d are confirmed", 100*slowdown,
					100*share, len(figures), runs)
			}
			if best := slices.Max(figures) * (1 - slowdown); best > 1 {
				t.Errorf("slow by %.0f %% for about %.0f %% of the time: %.3f of what the device carries at its best",
					100*slowdown, 100*share, best)
			}
			sum := 0.0
			for _, f := range figures {
				sum += f
			}
			table += fmt.Sprintf("| %.0f %% | %.0f %% | %.1f %% | %.2f | %.2f | %.2f |\n", 100*slowdown, 100*share,
				100*float64(len(figures))/float64(runs), slices.Min(figures), sum/float64(len(figures)),
				slices.Max(figures))
		}
	}
	if *update {
		publish(t, "slow irregularly", table)
	}
}

// voidAt voids the windows at the loads that are asked about: others have the machine that plays the device.
func voidAt(selects func(units.Ratio) bool) func(*report.Window) {
	return func(w *report.Window) {
		if w.Phase == report.WarmUp || !selects(w.Load) {
			return
		}
		w.Quality = report.Invalid
		for i := range w.Directions {
			w.Directions[i].Quality = report.Invalid
		}
	}
}

// twoSteps climbs to half of the target, and to all of it.
func twoSteps(p *plan.Procedure) {
	p.Ramp.RampDuration = 2 * p.Ramp.StepDuration
}

func TestATopThatCouldNotBeJudged(t *testing.T) {
	voidFrom := func(load units.Ratio) func(*report.Window) {
		return voidAt(func(asked units.Ratio) bool { return asked >= load })
	}
	t.Run("hides no limit below it", func(t *testing.T) {
		p := rampOf(twoSteps)
		for _, limit := range []float64{51_000, 62_000, 74_000, 86_000} {
			history, trace := carryOut(t, p, limited(limit, 0), voidFrom(95*units.One/100))
			c := ramp.New(p).Conclude(history)
			if c.Window == procedure.NoWindow || !c.Saturated || !c.Confirmed || c.Reason != report.LossAboveLimit ||
				c.Resolution > p.Ramp.Precision {
				t.Errorf("%.0f: %+v\n%s", limit, c, strings.Join(trace, "\n"))
				continue
			}
			if got := receivedAt(history, c); got < 0.99*limit || got > limit {
				t.Errorf("%.0f packets/s of %.0f\n%s", got, limit, strings.Join(trace, "\n"))
			}
		}
	})
	t.Run("hides no loss that was seen once below it", func(t *testing.T) {
		p := rampOf(func(p *plan.Procedure) { p.Ramp.RampDuration = 4 * p.Ramp.StepDuration })
		history, trace := carryOut(t, p, limited(70_000, 0), voidFrom(80*units.One/100))
		c := ramp.New(p).Conclude(history)
		if !c.Saturated || !c.Confirmed || c.Resolution > p.Ramp.Precision || receivedAt(history, c) > 70_000 {
			t.Errorf("%+v\n%s", c, strings.Join(trace, "\n"))
		}
		if phrase := "75.00 % of the target lost frames, and was not looked at again"; !strings.Contains(strings.Join(trace, "\n"), phrase) {
			t.Errorf("%q is not said in\n%s", phrase, strings.Join(trace, "\n"))
		}
	})
	t.Run("leaves a lower bound where nothing above can be judged", func(t *testing.T) {
		p := rampOf(twoSteps)
		history, trace := carryOut(t, p, limited(62_000, 0), voidFrom(51*units.One/100))
		c := ramp.New(p).Conclude(history)
		if c.Window == procedure.NoWindow || c.Saturated || !c.Confirmed || c.Reason != report.Inconclusive ||
			history[c.Window].Load < units.One/2 {
			t.Errorf("%+v\n%s", c, strings.Join(trace, "\n"))
		}
		looked := map[units.Ratio]bool{}
		for _, w := range history {
			if w.Phase == report.Refine {
				looked[w.Load] = true
			}
		}
		if len(looked) != 4 {
			t.Errorf("%d loads were looked at\n%s", len(looked), strings.Join(trace, "\n"))
		}
	})
	t.Run("leaves the bound that was confirmed where a higher one can't be", func(t *testing.T) {
		p := rampOf(twoSteps)
		history, trace := carryOut(t, p, limited(1e9, 0), func(w *report.Window) {
			if w.Phase == report.Confirm && w.Load > units.One/2 || w.Phase != report.WarmUp && w.Load >= units.One {
				voidAt(func(units.Ratio) bool { return true })(w)
			}
		})
		c := ramp.New(p).Conclude(history)
		if c.Window == procedure.NoWindow || c.Saturated || !c.Confirmed || history[c.Window].Load != units.One/2 ||
			!strings.Contains(c.Ending, "can't be judged") {
			t.Errorf("%+v\n%s", c, strings.Join(trace, "\n"))
		}
	})
	t.Run("is no reason to look where the generator had no more", func(t *testing.T) {
		p := rampOf(twoSteps)
		history, trace := carryOut(t, p, limited(1e9, 0).throttled(40_000), voidFrom(95*units.One/100))
		for _, w := range history {
			if w.Phase == report.Refine {
				t.Fatalf("window %d looks at %s\n%s", w.Number, w.Load, strings.Join(trace, "\n"))
			}
		}
	})
	t.Run("leaves a run that is interrupted before the look its conclusion", func(t *testing.T) {
		p := rampOf(twoSteps)
		history, _ := carryOut(t, p, limited(62_000, 0), voidFrom(95*units.One/100))
		for n := range history {
			s := ramp.New(p).Next(history[:n])
			if !s.Optional {
				continue
			}
			c := ramp.New(p).Conclude(history[:n])
			if !c.Finished || !c.Confirmed || c.Ending != "confirmed at 50.00 % of the target" || c.Saturated ||
				c.Window != n-1 {
				t.Errorf("after %d windows: %+v", n, c)
			}
			return
		}
		t.Error("no step is optional")
	})
}

// Whatever loads can't be judged, the answer is a load that the device carries, and a limit is one of the device.
func TestPropertyNoVoidLoadsFeignALimit(t *testing.T) {
	rnd := rand.New(rand.NewPCG(11, 12))
	for range tier.Times(200, 2000) {
		p := rampOf(func(p *plan.Procedure) {
			p.Ramp.RampDuration = plan.Duration(time.Duration(1+rnd.IntN(6)) * p.Ramp.StepDuration.Std())
		})
		limit, lowest := 20_000+80_000*rnd.Float64(), units.Ratio(rnd.Int64N(int64(units.One)))
		highest := lowest + units.Ratio(rnd.Int64N(int64(units.One)))
		history, trace := carryOut(t, p, limited(limit, 0),
			voidAt(func(load units.Ratio) bool { return lowest <= load && load <= highest }))
		c := ramp.New(p).Conclude(history)
		if c.Window == procedure.NoWindow {
			continue
		}
		got := receivedAt(history, c)
		high := float64(0)
		if c.Saturated {
			high = float64(history[c.Lossy].Directions[0].Offered.PacketsPerSecond)
		}
		if got > limit+1 || c.Saturated && high < limit { // whole packets/s
			t.Fatalf("%.0f to %.0f is claimed of a device that carries %.0f\n%s", got, high, limit,
				strings.Join(trace, "\n"))
		}
	}
}

// disturbedWhenHeld voids all long windows, and all later ones, as a neighbour does that comes when the load is
// held, and stays: a hundredth of what was sent didn't come back while others had the processors.
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

// What was clean for a short window, and couldn't be judged when it was held, is a lower bound where nothing
// else is clean: nobody refuted it.
func TestALoadThatCouldNotBeJudgedWhenHeldIsABound(t *testing.T) {
	// one step: nothing below the search is clean
	p := rampOf(func(p *plan.Procedure) { p.Ramp.RampDuration = plan.Duration(2 * time.Second) })
	history, trace := carryOut(t, p, limited(52_000, 0), disturbedWhenHeld())
	c := ramp.New(p).Conclude(history)
	if c.Window == procedure.NoWindow || c.Saturated || c.Confirmed || c.Reason != report.MachineLimited {
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
	if c := ramp.New(p).Conclude(history); c.Window != procedure.NoWindow {
		t.Errorf("%+v", c)
	}
}
