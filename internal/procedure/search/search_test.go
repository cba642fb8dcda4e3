package search_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/procedure/goals"
	"github.com/linerate-dev/linerate/internal/procedure/procedures"
	"github.com/linerate-dev/linerate/internal/procedure/search"
	"github.com/linerate-dev/linerate/internal/units"
	. "github.com/linerate-dev/linerate/test/rigs/proceduretest"
)

// planned is a search for NDR and PDR between 20 pps and 20 kpps, in trials of 1 s.
func planned(options ...func(*plan.Procedure)) plan.Procedure {
	packets := func(n int64) units.Rate { return units.Rate{Kind: units.Packets, Micros: n * 1_000_000} }
	goal := func(name string, loss units.Ratio) plan.Goal {
		return plan.Goal{Name: name, LossRatio: loss, FinalTrialDuration: plan.Duration(time.Second),
			DurationSum: plan.Duration(21 * time.Second), ExceedRatio: units.One / 2, Width: units.One / 200}
	}
	p := plan.Procedure{Type: plan.TypeSearch, Search: &plan.Search{Classification: plan.ClassifyRFC9971,
		MinRate: packets(20), MaxRate: packets(Full),
		WarmupDuration: plan.Duration(2 * time.Second), Goals: []plan.Goal{goal("NDR", 0), goal("PDR", units.One/200)}}}
	for _, o := range options {
		o(&p)
	}
	return p
}

func sequential(p *plan.Procedure) { p.Search.Classification = plan.ClassifySequential }

func bothAlone(p *plan.Procedure) {
	p.EachDirection = &plan.EachDirection{Directions: []string{"west→east", "east→west"}}
}

var bothWays = []func(*plan.Procedure){func(*plan.Procedure) {}, sequential}

// rate is what a load is in a direction, in packets per second.
func rate(load units.Ratio) float64 { return Full * float64(load) / float64(units.One) }

// Whatever the limit, which only the test knows, each goal's bounds enclose the rate at which the device loses more
// than that goal allows, and lie no further apart than its width.
func TestADeviceOfAKnownLimit(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		limit := 100 + rnd.Float64()*(Full-200)
		for _, classify := range bothWays {
			p := search.New(planned(classify))
			history, trace := CarryOut(t, p, Limited(limit))
			c := p.Conclude(history)
			if len(c.Goals) != 2 {
				t.Fatalf("%+v", c)
			}
			for i, loss := range []float64{0, 0.005} {
				g, truth := p.Found(history)[i], limit/(1-loss)
				frame := 1.0 // whether a frame of a trial is lost is a matter of rounding
				low, high := rate(g.Lower.Load), rate(g.Upper.Load)
				if low > truth+frame || high < truth-frame || high-low > 0.0051*high || g.Irregular != "" {
					t.Errorf("limit %.1f: %s is between %.1f and %.1f, want %.1f\n%s", limit, g.Name, low, high, truth,
						strings.Join(trace, "\n"))
				}
				if !g.Saturated || !g.Confirmed || g.Reason != report.LossAboveLimit ||
					g.Resolution > units.One*51/10_000 {
					t.Errorf("limit %.1f: %s is %+v", limit, g.Name, g.Conclusion)
				}
				for d, conclusion := range g.Directions {
					if !conclusion.Saturated || conclusion.Lossy == procedure.NoWindow ||
						history[conclusion.Lossy].Load != g.Upper.Load ||
						history[conclusion.Lossy].Directions[d].LossRatio <= units.Ratio(loss*float64(units.One)) {
						t.Errorf("limit %.1f: direction %d of %s is %+v", limit, d, g.Name, conclusion)
					}
				}
			}
		}
	}
}

