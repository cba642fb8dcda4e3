package analysis

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"

	"github.com/linerate-dev/linerate/internal/comparison"
	"github.com/linerate-dev/linerate/internal/figures"
	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/statistics"
)

// judgeWorst demands a criterion of each run: one that surely misses it fails it, and one of which nobody knows leaves it undecided, as it may be the worst. That all of n runs meet it
// shows no more of the runs to come than n runs can, and the message says how much that is.
func judgeWorst(runs []*report.Report, c plan.Criterion) report.CriterionResult {
	said := map[report.Outcome][]string{}
	counted, aside := setAside(runs, c)
	for _, r := range counted {
		one := judge(r, c)
		said[one.Outcome] = append(said[one.Outcome], one.Message)
	}
	result := report.CriterionResult{Name: c.Name}
	result.Outcome, _ = worstOf(said)
	if result.Outcome == report.Passed && len(counted) < len(runs) {
		result.Outcome, aside = report.Undecided, aside+", of which one may be the worst"
	}
	if len(counted) == 0 {
		result.Message = "no run gave a figure that can be judged" + aside
		return result
	}
	result.Message = overRuns(counted, c) + tally(said, len(counted)) + unseen(result.Outcome, len(counted)) + aside
	return result
}

// unseen says what runs that all meet a demand leave open; empty: it isn't met.
func unseen(outcome report.Outcome, n int) string {
	if outcome != report.Passed {
		return ""
	}
	return fmt.Sprintf(", which shows with %.0f %% confidence that at most %.0f %% of all runs would not", 100*statistics.Confidence, 100*comparison.MostUnseen(n))
}

// judgeSpread holds how far runs lie apart against the most that passes, in percent of their median. It passes where the whole interval of the spread does, and fails where none of it does.
func judgeSpread(runs []*report.Report, c plan.Criterion) report.CriterionResult {
	result := report.CriterionResult{Name: c.Name, Outcome: report.Undecided}
	counted, aside := setAside(runs, c)
	most, err := decimal(c.Max)
	switch {
	case err != nil:
		result.Message = err.Error()
		return result
	case comparison.TooFew(len(counted), len(runs)):
		result.Message = fmt.Sprintf("only %d of %d runs gave a figure that can be judged", len(counted), len(runs)) + aside
		return result
	case len(counted) < 2:
		result.Message = "one run has no spread: make several, such as repetitions: 5 of a LoadTestSuite"
		return result
	}
	figure := figureOf(c)
	of := figure.Of(counted[0])
	if len(of) == 0 {
		result.Message = fmt.Sprintf("metric %q with direction %q has no spread", c.Metric, c.Direction)
		return result
	}
	messages := map[report.Outcome][]string{}
	for i, f := range of {
		outcome, message := spreadOf(counted, figure, i, most)
		messages[outcome] = append(messages[outcome], figures.DirectionText(f)+": "+message)
	}
	result.Outcome, result.Message = worstOf(messages)
	result.Message += fmt.Sprintf("; at most %s %% demanded", c.Max) + aside
	return result
}

// spreadOf judges the spread of the i-th value of a figure.
func spreadOf(runs []*report.Report, figure comparison.Figure, i int, most *big.Rat) (report.Outcome, string) {
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
			return report.Undecided, fmt.Sprintf("what %s found is a lower bound only, and how far bounds lie apart says nothing of the device", r.Plan.Test.Name)
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
	words := fmt.Sprintf("%d runs spread by %s, and all runs by %s to %s as far as chance is normal (95 %% interval)", len(values), percent(statistics.Summarize(values).SpreadPercent), percent(low), percent(high))
	bound, _ := most.Float64()
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

// mostSpreadRuns is from how many runs on a finer search narrows a spread's interval less than more runs do.
const mostSpreadRuns = 30

// farFromTheRest counts the runs that lie far from the median of all, by the rule by which outliers are named, and don't meet a criterion by themselves. Of such runs the median doesn't
// speak, however many there are of them below a half.
func farFromTheRest(runs []*report.Report, c plan.Criterion) (n int) {
	figure := figureOf(c)
	first := slices.IndexFunc(runs, figure.Answered)
	if first < 0 {
		return 0
	}
	far := map[int]bool{}
	for i := range figure.Of(runs[first]) {
		values := make([]float64, len(runs))
		for k, r := range runs {
			values[k] = math.NaN() // of which nothing is far
			if of := figure.Of(r); i < len(of) && of[i].Missing == "" {
				values[k] = told(of[i]).Float()
			}
		}
		for _, o := range statistics.Summarize(values).Outliers {
			far[o.Run] = true
		}
	}
	for k, r := range runs {
		if one := judge(r, c); far[k] && one.Outcome != report.Passed {
			n++
		}
	}
	return n
}

// medianAlone says that a median that would pass doesn't, as a tenth of the runs or more lie far from the rest and don't meet the criterion; empty: it does.
func medianAlone(runs []*report.Report, c plan.Criterion) string {
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
	return fmt.Sprintf("; the median meets it, and doesn't speak of single runs, of which %d of %d %s: see what became of them, make more runs, or have the criterion judge the median alone (statistic: Median)",
		n, len(runs), verb)
}
