package suite

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/analysis"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// verdict is the criteria's judgement of a cell's runs.
func (rs *cellResults) verdict(cell int) *report.Verdict {
	evidence := rs.evidence(cell)
	criteria, errs := compile.Criteria(field.NewPath("spec", "criteria"), rs.spec.Criteria)
	if len(evidence) == 0 || len(errs) > 0 { // the schema keeps errors out
		return &report.Verdict{Outcome: report.Undecided}
	}
	var runs []*report.Report
	for _, k := range evidence {
		runs = append(runs, k.Report)
	}
	runs = append(runs, rs.absent(cell)...)
	if rs.judge != nil {
		judged := rs.judge(criteria, runs)
		return &judged
	}
	judged := rs.compared(cell, criteria, runs, analysis.Candidate{Plan: evidence[0].Report.Plan,
		Method: evidence[0].Method})
	return &judged
}

// evidence are the runs that a cell is judged by. Each repetition has at most one, and earlier tries count that
// show that the device loses frames at any load. Each run marks the directions in which the generators may have
// been the limit.
func (rs *cellResults) evidence(cell int) (reports []analysis.KeptReport) {
	capacity := rs.capacityOf(cell)
	for _, name := range rs.testsOf[cell] {
		run, ok := rs.runs[name]
		if ok && run.Evidence != nil && (rs.representsRepetition(cell, name, &run) || run.lostAtAnyLoad()) {
			reports = append(reports, analysis.KeptReport{Report: capacity.mark(run.Evidence), Digest: run.Report,
				Method: run.Plan})
		}
	}
	return reports
}

// awaited says what must still be measured before a cell is judged, since each run may change a median, and so
// the verdict. It is empty if nothing is awaited.
func (rs *cellResults) awaited(cell int) string {
	if rs.judgedEarly {
		return ""
	}
	repetitions := int(rs.matrix.repetitions())
	if n := rs.toCome(cell); n > 0 {
		return fmt.Sprintf("%d of %d repetitions are in, no verdict yet", repetitions-n, repetitions)
	}
	if waits := rs.awaitedCalibration(cell); waits != "" {
		return "no verdict yet: " + waits
	}
	if !slices.ContainsFunc(rs.spec.Criteria, v1alpha1.Criterion.Relative) {
		return ""
	}
	if rs.baselines.wanted() && len(rs.active)+len(rs.missing) > 0 {
		return "no verdict yet: suite " + rs.spec.Baseline.Suite + " is read when all is measured"
	}
	number, name := rs.baselines.ofCell(cell)
	if rs.baselines.external != nil || name == "" || number < 0 { // no other cell is the baseline
		return ""
	}
	if n := rs.toCome(number); n > 0 {
		return fmt.Sprintf("%d of %d repetitions of its baseline, %s, are in, no verdict yet", repetitions-n,
			repetitions, name)
	}
	if waits := rs.awaitedCalibration(number); waits != "" {
		return fmt.Sprintf("no verdict yet: of its baseline, %s: %s", name, waits)
	}
	return ""
}

// compared judges a cell against its baseline, which is a cell of this suite or of an earlier one. The baseline
// cell itself always meets relative criteria.
func (rs *cellResults) compared(cell int, criteria []plan.Criterion, runs []*report.Report,
	candidate analysis.Candidate) report.Verdict {
	if ref := rs.baselines.lookup(); ref != nil {
		baseline := ref.ofCell(rs.matrix.Cells[cell].Values, candidate)
		baseline.AllowDifferent = rs.baselines.allowDifferent()
		return analysis.Judge(criteria, runs, baseline)
	}
	number, name := rs.baselines.ofCell(cell)
	switch {
	case name == "":
		return analysis.Judge(criteria, runs, nil)
	case number == cell:
		return judgeBaseline(criteria, runs, analysis.BaselineOf("Cell", name, candidate, rs.evidence(cell)))
	case number < 0:
		return analysis.Judge(criteria, runs, &report.Baseline{Kind: "Cell", Name: name,
			Message: "it is excluded from the suite"})
	}
	baseline := analysis.BaselineOf("Cell", name, candidate, rs.evidence(number))
	baseline.AllowDifferent = rs.baselines.allowDifferent()
	return analysis.Judge(criteria, runs, baseline)
}

// doubtChosenRuns makes a passed cell undecided if more of its runs, or of its baseline's, are void than count.
// A user who voids runs chooses those that count.
func (rs *cellResults) doubtChosenRuns(number int, c *report.SuiteCell) {
	if c.Verdict.Outcome != report.Passed {
		return
	}
	reason := ""
	if c.IsMostlyVoid() {
		reason = report.MostlyVoid
	} else if base, name := rs.baselines.ofCell(number); rs.baselines.lookup() == nil && name != "" &&
		base >= 0 && base != number && slices.ContainsFunc(rs.spec.Criteria, v1alpha1.Criterion.Relative) {
		if baseline := rs.cell(base); baseline.IsMostlyVoid() {
			reason = "of the baseline " + report.MostlyVoid
		}
	}
	if reason != "" {
		c.Verdict.Outcome, c.Message = report.Undecided, wording.JoinNonEmpty("; ", c.Message, reason)
	}
}
