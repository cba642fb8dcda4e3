package analysis_test

import (
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/analysis"
	"github.com/linerate-dev/linerate/internal/units"
)

// coarse is a search that left the truth between the figure and so much above it.
func coarse(resolution string) func(*report.Answer) {
	return func(r *report.Answer) {
		_ = r.Resolution.UnmarshalText([]byte(resolution))
		for i := range r.Directions {
			r.Directions[i].Received.PacketsPerSecond = 9810
		}
		r.Total.Received.PacketsPerSecond = 19_620
	}
}

// A window in which the generator stumbled was confirmed at 9.81 kpps, and frames were lost at 10.04 kpps: what the
// device can do lies between.
func TestBetweenWhatWasCleanAndWhatLostFramesNothingIsClaimed(t *testing.T) {
	tests := map[string]struct {
		resolution string
		criterion  plan.Criterion
		want       report.Outcome
		says       string
	}{
		"a minimum between both":            {"0.0229", plan.Criterion{Metric: "PacketsPerSecond", Min: "9900"}, report.Undecided, "west→east: 9.81 kpps, at least 9,900 pps demanded, and the true value may be up to 10.04 kpps"},
		"a minimum below":                   {"0.0229", plan.Criterion{Metric: "PacketsPerSecond", Min: "9810"}, report.Passed, ""},
		"a minimum above":                   {"0.0229", plan.Criterion{Metric: "PacketsPerSecond", Min: "10050"}, report.DidFail, "9.81 kpps, at least 10,050 pps demanded"},
		"a maximum between both":            {"0.0229", plan.Criterion{Metric: "PacketsPerSecond", Max: "9900"}, report.Undecided, "the true value may be up to 10.04 kpps"},
		"a maximum below":                   {"0.0229", plan.Criterion{Metric: "PacketsPerSecond", Max: "9800"}, report.DidFail, ""},
		"a maximum above":                   {"0.0229", plan.Criterion{Metric: "PacketsPerSecond", Max: "10050"}, report.Passed, ""},
		"both around the interval":          {"0.0229", plan.Criterion{Metric: "PacketsPerSecond", Min: "9800", Max: "10100"}, report.Passed, ""},
		"the total's minimum between both":  {"0.0229", plan.Criterion{Metric: "PacketsPerSecond", Direction: "Total", Min: "20000"}, report.Undecided, "all directions: 19.62 kpps, at least 20,000 pps demanded, and the true value may be up to 20.08 kpps"},
		"as fine as a measurement promises": {"0.01", plan.Criterion{Metric: "PacketsPerSecond", Min: "9900"}, report.DidFail, "9.81 kpps, at least 9,900 pps demanded"},
		"nothing resolved at all":           {"1", plan.Criterion{Metric: "PacketsPerSecond", Min: "9900"}, report.Undecided, "the figure is a lower bound only"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := measured(coarse(test.resolution))
			r.Plan.Criteria = []plan.Criterion{test.criterion}
			if v := analysis.Verdict(r); v.Outcome != test.want || !strings.Contains(v.Criteria[0].Message, test.says) {
				t.Errorf("%+v, want %s: …%s…", v, test.want, test.says)
			}
		})
	}
}

func TestOnlyARunThatCameToItsOwnEndIsJudged(t *testing.T) {
	for _, ending := range []report.Ending{report.Interrupted, report.DeadlineExceeded, report.GeneratorLost, report.PathNotProven, report.Failed} {
		r := measured(nil)
		r.Ending, r.Message = ending, "somebody pulled the plug"
		r.Plan.Criteria = []plan.Criterion{{Metric: "PacketsPerSecond", Min: "1"}}
		if v := analysis.Verdict(r); v.Outcome != report.Undecided || !strings.Contains(v.Criteria[0].Message, "somebody pulled the plug") {
			t.Errorf("%s: %+v", ending, v)
		}
	}
}

