package suite

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/analysis"
)

// lookup finds the baseline of cells. It is made once for a decision, since every cell is looked up.
type lookup struct {
	*Reference
	cells   map[string][]analysis.KeptReport // of suites, by their values
	columns map[string][]analysis.KeptReport // of no suite, by their load test
}

func newLookup(r *Reference) *lookup {
	l := &lookup{Reference: r, cells: make(map[string][]analysis.KeptReport, len(r.Cells)), columns: map[string][]analysis.KeptReport{}}
	for _, c := range r.Cells {
		key := keyOf(c.Values)
		l.cells[key] = append(l.cells[key], c.Runs...) // a cell without runs counts as known, too
	}
	for _, k := range r.Reports {
		column := k.Report.Plan.Test.Loadtest
		l.columns[column] = append(l.columns[column], k)
	}
	return l
}

// ofCell is the baseline of a cell that was measured in this way.
func (l *lookup) ofCell(values []v1alpha1.CellValue, how analysis.Candidate) *report.Baseline {
	return l.baseline(how, func() ([]analysis.KeptReport, string) { return l.runsOf(values, how) })
}

// runsOf are the runs that a cell is compared with; or why there are none.
func (l *lookup) runsOf(values []v1alpha1.CellValue, how analysis.Candidate) (runs []analysis.KeptReport, why string) {
	runs, known := l.cells[keyOf(values)]
	switch {
	case known && len(runs) == 0:
		return nil, fmt.Sprintf("its cell %s was not measured", valuesText(values))
	case known:
		return runs, ""
	case len(l.Reports) > 0:
		return ofColumn(l.columns[how.Plan.Test.Loadtest], how)
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
