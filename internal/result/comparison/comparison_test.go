package comparison_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/comparison"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units"
)

// allow is an allowance of shares.
func allow(maxRegression, assumedSpread float64) comparison.Allowance {
	of := units.RatioOfShare
	return comparison.Allowance{MaxRegression: of(maxRegression), AssumedSpread: of(assumedSpread)}
}

// judge compares runs of a figure without a unit.
func judge(candidate, baseline []comparison.Run, a comparison.Allowance) comparison.Answer {
	return comparison.Compare(comparison.Question{Candidate: candidate, Baseline: baseline, Allowance: &a})
}

// exact are runs that found just these figures.
func exact(values ...float64) []comparison.Run {
	runs := make([]comparison.Run, len(values))
	for i, v := range values {
		runs[i] = comparison.Exact(v)
	}
	return runs
}

// within are runs whose truth lies up to 1 % above the figure.
func within(values ...float64) []comparison.Run {
	runs := make([]comparison.Run, len(values))
	for i, v := range values {
		runs[i] = comparison.Run{Low: v, High: 1.01 * v}
	}
	return runs
}

// atLeast are runs that found lower bounds.
func atLeast(values ...float64) []comparison.Run {
	runs := make([]comparison.Run, len(values))
	for i, v := range values {
		runs[i] = comparison.AtLeast(v)
	}
	return runs
}

// many are n runs around a figure, a thousandth apart at most.
func many(n int, around float64) []comparison.Run {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	runs := make([]comparison.Run, n)
	for i := range runs {
		runs[i] = comparison.Exact(around * (1 + (r.Float64()-0.5)/1000))
	}
	return runs
}

