package render

import (
	"reflect"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/answer"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
)

// estimatedReport has an estimate of one direction, and a lower bound of the other.
func estimatedReport() *report.Report {
	r := reporttest.Measured()
	r.Plan.Procedure = plan.Procedure{Type: plan.TypeSoak, Soak: &plan.Soak{LossRatio: 10_000}, MaxLossRatio: 10_000}
	r.Answer.Reason, r.Answer.Saturated = report.LoadEstimated, false
	r.Answer.Directions[0].Estimate = &report.Estimate{LossRatio: 10_000, PacketsPerSecond: "9700", Deviation: "30",
		Low: "9650", High: "9770"}
	r.Answer.Directions[1].Estimate = &report.Estimate{LossRatio: 10_000, Low: "20000"}
	return r
}

func TestAnEstimateIsToldByDirection(t *testing.T) {
	r := estimatedReport()
	for i, want := range []string{"estimated", "lower bound"} {
		r.Answer.Directions[i].Limit = &report.DirectionLimit{Reason: report.LoadEstimated, Confirmed: true, Window: r.Answer.Window}
		if got, whole := (track{index: i}).standing(r), answer.Standing(r); got != want || whole != "estimated" {
			t.Errorf("direction %d is %s, want %s; the whole is %s", i, got, want, whole)
		}
	}
	if rows := directionTable(r).rows; strings.HasPrefix(rows[0][3], "≥") || !strings.HasPrefix(rows[1][3], "≥") {
		t.Errorf("%q", rows)
	}
	r.Answer.NearGenerators = []string{r.Answer.Directions[0].Name()}
	if said := answer.Sentence(r); !strings.HasPrefix(said, "Lower bound: without a device the generators reach little more") {
		t.Errorf("near the generators' limit: %s", said)
	}
}

// sectionsReport has a table and a plot of its own.
func sectionsReport() *report.Report {
	r := reporttest.Measured()
	point := func(window int, x, y report.Number, sign report.PlotSign) report.PlotPoint {
		return report.PlotPoint{Window: window, X: x, Y: y, Sign: sign, Text: "window " + string(x)}
	}
	r.Answer.Sections = []report.Section{
		{Title: "Loads", Legend: []string{"Loads are <b>made up</b>."}, Table: &report.SectionTable{
			Columns: []string{"direction", "from", "to"},
			Rows: [][]report.SectionCell{{{Text: "west→east"}, {Text: "1.00 kpps", Number: "1000", Unit: "packets/s",
				NearGenerators: "≥1.00 kpps"}, {Text: "2.00 kpps", NearGenerators: "–"}}, {{Text: "a short row"}}}}},
		{Title: "Loss over load", Plot: &report.Plot{X: report.PlotAxis{Title: "offered", Unit: "packets/s", Low: "9000",
			High: "10000"}, Y: report.PlotAxis{Title: "loss per trial", Unit: "ratio"},
			Points: []report.PlotPoint{point(1, "20000", "0.5", report.PlotSign(report.Lossy)), point(2, "9900", "0.008", report.PlotSign(report.Lossy)),
				point(3, "9700", "0", report.PlotSign(report.Good))},
			Curves: []report.PlotCurve{{Name: "a function", Points: []report.CurveValue{{X: "9000", Y: "0.0000000001"},
				{X: "9500", Y: "0.001"}, {X: "10000", Y: "0.1"}}}},
			Intervals: []report.PlotInterval{{Title: "in here", Low: "9650", High: "9770"}},
			Limits:    []report.PlotLimit{{Title: "loss ratio 0.00001", Y: "0.00001"}}}},
		{Title: "nothing", Plot: &report.Plot{}},
	}
	return r
}

func TestASectionsTableIsShownAsFarAsItMayBeClaimed(t *testing.T) {
	r := sectionsReport()
	var s section
	s.addSections(r)
	want := [][]string{{"west→east", "1.00 kpps", "2.00 kpps"}, {"a short row", "", ""}}
	if len(s.tables) != 1 || !reflect.DeepEqual(s.tables[0].rows, want) || len(s.caveats) != 1 {
		t.Fatalf("%+v", s)
	}
	r.Answer.NearGenerators = []string{"west→east"}
	want[0] = []string{"west→east", "≥1.00 kpps", "–"}
	if got := sectionTable(r, r.Answer.Sections[0]).rows; !reflect.DeepEqual(got, want) {
		t.Errorf("near the generators' limit %q", got)
	}
}

func TestCSVHasTheNumbersOfSectionsThatMayBeClaimed(t *testing.T) {
	r := sectionsReport()
	numbers := func() (rows []record) {
		for _, row := range testRecords(r) {
			if row["record"] == "section" {
				rows = append(rows, row)
			}
		}
		return rows
	}
	got := numbers()
	if len(got) != 1 || got[0]["of"] != "west→east" || got[0]["series"] != "from" || got[0]["observed_mean"] != "1000" ||
		got[0]["observed_unit"] != "packets/s" {
		t.Errorf("%v", got)
	}
	if r.Answer.NearGenerators = []string{"west→east"}; len(numbers()) != 0 {
		t.Errorf("near the generators' limit %v", numbers())
	}
}

// The drawing has a mark for each trial on its axis, the curve where it is on the axis, the interval, and the limit.
func TestASectionsPlotIsDrawn(t *testing.T) {
	r := sectionsReport()
	d := newPlotDrawing(r, r.Answer.Sections[1], "x", false)
	if len(d.Marks) != 2 || len(d.Paths) != 1 || len(d.Bands) != 1 || d.Marks[0].Title != "window 9900" ||
		strings.Count(d.Paths[0].D, "L") != 1 {
		t.Fatalf("%+v", d)
	}
	width := d.Bands[0].W
	r.Answer.NearGenerators = []string{"west→east"}
	if d := newPlotDrawing(r, r.Answer.Sections[1], "x", false); d.Bands[0].W < 2*width {
		t.Errorf("near the generators' limit the interval is %v wide", d.Bands[0].W)
	}
	if views := sectionViews(r, "x"); len(views) != 2 {
		t.Errorf("%d sections are shown, want a table and a plot", len(views))
	}
}
