package analysis

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/comparison"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units/statistics"
)

// judgeWorst demands a criterion of each run. A run that surely misses it fails it, and a run that is undecided
// leaves it undecided, as it may be the worst. That all of n runs meet it shows no more of later runs than n runs
// can, and the message says how much that is.
func judgeWorst(runs []*report.Report, c plan.Criterion) report.CriterionResult {
	messages := map[report.Outcome][]string{}
	counted, setAside := runsThatCount(runs, c)
	for _, r := range counted {
		judged := judge(r, c)
		messages[judged.Outcome] = append(messages[judged.Outcome], judged.Message)
	}
	result := report.CriterionResult{Name: c.Name}
	result.Outcome, _ = worstOf(messages)
	if result.Outcome == report.Passed && len(counted) < len(runs) {
		result.Outcome, setAside = report.Undecided, setAside+", and one of those may be the worst"
	}
	if len(counted) == 0 {
		result.Message = "no run gave a figure that can be judged" + setAside
		return result
	}
	result.Message = mediansSentence(counted, c) + outcomesSentence(messages, len(counted)) +
		unseenRunsSentence(result.Outcome, len(counted)) + setAside
	return result
}

// unseenRunsSentence says what runs that all meet a demand leave open. It is empty where the demand is not met.
func unseenRunsSentence(outcome report.Outcome, n int) string {
	if outcome != report.Passed {
		return ""
	}
	return fmt.Sprintf(", which shows with %.0f %% confidence that at most %.0f %% of all runs would not",
		100*statistics.Confidence, 100*comparison.MostUnseen(n))
}

// judgeSpread compares how far apart runs lie, in percent of their median, with the most that is allowed. It passes
// where the whole interval of the spread is within it, and fails where none of the interval is.
func judgeSpread(runs []*report.Report, c plan.Criterion) report.CriterionResult {
	result := report.CriterionResult{Name: c.Name, Outcome: report.Undecided}
	counted, setAside := runsThatCount(runs, c)
	limit, err := decimal(c.Max)
	switch {
	case err != nil:
		result.Message = err.Error()
		return result
	case comparison.TooFew(len(counted), len(runs)):
		result.Message = fmt.Sprintf("only %d of %d runs gave a figure that can be judged", len(counted), len(runs)) +
			setAside
		return result
	case len(counted) < 2:
		result.Message = "one run has no spread: make several, such as repetitions: 5 of a LoadTestSuite"
		return result
	}
	figure := figureOf(c)
	found := figure.FiguresOf(counted[0])
	if len(found) == 0 {
		result.Message = fmt.Sprintf("metric %q with direction %q has no spread", c.Metric, c.Direction)
		return result
	}
	messages := map[report.Outcome][]string{}
	for i, f := range found {
		outcome, message := spreadOf(counted, figure, i, limit)
		messages[outcome] = append(messages[outcome], figures.DirectionText(f)+": "+message)
	}
	result.Outcome, result.Message = worstOf(messages)
	result.Message += fmt.Sprintf("; at most %s %% allowed", c.Max) + setAside
	return result
}

// spreadOf judges the spread of value i of a figure.
func spreadOf(runs []*report.Report, figure comparison.Figure, i int, limit *big.Rat) (report.Outcome, string) {
	var values []float64
	width := 0.0
	for _, r := range runs {
		found := figure.Runs(r)
		switch {
		case i >= len(found):
			return report.Undecided, fmt.Sprintf("%s has no such figure", r.Plan.Test.Name)
		case found[i].Unconfirmed:
			return report.Undecided, fmt.Sprintf("what %s found is not confirmed", r.Plan.Test.Name)
		case found[i].LowerBound():
			return report.Undecided, fmt.Sprintf("what %s found is a lower bound only, and the distance between bounds shows nothing about the device", r.Plan.Test.Name)
		}
		values = append(values, found[i].Low)
		width = max(width, found[i].High-found[i].Low)
	}
	low, high := statistics.SpreadInterval(values, width)
	percent := func(v float64) string {
		if math.IsInf(v, 1) {
			return "any share"
		}
		return strconv.FormatFloat(v, 'f', 2, 64) + " %"
	}
	words := fmt.Sprintf("%d runs spread by %s, and all possible runs by %s to %s (95 %% interval, if runs are normally distributed)", len(values), percent(statistics.Summarize(values).SpreadPercent), percent(low), percent(high))
	bound, _ := limit.Float64()
	switch {
	case high <= bound:
		return report.Passed, words
	case low > bound:
		return report.DidFail, words
	case len(values) < mostSpreadRuns && width > 0:
		return report.Undecided, words + ": more runs, or a finer search, make that narrower"
	}
	return report.Undecided, words + ": more runs make that narrower"
}

// mostSpreadRuns is the number of runs from which more runs narrow a spread's interval better than a finer search does.
const mostSpreadRuns = 30

// farFromTheRest counts the runs that lie far from the median of all, by the rule for outliers, and do not meet a
// criterion by themselves. The median does not speak of these runs, as long as they are fewer than half.
func farFromTheRest(runs []*report.Report, c plan.Criterion) (n int) {
	figure := figureOf(c)
	first := slices.IndexFunc(runs, figure.Answered)
	if first < 0 {
		return 0
	}
	far := map[int]bool{}
	for i := range figure.FiguresOf(runs[first]) {
		values := make([]float64, len(runs))
		for k, r := range runs {
			values[k] = math.NaN() // of which nothing is far
			if found := figure.FiguresOf(r); i < len(found) && found[i].Missing == "" {
				values[k] = shownNumber(found[i]).Float()
			}
		}
		for _, o := range statistics.Summarize(values).Outliers {
			far[o.Run] = true
		}
	}
	for k, r := range runs {
		if judged := judge(r, c); far[k] && judged.Outcome != report.Passed {
			n++
		}
	}
	return n
}

// whyMedianIsNotEnough says why a median that meets the criterion does not pass, because a tenth of the runs or
// more lie far from the rest and don't meet it. It is empty where it passes.
func whyMedianIsNotEnough(runs []*report.Report, c plan.Criterion) string {
	if c.Statistic == plan.MedianOfRuns {
		return ""
	}
	n := farFromTheRest(runs, c)
	if n == 0 || !comparison.LowShareReached(n, len(runs), 0, 1) {
		return ""
	}
	verb := "lie far from the rest and don't meet it"
	if n == 1 {
		verb = "lies far from the rest and doesn't meet it"
	}
	return fmt.Sprintf("; the median meets it, but %d of %d runs %s: look into those runs, make more, or let the criterion judge the median alone (statistic: Median)",
		n, len(runs), verb)
}
