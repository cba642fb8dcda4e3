package search_test

import (
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure/goals"
	"github.com/linerate-dev/linerate/internal/procedure/search"
	"github.com/linerate-dev/linerate/internal/units"
	. "github.com/linerate-dev/linerate/test/rigs/proceduretest"
)

// What the standard wants told of a search is in its sections, which are the bounds, each attribute of each goal, which
// quantity the width is of, and the classification. Sequential tells the chance of a wrong class with what it takes for
// granted, and claims no standard.
func TestTheSectionsTellTheMethod(t *testing.T) {
	for classification, told := range map[string][]string{
		plan.ClassifyRFC9971:    {"Classification RFC9971: multiple loss ratio search"},
		plan.ClassifySequential: {"none of a standard"},
	} {
		p := search.New(planned(func(p *plan.Procedure) { p.Search.Classification = classification }))
		history, _ := CarryOut(t, p, Limited(5_000))
		sections := p.Conclude(history).Sections
		if len(sections) != 3 || len(sections[0].Warnings) != 0 {
			t.Fatalf("%+v", sections)
		}
		text := strings.Join(append(sections[0].Legend, sections[2].Legend...), " ")
		for _, want := range append(told, "relevant lower bound", "relevant upper bound",
			"as a share of the upper one's intended load", "(min load)", "(max load)", "Conditional throughput",
			"not judged", "with a probability of 0.2, or of 0.8") {
			if !strings.Contains(text, want) {
				t.Errorf("%s doesn't say %q: %s", classification, want, text)
			}
		}
		if strings.Contains(strings.ToLower(text), "conform") {
			t.Errorf("%s says that it conforms to something", classification)
		}
		if rows := sections[2].Table.Rows; len(rows) != 2 || len(rows[1]) != len(sections[2].Table.Columns) {
			t.Errorf("%s: %+v", classification, sections[2].Table)
		}
		for i, g := range p.Found(history) {
			row := sections[0].Table.Rows[i]
			lower, upper := row[1].Number.Float()/2, row[2].Number.Float()/2
			if row[0].Text != g.Name || lower < 0.999*rate(g.Lower.Load)-1 || upper > 1.001*rate(g.Upper.Load)+1 ||
				row[5].Number.Float()/2 > lower {
				t.Errorf("%s is met from %g to %g, want %+v to %+v", g.Name, lower, upper, g.Lower, g.Upper)
			}
		}
	}
}

// A goal that has no two bounds is marked as irregular, with the reason.
func TestAnIrregularGoalIsMarked(t *testing.T) {
	for kind, limit := range map[string]float64{goals.MaximumClean: 1e9, goals.MinimumLossy: 1} {
		p := search.New(planned())
		history, _ := CarryOut(t, p, Limited(limit))
		bounds := p.Conclude(history).Sections[0]
		if len(bounds.Warnings) != 2 || !strings.HasPrefix(bounds.Warnings[0], "goal NDR is irregular ("+kind+"): even the ") {
			t.Errorf("%q", bounds.Warnings)
		}
	}
}

// Each trial of the search is drawn once, as good or bad as it was for the goals, with the bounds of each goal.
func TestEachTrialIsAPointOfThePlot(t *testing.T) {
	p := search.New(planned())
	history, _ := CarryOut(t, p, Limited(5_000))
	plot := p.Conclude(history).Sections[1].Plot
	if len(plot.Points) < 8 || len(plot.Intervals) != 2 || !plot.Ordered || plot.Limits[1].Title != "PDR 0.5%" {
		t.Fatalf("%+v", plot)
	}
	signs := map[report.PlotSign]bool{}
	for i, point := range plot.Points {
		signs[point.Sign] = true
		if w := history[i+1]; point.Window != w.Number || point.Text == "" || point.X == "" || point.Y == "" {
			t.Errorf("%+v of window %d", point, w.Number)
		}
	}
	if !signs[report.PlotSign(report.Good)] || !signs[report.PlotSign(report.Lossy)] || signs[report.PlotSign(report.Invalid)] {
		t.Errorf("%v", signs)
	}
}

// A trial that was ended early for NDR is drawn with the least that the whole one would have lost, and says nothing
// of PDR.
func TestATrialThatWasEndedEarlyIsDrawnAsFarAsItShows(t *testing.T) {
	p := search.New(planned())
	history, _ := CarryOut(t, p, Limited(5_000))
	w := &history[1]
	w.Evidence, w.Decided = nil, &report.Decided{Duration: w.Duration, Planned: 2 * w.Duration}
	for i := range w.Directions {
		d := &w.Directions[i]
		d.EdgeFrames, d.DisturbedFrames = 0, 0
		d.Returned.Packets = d.Sent.Packets - d.Sent.Packets*6/1000
		d.LossRatio = units.RatioOf(d.Sent.Packets-d.Returned.Packets, d.Sent.Packets)
	}
	point := p.Point(*w)
	if loss := point.Y.Float(); point.Sign != report.SignMixed || loss < 0.0025 || loss > 0.0031 ||
		!strings.HasSuffix(point.Text, ": bad for NDR, ended early: says nothing of PDR") {
		t.Errorf("%+v", point)
	}
}
