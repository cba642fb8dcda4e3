package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/analysis"
	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/report"
)

// readReferences reads the Reports that tests are compared with. It is refused where no criterion compares.
func readReferences(stdin io.Reader, plans []*plan.Plan, files []string) ([]*report.Report, error) {
	if len(files) == 0 {
		return nil, nil
	}
	compares := func(p *plan.Plan) bool { return slices.ContainsFunc(p.Criteria, plan.Criterion.Relative) }
	if !slices.ContainsFunc(plans, compares) {
		return nil, badInput("--baseline %s: no criterion compares with it: give one maxRegression, such as {name: no-slower, metric: PacketsPerSecond, maxRegression: 2%%}", files[0])
	}
	var all []*report.Report
	for _, name := range files {
		reports, err := readReportFile(stdin, name)
		if err != nil {
			return nil, badInput("--baseline %s: %w", name, err)
		}
		all = append(all, reports...)
	}
	return all, nil
}

// baselineFor is what a test is compared with, of all the Reports in the files: those of the same row and column of the table; those of its column, where
// they are all of one row, for a row's name may tell the release. Nil: no file was given.
func baselineFor(p *plan.Plan, files []string, references []*report.Report) *report.Baseline {
	if len(files) == 0 {
		return nil
	}
	name := strings.Join(files, ", ")
	var all []analysis.Kept
	for _, r := range references {
		all = append(all, analysis.Kept{Report: r})
	}
	column := filtered(all, func(t plan.Test) bool { return t.Loadtest == p.Test.Loadtest })
	same := filtered(column, func(t plan.Test) bool { return t.Product == p.Test.Product })
	switch rows := products(column); {
	case len(same) > 0:
		return analysis.BaselineOf("File", name, analysis.Measured{Plan: p}, same)
	case len(rows) == 1:
		return analysis.BaselineOf("File", name, analysis.Measured{Plan: p}, column)
	case len(rows) == 0:
		return &report.Baseline{Kind: "File", Name: name, Message: fmt.Sprintf("it has no Report of the load test %q (the label linerate.dev/loadtest names it)", p.Test.Loadtest)}
	default:
		return &report.Baseline{Kind: "File", Name: name, Message: fmt.Sprintf("it has Reports of %s, and none of %q (the label linerate.dev/product names it)", joined(rows), p.Test.Product)}
	}
}

func filtered(all []analysis.Kept, of func(plan.Test) bool) []analysis.Kept {
	return slices.DeleteFunc(slices.Clone(all), func(k analysis.Kept) bool { return !of(k.Report.Plan.Test) })
}

func products(all []analysis.Kept) []string {
	var names []string
	for _, k := range all {
		if !slices.Contains(names, k.Report.Plan.Test.Product) {
			names = append(names, k.Report.Plan.Test.Product)
		}
	}
	return names
}
