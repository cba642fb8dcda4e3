package figures

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/unitstest"
)

// A curve's loads are told as they were asked for, although a Report has them as shares of the highest, exact to a
// billionth.
func TestACurvesLoadsAreThoseThatWereAskedFor(t *testing.T) {
	r := &report.Report{Plan: &plan.Plan{Procedure: plan.Procedure{Type: plan.TypeFrameLoss, FrameLoss: &plan.FrameLoss{MaxRate: unitstest.Rate("30kpps")}}}}
	add := func(direction string, metric report.Metric, load units.Ratio, low, high report.Number) {
		r.Answer.Figures = append(r.Answer.Figures, report.Figure{Metric: metric, Direction: direction, Load: load, Low: low, High: high})
	}
	add(report.AllDirections, PacketsPerSecond, units.One, "20000", "")
	add(report.AllDirections, LossRatio, units.One, "0.33", "0.34")
	add("west→east", LossRatio, 666_666_667, "0.5", "0.5")
	add(report.AllDirections, LossRatio, 666_666_667, "0", "")
	add(report.AllDirections, LossRatio, 411_500_000, "0", "")
	add(report.AllDirections, LossRatio, 333_333_333, "", "")
	want := []report.CurvePoint{{Load: unitstest.Rate("30kpps"), LossRatio: "0.34", LossRatioMin: "0.33"}, {Load: unitstest.Rate("20kpps"), LossRatio: "0", LossRatioMin: "0"}, {Load: unitstest.Rate("12345pps"), LossRatio: "0", LossRatioMin: "0"}}
	if diff := cmp.Diff(want, CurveOf(r)); diff != "" {
		t.Error(diff)
	}
	window := func(load units.Ratio, offered int64) report.Window {
		of := report.Direction{Intended: report.Flow{PacketsPerSecond: 10_000}, Offered: report.Flow{PacketsPerSecond: offered}, Quality: report.Good}
		return report.Window{Phase: report.Trial, Load: load, Quality: report.Good, Directions: []report.Direction{of}}
	}
	// of a load that was tried again the last trial counts
	r.Windows = []report.Window{window(units.One, 9899), window(666_666_667, 5000), window(666_666_667, 9900)}
	if diff := cmp.Diff(want[1:], CurveOf(r)); diff != "" {
		t.Errorf("generators sent less than 99 %% of the highest load: %s", diff)
	}
	r.Windows = nil
	add("west→east", OfferedPacketsPerSecond, units.One, "29699", "29699")
	add("west→east", OfferedPacketsPerSecond, 666_666_667, "19800", "19800")
	if diff := cmp.Diff(want[1:], CurveOf(r)); diff != "" {
		t.Errorf("the same, stored without windows: %s", diff)
	}
	if got := CurveOf(&report.Report{}); got != nil {
		t.Errorf("%+v of a Report without a curve", got)
	}
}

func TestTheMedianOfSeveralCurves(t *testing.T) {
	point := func(load string, loss report.Number) report.CurvePoint {
		return report.CurvePoint{Load: unitstest.Rate(load), LossRatio: loss, LossRatioMin: loss}
	}
	got := MedianCurve([][]report.CurvePoint{{point("100%", "0.5"), point("50%", "0.1")}, {point("100%", "0.7"), point("75%", "0.3"), point("50%", "0.2")}, {point("100%", "0.6")}})
	want := []report.CurvePoint{point("100%", "0.6"), point("75%", "0.3"), point("50%", "0.15")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A map of loss has in each place the most that may have been lost, and beside it what surely was.
func TestAMapOfLossHasTheMostThatMayBeLost(t *testing.T) {
	curve := []report.CurvePoint{{Load: unitstest.Rate("30kpps"), LossRatio: "0.34", LossRatioMin: "0.33"}, {Load: unitstest.Rate("20kpps"), LossRatio: "0.02", LossRatioMin: "0.01"}}
	g := Heatmap("night", "load", "traffic", []HeatmapTest{{Product: "VPP", Loadtest: "64b", Figures: &report.Figures{Runs: 1}, Curve: curve}}).Maps[0]
	want := []report.Spot{{Row: 0, Value: "0.34", Least: "0.33"}, {Row: 1, Value: "0.02", Least: "0.01"}}
	if diff := cmp.Diff(want, g.Spots); diff != "" || g.Rows[0] != "30kpps" {
		t.Errorf("%q: %s", g.Rows, diff)
	}
}
