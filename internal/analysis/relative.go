package analysis

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/statistics"
	"github.com/linerate-dev/linerate/internal/units"
)

// judgeRelative compares the runs' figures with those of the baseline's runs. Each run is an interval that the truth lies in; package statistics
// judges. What can't be compared leaves it undecided, and is never left out in silence.
func judgeRelative(runs []*report.Report, c plan.Criterion, baseline *report.Baseline) report.CriterionResult {
	result := report.CriterionResult{Name: c.Name, Outcome: report.Undecided}
	candidates, aside := setAside(runs)
	references, besides := comparable(baseline, candidates)
	switch {
	case baseline == nil:
		result.Message = "there is no baseline: name one in spec.baseline, or give its Reports with --baseline"
	case baseline.Message != "":
		result.Message = fmt.Sprintf("there is nothing to compare with: %s: %s", baseline, baseline.Message)
	case 2*len(candidates) < len(runs) || len(candidates) == 0:
		result.Message = "there is too little to compare" + aside
	case len(references) == 0:
		result.Message = fmt.Sprintf("there is nothing to compare with: %s", baseline) + besides
	default:
		result.Outcome, result.Message = compareAll(candidates, references, c)
		result.Message += fmt.Sprintf("; the baseline is %s", baseline) + aside + besides
	}
	return result
}

// compareAll compares each direction, or all together: the worst outcome is the criterion's, told of all that had it.
func compareAll(candidates []*report.Report, references []report.BaselineRun, c plan.Criterion) (report.Outcome, string) {
	of := figuresOf(asked(candidates[0]), c)
	if len(of) == 0 || c.Metric == metricLoss {
		return report.Undecided, fmt.Sprintf("metric %q with direction %q can't be compared with a baseline", c.Metric, c.Direction)
	}
	messages := map[report.Outcome][]string{}
	for i, f := range of {
		outcome, message := compare(f, i, candidates, references, c)
		messages[outcome] = append(messages[outcome], f.what+": "+message)
	}
	for _, outcome := range []report.Outcome{report.DidFail, report.Undecided} {
		if said := messages[outcome]; len(said) > 0 {
			return outcome, strings.Join(said, "; ")
		}
	}
	return report.Passed, strings.Join(messages[report.Passed], "; ")
}

// compare judges the i-th figure of a criterion.
func compare(f figure, i int, candidates []*report.Report, references []report.BaselineRun, c plan.Criterion) (report.Outcome, string) {
	if f.value == nil {
		return report.Undecided, f.text
	}
	var mine, theirs []statistics.Run
	for _, r := range candidates {
		own := found(r, c)
		if i >= len(own) {
			return report.Undecided, fmt.Sprintf("%s has no such figure: its line rate is unknown, or it was measured in another way than the others", r.Plan.Test.Name)
		}
		mine = append(mine, own[i])
	}
	for _, run := range references {
		reference := found(&report.Report{Plan: candidates[0].Plan, LineRates: run.LineRates, Result: run.Result}, c)
		if i >= len(reference) {
			return report.Undecided, fmt.Sprintf("%s of the baseline has no such figure", run.Test)
		}
		theirs = append(theirs, reference[i])
	}
	j := statistics.Judge(mine, theirs, statistics.Demand{
		Allowed:       share(*c.MaxRegression),
		AssumedSpread: share(c.AssumedSpread),
		Format:        func(v float64) string { return format(c.Metric, v) },
	})
	return report.Outcome(j.Outcome), j.Sentence
}

// found is what a run found of a criterion's figures. Where even the lowest load lost frames, all that is known is that the device can do less.
func found(r *report.Report, c plan.Criterion) []statistics.Run {
	figures, lowest := figuresOf(asked(r), c), r.LowestLossy()
	if !r.Result.Measured && lowest == nil {
		return nil
	}
	runs := make([]statistics.Run, 0, len(figures))
	for i, f := range figures {
		switch {
		case f.value == nil:
			return nil
		case r.Result.Measured:
			runs = append(runs, interval(f, r.Result))
		case c.Direction != "Total" && lowest.Directions[i].Quality != report.Lossy: // the other direction lost frames, and this one may do any more
			runs = append(runs, statistics.AtLeast(0))
		default:
			runs = append(runs, statistics.Run{High: number(f.value)})
		}
	}
	return runs
}

