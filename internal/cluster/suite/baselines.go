package suite

import (
	"slices"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/analysis"
)

// baselines are what a suite's cells are compared with. That is a cell of the suite itself, an earlier suite, or
// documents.
type baselines struct {
	matrix *Matrix
	spec   *v1alpha1.LoadTestSuiteSpec
	// external is the baseline outside the suite, if it was read. cells finds its cells.
	external *Reference
	cells    *lookup
}

// ofCell is the baseline of a cell, and the baseline's name. The number is -1 if the suite excludes the
// baseline, whose name is then its value. The name is empty if the cell isn't compared.
func (s *baselines) ofCell(cell int) (number int, name string) {
	b := s.spec.Baseline
	if b == nil || b.Axis == "" {
		return 0, ""
	}
	values := slices.Clone(s.matrix.Cells[cell].Values)
	for i := range values {
		if values[i].Axis == b.Axis {
			values[i].Value = b.Value
		}
	}
	if i, ok := s.matrix.byValues[keyOf(values)]; ok {
		return i, s.matrix.Cells[i].Name
	}
	return -1, string(b.Axis) + " " + string(b.Value)
}

// reference is the baseline outside the suite, or nil. A baseline that wasn't read yet has a Fault that says
// so.
func (s *baselines) reference() *Reference {
	b := s.spec.Baseline
	if s.external == nil && b != nil && b.Suite != "" {
		return &Reference{Kind: KindSuite, Name: b.Suite, Fault: "it is read when all is measured"}
	}
	return s.external
}

// lookup finds the cells of the reference. It is nil if there is no reference.
func (s *baselines) lookup() *lookup {
	if ref := s.reference(); s.cells == nil && ref != nil {
		s.cells = newLookup(ref)
	}
	return s.cells
}

// wanted says that the suite to compare with must be read.
func (s *baselines) wanted() bool {
	b := s.spec.Baseline
	return s.external == nil && b != nil && b.Suite != "" && slices.ContainsFunc(s.spec.Criteria,
		v1alpha1.Criterion.Relative)
}

// allowDifferent are the parts of the environment that may differ from the baseline's. They come from the
// suite's spec and, for a baseline from the command line, from its option.
func (s *baselines) allowDifferent() []report.EnvironmentPart {
	var allowed []report.EnvironmentPart
	if s.external != nil {
		allowed = s.external.AllowDifferent
	}
	if b := s.spec.Baseline; b != nil {
		allowed = append(slices.Clone(allowed), report.EnvironmentParts(b.AllowedDifferences)...)
	}
	return allowed
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
