package soak

import (
	"reflect"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure/losscurve"
)

// there is a direction, from west to east or back.
func there(from, to string) direction {
	return direction{atHighest: report.Direction{From: from, To: to}}
}

// The table has an estimate of one direction, and a lower bound of the other.
func TestTheTableHasTheCriticalLoadOfEachDirection(t *testing.T) {
	loads := []*criticalLoad{
		{Estimate: report.Estimate{LossRatio: 10_000, PacketsPerSecond: "9700", Deviation: "30", Low: "9650",
			High: "9770"}, Trials: 40, Sent: 4_000_000, Lost: 120,
			Shapes: []shapeLoad{{Shape: losscurve.Stretch, PacketsPerSecond: "9690", Capacity: "10000", Spread: "40"},
				{Shape: losscurve.Erf, PacketsPerSecond: "9710", Capacity: "10000", Spread: "90"}}},
		{Estimate: report.Estimate{LossRatio: 10_000, Low: "20000"}, Trials: 40, Sent: 4_000_000},
	}
	table := New(plan.Procedure{}).sections(nil, []direction{there("west", "east"), there("east", "west")}, loads)[0].Table
	texts := func(result report.Answer) (rows [][]string) {
		for _, row := range table.Rows {
			var cells []string
			for _, c := range row {
				cells = append(cells, result.CellText(c))
			}
			rows = append(rows, cells)
		}
		return rows
	}
	want := [][]string{
		{"west→east", "0.00001", "9.70 kpps", "30.00 pps", "9.65 kpps", "9.77 kpps", "9.69 kpps", "9.71 kpps", "40",
			"4,000,000", "120"},
		{"east→west", "0.00001", "–", "–", "≥20.00 kpps", "–", "–", "–", "40", "4,000,000", "0"},
	}
	if got := texts(report.Answer{}); !reflect.DeepEqual(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	if c := table.Rows[0][4]; c.Number != "9650" || c.Unit != "packets/s" {
		t.Errorf("%+v", c)
	}
	want[0][2], want[0][3], want[0][4], want[0][5], want[0][6], want[0][7] = "–", "–", "≥9.65 kpps", "–", "–", "–"
	if got := texts(report.Answer{NearGenerators: []string{"west→east"}}); !reflect.DeepEqual(got, want) {
		t.Errorf("near the generators' limit %q\nwant %q", got, want)
	}
}

// The plot has a point for each trial, and a curve for each function around the interval.
func TestThePlotReachesAroundTheInterval(t *testing.T) {
	d := there("west", "east")
	var trials []report.Window
	for i, load := range []int64{20_000, 9900, 9700, 9600} {
		m := report.Direction{Quality: report.Good, Offered: report.Flow{PacketsPerSecond: load}}
		m.Sent.Packets, m.Returned.Packets = 100_000, 100_000-max(0, (load-9700)*4)
		trials = append(trials, report.Window{Number: i + 1, Phase: report.Trial, Directions: []report.Direction{m}})
		d.worst = append(d.worst, losscurve.Trial{Load: float64(load)})
	}
	trials = append(trials, report.Window{Number: 5, Phase: report.AtLoad, Directions: trials[0].Directions})
	p := d.plot(&criticalLoad{Estimate: report.Estimate{LossRatio: 10_000, Low: "9650", High: "9770"},
		Shapes: []shapeLoad{{Shape: losscurve.Stretch, Capacity: "10000", Spread: "40"}, {Shape: losscurve.Erf}}},
		trials, 0)
	if len(p.Points) != 4 || p.Points[1].Sign != report.PlotSign(report.Lossy) || p.Points[2].Sign != report.PlotSign(report.Good) ||
		!strings.Contains(p.Points[1].Text, "800 of 100,000 lost") || p.Points[1].Y != "0.008" {
		t.Errorf("%+v", p.Points)
	}
	if len(p.Curves) != 1 || len(p.Curves[0].Points) < curvePoints/2 || p.Curves[0].Name != "stretch function" {
		t.Errorf("%+v", p.Curves)
	}
	if low, high := p.X.Low.Float(), p.X.High.Float(); low > 9600 || low < 8000 || high < 9900 || high > 11_000 {
		t.Errorf("from %v to %v", low, high)
	}
}
