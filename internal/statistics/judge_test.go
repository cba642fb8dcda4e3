package statistics_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/statistics"
)

// exact are runs that found just these figures.
func exact(values ...float64) []statistics.Run {
	runs := make([]statistics.Run, len(values))
	for i, v := range values {
		runs[i] = statistics.Exact(v)
	}
	return runs
}

// within are runs whose truth lies up to 1 % above the figure.
func within(values ...float64) []statistics.Run {
	runs := make([]statistics.Run, len(values))
	for i, v := range values {
		runs[i] = statistics.Run{Low: v, High: 1.01 * v}
	}
	return runs
}

// atLeast are runs that found lower bounds.
func atLeast(values ...float64) []statistics.Run {
	runs := make([]statistics.Run, len(values))
	for i, v := range values {
		runs[i] = statistics.AtLeast(v)
	}
	return runs
}

// many are n runs around a figure, a thousandth apart at most.
func many(n int, around float64) []statistics.Run {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	runs := make([]statistics.Run, n)
	for i := range runs {
		runs[i] = statistics.Exact(around * (1 + (r.Float64()-0.5)/1000))
	}
	return runs
}

func TestWhatIsClaimedIsWhatTheRunsShow(t *testing.T) {
	two := statistics.Demand{Allowed: 0.02}
	vouched := statistics.Demand{Allowed: 0.02, AssumedSpread: 0.003}
	steady := exact(9974, 9966, 9973, 9965, 9977)
	tests := map[string]struct {
		candidate, baseline []statistics.Run
		demand              statistics.Demand
		outcome             statistics.Outcome
		reason              statistics.Reason
		needed              statistics.Needed
		says                string
	}{
		"no change": {exact(9975, 9971, 9974, 9983, 9968), steady, two, statistics.Passed, statistics.Shown, statistics.Needed{},
			"9974 in 5 runs, 9973 in 5 runs of the baseline: 0.02 % more (96.8 % interval: 0.06 % less to 0.10 % more), at most 2 % less allowed"},
		"5 % less": {exact(9476, 9472, 9475, 9484, 9470), steady, two, statistics.Failed, statistics.Shown, statistics.Needed{},
			"9475 in 5 runs, 9973 in 5 runs of the baseline: 4.98 % less (96.8 % interval: 4.90 to 5.05 % less), at most 2 % less allowed"},
		"5 % more":            {exact(10476, 10472, 10475, 10484, 10470), steady, two, statistics.Passed, statistics.Shown, statistics.Needed{}, ""},
		"1 % less is allowed": {exact(9876, 9872, 9875, 9884, 9870), steady, two, statistics.Passed, statistics.Shown, statistics.Needed{}, ""},
		"2 % less, give or take": {exact(9790, 9740, 9774, 9800, 9760), steady, two, statistics.Undecided, statistics.TooWide, statistics.Needed{},
			"9774 in 5 runs, 9973 in 5 runs of the baseline: 2.00 % less (96.8 % interval: 1.73 to 2.34 % less), at most 2 % less allowed: it may be less or more than that, and not even 100 runs of each would tell"},
		"4 % less, in runs that spread": {exact(9600, 9900, 9300, 9700, 9500), exact(10_000, 10_200, 9_800, 10_100, 9_900), two, statistics.Undecided, statistics.TooWide, statistics.Needed{Candidate: 21, Baseline: 21},
			"9600 in 5 runs, 10000 in 5 runs of the baseline: 4.00 % less (96.8 % interval: 1.00 to 7.00 % less), at most 2 % less allowed: it may be less or more than that, about 21 runs of each would do"},
		"one run against one": {exact(9000), exact(10_000), two, statistics.Undecided, statistics.TooFewRuns, statistics.Needed{Candidate: 5, Baseline: 5},
			"9000 in 1 run, 10000 in 1 run of the baseline: 10.00 % less, at most 2 % less allowed: too few runs to tell it from chance, about 5 runs of each would do"},
		"three against three": {exact(9000, 9010, 8990), exact(10_000, 10_010, 9_990), two, statistics.Undecided, statistics.TooFewRuns, statistics.Needed{Candidate: 5, Baseline: 3},
			"9000 in 3 runs, 10000 in 3 runs of the baseline: 10.00 % less, at most 2 % less allowed: too few runs to tell it from chance, about 5 runs would do against the baseline's 3"},
		"four against four":         {exact(9000, 9010, 8990, 9005), exact(10_000, 10_010, 9_990, 10_005), two, statistics.Failed, statistics.Shown, statistics.Needed{}, ""},
		"one run against many":      {exact(9000), many(20, 10_000), two, statistics.Undecided, statistics.TooFewRuns, statistics.Needed{Candidate: 5, Baseline: 20}, "about 5 runs would do against the baseline's 20"},
		"one run against very many": {exact(9000), many(39, 10_000), two, statistics.Failed, statistics.Shown, statistics.Needed{}, "9000 in 1 run"},
		"many against very many":    {many(60, 9_900), many(80, 10_000), two, statistics.Passed, statistics.Shown, statistics.Needed{}, ""},
		"one run against one, vouched for": {exact(9000), exact(10_000), vouched, statistics.Failed, statistics.Shown, statistics.Needed{},
			"9000 in 1 run, 10000 in 1 run of the baseline: 10.00 % less (95.0 % interval: 9.25 to 10.75 % less), at most 2 % less allowed (taking runs to spread by the 0.3 % that assumedSpread vouches for)"},
		"the same, vouched for":        {exact(9990), exact(10_000), vouched, statistics.Passed, statistics.Shown, statistics.Needed{}, ""},
		"3 % less, hardly vouched for": {exact(9750), exact(10_000), vouched, statistics.Undecided, statistics.TooWide, statistics.Needed{Candidate: 5, Baseline: 5}, "it may be less or more than that"},
		"a spread that isn't so": {exact(9000, 9700), exact(10_000), vouched, statistics.Undecided, statistics.SpreadDenied, statistics.Needed{},
			"the runs lie further apart than a spread of 0.3 % explains: raise assumedSpread, or make at least 5 runs of each"},
		"what is vouched for yields to what is seen": {exact(9000, 9700, 9300, 9500, 9100), steady, vouched, statistics.Failed, statistics.Shown, statistics.Needed{}, ""},
		"one stray of five leaves it open":           {exact(9974, 9100, 9971, 9975, 9968), steady, two, statistics.Undecided, statistics.TooWide, statistics.Needed{Candidate: 8, Baseline: 5}, "about 8 runs would do against the baseline's 5; far from the rest of the runs: 9100"},
		"one stray of seven doesn't":                 {exact(9974, 9100, 9971, 9975, 9968, 9972, 9970), exact(9974, 9966, 9973, 9965, 9977, 9969, 9970), two, statistics.Passed, statistics.Shown, statistics.Needed{}, "far from the rest of the runs: 9100"},
		"a stray of the baseline is named":           {exact(9974, 9966, 9973, 9965, 9977, 9969, 9970), exact(9974, 9100, 9971, 9975, 9968, 9972, 9970), two, statistics.Passed, statistics.Shown, statistics.Needed{}, "far from the rest of the baseline's runs: 9100"},
		"finer than it is resolved": {within(9850, 9850, 9850, 9850, 9850), within(10_000, 10_000, 10_000, 10_000, 10_000), two, statistics.Undecided, statistics.Unresolved, statistics.Needed{},
			"9850 in 5 runs, 10000 in 5 runs of the baseline: 1.50 % less (96.8 % interval: 0.51 to 2.48 % less), at most 2 % less allowed: the difference is finer than the measurements resolve, and more runs won't tell: let the search go on to a finer bracket"},
		"coarse and the same":          {within(10_000, 10_000, 10_000, 10_000, 10_000), within(10_000, 10_000, 10_000, 10_000, 10_000), two, statistics.Passed, statistics.Shown, statistics.Needed{}, ""},
		"coarse and 5 % less":          {within(9_500, 9_500, 9_500, 9_500, 9_500), within(10_000, 10_000, 10_000, 10_000, 10_000), two, statistics.Failed, statistics.Shown, statistics.Needed{}, ""},
		"a lower bound that is enough": {atLeast(9990, 9991, 9992, 9993, 9994), steady, two, statistics.Passed, statistics.Shown, statistics.Needed{}, "interval: at least 0.15 % more"},
		"a lower bound that isn't": {atLeast(9000, 9001, 9002, 9003, 9004), steady, two, statistics.Undecided, statistics.LowerBounds, statistics.Needed{},
			"5 of the candidate's runs found a lower bound only, and more runs won't tell: the generator was the limit, give it more"},
		"against a lower bound":          {steady, atLeast(9990, 9991, 9992, 9993, 9994), two, statistics.Undecided, statistics.LowerBounds, statistics.Needed{}, "5 of the baseline's runs found a lower bound only"},
		"less than a lower bound":        {exact(9000, 9001, 9002, 9003, 9004), atLeast(9990, 9991, 9992, 9993, 9994), two, statistics.Failed, statistics.Shown, statistics.Needed{}, "interval: at least 9.88 % less"},
		"two lower bounds":               {atLeast(9990, 9991, 9992, 9993, 9994), atLeast(9990, 9991, 9992, 9993, 9994), two, statistics.Undecided, statistics.LowerBounds, statistics.Needed{}, "5 of the candidate's and 5 of the baseline's runs found a lower bound only"},
		"nothing forwarded":              {exact(0, 0, 0, 0, 0), steady, two, statistics.Failed, statistics.Shown, statistics.Needed{}, "100.00 % less"},
		"a baseline of nothing":          {steady, exact(0, 0, 0, 0, 0), two, statistics.Undecided, statistics.NoBaseline, statistics.Needed{}, "the baseline is 0"},
		"no runs":                        {nil, steady, two, statistics.Undecided, statistics.NoRuns, statistics.Needed{}, "there are 0 runs to compare with 5 runs of the baseline"},
		"no runs of the baseline":        {steady, nil, two, statistics.Undecided, statistics.NoRuns, statistics.Needed{}, "0 runs of the baseline"},
		"a run that makes no sense":      {[]statistics.Run{{Low: 2, High: 1}}, steady, two, statistics.Undecided, statistics.NoRuns, statistics.Needed{}, ""},
		"a run that is no number":        {exact(math.NaN()), steady, two, statistics.Undecided, statistics.NoRuns, statistics.Needed{}, ""},
		"just what is allowed":           {exact(98, 98, 98, 98, 98), exact(100, 100, 100, 100, 100), two, statistics.Passed, statistics.Shown, statistics.Needed{}, ""},
		"nothing less allowed, the same": {exact(100, 100, 100, 100), exact(100, 100, 100, 100), statistics.Demand{}, statistics.Passed, statistics.Shown, statistics.Needed{}, "at most 0 % less allowed"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := statistics.Judge(test.candidate, test.baseline, test.demand)
			if got.Outcome != test.outcome || got.Reason != test.reason || got.Needed != test.needed || !strings.Contains(got.Sentence, test.says) {
				t.Errorf("%s, %s, %+v: %s\nwant %s, %s, %+v: %s", got.Outcome, got.Reason, got.Needed, got.Sentence, test.outcome, test.reason, test.needed, test.says)
			}
		})
	}
}

func TestFiguresAreToldInTheirUnit(t *testing.T) {
	j := statistics.Judge(exact(1), exact(2), statistics.Demand{Format: func(v float64) string { return fmt.Sprintf("%.0f pps", v) }})
	if !strings.Contains(j.Sentence, "1 pps in 1 run, 2 pps in 1 run of the baseline") {
		t.Error(j.Sentence)
	}
}
