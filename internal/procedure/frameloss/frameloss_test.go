package frameloss_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/procedure/frameloss"
	"github.com/linerate-dev/linerate/internal/units"
	. "github.com/linerate-dev/linerate/test/rigs/proceduretest"
)

func pps(r int64) units.Rate { return units.Rate{Kind: units.Packets, Micros: r * 1_000_000} }

// descent is a usual one: from 20 kpps in steps of a tenth down to a tenth, until nothing is lost twice.
func descent(options ...func(*plan.FrameLoss)) frameloss.FrameLoss {
	f := plan.FrameLoss{MaxRate: pps(Full), MinRate: pps(Full / 10), Step: pps(Full / 10),
		WarmupDuration: plan.Duration(5 * time.Second),
		TrialDuration:  plan.Duration(10 * time.Second), CleanTrials: 2}
	for _, o := range options {
		o(&f)
	}
	return frameloss.New(plan.Procedure{Type: plan.TypeFrameLoss, FrameLoss: &f})
}

func rates(highest, lowest, step units.Rate) func(*plan.FrameLoss) {
	return func(f *plan.FrameLoss) { f.MaxRate, f.MinRate, f.Step = highest, lowest, step }
}

func stopAfter(n int) func(*plan.FrameLoss) {
	return func(f *plan.FrameLoss) { f.CleanTrials = n }
}

// loadsOf are the windows' loads without the warm-up, in percent.
func loadsOf(history []report.Window) string {
	var steps []string
	for _, w := range history {
		if w.Phase != report.WarmUp {
			steps = append(steps, w.Load.Percent().String())
		}
	}
	return strings.Join(steps, " ")
}

