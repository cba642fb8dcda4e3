package suite

import (
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/analysis"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/report"
)

// Judged is a suite as who asks for a verdict sees it: its report, and of each cell the runs that stand for its repetitions.
type Judged struct {
	Report *report.Suite
	Cells  []JudgedCell
}

// JudgedCell is a cell, and what it was compared with.
type JudgedCell struct {
	// Runs were judged; Baseline are the runs that they were compared with, as far as they can be, and BaselineName says whose.
	Runs, Baseline []analysis.Kept
	BaselineName   string
	// Itself says that the cell is what others are compared with.
	Itself bool
}

// Elsewhere is a baseline that is no part of a suite: what the runs of a cell are compared with that were measured so, and the Reports behind it. A nil
// baseline leaves relative criteria undecided.
type Elsewhere func(cell *Cell, how analysis.Measured) (*report.Baseline, []analysis.Kept)

// JudgeStored judges a suite by the runs that were stored of it, as the operator does; with a baseline of one's own where one is given. Finished is when the
// suite was complete; zero: it isn't.
func JudgeStored(m *Matrix, runs Runs, finished time.Time, version string, with Elsewhere) Judged {
	v := look(Observed{Suite: m.suite, Matrix: m, Now: finished, Runs: runs, Version: version})
	out := Judged{Cells: make([]JudgedCell, len(m.Cells))}
	out.Report = v.documentOf(!finished.IsZero(), func(cell int) report.SuiteCell {
		c := v.cell(cell)
		out.Cells[cell] = v.compareCell(cell, &c, with)
		return c
	})
	return out
}

// compareCell finds what a cell is compared with; with a baseline from elsewhere it judges anew.
func (v *view) compareCell(cell int, c *report.SuiteCell, with Elsewhere) JudgedCell {
	number, name := v.baselineOf(cell)
	out := JudgedCell{Runs: v.evidence(cell), Itself: name != "" && number == cell}
	if len(out.Runs) == 0 {
		return out
	}
	how := analysis.Measured{Plan: out.Runs[0].Report.Plan, Method: out.Runs[0].Method}
	if with == nil {
		if name != "" && number >= 0 && !out.Itself {
			out.BaselineName, out.Baseline = "cell "+name, comparableRuns(how, v.evidence(number))
		}
		return out
	}
	baseline, behind := with(&v.Matrix.Cells[cell], how)
	if baseline != nil {
		out.BaselineName, out.Baseline = baseline.String(), comparableRuns(how, behind)
	}
	criteria, errs := compile.Criteria(field.NewPath("spec", "criteria"), v.spec.Criteria)
	if len(criteria) == 0 || len(errs) > 0 { // the schema keeps errors out
		return out
	}
	reports := make([]*report.Report, len(out.Runs))
	for i, k := range out.Runs {
		reports[i] = k.Report
	}
	c.Verdict = new(analysis.Judge(criteria, reports, baseline))
	return out
}

// comparableRuns are those that were measured as the candidate is, and have a figure.
func comparableRuns(how analysis.Measured, runs []analysis.Kept) []analysis.Kept {
	var out []analysis.Kept
	for _, k := range runs {
		if b := analysis.BaselineOf("", "", how, []analysis.Kept{k}); k.Report != nil && b.Runs[0].Message == "" {
			out = append(out, k)
		}
	}
	return out
}

// Suite is the suite whose cells these are.
func (m *Matrix) Suite() *v1alpha1.LoadTestSuite { return m.suite }
