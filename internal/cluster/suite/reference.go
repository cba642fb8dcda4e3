package suite

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/analysis"
)

// KindSuite is a baseline that is an earlier suite in the cluster, KindFile one that is documents in files.
const (
	// KindSuite is a baseline that is an earlier suite in the cluster. KindFile is a baseline from documents in
	// files.
	KindSuite = v1alpha1.LoadTestSuiteKind
	KindFile  = "File"
)

// Reference is a baseline outside the suite. It is an earlier suite, or documents in files.
type Reference struct {
	Kind, Name string
	// Fault says why nothing can be compared with the Reference. If it is empty, Cells and Reports are usable.
	Fault string
	// Cells are cells of suites. A cell is compared with the one that has the same values. Reports belong to no
	// suite, and are found by their product and loadtest.
	Cells   []ReferenceCell
	Reports []analysis.KeptReport
	// AllowDifferent are the parts of the Reference's environment that may differ from the candidate's.
	AllowDifferent []report.EnvironmentPart
}

// ReferenceCell is a cell of a suite that serves as baseline, with the runs that stand for its repetitions.
type ReferenceCell struct {
	Values []v1alpha1.CellValue
	Runs   []analysis.KeptReport
}

// ReferenceOf is a finished suite in the cluster, with its stored runs.
func ReferenceOf(m *Matrix, runs Runs) *Reference {
	r := &Reference{Kind: KindSuite, Name: m.suite.Name}
	v := newFinalSituation(Observed{Suite: m.suite, Matrix: m, Runs: runs})
	for i := range m.Cells {
		r.Cells = append(r.Cells, ReferenceCell{Values: m.Cells[i].Values, Runs: v.evidence(i)})
	}
	return r
}

// Add adds the cells of a suite's document. The document must have its runs' evidence, as those of linerate run
// do.
func (r *Reference) Add(s *report.Suite) error {
	for _, c := range s.Cells {
		cell := ReferenceCell{}
		for _, v := range c.Values {
			cell.Values = append(cell.Values, v1alpha1.CellValue{Axis: v1alpha1.AxisName(v.Axis),
				Value: v1alpha1.AxisName(v.Value)})
		}
		for _, run := range lastTries(c.Runs) {
			if run.Evidence == nil && run.Figures != nil {
				return fmt.Errorf("suite %s has the figures of %s without what a comparison needs: give the Reports "+
					"of its runs", s.Name, run.Test)
			}
			if run.Evidence != nil {
				cell.Runs = append(cell.Runs, analysis.KeptReport{Report: run.Evidence, Digest: run.Report,
					Method: run.Plan})
			}
		}
		r.Cells = append(r.Cells, cell)
	}
	return nil
}

// lastTries are the runs that stand for their repetitions, and those that show that the device loses frames at
// any load. The last try with figures stands for a repetition or, if no try has any, the last try.
func lastTries(runs []report.SuiteRun) []report.SuiteRun {
	return slices.DeleteFunc(slices.Clone(runs), func(a report.SuiteRun) bool {
		return !(&Run{SuiteRun: a}).lostAtAnyLoad() && slices.ContainsFunc(runs, func(b report.SuiteRun) bool {
			if a.Repetition != b.Repetition || (a.Figures == nil) != (b.Figures == nil) {
				return a.Repetition == b.Repetition && b.Figures != nil
			}
			return b.Retry > a.Retry
		})
	})
}

// OfTest is the baseline of a test that belongs to no suite. It has all runs of the Reference, of suites or
// not.
func (r *Reference) OfTest(candidate analysis.Candidate) *report.Baseline {
	runs := slices.Clone(r.Reports)
	for _, c := range r.Cells {
		runs = append(runs, c.Runs...)
	}
	runs, reason := ofReports(runs, candidate)
	return r.baseline(candidate, runs, reason)
}

// baseline is made of the chosen runs, or says why there are none.
func (r *Reference) baseline(candidate analysis.Candidate, runs []analysis.KeptReport,
	reason string) *report.Baseline {
	if fault := cmp.Or(r.Fault, reason); fault != "" {
		return &report.Baseline{Kind: r.Kind, Name: r.Name, Message: fault}
	}
	b := analysis.BaselineOf(r.Kind, r.Name, candidate, runs)
	b.AllowDifferent = r.AllowDifferent
	return b
}

// ofReports chooses the runs of the same row and column of the table. If there are none, and the column has one
// row, it chooses that row, since a row's name may include the release.
func ofReports(
	reports []analysis.KeptReport, candidate analysis.Candidate,
) (runs []analysis.KeptReport, reason string) {
	loadtest := candidate.Plan.Test.Loadtest
	return ofColumn(filtered(reports, func(t plan.Test) bool { return t.Loadtest == loadtest }), candidate)
}

// ofColumn chooses among the runs of one column.
func ofColumn(column []analysis.KeptReport, candidate analysis.Candidate) (runs []analysis.KeptReport, reason string) {
	test := candidate.Plan.Test
	sameRow := filtered(column, func(t plan.Test) bool { return t.Product == test.Product })
	switch rows := products(column); {
	case len(sameRow) > 0:
		return sameRow, ""
	case len(rows) == 1:
		return column, ""
	case len(rows) == 0:
		return nil, fmt.Sprintf("it has no Report of the load test %q (the label linerate.dev/loadtest names it)",
			test.Loadtest)
	default:
		return nil, fmt.Sprintf("it has Reports of %s, and none of %q (the label linerate.dev/product names it)",
			strings.Join(rows, ", "), test.Product)
	}
}

func filtered(reports []analysis.KeptReport, matches func(plan.Test) bool) []analysis.KeptReport {
	return slices.DeleteFunc(slices.Clone(reports),
		func(k analysis.KeptReport) bool { return !matches(k.Report.Plan.Test) })
}

func products(reports []analysis.KeptReport) []string {
	var names []string
	for _, k := range reports {
		if !slices.Contains(names, k.Report.Plan.Test.Product) {
			names = append(names, k.Report.Plan.Test.Product)
		}
	}
	return names
}

// valuesText is a text such as "image main, frames 64b".
func valuesText(values []v1alpha1.CellValue) string {
	if len(values) == 0 {
		return "without axes"
	}
	var words []string
	for _, v := range values {
		words = append(words, fmt.Sprintf("%s %s", v.Axis, v.Value))
	}
	return strings.Join(words, ", ")
}