func TestWhatIsClaimedIsWhatTheRunsShow(t *testing.T) {
	two := allow(0.02, 0)
	vouched := allow(0.02, 0.003)
	steady := exact(9974, 9966, 9973, 9965, 9977)
	tests := map[string]struct {
		candidate, baseline []comparison.Run
		demand              comparison.Allowance
		outcome             report.Outcome
		reason              comparison.Reason
		needed              comparison.Needed
		says                string
	}{
		"no change": {exact(9975, 9971, 9974, 9983, 9968), steady, two, report.Passed, comparison.Shown, comparison.Needed{},
			"9974 in 5 runs, 9973 in 5 runs of the baseline: 0.01 % more (95.0 % interval: 0.06 % less to 0.13 % more), at most 2 % less allowed"},
		"5 % less": {exact(9476, 9472, 9475, 9484, 9470), steady, two, report.DidFail, comparison.Shown, comparison.Needed{},
			"9475 in 5 runs, 9973 in 5 runs of the baseline: 4.99 % less (95.0 % interval: 4.87 to 5.06 % less), at most 2 % less allowed"},
		"5 % more":            {exact(10476, 10472, 10475, 10484, 10470), steady, two, report.Passed, comparison.Shown, comparison.Needed{}, ""},
		"1 % less is allowed": {exact(9876, 9872, 9875, 9884, 9870), steady, two, report.Passed, comparison.Shown, comparison.Needed{}, ""},
		"2 % less, give or take": {exact(9790, 9740, 9774, 9800, 9760), steady, two, report.Undecided, comparison.TooWide, comparison.Needed{},
			"9774 in 5 runs, 9973 in 5 runs of the baseline: 2.00 % less (95.0 % interval: 1.69 to 2.40 % less), at most 2 % less allowed: it may be less or more than is allowed, and not even 100 runs of each would decide"},
		"4 % less, in runs that spread": {exact(9600, 9900, 9300, 9700, 9500), exact(10_000, 10_200, 9_800, 10_100, 9_900), two, report.Undecided, comparison.TooWide, comparison.Needed{Candidate: 32, Baseline: 32},
			"9600 in 5 runs, 10000 in 5 runs of the baseline: 4.00 % less (95.0 % interval: 0.30 to 7.65 % less), at most 2 % less allowed: it may be less or more than is allowed, about 32 runs of each would decide"},
		"one run against one": {exact(9000), exact(10_000), two, report.Undecided, comparison.TooFewRuns, comparison.Needed{Candidate: 5, Baseline: 5},
			"9000 in 1 run, 10000 in 1 run of the baseline: 10.00 % less, at most 2 % less allowed: too few runs to tell it from chance, about 5 runs of each would decide"},
		"three against three": {exact(9000, 9010, 8990), exact(10_000, 10_010, 9_990), two, report.Undecided, comparison.TooFewRuns, comparison.Needed{Candidate: 5, Baseline: 5},
			"9000 in 3 runs, 10000 in 3 runs of the baseline: 10.00 % less, at most 2 % less allowed: too few runs to tell it from chance, about 5 runs of each would decide"},
		"four against four":         {exact(9000, 9010, 8990, 9005), exact(10_000, 10_010, 9_990, 10_005), two, report.Undecided, comparison.TooFewRuns, comparison.Needed{Candidate: 5, Baseline: 5}, "too few runs to tell it from chance"},
		"one run against many":      {exact(9000), many(20, 10_000), two, report.Undecided, comparison.TooFewRuns, comparison.Needed{Candidate: 5, Baseline: 20}, "about 5 runs would decide against the baseline's 20"},
		"one run against very many": {exact(9000), many(39, 10_000), two, report.Undecided, comparison.TooFewRuns, comparison.Needed{Candidate: 5, Baseline: 39}, "about 5 runs would decide against the baseline's 39"},
		"many against very many":    {many(60, 9_900), many(80, 10_000), two, report.Passed, comparison.Shown, comparison.Needed{}, ""},
		"one run against one, vouched for": {exact(9000), exact(10_000), vouched, report.DidFail, comparison.Shown, comparison.Needed{},
			"9000 in 1 run, 10000 in 1 run of the baseline: 10.00 % less (95.0 % interval: 9.25 to 10.75 % less), at most 2 % less allowed (taking runs to spread by the 0.3 % that assumedSpread vouches for)"},
		"the same, vouched for":        {exact(9990), exact(10_000), vouched, report.Passed, comparison.Shown, comparison.Needed{}, ""},
		"3 % less, hardly vouched for": {exact(9750), exact(10_000), vouched, report.Undecided, comparison.TooWide, comparison.Needed{Candidate: 5, Baseline: 5}, "it may be less or more than is allowed"},
		"a spread that isn't so": {exact(9000, 9700), exact(10_000), vouched, report.Undecided, comparison.SpreadDenied, comparison.Needed{},
			"the runs lie further apart than a spread of 0.3 % explains: raise assumedSpread, or make at least 5 runs of each"},
		"what is vouched for yields to what is seen": {exact(9000, 9200, 9100, 9150, 9100), steady, vouched, report.DidFail, comparison.Shown, comparison.Needed{}, ""},
		"one stray of five leaves it open":           {exact(9974, 9100, 9971, 9975, 9968), steady, two, report.Undecided, comparison.TooWide, comparison.Needed{Candidate: 11, Baseline: 5}, "about 11 runs would decide against the baseline's 5; far from the rest of the runs: 9100"},
		"one stray of ten doesn't":                   {exact(9974, 9100, 9971, 9975, 9968, 9972, 9970, 9973, 9969, 9976), exact(9974, 9966, 9973, 9965, 9977, 9969, 9970), two, report.Passed, comparison.Shown, comparison.Needed{}, "far from the rest of the runs: 9100"},
		"a stray of the baseline is named":           {exact(9974, 9966, 9973, 9965, 9977, 9969, 9970), exact(9974, 9100, 9971, 9975, 9968, 9972, 9970, 9973, 9969, 9976), two, report.Passed, comparison.Shown, comparison.Needed{}, "far from the rest of the baseline's runs: 9100"},
		"finer than it is resolved": {within(9850, 9850, 9850, 9850, 9850), within(10_000, 10_000, 10_000, 10_000, 10_000), two, report.Undecided, comparison.Unresolved, comparison.Needed{},
			"9850 in 5 runs, 10000 in 5 runs of the baseline: 1.50 % less (95.0 % interval: 0.51 to 2.48 % less), at most 2 % less allowed: the difference is finer than the measurements resolve, and more runs won't help: let the search go on to a finer bracket"},
		"coarse and the same":          {within(10_000, 10_000, 10_000, 10_000, 10_000), within(10_000, 10_000, 10_000, 10_000, 10_000), two, report.Passed, comparison.Shown, comparison.Needed{}, ""},
		"coarse and 5 % less":          {within(9_500, 9_500, 9_500, 9_500, 9_500), within(10_000, 10_000, 10_000, 10_000, 10_000), two, report.DidFail, comparison.Shown, comparison.Needed{}, ""},
		"a lower bound that is enough": {atLeast(9990, 9991, 9992, 9993, 9994), steady, two, report.Passed, comparison.Shown, comparison.Needed{}, "interval: at least 0.14 % more"},
		"a lower bound that isn't": {atLeast(9000, 9001, 9002, 9003, 9004), steady, two, report.Undecided, comparison.LowerBounds, comparison.Needed{},
			"5 of the candidate's runs found a lower bound only, and more runs won't help: the generator was the limit, give it more"},
		"against a lower bound":          {steady, atLeast(9990, 9991, 9992, 9993, 9994), two, report.Undecided, comparison.LowerBounds, comparison.Needed{}, "5 of the baseline's runs found a lower bound only"},
		"less than a lower bound":        {exact(9000, 9001, 9002, 9003, 9004), atLeast(9990, 9991, 9992, 9993, 9994), two, report.DidFail, comparison.Shown, comparison.Needed{}, "interval: at least 9.88 % less"},
		"two lower bounds":               {atLeast(9990, 9991, 9992, 9993, 9994), atLeast(9990, 9991, 9992, 9993, 9994), two, report.Undecided, comparison.LowerBounds, comparison.Needed{}, "5 of the candidate's and 5 of the baseline's runs found a lower bound only"},
		"nothing forwarded":              {exact(0, 0, 0, 0, 0), steady, two, report.DidFail, comparison.Shown, comparison.Needed{}, "100.00 % less"},
		"a baseline of nothing":          {steady, exact(0, 0, 0, 0, 0), two, report.Undecided, comparison.NoBaseline, comparison.Needed{}, "the baseline is 0"},
		"no runs":                        {nil, steady, two, report.Undecided, comparison.NoRuns, comparison.Needed{}, "there are 0 runs to compare with 5 runs of the baseline"},
		"no runs of the baseline":        {steady, nil, two, report.Undecided, comparison.NoRuns, comparison.Needed{}, "0 runs of the baseline"},
		"a run that makes no sense":      {[]comparison.Run{{Low: 2, High: 1}}, steady, two, report.Undecided, comparison.NoRuns, comparison.Needed{}, ""},
		"a run that is no number":        {exact(math.NaN()), steady, two, report.Undecided, comparison.NoRuns, comparison.Needed{}, ""},
		"just what is allowed":           {exact(98, 98, 98, 98, 98), exact(100, 100, 100, 100, 100), two, report.Passed, comparison.Shown, comparison.Needed{}, ""},
		"nothing less allowed, the same": {exact(100, 100, 100, 100, 100), exact(100, 100, 100, 100, 100), allow(0, 0), report.Passed, comparison.Shown, comparison.Needed{}, "at most 0 % less allowed"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := judge(test.candidate, test.baseline, test.demand)
			if got.Outcome != test.outcome || got.Reason != test.reason || got.Needed != test.needed || !strings.Contains(got.Sentence, test.says) {
				t.Errorf("%s, %s, %+v: %s\nwant %s, %s, %+v: %s", got.Outcome, got.Reason, got.Needed, got.Sentence, test.outcome, test.reason, test.needed, test.says)
			}
		})
	}
}

