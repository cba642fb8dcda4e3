package analysis_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/analysis"
)

// alike are n runs within half a percent.
func alike(n int, around int64) (all []int64) {
	for i := range n {
		all = append(all, around+int64(i%5)*5)
	}
	return all
}

func TestACriterionSpeaksOfTheMedianOfTheWorstRunOrOfTheSpread(t *testing.T) {
	lost := func(r *report.Report) { r.Ending, r.Message = report.GeneratorLost, "the generator went away" }
	bound := func(r *report.Report) { r.Answer.Saturated, r.Answer.Reason = false, report.GeneratorLimited }
	least := func(statistic string) plan.Criterion {
		return plan.Criterion{Name: "it", Metric: "PacketsPerSecond", Statistic: statistic, Min: "9900"}
	}
	most := func(percent string) plan.Criterion {
		return plan.Criterion{Name: "it", Metric: "PacketsPerSecond", Direction: "Total", Statistic: plan.SpreadOfRuns, Max: percent}
	}
	sevenOfTen := runs(slices.Concat(alike(7, 9960), alike(3, 8970))...)
	oneOfTwenty := runs(slices.Concat(alike(19, 9960), alike(1, 8970))...)
	tests := map[string]struct {
		criterion plan.Criterion
		runs      []*report.Report
		want      report.Outcome
		says      string
	}{
		"the median, where 30 % are 10 % low":       {least(""), sevenOfTen, report.Undecided, "3 of 10 runs do not meet it"},
		"the median of many, where 30 % are low":    {least(""), runs(slices.Concat(alike(35, 9960), alike(15, 8970))...), report.Undecided, "but 15 of 50 runs lie far from the rest and don't meet it"},
		"the median alone of many":                  {least(plan.MedianOfRuns), runs(slices.Concat(alike(35, 9960), alike(15, 8970))...), report.Passed, "15 of 50 runs do not meet it"},
		"the median, where one of twenty is low":    {least(""), oneOfTwenty, report.Passed, "1 of 20 runs do not meet it"},
		"the worst, where one of twenty is low":     {least(plan.WorstOfRuns), oneOfTwenty, report.DidFail, "1 of 20 runs do not meet it (west→east: 8.97 kpps"},
		"the worst of five that meet it":            {least(plan.WorstOfRuns), runs(alike(5, 9960)...), report.Passed, "all 5 runs meet it, which shows with 95 % confidence that at most 45 % of all runs would not"},
		"the worst, where a run was lost":           {least(plan.WorstOfRuns), append(runs(alike(5, 9960)...), at(9960, lost)), report.Undecided, "1 of 6 runs set aside (the run did not come to its own end"},
		"the worst, low, where a run was lost":      {least(plan.WorstOfRuns), append(runs(9960, 8970), at(9960, lost)), report.DidFail, ""},
		"the worst is a lower bound":                {least(plan.WorstOfRuns), append(runs(alike(5, 9960)...), at(8970, bound)), report.Undecided, "1 of 6 runs leave it open"},
		"the worst of one run":                      {least(plan.WorstOfRuns), runs(9960), report.Passed, "west→east: 9.96 kpps, at least 9,900 pps demanded"},
		"the worst of none":                         {least(plan.WorstOfRuns), []*report.Report{at(9960, lost), at(9961, lost)}, report.Undecided, "no run gave a figure that can be judged"},
		"the spread of steady runs":                 {most("1"), runs(alike(5, 9960)...), report.Passed, "all directions: 5 runs spread by 0.08 %, and all possible runs by 0.00 % to 0.48 % (95 % interval, if runs are normally distributed); at most 1 % allowed"},
		"the spread of runs of which some are low":  {most("1"), sevenOfTen, report.DidFail, "10 runs spread by"},
		"a spread that so few runs don't show":      {most("1"), runs(9960, 9900, 10_000), report.Undecided, "more runs, or a finer search, make that narrower"},
		"the spread where a run was lost":           {most("1"), append(runs(alike(5, 9960)...), at(9960, lost)), report.Passed, "1 of 6 runs set aside"},
		"the spread where most were lost":           {most("1"), []*report.Report{at(9960), at(9960, lost), at(9961, lost)}, report.Undecided, "only 1 of 3 runs gave a figure"},
		"the spread of one run":                     {most("1"), runs(9960), report.Undecided, "one run has no spread"},
		"the spread of bounds":                      {most("1"), append(runs(alike(5, 9960)...), at(9960, bound)), report.Undecided, "what main found is a lower bound only"},
		"the spread of what isn't known":            {plan.Criterion{Name: "it", Metric: "Beauty", Statistic: plan.SpreadOfRuns, Max: "1"}, runs(9960, 9961), report.Undecided, `metric "Beauty"`},
		"a bound of the spread that is no number":   {most("much"), runs(9960, 9961), report.Undecided, "is no decimal number"},
		"the spread where frames are lost anyhow":   {most("1"), runs(0, 0, 0, 0, 0), report.Undecided, "0.00 % to any share"},
		"the worst of what an observer didn't tell": {plan.Criterion{Name: "it", Metric: "Observed", Statistic: plan.WorstOfRuns, Max: "1", Observed: &plan.ObservedSeries{Observer: "cpu", Series: "busy"}}, runs(9960, 9961), report.Undecided, "doesn't say what observer cpu saw"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			v := analysis.Judge([]plan.Criterion{test.criterion}, test.runs, nil)
			if v.Outcome != test.want || !strings.Contains(v.Criteria[0].Message, test.says) {
				t.Errorf("%+v, want %s: …%s…", v, test.want, test.says)
			}
		})
	}
}

