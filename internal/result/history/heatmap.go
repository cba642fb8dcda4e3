package history

import (
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/figures"
)

// Heatmap has the heatmaps of suites and of Reports. Several Reports of one test make one spot with their medians. Rows names the axis of suites that makes the rows of throughput; empty: the first.
func Heatmap(all report.Documents, rows string) *report.Heatmap {
	out := new(report.Heatmap)
	add := func(h *report.Heatmap) {
		out.Maps, out.Without = append(out.Maps, h.Maps...), append(out.Without, h.Without...)
	}
	for _, s := range all.Suites {
		add(figures.HeatmapOfSuite(s, rows))
	}
	if len(all.Reports) > 0 {
		add(figures.Heatmap("", "product", "loadtest", heatmapTests(all.Reports)))
	}
	return out
}

// heatmapTests is the tests of Reports, one for each place.
func heatmapTests(reports []*report.Report) (all []figures.HeatmapTest) {
	var records []Record
	for _, r := range reports {
		records = append(records, Record{Report: r})
	}
	for _, p := range places(records) {
		of := at(p, records)
		t := figures.HeatmapTest{Product: p.product, Loadtest: p.loadtest, Missing: of[0].missing()}
		var each []*report.Figures
		var curves [][]report.CurvePoint
		for _, r := range of {
			if f := r.figures(); f != nil {
				each, curves = append(each, f), append(curves, figures.CurveOf(r.Report))
			}
		}
		t.Figures, _ = Medians(each)
		t.Curve = figures.MedianCurve(curves)
		all = append(all, t)
	}
	return all
}