// Seen in a cluster: five runs a side within 0.3 %, brackets of 1.8 %, 4 % less, and nothing was decided, as each
// interval was widened by each run's whole bracket.
func TestFourPercentLessIsToldFromTwoThroughWideBrackets(t *testing.T) {
	bracketed := func(values ...float64) []comparison.Run {
		runs := exact(values...)
		for i := range runs {
			runs[i].High *= 1.018
		}
		return runs
	}
	baseline := []float64{10_000, 10_012, 9_994, 10_015, 9_988}
	for less, want := range map[float64]report.Outcome{0: report.Passed, 0.02: report.Undecided, 0.03: report.Undecided, 0.04: report.DidFail} {
		candidate := slices.Clone(baseline)
		for i := range candidate {
			candidate[i] *= 1 - less
		}
		got := judge(bracketed(candidate...), bracketed(baseline...), allow(0.02, 0))
		if got.Outcome != want {
			t.Errorf("%g less: %s: %s", less, got.Outcome, got.Sentence)
		}
	}
}

func TestAnAnswerHasItsChance(t *testing.T) {
	steady := exact(9974, 9966, 9973, 9965, 9977)
	for name, c := range map[string]struct {
		candidate, baseline []comparison.Run
		passed, failed      bool
	}{
		"no change":           {steady, steady, true, false},
		"5 % less":            {exact(9476, 9472, 9475, 9484, 9470), steady, false, true},
		"within a bracket":    {within(9974, 9966, 9973, 9965, 9977), within(9974, 9966, 9973, 9965, 9977), true, false},
		"a single run":        {exact(9974), steady, false, false},
		"a lower bound":       {atLeast(9974, 9966, 9973, 9965, 9977), steady, true, false},
		"below a lower bound": {exact(9476, 9472, 9475, 9484, 9470), atLeast(9974, 9966, 9973, 9965, 9977), false, true},
	} {
		a := judge(c.candidate, c.baseline, allow(0.02, 0))
		if (a.Chance.Passed <= 0.025) != c.passed || (a.Chance.Failed <= 0.025) != c.failed {
			t.Errorf("%s: %+v: %s", name, a.Chance, a.Sentence)
		}
	}
}

