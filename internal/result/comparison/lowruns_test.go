package comparison_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/comparison"
	"github.com/linerate-dev/linerate/test/rigs/tier"
)

// spreadOut is what chance adds to a run, as a share, of runs that spread by so much.
type spreadOut func(r *rand.Rand, spread float64) float64

func by(of noise) spreadOut {
	return func(r *rand.Rand, spread float64) float64 { return spread * of(r) }
}

// lowEvery are runs of which this share is 10 % low, on top of normal chance.
func lowEvery(share float64) spreadOut {
	return func(r *rand.Rand, spread float64) float64 {
		v := spread * normal(r)
		if r.Float64() < share {
			v -= 0.1
		}
		return v
	}
}

// lowPairs are judged for each row.
const lowPairs = 1000

// withheld counts, of so many pairs of which the truth of the medians is the same, how many medians alone would
// pass, and how many pass.
func withheld(n int, spread float64, candidate, baseline spreadOut) (medians, passed int) {
	r := rand.New(rand.NewPCG(uint64(n), uint64(1e6*spread)))
	allowance := allow(0.02, 0)
	for range lowPairs {
		q := comparison.Question{Allowance: &allowance}
		for range n {
			q.Baseline = append(q.Baseline, comparison.Exact(10_000*(1+baseline(r, spread))))
			q.Candidate = append(q.Candidate, comparison.Exact(10_000*(1+candidate(r, spread))))
		}
		a := comparison.Compare(q)
		if a.Outcome == report.Passed {
			medians++
		}
		if comparison.WithholdForLowRuns(q, a).Outcome == report.Passed {
			passed++
		}
	}
	return medians, passed
}

// lowRunRows are the settings of the published table: what the candidate's and the baseline's runs are like.
var lowRunRows = []struct {
	words               string
	candidate, baseline spreadOut
	honest              bool // candidate and baseline are alike, and no run is low
}{
	{"no run of either is low, normal chance", by(normal), by(normal), true},
	{"no run of either is low, heavy tails", by(heavy), by(heavy), true},
	{"30 % of the candidate's are 10 % low, none of the baseline's", lowEvery(0.3), by(normal), false},
	{"10 % of the candidate's are, none of the baseline's", lowEvery(0.1), by(normal), false},
	{"10 % of either are", lowEvery(0.1), lowEvery(0.1), false},
	{"2 % of either are", lowEvery(0.02), lowEvery(0.02), false},
}

// TestRunsFarBelowTheRestDoNotPassByTheirMedian counts how often medians alone would pass a candidate whose median
// didn't change, and how often it passes all the same where low runs keep it. With five runs the low ones may be
// missing, and then nobody can know: 0.7⁵ is 17 %.
func TestRunsFarBelowTheRestDoNotPassByTheirMedian(t *testing.T) {
	var table strings.Builder
	table.WriteString("| runs that are low | of each | spread | medians alone pass | passes |\n|---|---|---|---|---|\n")
	for _, row := range lowRunRows {
		for _, n := range tier.Sample(2, []int{5, 10, 20}) {
			for _, spread := range []float64{0.002, 0.005} {
				medians, passed := withheld(n, spread, row.candidate, row.baseline)
				fmt.Fprintf(&table, "| %s | %d | %g %% | %.1f %% | %.1f %% |\n", row.words, n, 100*spread, 100*float64(medians)/lowPairs, 100*float64(passed)/lowPairs)
				unseen := math.Pow(0.7, float64(n)) * lowPairs // of 30 % low runs none among n
				switch {
				case row.honest && spread < 0.005 && medians-passed > lowPairs/100:
					t.Errorf("%s, %d runs, spread %g: %d of %d that medians pass are kept from it", row.words, n, spread, medians-passed, medians)
				case row.words == lowRunRows[2].words && float64(passed) > unseen+3*math.Sqrt(unseen)+5:
					t.Errorf("%s, %d runs, spread %g: %d of %d pass, and only %.0f have no low run", row.words, n, spread, passed, lowPairs, unseen)
				}
			}
		}
	}
	publish(t, "low runs", table.String())
}

func TestSingleRunsThatKeepACandidateFromPassing(t *testing.T) {
	steady := many(20, 10_000)
	allowance := allow(0.02, 0)
	replaced := func(n int, by comparison.Run) []comparison.Run {
		runs := many(20, 10_001)
		for i := range n {
			runs[i] = by
		}
		return runs
	}
	low := comparison.Exact(9_000)
	tests := map[string]struct {
		candidate, baseline []comparison.Run
		outcome             report.Outcome
		reason              comparison.Reason
	}{
		"none is low":                                    {many(20, 10_001), steady, report.Passed, comparison.Shown},
		"one of twenty":                                  {replaced(1, low), steady, report.Passed, comparison.Shown},
		"two of twenty are a tenth":                      {replaced(2, low), steady, report.Undecided, comparison.LowRuns},
		"two, as of the baseline":                        {replaced(2, low), replaced(2, low), report.Passed, comparison.Shown},
		"two, and one of the baseline":                   {replaced(2, low), replaced(1, low), report.Passed, comparison.Shown},
		"two, far off, but no more than is allowed":      {replaced(2, comparison.Exact(9_850)), steady, report.Passed, comparison.Shown},
		"two that may be as good as the rest":            {replaced(2, comparison.AtLeast(9_000)), steady, report.Passed, comparison.Shown},
		"two that are far above":                         {replaced(2, comparison.Exact(11_000)), steady, report.Passed, comparison.Shown},
		"all of them, which is what medians do speak of": {many(20, 9_000), steady, report.DidFail, comparison.Shown},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			q := comparison.Question{Candidate: test.candidate, Baseline: test.baseline, Allowance: &allowance}
			if a := comparison.WithholdForLowRuns(q, comparison.Compare(q)); a.Outcome != test.outcome || a.Reason != test.reason {
				t.Errorf("%s, %s (%s), want %s, %s", a.Outcome, a.Reason, a.Sentence, test.outcome, test.reason)
			}
		})
	}
}
