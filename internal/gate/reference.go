package gate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/analysis"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/suite"
)

// Reference is what a gate compares with beside what it measures: Reports, wherever they were kept.
type Reference struct {
	// Kind and Name say where they are from.
	Kind, Name string
	Runs       []ReferenceRun
}

// ReferenceRun is a run of a reference. Values are those of its cell, where it belongs to a suite.
type ReferenceRun struct {
	analysis.Kept
	OfSuite bool
	Values  []v1alpha1.CellValue
}

// AddSuite adds what was stored of a suite.
func (r *Reference) AddSuite(m *suite.Matrix, runs suite.Runs) {
	judged := suite.JudgeStored(m, runs, m.Suite().CreationTimestamp.Time, "", nil)
	for i, cell := range judged.Cells {
		for _, k := range cell.Runs {
			r.Runs = append(r.Runs, ReferenceRun{Kept: k, OfSuite: true, Values: m.Cells[i].Values})
		}
	}
}

// Elsewhere chooses of the reference what a cell is compared with.
func (r *Reference) Elsewhere(cell *suite.Cell, how analysis.Measured) (*report.Baseline, []analysis.Kept) {
	runs, why := r.choose(cell, how)
	if why != "" {
		return &report.Baseline{Kind: r.Kind, Name: r.Name, Message: why}, nil
	}
	return analysis.BaselineOf(r.Kind, r.Name, how, runs), runs
}

// choose has the runs of the cell with the same values; else those of the same row and column of a table; else those of its column, where they are all of
// one row, for a row's name may tell the release.
func (r *Reference) choose(cell *suite.Cell, how analysis.Measured) (runs []analysis.Kept, why string) {
	test := how.Plan.Test
	same := r.those(func(k ReferenceRun) bool { return k.OfSuite && len(k.Values) > 0 && sameValues(k.Values, cell.Values) })
	column := r.those(func(k ReferenceRun) bool { return k.Report.Plan.Test.Loadtest == test.Loadtest })
	place := slices.DeleteFunc(slices.Clone(column), func(k analysis.Kept) bool { return k.Report.Plan.Test.Product != test.Product })
	switch rows := products(column); {
	case len(same) > 0:
		return same, ""
	case len(place) > 0:
		return place, ""
	case len(rows) == 1:
		return column, ""
	case len(rows) == 0:
		return nil, fmt.Sprintf("it has no Report of the load test %q (the label linerate.dev/loadtest names it)", test.Loadtest)
	default:
		return nil, fmt.Sprintf("it has Reports of %s, and none of %q (the label linerate.dev/product names it)", strings.Join(rows, ", "), test.Product)
	}
}

func (r *Reference) those(are func(ReferenceRun) bool) []analysis.Kept {
	var out []analysis.Kept
	for _, k := range r.Runs {
		if are(k) {
			out = append(out, k.Kept)
		}
	}
	return out
}

func products(runs []analysis.Kept) []string {
	var names []string
	for _, k := range runs {
		if p := k.Report.Plan.Test.Product; !slices.Contains(names, p) {
			names = append(names, p)
		}
	}
	return names
}

func sameValues(a, b []v1alpha1.CellValue) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(v v1alpha1.CellValue) bool { return !slices.Contains(b, v) })
}
