package comparison

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units/statistics"
)

// lowShare is the share of a candidate's runs, beyond the baseline's share, that keeps it from passing when they
// lie far below the rest, which is one of five runs, or two of twenty.
const lowShare = 0.1

// WithholdForLowRuns turns a pass into Undecided where a tenth of the candidate's runs or more, beyond the
// baseline's share, lie far below the rest and further below the baseline's median than is allowed. Medians do not
// speak of such runs. If 30 % of a device's runs are 10 % low, its median is as before. The cause of low runs isn't
// shown either, so the Outcome never becomes Failed. An Answer that didn't pass stays as it is.
//
//	     baseline's median × what is allowed
//	                   │           rest
//	──●────────────────┼─────────●●●●●●●●●──▶
//	  └ far below
func WithholdForLowRuns(q Question, a Answer) Answer {
	if q.Allowance == nil || a.Outcome != report.Passed {
		return a
	}
	lowest := (1 - q.allowed()) * statistics.Summarize(lows(q.Baseline)).Median
	candidate, baseline := lowRuns(q.Candidate, lowest), lowRuns(q.Baseline, lowest)
	n, m := len(q.Candidate), len(q.Baseline)
	if len(candidate) == 0 || !LowShareReached(len(candidate), n, len(baseline), m) {
		return a
	}
	a.Outcome, a.Reason = report.Undecided, LowRuns
	a.Sentence += fmt.Sprintf("; the medians pass, but %s, and %d of %d of the baseline's do: look into those runs, make more of each, or let the criterion judge medians alone "+
		"(statistic: Median)", lowRunsText(candidate, n, q.Figure.formatRun), len(baseline), m)
	return a
}

// Worst judges single runs as Compare judges medians, by whether each of the candidate's runs is within what is
// allowed below the baseline's median. It passes where each run surely is, and fails where one surely isn't,
// wherever in its interval the baseline's median lies. A baseline of fewer than the recommended runs does not show
// where its median is.
func Worst(q Question) Answer {
	a := Answer{Outcome: report.Undecided, Reason: NoRuns}
	if q.Allowance == nil || len(q.Candidate) == 0 || len(q.Baseline) == 0 || !allSound(q.Candidate) ||
		!allSound(q.Baseline) {
		a.Sentence = fmt.Sprintf("there are %s to compare with %s of the baseline", runsText(len(q.Candidate)),
			runsText(len(q.Baseline)))
		return a
	}
	candidate, baseline, baselineSummary := q.Candidate, q.Baseline, statistics.Summarize(lows(q.Baseline))
	if baselineSummary.Median == 0 {
		a.Reason, a.Sentence = NoBaseline, noBaseline
		return a
	}
	worst := slices.MinFunc(candidate, func(a, b Run) int { return cmp.Compare(a.Low, b.Low) })
	allowed := q.allowed()
	a.Sentence = fmt.Sprintf("the worst of %s is %s, the median of %s of the baseline is %s (%s), at most %s %% %s allowed", runsText(len(candidate)), q.Figure.formatRun(worst.Low), runsText(len(baseline)),
		q.Figure.formatRun(baselineSummary.Median), q.Figure.formatRuns(baselineSummary.Low, baselineSummary.High),
		percent(q.Allowance.MaxRegression.Float()), q.Figure.worse())
	upper := math.Inf(1) // where the baseline's median may be at most
	if lowerBoundCount(baseline) == 0 {
		upper = statistics.Summarize(highs(baseline)).High
	}
	countBelow := func(limit float64) int { return count(candidate, func(r Run) bool { return r.High < limit }) }
	switch n := countBelow((1 - allowed) * baselineSummary.Low); {
	case len(baseline) < recommended:
		a.Reason, a.Needed = TooFewRuns, Needed{Candidate: len(candidate), Baseline: recommended}
		a.Sentence += fmt.Sprintf(": too few runs of the baseline to show where its median is, %d would do",
			recommended)
	case n > 0:
		a.Outcome, a.Reason = report.DidFail, Shown
		a.Sentence += fmt.Sprintf(": %d of %s have %s", n, runsText(len(candidate)), q.Figure.worse())
	case worst.Low >= (1-allowed)*upper:
		a.Outcome, a.Reason = report.Passed, Shown
		a.Sentence += fmt.Sprintf(": no run has %s, which shows with %.0f %% confidence that at most %.0f %% of all runs do", q.Figure.worse(), 100*statistics.Confidence, 100*MostUnseen(len(candidate)))
	case lowerBoundCount(candidate)+lowerBoundCount(baseline) > 0:
		a.Reason = LowerBounds
		a.Sentence += fmt.Sprintf(": %s, and more runs won't help: %s", boundsText(lowerBoundCount(candidate),
			lowerBoundCount(baseline)), boundsWayOut(slices.Concat(candidate, baseline)))
	default:
		a.Reason = Unresolved
		a.Sentence += ": the difference is finer than the measurements resolve: let the search go on to a finer bracket, or make more runs of the baseline"
	}
	return a
}

// LowShareReached says that a candidate has so many more low runs than its baseline, as shares, that it does not
// pass. Without a baseline it compares with one that has none. The numbers are whole, so that one of ten is a
// tenth.
func LowShareReached(candidate, n, baseline, m int) bool {
	return float64(candidate*m-baseline*n) >= lowShare*float64(n*m)-1e-9
}

// LowRuns is the Reason where the medians pass, and single runs lie far below the rest.
const LowRuns Reason = "LowRuns"

// lowRuns are the runs that lie far below the median of their side, by the rule for outliers, and surely below what
// is demanded.
func lowRuns(runs []Run, limit float64) (low []float64) {
	values := lows(runs)
	s := statistics.Summarize(values)
	for _, o := range s.Outliers {
		if o.Value < s.Median && runs[o.Run].High < limit {
			low = append(low, o.Value)
		}
	}
	slices.Sort(low)
	return low
}

// lowRunsText says how many runs are low, and how low the lowest is.
func lowRunsText(low []float64, total int, format func(float64) string) string {
	verb := "lie"
	if len(low) == 1 {
		verb = "lies"
	}
	return fmt.Sprintf("%d of %s %s far below the rest (%s)", len(low), runsText(total), verb, format(low[0]))
}

// MostUnseen is the share of all runs that may be of some kind, with 95 % confidence, where none of n was, and n
// runs leave it unseen. Almost half of all runs may be of a kind of which five runs had none.
func MostUnseen(n int) float64 { return 1 - math.Pow(1-statistics.Confidence, 1/float64(n)) }