// Whatever runs are: claims and intervals agree, and nothing is claimed both ways.
func TestClaimsAndIntervalsAgreeWhateverTheRunsAre(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	drawn := func() []comparison.Run {
		runs := make([]comparison.Run, r.IntN(12))
		if r.IntN(50) == 0 {
			runs = make([]comparison.Run, 300+r.IntN(300))
		}
		for i := range runs {
			v := 100 + float64(r.IntN(10))
			runs[i] = []comparison.Run{comparison.Exact(v), comparison.Exact(100), comparison.Exact(0), comparison.AtLeast(v), comparison.LessThan(v), {Low: v, High: 1.05 * v}}[r.IntN(1+r.IntN(6))]
		}
		return runs
	}
	for range 1000 {
		candidate, baseline := drawn(), drawn()
		a := judge(candidate, baseline, allow(float64(r.IntN(6))/50, float64(r.IntN(2))/100))
		if a.Chance.Passed <= 0.025 && a.Chance.Failed <= 0.025 || !(a.Chance.Passed >= 0 && a.Chance.Failed >= 0) || a.Sentence == "" {
			t.Fatalf("%v against %v: %+v", candidate, baseline, a)
		}
		if c := a.Change; c != nil && c.LowPercent != nil && c.HighPercent != nil && *c.LowPercent > *c.HighPercent {
			t.Fatalf("%v against %v: %+v", candidate, baseline, c)
		}
	}
}

func TestFiguresAreToldInTheirUnit(t *testing.T) {
	two := allow(0.02, 0)
	for metric, says := range map[report.Metric]string{
		figures.PacketsPerSecond:    "1.00 kpps in 1 run, 2.00 kpps in 1 run of the baseline",
		figures.Layer1BitsPerSecond: "1.00 kb/s in 1 run, 2.00 kb/s in 1 run of the baseline",
		figures.LineRatePercent:     "1000.00 % of line rate in 1 run",
	} {
		a := comparison.Compare(comparison.Question{Figure: comparison.Figure{Metric: metric}, Candidate: exact(1000), Baseline: exact(2000), Allowance: &two})
		if !strings.Contains(a.Sentence, says) {
			t.Errorf("%s: %s", metric, a.Sentence)
		}
	}
}