// What a generator can't send bounds the search, and never the device.
func TestAWeakGeneratorIsNoLimit(t *testing.T) {
	for _, classify := range bothWays {
		p := search.New(planned(classify))
		history, _ := CarryOut(t, p, Limited(15_000).Throttled(8_000))
		for _, g := range p.Found(history) {
			if g.Saturated || g.Reason != report.GeneratorLimited || rate(g.Lower.Load) > 8_100 ||
				rate(g.Lower.Load) < 7_800 {
				t.Errorf("%+v", g)
			}
			for _, d := range g.Directions {
				if d.Saturated || d.Lossy != procedure.NoWindow {
					t.Errorf("%s: a direction that lost nothing is %+v", g.Name, d)
				}
			}
		}
	}
}

// What the generator itself dropped of what came back bounds the search, and never the device.
func TestAWeakReceiverIsNoLimit(t *testing.T) {
	for _, classify := range bothWays {
		p := search.New(planned(classify))
		history, _ := CarryOut(t, p, Limited(8_000), func(_ int, w *report.Window) {
			for i := range w.Directions {
				if m := &w.Directions[i]; m.Sent.Packets > m.Returned.Packets {
					m.ReceiveErrors, m.LossRatioMin, m.Quality, m.Reason = m.Sent.Packets-m.Returned.Packets, 0,
						report.Invalid, "the generator dropped what is missing"
				}
			}
			w.Quality, w.Reason = measure.Worst(w.Directions)
		})
		for _, g := range p.Found(history) {
			if g.Saturated || g.Reason != report.GeneratorLimited || rate(g.Lower.Load) > 8_100 ||
				rate(g.Lower.Load) < 7_800 {
				t.Errorf("%+v", g)
			}
		}
	}
}

// A trial's loss ratio is the worst direction's, and the other one is a lower bound.
func TestOneDirectionSetsTheLoadOfBoth(t *testing.T) {
	p := search.New(planned())
	history, _ := CarryOutOf(t, p, [2]Device{Limited(15_000), Limited(4_000)})
	for _, g := range p.Found(history) {
		if g.Saturated || g.Reason != report.OtherDirection || g.Directions[0].Saturated ||
			g.Directions[0].Reason != report.OtherDirection || !g.Directions[1].Saturated ||
			rate(g.Lower.Load) < 3_950 || rate(g.Upper.Load) > 4_050 {
			t.Errorf("%+v", g)
		}
	}
}

// Two directions of nearly one limit, of which each loses in half of the trials at the upper bound, have their limits
// shown by trials a little above it, and no bound of the goals changes by that.
func TestDirectionsThatFailByTurns(t *testing.T) {
	const limit = 9_000
	mixed := func(turn int) Device {
		return func(window int, asked float64) (offered, received float64) {
			if window%2 == turn {
				return Limited(limit*1.003)(window, asked)
			}
			return Limited(limit*0.997)(window, asked)
		}
	}
	for _, classify := range bothWays {
		p := search.New(planned(classify))
		history, trace := CarryOutOf(t, p, [2]Device{mixed(0), mixed(1)})
		for _, g := range p.Found(history) {
			if low, high := rate(g.Lower.Load), rate(g.Upper.Load); !g.Saturated || g.Reason != report.LossAboveLimit ||
				g.Irregular != "" || high-low > 0.0051*high || low > limit*1.003/0.995 || high < limit*0.997 {
				t.Errorf("%s is %+v\n%s", g.Name, g, strings.Join(trace, "\n"))
			}
			for _, d := range g.Directions {
				if high := rate(history[d.Lossy].Load); !d.Saturated || high < rate(g.Upper.Load) ||
					high > rate(g.Upper.Load)*1.0111 {
					t.Errorf("%s: a direction has its upper bound at %.0f, beside %.0f of both: %+v", g.Name, high,
						rate(g.Upper.Load), d)
				}
			}
		}
	}
}

