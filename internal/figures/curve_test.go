package figures

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/units"
)

func rate(t *testing.T, text string) units.Rate {
	t.Helper()
	r, err := units.ParseRate(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A curve's loads are told as they were asked for, although a Report has them as shares of the highest, exact to a billionth.
func TestACurvesLoadsAreThoseThatWereAskedFor(t *testing.T) {
	r := &report.Report{Plan: &plan.Plan{Procedure: plan.Procedure{FrameLoss: &plan.FrameLoss{From: rate(t, "30kpps")}}}}
	add := func(direction string, metric report.Metric, load units.Ratio, low, high report.Number) {
		r.Result.Curve = append(r.Result.Curve, report.Figure{Metric: metric, Direction: direction, Load: load, Low: low, High: high})
	}
	add(report.AllDirections, PacketsPerSecond, units.One, "20000", "")
	add(report.AllDirections, LossRatio, units.One, "0.33", "0.34")
	add("west→east", LossRatio, 666_666_667, "0.5", "0.5")
	add(report.AllDirections, LossRatio, 666_666_667, "0", "")
	add(report.AllDirections, LossRatio, 333_333_333, "", "")
	want := []report.CurvePoint{{Load: rate(t, "30kpps"), LossRatio: "0.34", LossRatioMin: "0.33"}, {Load: rate(t, "20kpps"), LossRatio: "0", LossRatioMin: "0"}}
	if diff := cmp.Diff(want, CurveOf(r)); diff != "" {
		t.Error(diff)
	}
	if got := CurveOf(&report.Report{}); got != nil {
		t.Errorf("%+v of a Report without a curve", got)
	}
}

func TestTheMedianOfSeveralCurves(t *testing.T) {
	point := func(load string, loss report.Number) report.CurvePoint {
		return report.CurvePoint{Load: rate(t, load), LossRatio: loss, LossRatioMin: loss}
	}
	got := MedianCurve([][]report.CurvePoint{{point("100%", "0.5"), point("50%", "0.1")}, {point("100%", "0.7"), point("75%", "0.3"), point("50%", "0.2")}, {point("100%", "0.6")}})
	want := []report.CurvePoint{point("100%", "0.6"), point("75%", "0.3"), point("50%", "0.15")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