// A target that was reached hides what the device does above it: of a device that does 1.5 M and of one that does
// 0.985 M both carried 1 M, or nearly.
func TestATargetThatWasReachedIsALowerBound(t *testing.T) {
	five := func(r comparison.Run) (all []comparison.Run) {
		for range 5 {
			all = append(all, r)
		}
		return all
	}
	reached := five(comparison.Run{Low: 1_000_000, High: math.Inf(1), Bound: report.TargetReached})
	another := five(comparison.Run{Low: 1_000_000, High: math.Inf(1), Bound: report.OtherDirection})
	longest := five(comparison.Run{Low: 1_000_000, High: math.Inf(1), Bound: report.BurstsMeasured})
	for name, c := range map[string]struct {
		candidate, baseline []comparison.Run
		outcome             report.Outcome
		says                string
	}{
		"no burst is long enough":           {longest, longest, report.Undecided, "more runs won't help: the longest burst allowed lost nothing, so raise procedure.backToBack.maxBurstDuration"},
		"1.5 % less than the target":        {five(comparison.Run{Low: 985_000, High: 990_000}), reached, report.Undecided, "5 of the baseline's runs found a lower bound only, and more runs won't help: all that was asked for came back, so raise the target"},
		"both reached it":                   {reached, reached, report.Undecided, "5 of the candidate's and 5 of the baseline's runs found a lower bound only"},
		"5 % less than the target":          {five(comparison.Run{Low: 950_000, High: 955_000}), reached, report.DidFail, "at least 4.50 % less"},
		"the candidate reached it":          {reached, five(comparison.Run{Low: 985_000, High: 990_000}), report.Passed, "at least 1.01 % more"},
		"another direction set the load":    {five(comparison.Run{Low: 1_000_000, High: 1_200_000}), another, report.Undecided, "another direction set the load, so measure each direction by itself (procedure.directions: Each)"},
		"two causes are told":               {reached, another, report.Undecided, "or to line rate; another direction set the load"},
		"a generator's limit is no target":  {atLeast(950_000, 950_000, 950_000, 950_000, 950_000), reached, report.Undecided, "or to line rate; the generator was the limit, give it more"},
		"all there is of both is no bound":  {five(comparison.Exact(1_000_000)), five(comparison.Exact(1_000_000)), report.Passed, "0.00 % more"},
		"all there is of the baseline only": {five(comparison.Run{Low: 985_000, High: 990_000}), five(comparison.Exact(1_000_000)), report.Passed, "1.50 % less"},
	} {
		if a := judge(c.candidate, c.baseline, allow(0.02, 0)); a.Outcome != c.outcome || !strings.Contains(a.Sentence, c.says) {
			t.Errorf("%s: %s, %s: %s", name, a.Outcome, a.Reason, a.Sentence)
		}
	}
}

