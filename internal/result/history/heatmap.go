package history

import (
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/figures"
)

// Heatmap has the heatmaps of suites and of Reports. Several Reports of one test make one spot with their medians.
// rows names the axis of suites that makes the rows of throughput, and is empty for the first.
func Heatmap(documents report.Documents, rows string) *report.Heatmap {
	heatmap := new(report.Heatmap)
	add := func(h *report.Heatmap) {
		heatmap.Maps, heatmap.Missing = append(heatmap.Maps, h.Maps...), append(heatmap.Missing, h.Missing...)
	}
	for _, s := range documents.Suites {
		add(figures.HeatmapOfSuite(s, rows))
	}
	if len(documents.Reports) > 0 {
		add(figures.Heatmap("", "product", "loadtest", heatmapTests(documents.Reports)))
	}
	return heatmap
}

// heatmapTests is the tests of Reports, one for each place.
func heatmapTests(reports []*report.Report) (tests []figures.HeatmapTest) {
	var records []Record
	for _, r := range reports {
		records = append(records, Record{Report: r})
	}
	for _, p := range places(records) {
		found := recordsAt(p, records)
		t := figures.HeatmapTest{Product: p.product, Loadtest: p.loadtest, Missing: found[0].missing()}
		var perRun []*report.Figures
		var curves [][]report.CurvePoint
		for _, r := range found {
			if f := r.figures(); f != nil {
				perRun, curves = append(perRun, f), append(curves, figures.CurveOf(r.Report))
			}
		}
		t.Figures, _ = Medians(perRun)
		t.Curve = figures.MedianCurve(curves)
		tests = append(tests, t)
	}
	return tests
}