// at is a run of a device that forwards so many packets/s in each direction, resolved to a half percent.
func at(pps int64, changes ...func(*report.Report)) *report.Report {
	r := measured(func(result *report.Answer) {
		result.Resolution = units.One / 200
		for i := range result.Directions {
			result.Directions[i].Received = report.Flow{PacketsPerSecond: pps, Layer1BitsPerSecond: 1000 * pps, Layer2BitsPerSecond: 900 * pps}
			result.Directions[i].LineRatePercent = units.PercentOf(pps, 20_000)
		}
		result.Total.Received = report.Flow{PacketsPerSecond: 2 * pps, Layer1BitsPerSecond: 2000 * pps, Layer2BitsPerSecond: 1800 * pps}
	})
	r.Plan.Test.Name, r.Started = "main", time.Unix(pps, 0)
	for _, change := range changes {
		change(r)
	}
	return r
}

func runs(pps ...int64) (all []*report.Report) {
	for _, p := range pps {
		all = append(all, at(p))
	}
	return all
}

func TestSeveralRunsAreJudgedByTheirMedian(t *testing.T) {
	lost := func(r *report.Report) { r.Ending, r.Message = report.GeneratorLost, "the generator went away" }
	bound := func(r *report.Report) { r.Answer.Saturated, r.Answer.Reason = false, report.GeneratorLimited }
	atLeast := plan.Criterion{Name: "it", Metric: "PacketsPerSecond", Min: "9900"}
	tests := map[string]struct {
		runs []*report.Report
		want report.Outcome
		says string
	}{
		"all meet it": {runs(9974, 9966, 9973, 9965, 9977), report.Passed,
			"west→east: median 9.97 kpps of 5 runs (9.97 kpps to 9.98 kpps); east→west: median 9.97 kpps of 5 runs (9.97 kpps to 9.98 kpps), at least 9,900 pps demanded; all 5 runs meet it"},
		"none does":                       {runs(9474, 9466, 9473), report.DidFail, "all 3 runs do not meet it"},
		"one of five doesn't":             {runs(9974, 9966, 9473, 9965, 9977), report.Undecided, "1 of 5 runs do not meet it (west→east: 9.47 kpps, at least 9,900 pps demanded"},
		"one of nine doesn't, by little":  {runs(9974, 9966, 9893, 9965, 9977, 9970, 9971, 9972, 9973), report.Passed, "1 of 9 runs do not meet it"},
		"one of nine doesn't, and is far": {runs(9974, 9966, 9473, 9965, 9977, 9970, 9971, 9972, 9973), report.Undecided, "; the median meets it, but 1 of 9 runs lies far from the rest and doesn't meet it: look into"},
		"one of nine does":                {runs(9474, 9466, 9973, 9465, 9477, 9470, 9471, 9472, 9473), report.DidFail, "8 of 9 runs do not meet it"},
		"one was lost":                    {append(runs(9974, 9966, 9965, 9977), at(9970, lost)), report.Passed, "all 4 runs meet it; 1 of 5 runs set aside (the run did not come to its own end (GeneratorLost): the generator went away)"},
		"most were lost":                  {append(runs(9974), at(9970, lost), at(9970, lost)), report.Undecided, "only 1 of 3 runs gave a figure that can be judged; 2 of 3 runs set aside"},
		"all were lost":                   {[]*report.Report{at(9970, lost), at(9970, lost)}, report.Undecided, "only 0 of 2 runs"},
		"a lower bound that is enough":    {[]*report.Report{at(9970, bound), at(9974), at(9971)}, report.Passed, ""},
		"a lower bound that is too low":   {[]*report.Report{at(9800, bound), at(9974), at(9971)}, report.Undecided, "1 of 3 runs leave it open"},
		"no run":                          {nil, report.Undecided, "only 0 of 0 runs"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			v := analysis.Judge([]plan.Criterion{atLeast}, test.runs, nil)
			if v.Outcome != test.want || !strings.Contains(v.Criteria[0].Message, test.says) {
				t.Errorf("%+v, want %s: …%s…", v, test.want, test.says)
			}
		})
	}
}

func TestSeveralRunsWithoutADirectionsLineRate(t *testing.T) {
	all := runs(9974, 9966)
	for _, r := range all {
		r.LineRates = nil
	}
	v := analysis.Judge([]plan.Criterion{{Metric: "LineRatePercent", Min: "10"}}, all, nil)
	if v.Outcome != report.Undecided || !strings.Contains(v.Criteria[0].Message, "line rate is unknown") {
		t.Errorf("%+v", v)
	}
}
