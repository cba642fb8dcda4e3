package suite

import (
	"testing"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/analysis"
)

func TestCellsAreKnownByTheirValuesInAnyOrder(t *testing.T) {
	value := func(axis, value string) v1alpha1.CellValue {
		return v1alpha1.CellValue{Axis: v1alpha1.AxisName(axis), Value: v1alpha1.AxisName(value)}
	}
	run := analysis.KeptReport{Report: &report.Report{Plan: &plan.Plan{}}, Digest: "sha256:1"}
	l := newLookup(&Reference{Cells: []ReferenceCell{
		{Values: []v1alpha1.CellValue{value("system", "a"), value("frames", "b")}, Runs: []analysis.KeptReport{run}},
		{Values: []v1alpha1.CellValue{value("system", "b"), value("frames", "a")}},
		{Values: []v1alpha1.CellValue{value("frames", "b"), value("system", "a")}, Runs: []analysis.KeptReport{run}},
	}})
	for name, c := range map[string]struct {
		values []v1alpha1.CellValue
		runs   int
		reason string
	}{
		"of two suites": {[]v1alpha1.CellValue{value("frames", "b"), value("system", "a")}, 2, ""},
		"known, and without any": {[]v1alpha1.CellValue{value("frames", "a"), value("system", "b")}, 0,
			"its cell frames a, system b was not measured"},
		"with fewer axes": {[]v1alpha1.CellValue{value("system", "a")}, 0, "it has no cell system a"},
		"of other values": {[]v1alpha1.CellValue{value("system", "a"), value("frames", "a")}, 0,
			"it has no cell system a, frames a"},
	} {
		if runs, reason := l.runsOf(c.values, analysis.Candidate{}); len(runs) != c.runs || reason != c.reason {
			t.Errorf("%s: %d runs, %q; want %d, %q", name, len(runs), reason, c.runs, c.reason)
		}
	}
}

// BenchmarkTenTimesAsManyBaselines measures how many times as long it takes to find the baselines of all cells
// of a suite of 4 000 as of one of 400. The ratio is ten if each is found equally fast, and a hundred if each
// is searched among all. (Allocation and caches make it a little more than ten.)
func BenchmarkTenTimesAsManyBaselines(b *testing.B) {
	const baseline = "baseline: {axis: axis0, value: value-0-of-axis-0}\n"
	looks := func(rows int) func() {
		m := Expand(written(b, manyCells(rows, 50)+baseline))
		earlier := &Reference{}
		for _, c := range m.Cells {
			earlier.Cells = append(earlier.Cells, ReferenceCell{Values: c.Values})
		}
		return func() {
			v := newSituation(Observed{Suite: m.suite, Matrix: m, Reference: earlier})
			for cell := range m.Cells {
				if number, name := v.baselines.ofCell(cell); number != cell%50 || name == "" {
					b.Fatalf("cell %d is compared with %d", cell, number)
				}
				if _, reason := v.baselines.lookup().runsOf(m.Cells[cell].Values, analysis.Candidate{}); reason == "" {
					b.Fatal("a cell without runs has some")
				}
			}
		}
	}
	small, large := looks(8), looks(80)
	var took [2]float64
	for b.Loop() {
		for i, do := range []func(){small, large} {
			start := b.Elapsed()
			do()
			took[i] += (b.Elapsed() - start).Seconds()
		}
	}
	b.ReportMetric(took[1]/took[0], "ratio")
}