func TestARelativeCriterionSpeaksOfMediansOrOfTheWorstRun(t *testing.T) {
	lost := func(r *report.Report) { r.Ending, r.Message = report.GeneratorLost, "the generator went away" }
	relative := func(statistic string) plan.Criterion {
		return plan.Criterion{Name: "it", Metric: "PacketsPerSecond", Direction: "Total", Statistic: statistic, MaxRegression: ratio("2%")}
	}
	steady := baselineOf(runs(alike(20, 9960)...)...)
	// so many that the median is surely not among the low ones
	thirtyPercentLow := runs(slices.Concat(alike(35, 9960), alike(15, 8970))...)
	tests := map[string]struct {
		criterion plan.Criterion
		runs      []*report.Report
		baseline  *report.Baseline
		want      report.Outcome
		says      string
	}{
		"30 % of the runs are 10 % low":            {relative(""), thirtyPercentLow, steady, report.Undecided, "but 15 of 50 runs lie far below the rest (17.94 kpps), and 0 of 20 of the baseline's do: look into those runs"},
		"medians alone":                            {relative(plan.MedianOfRuns), thirtyPercentLow, steady, report.Passed, ""},
		"as many of the baseline's were low":       {relative(""), thirtyPercentLow, baselineOf(runs(slices.Concat(alike(35, 9961), alike(15, 8971))...)...), report.Passed, ""},
		"one of twenty is low":                     {relative(""), runs(slices.Concat(alike(19, 9960), alike(1, 8970))...), steady, report.Passed, ""},
		"the worst of twenty is low":               {relative(plan.WorstOfRuns), runs(slices.Concat(alike(19, 9960), alike(1, 8970))...), steady, report.DidFail, "the worst of 20 runs is 17.94 kpps, the median of 20 runs of the baseline is 19.94 kpps (19.93 kpps to 19.95 kpps), at most 2 % less allowed: 1 of 20 runs have less"},
		"the worst of five is as good as any":      {relative(plan.WorstOfRuns), runs(alike(5, 9960)...), steady, report.Passed, "no run has less, which shows with 95 % confidence that at most 45 % of all runs do"},
		"the worst beside a baseline of four runs": {relative(plan.WorstOfRuns), runs(alike(5, 9960)...), baselineOf(runs(alike(4, 9960)...)...), report.Undecided, "too few runs of the baseline to show where its median is, 5 would do"},
		"the worst is just at what is allowed":     {relative(plan.WorstOfRuns), runs(9800, 9960, 9960, 9960, 9960), steady, report.Undecided, "finer than the measurements resolve"},
		"the worst, where a run was lost":          {relative(plan.WorstOfRuns), append(runs(alike(5, 9960)...), at(9960, lost)), steady, report.Undecided, "1 of 6 runs set aside (the run did not come to its own end (GeneratorLost): the generator went away), and one of those may be the worst"},
		"the worst, low, where a run was lost":     {relative(plan.WorstOfRuns), append(runs(9960, 8970, 9960), at(9960, lost)), steady, report.DidFail, "1 of 4 runs set aside"},
		"5 % less":                                 {relative(""), runs(alike(20, 9460)...), steady, report.DidFail, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			v := analysis.Judge([]plan.Criterion{test.criterion}, test.runs, test.baseline)
			if v.Outcome != test.want || !strings.Contains(v.Criteria[0].Message, test.says) {
				t.Errorf("%+v, want %s: …%s…", v, test.want, test.says)
			}
		})
	}
}
