package suite

import (
	"time"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/analysis"
)

// Judged is a suite with its verdict: its report, and for each cell the runs that stand for its repetitions.
type Judged struct {
	Report *report.Suite
	Cells  []JudgedCell
}

// JudgedCell is a cell, and what it was compared with.
type JudgedCell struct {
	// Runs were judged; Baseline are the comparable runs that they were compared with, and BaselineName says whose these are.
	Runs, Baseline []analysis.KeptReport
	BaselineName   string
	// AllowDifferent are the parts of the environment that may differ from the baseline's.
	AllowDifferent []report.EnvironmentPart
	// Itself says that the cell is the baseline of others.
	Itself bool
}

// JudgeStored judges a suite by its stored runs, as the operator does, but with another baseline if with isn't nil. finished is when the suite was complete;
// zero: it isn't, and measurements still to come count as missing.
func JudgeStored(m *Matrix, runs Runs, finished time.Time, version string, with *Reference) Judged {
	v := newFinalView(Observed{Suite: m.suite, Matrix: m, Now: finished, Runs: runs, Version: version, Reference: with})
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

// comparableRuns are those with a figure that were measured in the same way as the candidate.
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
