package comparison_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/comparison"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/tier"
)

// anyRuns are runs of any kind that a Report may have: exact ones, brackets, lower bounds, such as lost frames at
// the lowest load already, zeroes, and many that are the same.
func anyRuns(r *rand.Rand) []comparison.Run {
	runs := make([]comparison.Run, r.IntN(12))
	if r.IntN(20) == 0 {
		runs = make([]comparison.Run, 60+r.IntN(60))
	}
	kinds, spread, at := 1+r.IntN(6), []float64{0, 1e-9, 0.002, 0.02, 1}[r.IntN(5)], []float64{1, 1000, 1e6, 1e10}[r.IntN(4)]
	for i := range runs {
		v := math.Round(at * math.Exp(spread*r.NormFloat64()))
		switch r.IntN(kinds) {
		case 0, 1:
			runs[i] = comparison.Exact(v)
		case 2:
			runs[i] = comparison.Run{Low: v, High: v * (1 + 0.01*r.Float64())}
		case 3:
			runs[i] = comparison.AtLeast(v)
		case 4:
			runs[i] = comparison.LessThan(v)
		case 5:
			runs[i] = []comparison.Run{{}, {High: math.Inf(1)}, comparison.Exact(math.NaN()), comparison.Exact(1e300), comparison.Exact(1e-300)}[r.IntN(5)]
		}
	}
	return runs
}

// TestWhateverRunsThereAre: no runs make a comparison panic or tell what is no number, no runs show both claims,
// and what is less than is allowed isn't within a smaller allowance.
func TestWhateverRunsThereAre(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 18))
	told := map[report.Outcome]int{}
	for range tier.Times(2000, 20_000) {
		q := comparison.Question{Figure: comparison.Figure{Metric: figures.PacketsPerSecond}, Candidate: anyRuns(r), Baseline: anyRuns(r)}
		spread, tries := []units.Ratio{0, 0, units.One / 200, units.One / 20}[r.IntN(4)], r.IntN(5)
		failed := false
		for _, percent := range []units.Ratio{50, 10, 2, 1, 0} { // ever less is allowed
			q.Allowance = &comparison.Allowance{MaxRegression: percent * units.One / 100, AssumedSpread: spread, Tries: tries}
			for _, a := range []comparison.Answer{comparison.WithholdForLowRuns(q, comparison.Compare(q)), comparison.Worst(q)} {
				if !(a.Chance.Failed >= 0 && a.Chance.Failed <= 1 && a.Chance.Passed >= 0 && a.Chance.Passed <= 1) || strings.Contains(a.Sentence, "NaN") || strings.Contains(a.Sentence, "Inf") {
					t.Fatalf("%+v\n%v\n%v", a, q.Candidate, q.Baseline)
				}
			}
			a := comparison.Compare(q)
			if told[a.Outcome]++; failed && a.Outcome == report.Passed {
				t.Fatalf("%d %% less pass, and more failed: %s\n%v\n%v", percent, a.Sentence, q.Candidate, q.Baseline)
			}
			failed = failed || a.Outcome == report.DidFail
			if c := a.Change; c != nil && c.LowPercent != nil && c.HighPercent != nil && (*c.LowPercent > *c.HighPercent || c.Percent < *c.LowPercent || c.Percent > *c.HighPercent) {
				t.Fatalf("%v isn't within %v to %v\n%v\n%v", c.Percent, *c.LowPercent, *c.HighPercent, q.Candidate, q.Baseline)
			}
		}
	}
	t.Log(told)
	if told[report.Passed] == 0 || told[report.DidFail] == 0 || told[report.Undecided] == 0 {
		t.Errorf("of the outcomes some never come: %v", told)
	}
}

// TestAsManyRunsAsAreNamedForgiveAStray: who makes the runs that are named, steady ones, has a verdict, although
// one of the first lies far below.
func TestAsManyRunsAsAreNamedForgiveAStray(t *testing.T) {
	steady := func(n int) (runs []comparison.Run) {
		for i := range n {
			runs = append(runs, comparison.Exact(float64(9970+i%5)))
		}
		return runs
	}
	q := comparison.Question{Figure: comparison.Figure{Metric: figures.PacketsPerSecond}, Candidate: append(steady(4), comparison.Exact(9100)), Baseline: steady(5), Allowance: &comparison.Allowance{MaxRegression: units.One / 50}}
	ask := func() comparison.Answer { return comparison.WithholdForLowRuns(q, comparison.Compare(q)) }
	first := ask()
	if first.Outcome != report.Undecided || first.Needed.Candidate == 0 {
		t.Fatalf("%+v", first)
	}
	q.Candidate = append(q.Candidate, steady(first.Needed.Candidate-5)...)
	if a := ask(); a.Outcome != report.Passed {
		t.Errorf("%d runs, as were named: %s: %s", len(q.Candidate), a.Outcome, a.Sentence)
	}
}

// TestMoreTriesNeedMoreRuns: a claim that is to be wrong more seldom takes more runs.
func TestMoreTriesNeedMoreRuns(t *testing.T) {
	apart := []comparison.Run{comparison.Exact(980), comparison.Exact(990), comparison.Exact(1000), comparison.Exact(1010), comparison.Exact(1020)}
	q := comparison.Question{Figure: comparison.Figure{Metric: figures.PacketsPerSecond}, Candidate: apart, Baseline: apart, Allowance: &comparison.Allowance{MaxRegression: units.One / 50}}
	once := comparison.Compare(q)
	q.Allowance.Tries = 10
	if often := comparison.Compare(q); once.Reason != comparison.TooWide || often.Needed.Candidate <= once.Needed.Candidate {
		t.Errorf("%+v of one try, %+v of ten, %s", once.Needed, often.Needed, once.Sentence)
	}
}

// TestNothingIsAShareOfNothing: the worst run of a candidate isn't within what is allowed of a baseline that
// forwarded nothing.
func TestNothingIsAShareOfNothing(t *testing.T) {
	none := []comparison.Run{comparison.Exact(0), comparison.Exact(0), comparison.Exact(0), comparison.Exact(0), comparison.Exact(0)}
	q := comparison.Question{Figure: comparison.Figure{Metric: figures.PacketsPerSecond}, Candidate: none, Baseline: none, Allowance: &comparison.Allowance{MaxRegression: units.One / 50}}
	for name, a := range map[string]comparison.Answer{"of medians": comparison.Compare(q), "of the worst": comparison.Worst(q)} {
		if a.Outcome != report.Undecided || a.Reason != comparison.NoBaseline {
			t.Errorf("%s: %s, %s: %s", name, a.Outcome, a.Reason, a.Sentence)
		}
	}
}
