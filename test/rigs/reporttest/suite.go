package reporttest

import (
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// Night is a suite of two systems, one of which gave no figure in one run.
func Night() *report.Suite {
	begin := time.Date(2026, 3, 14, 1, 0, 0, 0, time.UTC)
	figures := func(runs int, pps int64) *report.Figures {
		return &report.Figures{Runs: runs, PacketsPerSecond: pps, Layer1BitsPerSecond: pps * 672,
			LineRatePercent: Percent("50"), LineRatePercentSum: Percent("100")}
	}
	run := func(test string, repetition int, pps int64) report.SuiteRun {
		r := report.SuiteRun{Test: test, Repetition: repetition, Started: begin, Finished: begin.Add(time.Minute),
			Reason: "LossAboveLimit", Report: "sha256:0f", Plan: "ab"}
		if pps == 0 {
			r.Reason, r.Message, r.Report = "GeneratorLost", "generator-0 didn't answer for 10s", ""
			return r
		}
		r.Figures = figures(1, pps)
		return r
	}
	return &report.Suite{Version: report.SuiteVersion, Producer: "linerate v0.1.0", Name: "night", Namespace: "lab",
		Started: begin, Finished: begin.Add(time.Hour),
		Axes: []report.Axis{{Name: "system", Values: []string{"vpp", "linux"}},
			{Name: "frames", Values: []string{"64b"}}},
		Cells: []report.SuiteCell{
			{Name: "vpp-64b", Values: []report.AxisValue{{Axis: "system", Value: "vpp"},
				{Axis: "frames", Value: "64b"}}, Product: "vpp", Loadtest: "64b", Figures: figures(2, 1_780_000),
				Outliers: []string{"night-vpp-64b-r2"},
				Verdict: &report.Verdict{Outcome: report.DidFail,
					Criteria: []report.CriterionResult{{Name: "fast", Outcome: report.DidFail,
						Message: "1.78 Mpps, at least 2,000,000 pps demanded"}, {Name: "loss", Outcome: report.Passed,
						Message: "none"}}},
				Runs: []report.SuiteRun{run("night-vpp-64b-r1", 1, 1_780_000), run("night-vpp-64b-r2", 2,
					1_700_000)}},
			{Name: "linux-64b", Product: "linux", Loadtest: "64b", Runs: []report.SuiteRun{run("night-linux-64b-r1", 1,
				0)}},
		},
		Verdict: report.Verdict{Outcome: report.DidFail}, Baseline: &report.Baseline{Kind: "LoadTestSuite",
			Name: "last-night"}}
}

// Percent reads a percentage. It panics where the text is none.
func Percent(text string) units.Percent {
	var p units.Percent
	if err := p.UnmarshalText([]byte(text)); err != nil {
		panic(err)
	}
	return p
}
