package main

import (
	"testing"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/unitstest"
)

// What came back of an overload is no load that lost little.
func TestASweepShowsItsHighestLoadWithinTheLossLimit(t *testing.T) {
	c := &report.SuiteCell{Figures: &report.Figures{PacketsPerSecond: 450_000}, Curve: []report.CurvePoint{
		{Load: unitstest.Rate("600kpps"), LossRatio: "0.25", LossRatioMin: "0.25"}, {Load: unitstest.Rate("500kpps"), LossRatio: "0.005", LossRatioMin: "0"}, {Load: unitstest.Rate("400kpps"), LossRatio: "0", LossRatioMin: "0"}}}
	if got := clean(c); got != "500kpps" {
		t.Error(got)
	}
	if c.Curve = c.Curve[:1]; clean(c) != "none of them" {
		t.Error(clean(c))
	}
}

func TestTheSweepMayLoseWhatItsPageSays(t *testing.T) {
	s := server(t)
	for _, f := range theSuites(t) {
		if f.name != "modes-sweep" {
			continue
		}
		m := matrix(t, s, f.file, f.text, onOneMachine)
		for i := range m.Cells {
			p, err := planOf(s, m, i)
			if err != nil {
				t.Fatal(err)
			}
			if may := p.Procedure.MaxLossRatio; !m.Calibrates(i) && may != sweepMayLose {
				t.Errorf("%s may lose %v, and the page says %v", m.Cells[i].Name, may, sweepMayLose)
			}
		}
	}
}

// swept is a run of a sweep from 600 kpps in steps of 100 kpps: what was lost at each load, and at which share of the first one its generator fell behind.
func swept(t *testing.T, behind units.Ratio, lost ...report.Number) report.SuiteRun {
	t.Helper()
	r := &report.Report{Version: report.Version, Plan: &plan.Plan{Procedure: plan.Procedure{Type: plan.TypeFrameLoss, FrameLoss: &plan.FrameLoss{MaxRate: unitstest.Rate("600kpps")}}}}
	for i, ratio := range lost {
		load := units.RatioOf(int64(6-i), 6)
		offered := "600000"
		if load == behind {
			offered = "10"
		}
		r.Answer.Figures = append(r.Answer.Figures, report.Figure{Metric: figures.OfferedPacketsPerSecond, Direction: "west→east", Load: load, Low: report.Number(offered)},
			report.Figure{Metric: figures.LossRatio, Direction: report.AllDirections, Load: load, Low: ratio, High: ratio})
	}
	return report.SuiteRun{Test: "r", Figures: &report.Figures{Runs: 1}, Evidence: r}
}

// A sweep shows its highest load that lost little, and what its runs say by themselves; what came of less than was asked for says nothing of that load.
func TestASweepShowsWhatItsRunsSay(t *testing.T) {
	median := []report.CurvePoint{{Load: unitstest.Rate("600kpps"), LossRatio: "0.25", LossRatioMin: "0.25"}, {Load: unitstest.Rate("500kpps"), LossRatio: "0.005", LossRatioMin: "0"}, {Load: unitstest.Rate("400kpps"), LossRatio: "0", LossRatioMin: "0"}}
	for _, c := range []struct {
		what string
		runs []report.SuiteRun
		want string
	}{
		{"runs that agree", []report.SuiteRun{swept(t, 0, "0.2", "0.001", "0"), swept(t, 0, "0.3", "0.002", "0")}, "500kpps"},
		{"runs that don't", []report.SuiteRun{swept(t, 0, "0.2", "0.02", "0.001"), swept(t, 0, "0.004", "0.001", "0")}, "500kpps (400kpps to 600kpps)"},
		{"a run whose generator sent too little of its highest load", []report.SuiteRun{swept(t, units.One, "0", "0.001", "0"), swept(t, 0, "0.3", "0.002", "0")}, "500kpps"},
		{"a run that lost much of each", []report.SuiteRun{swept(t, 0, "0.2", "0.1", "0.1"), swept(t, 0, "0.2", "0.001", "0")}, "500kpps (none of them to 500kpps)"},
	} {
		cell := &report.SuiteCell{Figures: &report.Figures{PacketsPerSecond: 450_000}, Curve: median, Runs: c.runs}
		if got := clean(cell); got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
}
