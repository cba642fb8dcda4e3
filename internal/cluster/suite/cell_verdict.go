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
)

// evidence are the runs that a cell is judged by. Each repetition has at most one, and earlier tries count that
// show that the device loses frames at any load. Each run marks the directions in which the generators may have
// been the limit.
func (v *view) evidence(cell int) (reports []analysis.KeptReport) {
	capacity := v.capacityOf(cell)
	for _, name := range v.testsOf[cell] {
		run, ok := v.Runs[name]
		if ok && run.Evidence != nil && (v.representsRepetition(cell, name, &run) || run.lostAtAnyLoad()) {
			reports = append(reports, analysis.KeptReport{Report: capacity.mark(run.Evidence), Digest: run.Report,
				Method: run.Plan})
		}
	}
	return reports
}

// verdict is the criteria's judgement of a cell's runs.
func (v *view) verdict(cell int) *report.Verdict {
	evidence := v.evidence(cell)
	criteria, errs := compile.Criteria(field.NewPath("spec", "criteria"), v.spec.Criteria)
	if len(evidence) == 0 || len(errs) > 0 { // the schema keeps errors out
		return &report.Verdict{Outcome: report.Undecided}
	}
	var runs []*report.Report
	for _, k := range evidence {
		runs = append(runs, k.Report)
	}
	runs = append(runs, v.absent(cell)...)
	if v.Judge != nil {
		judged := v.Judge(criteria, runs)
		return &judged
	}
	judged := v.compared(cell, criteria, runs, analysis.Candidate{Plan: evidence[0].Report.Plan,
		Method: evidence[0].Method})
	return &judged
}

// awaited says what must still be measured before a cell is judged, since each run may change a median, and so
// the verdict. It is empty if nothing is awaited.
func (v *view) awaited(cell int) string {
	if v.judgedEarly {
		return ""
	}
	repetitions := int(max(v.spec.Repetitions, 1))
	if n := v.toCome(cell); n > 0 {
		return fmt.Sprintf("%d of %d repetitions are in, no verdict yet", repetitions-n, repetitions)
	}
	if waits := v.awaitedCalibration(cell); waits != "" {
		return "no verdict yet: " + waits
	}
	if !slices.ContainsFunc(v.spec.Criteria, v1alpha1.Criterion.Relative) {
		return ""
	}
	if v.referenceWanted() && len(v.active)+len(v.missing) > 0 {
		return "no verdict yet: suite " + v.spec.Baseline.Suite + " is read when all is measured"
	}
	number, name := v.baselineOf(cell)
	if v.Reference != nil || name == "" || number < 0 { // no other cell is the baseline
		return ""
	}
	if n := v.toCome(number); n > 0 {
		return fmt.Sprintf("%d of %d repetitions of its baseline, %s, are in, no verdict yet", repetitions-n,
			repetitions, name)
	}
	if waits := v.awaitedCalibration(number); waits != "" {
		return fmt.Sprintf("no verdict yet: of its baseline, %s: %s", name, waits)
	}
	return ""
}

// toCome is how many of a cell's repetitions still have to end.
func (v *view) toCome(cell int) int {
	if v.endsEarly() { // missing tests are never made
		return v.open[cell] - v.unmade[cell]
	}
	return v.open[cell]
}

// compared judges a cell against its baseline, which is a cell of this suite or of an earlier one. The baseline
// cell itself always meets relative criteria.
func (v *view) compared(cell int, criteria []plan.Criterion, runs []*report.Report,
	candidate analysis.Candidate) report.Verdict {
	if ref := v.lookup(); ref != nil {
		baseline := ref.ofCell(v.Matrix.Cells[cell].Values, candidate)
		baseline.AllowDifferent = v.allowDifferent()
		return analysis.Judge(criteria, runs, baseline)
	}
	number, name := v.baselineOf(cell)
	switch {
	case name == "":
		return analysis.Judge(criteria, runs, nil)
	case number == cell:
		return judgeBaseline(criteria, runs, analysis.BaselineOf("Cell", name, candidate, v.evidence(cell)))
	case number < 0:
		return analysis.Judge(criteria, runs, &report.Baseline{Kind: "Cell", Name: name,
			Message: "it is excluded from the suite"})
	}
	baseline := analysis.BaselineOf("Cell", name, candidate, v.evidence(number))
	baseline.AllowDifferent = v.allowDifferent()
	return analysis.Judge(criteria, runs, baseline)
}

// allowDifferent are the parts of the environment that may differ from the baseline's. They come from the
// suite's spec and, for a baseline from the command line, from its option.
func (v *view) allowDifferent() []report.EnvironmentPart {
	var allowed []report.EnvironmentPart
	if v.Reference != nil {
		allowed = v.Reference.AllowDifferent
	}
	if b := v.spec.Baseline; b != nil {
		allowed = append(slices.Clone(allowed), report.EnvironmentParts(b.AllowDifferent)...)
	}
	return allowed
}

// reference is the baseline outside the suite, or nil. A baseline that wasn't read yet has a Fault that says
// so.
func (v *view) reference() *Reference {
	b := v.spec.Baseline
	if v.Reference == nil && b != nil && b.Suite != "" {
		return &Reference{Kind: KindSuite, Name: b.Suite, Fault: "it is read when all is measured"}
	}
	return v.Reference
}

// lookup finds the cells of the reference. It is nil if there is no reference.
func (v *view) lookup() *lookup {
	if ref := v.reference(); v.referenceCells == nil && ref != nil {
		v.referenceCells = newLookup(ref)
	}
	return v.referenceCells
}

// referenceWanted says that the suite to compare with must be read.
func (v *view) referenceWanted() bool {
	b := v.spec.Baseline
	return v.Reference == nil && b != nil && b.Suite != "" && slices.ContainsFunc(v.spec.Criteria,
		v1alpha1.Criterion.Relative)
}

// judgeBaseline judges the baseline of other cells by the absolute criteria. It meets the relative criteria if
// it has a figure.
func judgeBaseline(criteria []plan.Criterion, runs []*report.Report, baseline *report.Baseline) report.Verdict {
	verdict := analysis.Judge(slices.DeleteFunc(slices.Clone(criteria), plan.Criterion.Relative), runs, nil)
	if len(verdict.Criteria) == 0 {
		verdict.Outcome = report.Passed
	}
	for _, c := range criteria {
		if !c.Relative() {
			continue
		}
		result := report.CriterionResult{Name: c.Name, Outcome: report.Passed, Message: "it is the baseline itself"}
		if reason := analysis.WhyNoRunAnswers(baseline, c); reason != "" {
			result.Outcome, result.Message = report.Undecided, result.Message+", and has no figure: "+reason
			if verdict.Outcome == report.Passed {
				verdict.Outcome = report.Undecided
			}
		}
		verdict.Criteria = append(verdict.Criteria, result)
	}
	return verdict
}

// baselineOf is the baseline of a cell, and the baseline's name. The number is -1 if the suite excludes the
// baseline, whose name is then its value. The name is empty if the cell isn't compared.
func (v *view) baselineOf(cell int) (number int, name string) {
	b := v.spec.Baseline
	if b == nil || b.Axis == "" {
		return 0, ""
	}
	values := slices.Clone(v.Matrix.Cells[cell].Values)
	for i := range values {
		if values[i].Axis == b.Axis {
			values[i].Value = b.Value
		}
	}
	if i, ok := v.Matrix.byValues[keyOf(values)]; ok {
		return i, v.Matrix.Cells[i].Name
	}
	return -1, string(b.Axis) + " " + string(b.Value)
}
