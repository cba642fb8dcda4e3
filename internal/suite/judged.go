package suite

import (
	"time"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/analysis"
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
	Runs, Baseline []analysis.KeptReport
	BaselineName   string
	// AllowDifferent is what of the baseline's environment may be another.
	AllowDifferent []report.EnvironmentPart
	// Itself says that the cell is what others are compared with.
	Itself bool
}

// JudgeStored judges a suite by the runs that were stored of it, as the operator does; with a baseline of one's own where one is given. Finished is when the
// suite was complete; zero: it isn't, and what is still to come counts as missing.
func JudgeStored(m *Matrix, runs Runs, finished time.Time, version string, with *Reference) Judged {
	v := lookBack(Observed{Suite: m.suite, Matrix: m, Now: finished, Runs: runs, Version: version, Reference: with})
	v.early = finished.IsZero()
	out := Judged{Report: v.documentOf(!finished.IsZero(), v.cell)}
	for i := range m.Cells {
		out.Cells = append(out.Cells, v.sides(i))
	}
	return out
}

// sides are a cell's runs and those that they are compared with.
func (v *view) sides(cell int) JudgedCell {
	number, name := v.baselineOf(cell)
	ref := v.lookup()
	out := JudgedCell{Runs: v.evidence(cell), Itself: ref == nil && name != "" && number == cell, AllowDifferent: v.allowDifferent()}
	if len(out.Runs) == 0 || out.Itself {
		return out
	}
	how := analysis.Candidate{Plan: out.Runs[0].Report.Plan, Method: out.Runs[0].Method}
	switch {
	case ref != nil:
		runs, _ := ref.runsOf(v.Matrix.Cells[cell].Values, how)
		out.Baseline, out.BaselineName = comparableRuns(how, runs), report.Baseline{Kind: ref.Kind, Name: ref.Name}.String()
	case name != "" && number >= 0:
		out.Baseline, out.BaselineName = comparableRuns(how, v.evidence(number)), report.Baseline{Kind: "Cell", Name: name}.String()
	}
	return out
}

// comparableRuns are those that were measured as the candidate is, and have a figure.
func comparableRuns(how analysis.Candidate, runs []analysis.KeptReport) []analysis.KeptReport {
	var out []analysis.KeptReport
	for _, k := range runs {
		if b := analysis.BaselineOf("", "", how, []analysis.KeptReport{k}); k.Report != nil && b.Runs[0].Message == "" {
			out = append(out, k)
		}
	}
	return out
}

// Suite is the suite whose cells these are.
func (m *Matrix) Suite() *v1alpha1.LoadTestSuite { return m.suite }
