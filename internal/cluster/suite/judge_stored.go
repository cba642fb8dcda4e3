package suite

import (
	"time"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/analysis"
)

// Judged is a suite with its verdict. It has the suite's report, and for each cell the runs that stand for its
// repetitions.
type Judged struct {
	Report *report.Suite
	Cells  []JudgedCell
}

// JudgedCell is a cell, and what it was compared with.
type JudgedCell struct {
	// Runs were judged. Baseline are the comparable runs that they were compared with, and BaselineName names
	// their cell, suite or file.
	Runs, Baseline []analysis.KeptReport
	BaselineName   string
	// AllowDifferent are the parts of the environment that may differ from the baseline's.
	AllowDifferent []report.EnvironmentPart
	// IsBaseline says that the cell is the baseline of others.
	IsBaseline bool
}

// JudgeStored judges a suite by its stored runs, as the operator does, but with another baseline if baseline
// isn't nil. finished is when the suite was complete. It is zero for an incomplete suite, whose measurements
// still to come count as missing.
func JudgeStored(m *Matrix, runs Runs, finished time.Time, version string, baseline *Reference) Judged {
	v := newFinalSituation(Observed{Suite: m.suite, Matrix: m, Now: finished, Runs: runs, Version: version,
		Reference: baseline})
	v.judgedEarly = finished.IsZero()
	judged := Judged{Report: v.suiteReport(!finished.IsZero())}
	for i := range m.Cells {
		judged.Cells = append(judged.Cells, v.comparedRuns(i))
	}
	return judged
}

// comparedRuns are a cell's runs and those that they are compared with.
func (rs *cellResults) comparedRuns(cell int) JudgedCell {
	number, name := rs.baselines.ofCell(cell)
	ref := rs.baselines.lookup()
	judged := JudgedCell{Runs: rs.evidence(cell), IsBaseline: ref == nil && name != "" && number == cell,
		AllowDifferent: rs.baselines.allowDifferent()}
	if len(judged.Runs) == 0 || judged.IsBaseline {
		return judged
	}
	candidate := analysis.Candidate{Plan: judged.Runs[0].Report.Plan, Method: judged.Runs[0].Method}
	switch {
	case ref != nil:
		runs, _ := ref.runsOf(rs.matrix.Cells[cell].Values, candidate)
		judged.Baseline, judged.BaselineName = comparableRuns(candidate, runs), report.Baseline{Kind: ref.Kind,
			Name: ref.Name}.String()
	case name != "" && number >= 0:
		judged.Baseline, judged.BaselineName = comparableRuns(candidate, rs.evidence(number)),
			report.Baseline{Kind: "Cell", Name: name}.String()
	}
	return judged
}

// comparableRuns are the runs with a figure that were measured in the same way as the candidate.
func comparableRuns(candidate analysis.Candidate, runs []analysis.KeptReport) []analysis.KeptReport {
	var comparable []analysis.KeptReport
	for _, k := range runs {
		if b := analysis.BaselineOf("", "", candidate, []analysis.KeptReport{k}); k.Report != nil &&
			b.Runs[0].Message == "" {
			comparable = append(comparable, k)
		}
	}
	return comparable
}

// Suite is the suite whose cells these are.
func (m *Matrix) Suite() *v1alpha1.LoadTestSuite { return m.suite }