// Of a target that is line rate nothing is left to find: no device forwards more than its links carry.
func TestTheTargetReachedIsALowerBoundUnlessItIsLineRate(t *testing.T) {
	each, total := comparison.Figure{Metric: figures.PacketsPerSecond}, comparison.Figure{Metric: figures.PacketsPerSecond, Direction: "Total"}
	reached := func(intended [2]int64, rates ...report.LineRate) *report.Report {
		mix := units.Traffic{Packets: 1, Bytes: 1230} // 10 000 bits of layer 1
		return &report.Report{Ending: report.Completed, LineRates: rates, Plan: &plan.Plan{Directions: []plan.Direction{{From: "west", To: "east", Mix: mix}, {From: "east", To: "west", Mix: mix}}},
			Answer: report.Answer{Measured: true, Reason: report.TargetReached, Directions: []report.Direction{
				{From: "west", To: "east", Intended: report.Flow{PacketsPerSecond: intended[0]}, Received: report.Flow{PacketsPerSecond: 99}},
				{From: "east", To: "west", Intended: report.Flow{PacketsPerSecond: intended[1]}, Received: report.Flow{PacketsPerSecond: 99}}}, Total: &report.Sum{Received: report.Flow{PacketsPerSecond: 198}}, Claim: report.Claim{Confirmed: true}}}
	}
	west, east, fast := report.LineRate{Link: "west", BitsPerSecond: units.Gbps}, report.LineRate{Link: "east", BitsPerSecond: units.Gbps}, report.LineRate{Link: "east", BitsPerSecond: 10 * units.Gbps}
	all, bound := comparison.Exact(99), comparison.Run{Low: 99, High: math.Inf(1), Bound: report.TargetReached}
	for name, c := range map[string]struct {
		report *report.Report
		figure comparison.Figure
		want   []comparison.Run
	}{
		"line rate both ways":                 {reached([2]int64{100_000, 99_999}, west, east), each, []comparison.Run{all, all}},
		"line rate one way":                   {reached([2]int64{100_000, 99_000}, west, east), each, []comparison.Run{all, bound}},
		"line rate of all directions":         {reached([2]int64{100_000, 100_000}, west, east), total, []comparison.Run{comparison.Exact(198)}},
		"one direction's line rate isn't all": {reached([2]int64{100_000, 50_000}, west, east), total, []comparison.Run{{Low: 198, High: math.Inf(1), Bound: report.TargetReached}}},
		"the slower link's rate is all":       {reached([2]int64{100_000, 100_000}, west, fast), each, []comparison.Run{all, all}},
		"a line rate that nobody knows":       {reached([2]int64{100_000, 100_000}, west), each, []comparison.Run{bound, bound}},
	} {
		if got := c.figure.Runs(c.report); !slices.Equal(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestWithoutAnAllowanceOnlyWhatTheRunsShowIsTold(t *testing.T) {
	steady := exact(9974, 9966, 9973, 9965, 9977)
	for name, c := range map[string]struct {
		candidate, baseline []comparison.Run
		judgement           report.Judgement
		told                bool
		says                string
	}{
		"less":                   {exact(9476, 9472, 9475, 9484, 9470), steady, report.Less, true, "the difference lies within -5.06 % to -4.87 % (confidence 95.00 %)"},
		"more":                   {exact(10476, 10472, 10475, 10484, 10470), steady, report.More, true, "the difference lies within +4.97 % to +5.16 %"},
		"no difference":          {steady, steady, report.NotShown, true, "no difference is shown: it lies within"},
		"too few":                {exact(9000), exact(10_000), report.TooFew, true, "1 against 1 runs are too few to tell any difference from chance: make at least 5 of each"},
		"hidden by lower bounds": {atLeast(9000, 9001, 9002, 9003, 9004), steady, report.NotShown, false, "figures are lower bounds, so no difference can be shown"},
		"of a baseline of 0":     {steady, exact(0, 0, 0, 0, 0), report.NotComparable, false, "the baseline is 0, so no change can be given as a share of it"},
		"of a run without sense": {[]comparison.Run{{Low: 2, High: 1}}, steady, report.NotComparable, false, "there are 1 run to compare with 5 runs of the baseline"},
	} {
		a := comparison.Compare(comparison.Question{Figure: comparison.Figure{Metric: figures.PacketsPerSecond}, Candidate: c.candidate, Baseline: c.baseline})
		if a.Judgement != c.judgement || a.Outcome != "" || (a.Change != nil) != c.told || !strings.Contains(a.Sentence, c.says) {
			t.Errorf("%s: %s, %q, %+v: %s", name, a.Judgement, a.Outcome, a.Change, a.Sentence)
		}
	}
}

// One way leads from a Report to what is compared, whoever asks.
func TestWhatAReportFoundIsAnInterval(t *testing.T) {
	each, total := comparison.Figure{Metric: figures.PacketsPerSecond}, comparison.Figure{Metric: figures.PacketsPerSecond, Direction: "Total"}
	measured := func(change func(*report.Answer)) *report.Report {
		r := &report.Report{Ending: report.Completed, Answer: report.Answer{Measured: true, Reason: report.LossAboveLimit, Directions: []report.Direction{{From: "west", To: "east", Received: report.Flow{PacketsPerSecond: 99}}, {From: "east", To: "west", Received: report.Flow{PacketsPerSecond: 99}}}, Total: &report.Sum{Received: report.Flow{PacketsPerSecond: 198}}, Claim: report.Claim{Saturated: true, Confirmed: true}}}
		change(&r.Answer)
		return r
	}
	resolved := func(share units.Ratio) *report.Report {
		return measured(func(r *report.Answer) { r.Resolution = share })
	}
	lossy := &report.Report{Ending: report.Completed, Answer: report.Answer{Reason: report.NoCleanLoad}, Windows: []report.Window{{Phase: report.Ramping, Quality: report.Lossy, Directions: []report.Direction{
		{From: "west", To: "east", Quality: report.Lossy, Offered: report.Flow{PacketsPerSecond: 50}}, {From: "east", To: "west", Quality: report.Good, Offered: report.Flow{PacketsPerSecond: 50}}}}}}
	for name, c := range map[string]struct {
		report *report.Report
		figure comparison.Figure
		want   []comparison.Run
	}{
		"a limit that was found":               {resolved(0), total, exact(198)},
		"one that a search of 1 % found":       {resolved(units.One / 100), each, []comparison.Run{{Low: 99, High: 100}, {Low: 99, High: 100}}},
		"one that nothing resolved":            {resolved(units.One), total, []comparison.Run{{Low: 198, High: math.Inf(1), Bound: report.LossAboveLimit}}},
		"all that the generator could send":    {measured(func(r *report.Answer) { r.Saturated, r.Reason = false, report.GeneratorLimited }), total, []comparison.Run{{Low: 198, High: math.Inf(1), Bound: report.GeneratorLimited}}},
		"all that was asked for":               {measured(func(r *report.Answer) { r.Saturated, r.Reason = false, report.TargetReached }), total, []comparison.Run{{Low: 198, High: math.Inf(1), Bound: report.TargetReached}}},
		"loss at any load":                     {lossy, total, []comparison.Run{comparison.LessThan(100)}},
		"loss at any load in one direction":    {lossy, each, []comparison.Run{comparison.LessThan(50), {High: math.Inf(1), Bound: report.NoCleanLoad}}},
		"nothing":                              {&report.Report{Ending: report.Failed}, total, nil},
		"a figure that nobody knows":           {measured(func(*report.Answer) {}), comparison.Figure{Metric: figures.LineRatePercent, Direction: "Total"}, nil},
		"a metric that nobody knows":           {measured(func(*report.Answer) {}), comparison.Figure{Metric: "Beauty"}, nil},
		"a total that the Report doesn't have": {measured(func(r *report.Answer) { r.Total = nil }), total, nil},
	} {
		if got := c.figure.Runs(c.report); !slices.Equal(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	if absurd := resolved(-units.One); judge(total.Runs(absurd), exact(198), allow(0.02, 0.01)).Reason != comparison.NoRuns {
		t.Error("a resolution below 0 decides something")
	}
}

// A device that was away for a while in one run would be compared by the figures of its good moments.
func TestARunThatWasNotHeldCountsInNoComparison(t *testing.T) {
	r := &report.Report{Ending: report.Completed, Answer: report.Answer{Measured: true, Reason: report.LossAboveLimit, Total: &report.Sum{Received: report.Flow{PacketsPerSecond: 198}}, Claim: report.Claim{Saturated: true, Confirmed: true}}}
	figure := comparison.Figure{Metric: figures.PacketsPerSecond, Direction: "Total"}
	if why := figure.Unfit(r); why != "" {
		t.Fatal(why)
	}
	r.Answer.NotHeld, r.Answer.Reason = "link east went down 8s after traffic began and stayed down", report.NotHeld
	if why := figure.Unfit(r); why != "not held: "+r.Answer.NotHeld {
		t.Errorf("it counts: %q", why)
	}
}

func TestADistanceFromAMedianIsToldWhereItIsKnown(t *testing.T) {
	of := func(packetsPerSecond int64, bound bool) *report.Figures {
		return &report.Figures{PacketsPerSecond: packetsPerSecond, LowerBound: bound}
	}
	for name, c := range map[string]struct {
		figures, median *report.Figures
		percent         string
	}{
		"3 % less":                      {of(97, false), of(100, false), "-3"},
		"a lower bound":                 {of(97, true), of(100, false), "-3"},
		"both are bounds":               {of(97, true), of(100, true), ""},
		"a median of 0":                 {of(97, false), of(0, false), ""},
		"no figure":                     {nil, of(100, false), ""},
		"no median":                     {of(97, false), nil, ""},
		"further than anybody reads":    {of(1<<50, false), of(1, false), ""},
		"nothing came back at all":      {of(0, false), of(100, false), "-100"},
		"nothing of a median of nought": {of(0, false), of(0, false), ""},
	} {
		got := ""
		if d := comparison.ChangeFromMedian(c.figures, c.median); d != nil {
			got = d.Percent.String()
		}
		if got != c.percent {
			t.Errorf("%s: %q, want %q", name, got, c.percent)
		}
	}
}