// A direction that lost nothing at the upper bound isn't asked again.
func TestTrialsAboveTheBoundAreForWhoLostThere(t *testing.T) {
	for _, classify := range bothWays {
		p := search.New(planned(classify))
		_, trace := CarryOutOf(t, p, [2]Device{Limited(15_000), Limited(4_000)})
		for _, reason := range trace {
			if strings.Contains(reason, "has its own limit") {
				t.Errorf("the one direction lost nothing and the other one's limit is known, and yet: %s", reason)
			}
		}
	}
}

// One search after another, and in the end the first goal's loads at once.
func TestEachDirectionByItself(t *testing.T) {
	limits := [2]float64{15_000, 4_000}
	for _, classify := range bothWays {
		p := procedures.New(planned(bothAlone, classify))
		history, trace := CarryOutOf(t, p, [2]Device{Limited(limits[0]), Limited(limits[1])})
		c := p.Conclude(history)
		if len(c.Goals) != 2 || history[c.Window].Phase != report.AllAtOnce || !c.Saturated ||
			!c.Goals[0].Saturated {
			t.Fatalf("%+v\n%s", c, strings.Join(trace, "\n"))
		}
		for _, phrase := range []string{"west→east: NDR: met at ", "east→west: NDR: met at ", "; PDR: met at "} {
			if !strings.Contains(c.Sentence, phrase) {
				t.Errorf("nothing is said of %q: %s", phrase, c.Sentence)
			}
		}
		for _, g := range c.Goals {
			for d, conclusion := range g.Directions {
				low, high := rate(history[conclusion.Window].Load), rate(history[conclusion.Lossy].Load)
				if !conclusion.Saturated || low > limits[d]*1.0051 || high < limits[d] || high-low > 0.0051*high {
					t.Errorf("%s, direction %d: %.0f to %.0f, want %.0f: %+v", g.Name, d, low, high, limits[d],
						conclusion)
				}
			}
		}
	}
}

// TestEachGoalHasASentenceOfItsOwn: of its bounds and its loss ratio, and never of loads that were held at once
// where they weren't.
func TestEachGoalHasASentenceOfItsOwn(t *testing.T) {
	for name, options := range map[string][]func(*plan.Procedure){"together": nil, "each": {bothAlone}} {
		p := procedures.New(planned(options...))
		history, _ := CarryOutOf(t, p, [2]Device{Limited(15_000), Limited(4_000)})
		sentence := p.Conclude(history).Goals[1].Sentence
		for _, phrase := range []string{"clean", "limit 0 %", "at most 0 %", "all at once", "NDR"} {
			if strings.Contains(sentence, phrase) {
				t.Errorf("%s: PDR's says %q: %s", name, phrase, sentence)
			}
		}
		if !strings.Contains(sentence, "PDR: met at ") || !strings.Contains(sentence, "lost at most 0.5 %") ||
			strings.HasSuffix(sentence, "not held at once") != (name == "each") {
			t.Errorf("%s: %s", name, sentence)
		}
	}
}

// TestADeviceThatLosesOfEveryLoad has no NDR, and a PDR.
func TestADeviceThatLosesOfEveryLoad(t *testing.T) {
	for _, classify := range bothWays {
		p := search.New(planned(classify, func(p *plan.Procedure) { p.Search.MinRate.Micros = 1000 * 1_000_000 }))
		leaky := func(_ int, asked float64) (offered, received float64) { return asked, min(0.998*asked, 7_000) }
		history, _ := CarryOut(t, p, leaky)
		c := p.Conclude(history)
		found := p.Found(history)
		ndr, pdr := found[0], found[1]
		if ndr.Irregular != goals.MinimumLossy || ndr.Reason != report.NoCleanLoad ||
			ndr.Window != procedure.NoWindow || ndr.Lower != nil || rate(ndr.Upper.Load) != 1000 {
			t.Errorf("NDR is %+v", ndr)
		}
		if truth := 7_000 / 0.995; !pdr.Saturated || rate(pdr.Lower.Load) > truth+1 || rate(pdr.Upper.Load) < truth-1 {
			t.Errorf("PDR is %+v", pdr)
		}
		if c.Window != procedure.NoWindow || !strings.Contains(c.Sentence, "NDR: irregular, no load met it") ||
			!strings.Contains(c.Sentence, "PDR: met at 14.") {
			t.Errorf("%s", c.Sentence)
		}
	}
}