// asked is the Report with the figures that were measured; where none was, with those of the lowest load that lost frames, as they were offered.
func asked(r *report.Report) *report.Report {
	lowest := r.LowestLossy()
	if r.Result.Measured || lowest == nil {
		return r
	}
	offered := *r
	offered.Result.Directions = slices.Clone(lowest.Directions)
	for i := range offered.Result.Directions {
		d := &offered.Result.Directions[i]
		d.Received, d.LineRatePercent = d.Offered, units.PercentOf(d.Offered.Layer1BitsPerSecond, int64(lineRates(r)[d.To]))
	}
	total := measure.Sum(offered.Result.Directions, lineRates(r))
	offered.Result.Total = &total
	return &offered
}

// interval is what a run found of a figure. One that reached its target found all there was to find: both runs had the same.
func interval(f figure, result report.Result) statistics.Run {
	low := number(f.value)
	switch {
	case result.Saturated && result.Resolution < units.One:
		return statistics.Run{Low: low, High: low / (1 - share(result.Resolution))}
	case result.Reason == report.ReachedTarget:
		return statistics.Exact(low)
	}
	return statistics.AtLeast(low)
}

func share(r units.Ratio) float64 {
	return number(big.NewRat(int64(r), int64(units.One)))
}

// setAside parts the runs with a figure that can be reckoned with from the others, and names those.
func setAside(runs []*report.Report) (counted []*report.Report, aside string) {
	var why []string
	for _, r := range runs {
		if message := useless(r); message != "" {
			why = append(why, message)
		} else {
			counted = append(counted, r)
		}
	}
	return counted, asideText("runs", why, len(runs))
}

// useless says why nothing can be reckoned with that a run found; empty: it can. That even the lowest load lost frames is an answer, too.
func useless(r *report.Report) string {
	switch {
	case r.Ending != report.Completed:
		return endedEarly(r)
	case !r.Result.Measured && r.Result.Reason == report.NoCleanWindow && r.LowestLossy() != nil:
		return ""
	case !r.Result.Measured:
		return "not measured: " + r.Result.Message
	case r.Unconfirmed():
		return "its figure is not confirmed"
	}
	return ""
}

// mostReasons is how many of the reasons for which runs were set aside are told.
const mostReasons = 3

func asideText(whose string, why []string, of int) string {
	switch {
	case len(why) == 0:
		return ""
	case of == 1:
		return ": " + why[0]
	}
	reasons := slices.Compact(slices.Sorted(slices.Values(why)))
	if more := len(reasons) - mostReasons; more > 0 {
		reasons = append(reasons[:mostReasons], fmt.Sprintf("and for %d more reasons", more))
	}
	return fmt.Sprintf("; %d of %d %s set aside (%s)", len(why), of, whose, strings.Join(reasons, "; "))
}

// comparable parts the baseline's runs that can be compared with these from the others, and names those.
func comparable(b *report.Baseline, with []*report.Report) (runs []report.BaselineRun, aside string) {
	if b == nil || len(with) == 0 {
		return nil, ""
	}
	var why []string
	for _, run := range b.Runs {
		if message := incomparable(run, with[0]); message != "" {
			why = append(why, message)
		} else {
			runs = append(runs, run)
		}
	}
	return runs, asideText("of its runs", why, len(b.Runs))
}

// incomparable says why a run of the baseline can't be compared with a candidate's; empty: it can. That it was measured the same way was looked
// at when the baseline was made; the ports' speeds are known only when something has run.
func incomparable(run report.BaselineRun, with *report.Report) string {
	if run.Message != "" {
		return run.Message
	}
	for _, mine := range with.LineRates {
		for _, its := range run.LineRates {
			if mine.Link == its.Link && mine.BitsPerSecond != its.BitsPerSecond {
				return fmt.Sprintf("link %s is %s, and was %s in %s", mine.Link, mine.BitsPerSecond, its.BitsPerSecond, run.Test)
			}
		}
	}
	return ""
}