func TestTheLoadsOfADescent(t *testing.T) {
	percent := units.Rate{Kind: units.LinePercent, Micros: 10_000_000}
	for name, c := range map[string]struct {
		procedure frameloss.FrameLoss
		want      string
	}{
		"steps that hit the lowest load":      {descent(rates(pps(100), pps(40), pps(20))), "100 80 60 40"},
		"steps that miss it end there anyway": {descent(rates(pps(100), pps(50), pps(20))), "100 80 60 50"},
		"thirds are exact steps of the rate":  {descent(rates(pps(30), pps(10), pps(10))), "100 66.6666667 33.3333333"},
		"a step wider than the descent":       {descent(rates(pps(100), pps(90), pps(20))), "100 90"},
		"no step":                             {descent(rates(pps(100), pps(90), pps(0))), "100 90"},
		"a step of another kind":              {descent(rates(pps(100), pps(90), percent)), "100 90"},
		"a lowest load of another kind":       {descent(rates(pps(100), percent, pps(10))), "100"},
		"a lowest load above the highest":     {descent(rates(pps(100), pps(200), pps(10))), "100"},
		"no lowest load":                      {descent(rates(pps(100), pps(0), pps(10))), "100"},
		"percent of the line rate": {descent(rates(units.Rate{Kind: units.LinePercent, Micros: 100_000_000}, percent,
			units.Rate{Kind: units.LinePercent, Micros: 30_000_000})), "100 70 40 10"},
		"nothing set": {frameloss.New(plan.Procedure{}), "100"},
	} {
		history, _ := CarryOut(t, c.procedure, Limited(Full/1000))
		if got := loadsOf(history); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestADeviceOfAKnownLimit: at a load L above the limit R, which only the test knows, a device loses 1 − R ÷ L
// of the frames, and below none.
func TestADeviceOfAKnownLimit(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		limit := Full * (0.05 + 1.1*rnd.Float64())
		p := descent(stopAfter(rnd.IntN(3)))
		history, trace := CarryOut(t, p, Limited(limit))
		c := p.Conclude(history)
		want := report.TargetReached // the highest load was carried, and a higher one may be
		if limit < Full*0.99 {
			want = report.CurveMeasured
		}
		if limit > Full*0.99 && limit < Full { // how much is lost is a matter of whole frames
			want = c.Reason
		}
		if !c.Finished || c.Reason != want || len(c.Loads) == 0 || !c.Confirmed || c.Saturated ||
			history[c.Window].Load != units.One || c.Ending != trace[len(trace)-1] {
			t.Fatalf("%+v\n%s", c, trace)
		}
		for n, load := range c.Loads {
			window := load.Window
			w := history[window]
			load := Full * float64(w.Load) / float64(units.One)
			lost := 1 - float64(w.Directions[1].Returned.Packets)/float64(w.Directions[1].Sent.Packets)
			if want := max(0, 1-limit/load); math.Abs(lost-want) > 1e-4 || n > 0 &&
				w.Load >= history[c.Loads[n-1].Window].Load {
				t.Fatalf("limit %.0f: at %.0f %f is lost, want %f; the loads before are %v", limit, load, lost, want,
					c.Loads[:n])
			}
		}
	}
}

func TestTheEndOfADescent(t *testing.T) {
	for name, c := range map[string]struct {
		procedure frameloss.FrameLoss
		device    Device
		edits     []Edit
		loads     string
		ending    string
		phrases   []string
	}{
		"two successive loads without loss": {descent(), Limited(9000), nil, "100 90 80 70 60 50 40 30",
			"nothing was lost at 2 loads in succession, down to 30 % of 20kpps", []string{
				"frames lost in the direction that lost most, at 7 of 8 loads: 55 % at 100 % of 20kpps, 50 % at 90 " +
					"%, 43.75 % at 80 %, 35.71 % at 70 %, 10 % at 50 %, " +
					"none from 40 % down to 30 %"}},
		"one is enough if so asked": {descent(stopAfter(1)), Limited(9000), nil, "100 90 80 70 60 50 40",
			"nothing was lost at 1 load in succession, down to 40 % of 20kpps", []string{"none at 40 %"}},
		"nobody asked for an end": {descent(stopAfter(0)), Limited(9000), nil, "100 90 80 70 60 50 40 30 20 10",
			"the descent reached its end after 10 loads", []string{"none from 40 % down to 10 %"}},
		"a load that lost again breaks the succession": {descent(rates(pps(100), pps(60), pps(10))),
			func(n int, asked float64) (float64, float64) {
				if n == 2 {
					return asked, asked / 2
				}
				return asked, asked
			}, nil, "100 90 80 70", "nothing was lost at 2 loads in succession, down to 70 % of 100pps",
			[]string{"none at 100 % of 100pps, 50 % at 90 %, none from 80 % down to 70 %"}},
		"a device without a limit": {descent(), Limited(1e9), nil, "100 90",
			"nothing was lost at 2 loads in succession, down to 90 % of 20kpps",
			[]string{"none from 100 % of 20kpps down to 90 %"}},
		"loss below the limit of the Plan is loss": {descent(rates(pps(100), pps(80), pps(10))),
			func(_ int, asked float64) (float64, float64) { return asked, asked * 0.9995 }, nil,
			"100 90 80", "the descent reached its end after 3 loads", []string{"0.05 % at 100 % of 100pps"}},
		"a generator at its end: its load is what counts": {descent(), Limited(9000).Throttled(10_000), nil,
			"100 90 80 70 60 50 40 30", "nothing was lost at 2 loads in succession, down to 30 % of 20kpps",
			[]string{"10 % at 100 % of 20kpps (10.00 kpps offered)", "10 % at 50 %, none"}},
		"a trial that was disturbed is repeated": {descent(), Limited(1e9), []Edit{Void("link west was down", 1)},
			"100 100 90", "nothing was lost at 2 loads in succession, down to 90 % of 20kpps", nil},
		"one that stays so is told": {descent(), Limited(1e9), []Edit{Void("link west was down", 2, 3, 4)},
			"100 90 90 90 80 70", "nothing was lost at 2 loads in succession, down to 70 % of 20kpps", []string{
				"none from 100 % of 20kpps down to 70 %; no trial could be judged at 90 % of 20kpps (window 5: link " +
					"west was down)"}},
		"so are several": {descent(), Limited(1e9), []Edit{Void("link west was down", 1, 2, 3, 4, 5, 6)},
			"100 100 100 90 90 90 80 70", "nothing was lost at 2 loads in succession, down to 70 % of 20kpps",
			[]string{"no trial could be judged at 100 % of 20kpps and 1 load below (window 4: link west was down)"}},
	} {
		t.Run(name, func(t *testing.T) {
			history, trace := CarryOut(t, c.procedure, c.device, c.edits...)
			got := c.procedure.Conclude(history)
			if loads := loadsOf(history); loads != c.loads || got.Ending != c.ending ||
				got.Reason == report.NotMeasured {
				t.Errorf("loads %s, %s: %s\nwant %s: %s", loads, got.Reason, got.Ending, c.loads, c.ending)
			}
			for _, want := range c.phrases {
				if !strings.Contains(got.Sentence, want) {
					t.Errorf("%q does not say %q", got.Sentence, want)
				}
			}
			if c.edits != nil && !slices.ContainsFunc(trace, func(s string) bool {
				return strings.HasSuffix(s, " is repeated, as it could not be judged: link west was down")
			}) {
				t.Errorf("the repeat has no reason: %q", trace)
			}
		})
	}
}

func TestADescentOfWhichNothingCounts(t *testing.T) {
	p := descent()
	history, _ := CarryOut(t, p, Limited(1e9),
		func(_ int, w *report.Window) { w.Quality, w.Reason = report.Invalid, "the generator sent nothing" })
	c := p.Conclude(history)
	if len(history) != 1+10+10 || c.Reason != report.NotMeasured || c.Confirmed || c.Window != procedure.NoWindow {
		t.Errorf("%d windows, %+v; want each load and 10 repeats", len(history), c)
	}
	if want := "no trial could be judged at 100 % of 20kpps and 9 loads below (window 4: the generator sent " +
		"nothing)"; c.Sentence != want {
		t.Errorf("%q, want %q", c.Sentence, want)
	}
}

func TestAWarmUpThatReturnsNothingEndsTheRun(t *testing.T) {
	p := descent()
	history, trace := CarryOut(t, p, Limited(0))
	c := p.Conclude(history)
	if len(history) != 1 || c.Reason != report.NotMeasured || !c.Finished || c.Ending != trace[0] ||
		!strings.HasPrefix(trace[0], "warm-up: none of ") {
		t.Errorf("%+v after %d windows: %q", c, len(history), trace)
	}
}

func TestTheTimeItTakes(t *testing.T) {
	p := descent()
	if got, want := p.Bound(), (procedure.Bound{Steps: 21, Time: 205 * time.Second, Trials: 21,
		Trial: 10 * time.Second}); got != want || p.Usual() != 105*time.Second {
		t.Errorf("%+v, usually %s; want %+v", got, p.Usual(), want)
	}
	if got := descent(rates(pps(100), pps(90), pps(10))).Bound().Steps; got != 1+2+4 {
		t.Errorf("two loads take %d steps at most, want the warm-up, each load and its two repeats", got)
	}
	history, _ := CarryOut(t, p, Limited(9000), Void("link west was down", 1))
	for n, want := range []int{105, 100, 100, 90, 80} {
		if got := p.Remaining(history[:n]); got != time.Duration(want)*time.Second {
			t.Errorf("after %d windows %s remain, want %ds", n, got, want)
		}
	}
}

func TestWhatItSaysOfItself(t *testing.T) {
	for want, p := range map[string]frameloss.FrameLoss{
		"frame loss at 10 loads from 20kpps per direction down to 2kpps, a trial of 10s each, until nothing is lost " +
			"at 2 loads in succession": descent(),
		"frame loss at 1 load from 20kpps per direction, a trial of 10s " +
			"each": descent(rates(pps(Full), pps(0), pps(1)), stopAfter(0)),
	} {
		if d := p.Describe(); d.Sentence != want {
			t.Errorf("%+v, want %q", d, want)
		}
	}
	r := descent().Rates()
	if r.Full.Field != "frameLoss.from" || r.Full.String() != "20kpps" || r.WarmUp.Field != "frameLoss.to" ||
		r.WarmUp.String() != "2kpps" {
		t.Errorf("%+v", r)
	}
}

func TestPropertyAnyHistoryEnds(t *testing.T) {
	AnyHistoryEnds(t, func(rnd *rand.Rand) procedure.Procedure {
		return descent(rates(pps(1+rnd.Int64N(1000)), pps(rnd.Int64N(1000)), pps(1+rnd.Int64N(200))),
			stopAfter(rnd.IntN(4)), func(f *plan.FrameLoss) {
				f.WarmupDuration *= plan.Duration(rnd.IntN(2))
			})
	})
}

// However many loads there are, at most six appear.
func TestPropertyTheSentenceIsShort(t *testing.T) {
	for n := int64(1); n < 100; n++ {
		p := descent(rates(pps(1000), pps(1000/n), pps(max(1, 1000/n))), stopAfter(0))
		history, _ := CarryOut(t, p, Limited(Full*0.3))
		if got := p.Conclude(history).Sentence; strings.Count(got, " % at ")+strings.Count(got, "none from ") > 6 ||
			!strings.Contains(got, "100 % of 1kpps") {
			t.Errorf("%d loads: %s", len(history)-1, got)
		}
	}
}
