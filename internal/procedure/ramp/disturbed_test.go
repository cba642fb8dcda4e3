package ramp_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/procedure/ramp"
	"github.com/linerate-dev/linerate/internal/units"
)

var update = flag.Bool("update", false, "count the table of docs/measured/simulated-searches.md from 2 000 runs a row, and write it")

// losing loses that share more of what is sent, in windows that are asked about.
func (d device) losing(share float64, in func(procedure.Step) bool) device {
	return func(s procedure.Step, asked float64) (float64, float64) {
		offered, received := d(s, asked)
		if in(s) {
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
func heldNumbers(which ...int) func(procedure.Step) bool {
	n := 0
	return func(s procedure.Step) bool {
		if s.Judge < 5*time.Second || s.Phase == report.WarmUp {
			return false
		}
		n++
		for _, w := range which {
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
		if len(c.Outvoted) != 1 || len(c.Outvoted[0].Lossy) != 1 || c.Outvoted[0].Of != 3 || history[c.Outvoted[0].Lossy[0]-1].Quality != report.Lossy || c.Outvoted[0].Load != history[c.Window].Load {
			t.Errorf("outvoted: %+v", c.Outvoted)
		}
		for _, says := range []string{"tried again, as loss is believed when it repeats", "the next decides", "confirmed at"} {
			if !strings.Contains(strings.Join(trace, "\n"), says) {
				t.Errorf("%q is not said in\n%s", says, strings.Join(trace, "\n"))
			}
		}
	})
	t.Run("is believed when the next one does, without a third", func(t *testing.T) {
		history, trace := carryOut(t, p, limited(52_000, 0).tired(50_000))
		c := ramp.New(p).Conclude(history)
		if got := receivedAt(history, c); !c.Saturated || !c.Confirmed || got < 49_700 || got > 50_000 || len(c.Outvoted) > 0 {
			t.Errorf("%+v: %.0f packets/s of 50000\n%s", c, got, strings.Join(trace, "\n"))
		}
		at := map[units.Ratio]int{}
		for _, w := range history {
			if w.Phase == report.Confirm {
				at[w.Load]++
			}
		}
		for load, n := range at {
			if n > 2 {
				t.Errorf("%d windows at %s\n%s", n, load, strings.Join(trace, "\n"))
			}
		}
	})
	t.Run("is believed when the third does", func(t *testing.T) {
		history, trace := carryOut(t, p, limited(52_000, 0).losing(0.08, heldNumbers(1, 3)))
		c := ramp.New(p).Conclude(history)
		if history[c.Window].Load >= history[c.Lossy].Load || history[c.Lossy].Phase != report.Confirm && history[c.Lossy].Phase != report.Refine {
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
		if high := float64(history[c.Lossy].Directions[0].Offered.PacketsPerSecond); c.Lossy == procedure.None || high < 52_000 {
			t.Errorf("%+v: the lossy end is %.0f, below the limit\n%s", c, high, strings.Join(trace, "\n"))
		}
	})
}

func TestTheHoldIsJudgedBestOfThree(t *testing.T) {
	p := rampOf(hold(30 * time.Second))
	inHold := func(which ...int) func(procedure.Step) bool {
		n := 0
		return func(s procedure.Step) bool {
			if s.Phase != report.Hold {
				return false
			}
			n++
			for _, w := range which {
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
		if c.Reason != report.ReachedTarget || !c.Confirmed || history[c.Window].Load != units.One || len(c.Outvoted) != 1 || c.Outvoted[0].Of != 3 {
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
		p.Ramp.RampDuration, p.Ramp.StepDuration, p.Ramp.Settle = plan.Duration(time.Second), plan.Duration(500*time.Millisecond), plan.Duration(100*time.Millisecond)
	})
	disturbed := func(s procedure.Step) bool { return s.Phase == report.Ramping && s.Number == 1 }
	history, trace := carryOut(t, p, limited(90_000, 0).losing(0.05, disturbed))
	c := ramp.New(p).Conclude(history)
	if got := receivedAt(history, c); !c.Saturated || !c.Confirmed || got < 90_000*0.994 || !strings.Contains(trace[1], "100.00 %") {
		t.Errorf("%+v: %.0f packets/s of 90000\n%s", c, got, strings.Join(trace, "\n"))
	}
	for _, w := range history[1:] {
		if w.Phase != report.Ramping && w.Directions[0].Intended.PacketsPerSecond < 80_000 {
			t.Errorf("window %d looks at %d packets/s\n%s", w.Number, w.Directions[0].Intended.PacketsPerSecond, strings.Join(trace, "\n"))
		}
	}
}

// TestPropertyOneDisturbedWindowIsNotTheLimit: whichever window of a run it is, and however much it loses.
func TestPropertyOneDisturbedWindowIsNotTheLimit(t *testing.T) {
	for _, p := range []plan.Procedure{rampOf(), rampOf(hold(20*time.Second), toTheTop)} {
		calm, _ := carryOut(t, p, limited(50_400, 0))
		for at := 1; at < len(calm); at++ {
			for _, share := range []float64{0.003, 0.02, 0.1, 0.6} {
				n := 0
				history, trace := carryOut(t, p, limited(50_400, 0).losing(share, func(procedure.Step) bool { n++; return n == at+1 }))
				c := ramp.New(p).Conclude(history)
				if got := receivedAt(history, c); !c.Saturated || !c.Confirmed || got < 50_400*0.994 || got > 50_451 {
					t.Fatalf("%.1f %% lost in window %d: %.0f packets/s of 50400, %+v\n%s", 100*share, at+1, got, c, strings.Join(trace, "\n"))
				}
				if len(history) > len(calm)+12 {
					t.Fatalf("%.1f %% lost in window %d: %d windows, %d without\n%s", 100*share, at+1, len(history), len(calm), strings.Join(trace, "\n"))
				}
			}
		}
	}
}

// lab is what a row of the table is counted from.
type lab struct {
	name   string
	p      plan.Procedure
	long   time.Duration // how long the windows are that so many percent of are disturbed; shorter ones are in proportion
	share  float64
	device func(rnd *rand.Rand) (d device, truth float64)
	alone  string // what became of it when a single long window was believed: counted once, for comparison
}

func labs() []lab {
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
		p.Ramp.RampDuration, p.Ramp.StepDuration, p.Ramp.Settle = plan.Duration(time.Second), plan.Duration(500*time.Millisecond), plan.Duration(100*time.Millisecond)
		p.Ramp.ConfirmDuration = plan.Duration(time.Second)
	})
	return []lab{
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
func (l lab) count(t *testing.T, runs int) (sum tally) {
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
		s.seconds += (w.Duration.Std() + p.Ramp.Settle.Std()).Seconds()
		if w.Phase != report.WarmUp && w.Duration >= p.Ramp.ConfirmDuration {
			s.longs++
		}
	}
	c := ramp.New(p).Conclude(history)
	if !c.Saturated || !c.Confirmed {
		s.unconfirmed++
		return
	}
	off := receivedAt(history, c)/truth - 1
	s.worst = min(s.worst, off)
	if off < -0.01 {
		s.low++
	}
	if off > 0.0025 {
		s.high++
	}
}

func (s tally) row(l lab) string {
	part := func(n int) string { return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(s.runs)) }
	return fmt.Sprintf("| %s | %.0f %% | %s | %.1f %% | %s | %s | %.2f | %.0f s | %s |\n", l.name, 100*l.share, part(s.low), 100*s.worst, part(s.high), part(s.unconfirmed),
		s.longs/float64(s.runs), s.seconds/float64(s.runs), l.alone)
}

// TestWhatDisturbedWindowsCost counts the table of docs/measured/simulated-searches.md, and what it may be at most: no run that wasn't disturbed is off, and few that were.
func TestWhatDisturbedWindowsCost(t *testing.T) {
	table := "| device, windows | of these are disturbed | more than 1 % too low | worst | more than 0.25 % too high | not confirmed | long windows | time | one window believed: too low, worst, time |\n|---|---|---|---|---|---|---|---|---|\n"
	for _, l := range labs() {
		runs := 25
		if *update {
			runs = 2000
		}
		sum := l.count(t, runs)
		table += sum.row(l)
		most := math.Ceil(l.share * l.share * float64(runs)) // two disturbed windows of one load, in a row
		if float64(sum.low) > most || sum.high > 0 {
			t.Errorf("%s, %.0f %% disturbed: %d of %d figures are too low, %d too high", l.name, 100*l.share, sum.low, sum.runs, sum.high)
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
	page, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := fmt.Sprintf("<!-- %s: counted by go test ./internal/procedure/ramp -update -->\n", name), fmt.Sprintf("<!-- end of %s -->", name)
	before, rest, found := strings.Cut(string(page), begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s has no place for the table %q", document, name)
	}
	if err := os.WriteFile(document, []byte(before+begin+table+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
