package main

import (
	"testing"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// ended is the Report of a trial that ended so, and was judged so; no outcome: it has no criterion.
func ended(ending report.Ending, measured bool, outcome report.Outcome) *report.Report {
	r := &report.Report{Ending: ending, Plan: &plan.Plan{Test: plan.Test{Name: "known-answer"}}, Answer: report.Answer{Measured: measured}, Verdict: report.Verdict{Outcome: report.Undecided}}
	if outcome != "" {
		r.Verdict = report.Verdict{Outcome: outcome, Criteria: []report.CriterionResult{{Name: "the-known-answer", Outcome: outcome, Message: "9.00 kpps, at least 9,500 pps demanded"}}}
	}
	return r
}

// TestTheDemoEnds: with 0 wherever it did what it is for, and with a sentence for each verdict.
func TestTheDemoEnds(t *testing.T) {
	const why = "the-known-answer"
	for name, c := range map[string]struct {
		report *report.Report
		code   int
		says   string
	}{
		"measured and passed": {ended(report.Completed, true, report.Passed), exitOK, "known-answer: measured, and passed: " + why},
		"measured and failed": {ended(report.Completed, true, report.DidFail), exitOK,
			"known-answer: measured, and failed: " + why + ". linerate run ends with 1 then, and no gate opens"},
		"measured and undecided": {ended(report.Completed, true, report.Undecided), exitOK,
			"known-answer: measured, and undecided: " + why + ". That is no fault of the demo: where the machine has other work to do, figures are often lower bounds: " +
				"make demo again when it has less. linerate run ends with 3 then, and no gate opens"},
		"measured without criteria": {ended(report.Completed, true, ""), exitOK, "known-answer: measured; it has no criteria, so nothing passes or fails"},
		"nothing was measured": {ended(report.Completed, false, report.Undecided), exitNotMeasured,
			"known-answer: not measured, so there is no verdict; the table above has the reason"},
		"a generator was lost": {ended(report.GeneratorLost, true, report.Undecided), exitNotMeasured,
			"known-answer: not measured, so there is no verdict; the table above has the reason"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := codeOf(c.report); got != c.code {
				t.Errorf("exit code %d, want %d", got, c.code)
			}
			if got := meaning(c.report); got != c.says {
				t.Errorf("%q, want %q", got, c.says)
			}
		})
	}
}
