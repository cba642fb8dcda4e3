package suite

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/analysis"
)

// lookup finds the baseline of cells. Each decision makes it once, since every cell is looked up.
type lookup struct {
	*Reference
	cells   map[string][]analysis.KeptReport // runs of suites' cells, by the cells' values
	columns map[string][]analysis.KeptReport // Reports without a suite, by their load test
}

func newLookup(r *Reference) *lookup {
	l := &lookup{Reference: r, cells: make(map[string][]analysis.KeptReport, len(r.Cells)),
		columns: map[string][]analysis.KeptReport{}}
	for _, c := range r.Cells {
		key := keyOf(c.Values)
		l.cells[key] = append(l.cells[key], c.Runs...) // a cell without runs is known, too
	}
	for _, k := range r.Reports {
		column := k.Report.Plan.Test.Loadtest
		l.columns[column] = append(l.columns[column], k)
	}
	return l
}

// ofCell is the baseline of a cell that was measured in the candidate's way.
func (l *lookup) ofCell(values []v1alpha1.CellValue, candidate analysis.Candidate) *report.Baseline {
	runs, reason := l.runsOf(values, candidate)
	return l.baseline(candidate, runs, reason)
}

// runsOf are the runs that a cell is compared with, or why there are none.
func (l *lookup) runsOf(
	values []v1alpha1.CellValue, candidate analysis.Candidate,
) (runs []analysis.KeptReport, reason string) {
	runs, ok := l.cells[keyOf(values)]
	switch {
	case ok && len(runs) == 0:
		return nil, fmt.Sprintf("its cell %s was not measured", valuesText(values))
	case ok:
		return runs, ""
	case len(l.Reports) > 0:
		return ofColumn(l.columns[candidate.Plan.Test.Loadtest], candidate)
	}
	return nil, fmt.Sprintf("it has no cell %s", valuesText(values))
}

// keyOf is equal for two cells with the same values of the same axes, in whatever order.
func keyOf(values []v1alpha1.CellValue) string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = strconv.Quote(string(v.Axis)) + strconv.Quote(string(v.Value))
	}
	slices.Sort(words)
	var key []byte
	for _, w := range words {
		key = append(key, w...)
	}
	return string(key)
}
