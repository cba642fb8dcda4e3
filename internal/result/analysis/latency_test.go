package analysis_test

import (
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/analysis"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
)

// took is a run whose frames of 64 bytes took so many nanoseconds at half of the rate: half of them, and nine of
// ten with p90; nothing is told of p99.
func took(nanoseconds int64, changes ...func(*report.Report)) *report.Report {
	return at(10_000, append([]func(*report.Report){func(r *report.Report) {
		w := report.Window{Number: 9, Phase: report.AtLoad, Load: units.One / 4}
		for _, d := range r.Answer.Directions {
			w.Directions = append(w.Directions, report.Direction{From: d.From, To: d.To,
				Latency: []report.Latency{{FrameSize: 64, Frames: 500, Within: []report.Percentile{{Share: "p50", Nanoseconds: nanoseconds}, {Share: "p90", Nanoseconds: 17_179_869_184, Open: true}}}}})
		}
		r.Plan.Procedure.Latency = &plan.Latency{Loads: []units.Ratio{units.One / 2}}
		r.Windows = append(r.Windows, w)
		reporttest.ReadLatency(r)
		r.Plan.Procedure.Latency = nil // as in the Plan of the other runs
	}}, changes...)...)
}

// withoutAnswer takes a search's answer to its first goal: latency is at the load of another.
func withoutAnswer(r *report.Report) {
	r.Answer = report.Answer{Figures: r.Answer.Figures, Message: "no load was clean"}
}

func withoutTrial(r *report.Report) {
	for i := range r.Answer.Figures {
		f := &r.Answer.Figures[i]
		f.Window, f.Low, f.High, f.Missing = 0, "", "", "the run ended before the trial"
	}
}

func tookEach(nanoseconds ...int64) (all []*report.Report) {
	for _, ns := range nanoseconds {
		all = append(all, took(ns))
	}
	return all
}

// TestACriterionOfLatency: less is better, of one run and of several, and against a baseline.
func TestACriterionOfLatency(t *testing.T) {
	half := &plan.LatencyFigure{Load: units.One / 2, FrameSize: 64}
	most := func(metric, bound string) plan.Criterion {
		return plan.Criterion{Metric: metric, Latency: half, Max: bound}
	}
	against := plan.Criterion{Metric: "LatencyP50", Latency: half, MaxRegression: ratio("10%")}
	steady := baselineOf(tookEach(20_000, 20_100, 19_900, 20_050, 19_950)...)
	var unmet []*report.Report
	for _, ns := range []int64{20_000, 20_100, 19_900, 20_050, 19_950} {
		unmet = append(unmet, took(ns, withoutAnswer))
	}
	for name, c := range map[string]struct {
		criterion plan.Criterion
		runs      []*report.Report
		baseline  *report.Baseline
		want      report.Outcome
		says      string
	}{
		"short enough":            {most("LatencyP50", "20000"), tookEach(20_000), nil, report.Passed, "west→east, 64 bytes at 50 %: p50 20 µs, at most 20,000 ns allowed"},
		"too long":                {most("LatencyP50", "19900"), tookEach(20_000), nil, report.DidFail, "p50 20 µs"},
		"as finely as it is told": {most("LatencyP50", "19990"), tookEach(20_000), nil, report.Undecided, "it is known to 1 % only"},
		"longer than can be":      {most("LatencyP90", "20000"), tookEach(20_000), nil, report.DidFail, "p90 over 17.2 s"},
		"longer than is told":     {most("LatencyP90", "60000000000"), tookEach(20_000), nil, report.Undecided, "how much longer it is was not measured"},
		"not told":                {most("LatencyP99", "20000"), tookEach(20_000), nil, report.Undecided, "fewer than ten of 500 frames lie above it"},
		"the first goal unmet":    {most("LatencyP50", "20000"), []*report.Report{took(20_000, withoutAnswer)}, nil, report.Passed, "p50 20 µs, at most 20,000 ns allowed"},
		"unmet in several runs":   {most("LatencyP50", "21000"), []*report.Report{took(20_000, withoutAnswer), took(20_100, withoutAnswer), took(19_900, withoutAnswer)}, nil, report.Passed, "median p50 20 µs of 3 runs"},
		"no trial, and no answer": {most("LatencyP50", "20000"), []*report.Report{took(20_000, withoutAnswer, withoutTrial)}, nil, report.Undecided, "no load was clean"},
		"no such load":            {plan.Criterion{Metric: "LatencyP50", Latency: &plan.LatencyFigure{Load: units.One}, Max: "1"}, tookEach(20_000), nil, report.Undecided, "no trial at 100 % (procedure.latency.loads)"},
		"no such frames":          {plan.Criterion{Metric: "LatencyP50", Latency: &plan.LatencyFigure{Load: units.One / 2, FrameSize: 594}, Max: "1"}, tookEach(20_000), nil, report.Undecided, "no frames of 594 bytes were timed"},
		"of several runs":         {most("LatencyP50", "21000"), tookEach(20_000, 20_100, 19_900, 20_050, 19_950), nil, report.Passed, "median p50 20 µs of 5 runs"},
		"no longer than it was":   {against, tookEach(20_500, 20_450, 20_550, 20_480, 20_520), steady, report.Passed, "p50 20.5 µs in 5 runs, p50 20 µs in 5 runs of the baseline: 2.5"},
		"twice as long":           {against, tookEach(40_500, 40_450, 40_550, 40_480, 40_520), steady, report.DidFail, " % more (95.0 % interval: "},
		"what is allowed":         {against, tookEach(40_500, 40_450, 40_550, 40_480, 40_520), steady, report.DidFail, "at most 10 % more allowed"},
		"shorter than it was":     {against, tookEach(10_100, 10_050, 10_000, 9_950, 9_900), steady, report.Passed, " % less (95.0 % interval: "},
		"the worst run":           {plan.Criterion{Metric: "LatencyP50", Latency: half, MaxRegression: ratio("10%"), Statistic: plan.WorstOfRuns}, tookEach(20_000, 20_000, 20_000, 20_000, 30_000), steady, report.DidFail, "the worst of 5 runs is p50 30 µs"},
		"a baseline's goal unmet": {against, tookEach(40_500, 40_450, 40_550, 40_480, 40_520), baselineOf(unmet...), report.DidFail, "p50 20 µs in 5 runs of the baseline"},
		"and of its throughput":   {plan.Criterion{Metric: "PacketsPerSecond", MaxRegression: ratio("10%")}, tookEach(20_000, 20_000, 20_000, 20_000, 20_000), baselineOf(unmet...), report.Undecided, "no load was clean"},
		"a baseline without any":  {against, tookEach(20_000), baselineOf(at(10_000)), report.Undecided, "has no such figure"},
	} {
		t.Run(name, func(t *testing.T) {
			c.criterion.Name, c.criterion.Direction = "c", "Each"
			got := analysis.Judge([]plan.Criterion{c.criterion}, c.runs, c.baseline).Criteria[0]
			if got.Outcome != c.want || !strings.Contains(got.Message, c.says) {
				t.Errorf("%s: %s, want %s with %q", got.Outcome, got.Message, c.want, c.says)
			}
		})
	}
}