func TestADeviceThatLosesNothing(t *testing.T) {
	p := search.New(planned())
	history, _ := CarryOut(t, p, Limited(1e9))
	for _, g := range p.Found(history) {
		if g.Irregular != goals.MaximumClean || g.Saturated || !g.Confirmed || g.Reason != report.TargetReached ||
			g.Lower.Load != units.One || g.Upper != nil || history[g.Window].Load != units.One {
			t.Errorf("%+v", g)
		}
	}
}

// Disturbed trials change no bound, and a trial that stays disturbed ends nothing and bounds nothing.
func TestDisturbedTrialsAreRepeated(t *testing.T) {
	p := search.New(planned())
	calm, _ := CarryOut(t, p, Limited(5_000))
	partial, trace := CarryOut(t, p, Limited(5_000), Void("link west was down", 3, 4, 9))
	if len(partial) != len(calm)+3 || p.Found(partial)[0].Lower.Load != p.Found(calm)[0].Lower.Load {
		t.Errorf("%d windows after %d", len(partial), len(calm))
	}
	if !slices.Contains(trace, "window 4 is repeated, as it could not be judged: link west was down") {
		t.Errorf("%q", trace)
	}
	history, _ := CarryOut(t, p, Limited(5_000), func(_ int, w *report.Window) {
		if w.Phase == report.Trial && rate(w.Load) > 3_000 {
			Void("link west was down", w.Number-1)(w.Number-1, w)
			for i := range w.Directions {
				w.Directions[i].Returned.Packets /= 2
			}
		}
	})
	for _, g := range p.Found(history) {
		if g.Saturated || g.Reason != report.Inconclusive || rate(g.Lower.Load) > 3_000 {
			t.Errorf("nobody knows what is above 3000, and %+v", g)
		}
	}
}

func TestAWarmUpThatReturnsNothingEndsTheRun(t *testing.T) {
	p := search.New(planned())
	history, trace := CarryOut(t, p, Limited(0))
	if c := p.Conclude(history); len(history) != 1 || c.Reason != report.NotMeasured || c.Ending != trace[0] ||
		c.Goals != nil {
		t.Errorf("%+v after %d windows: %q", c, len(history), trace)
	}
}

func TestWhatItSaysOfItself(t *testing.T) {
	p := search.New(planned())
	const want = "search for NDR (at most 0 % lost) and PDR (at most 0.5 % lost) between 20pps and 20kpps per " +
		"direction, in trials of up to 1s each, classified by RFC9971"
	if d := p.Describe(); d.Sentence != want {
		t.Errorf("%q", d.Sentence)
	}
	if r := p.Rates(); r.Full.Field != "search.maxRate" || r.WarmUp.Field != "search.minRate" ||
		r.Full.String() != "20kpps" {
		t.Errorf("%+v", r)
	}
	if got := search.New(plan.Procedure{}).Next(nil); !got.End || got.Reason != "the search has no goal" {
		t.Errorf("%+v", got)
	}
}

func TestPropertyAnyHistoryEnds(t *testing.T) {
	AnyHistoryEnds(t, func(rnd *rand.Rand) procedure.Procedure {
		return search.New(planned(bothWays[rnd.IntN(2)], func(p *plan.Procedure) {
			p.Search.WarmupDuration *= plan.Duration(rnd.IntN(2))
			p.Search.Goals = p.Search.Goals[rnd.IntN(2):]
			for i := range p.Search.Goals {
				p.Search.Goals[i].DurationSum = plan.Duration(1+rnd.IntN(3)) * plan.Duration(time.Second)
				p.Search.Goals[i].Width = units.One / 20
			}
		}))
	})
}
