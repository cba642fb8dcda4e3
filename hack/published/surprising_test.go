package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/test/rigs/unitstest"
)

// carried is a suite of one cell, in which a device in a mode carried so much.
func carried(name, cell string, mode plan.Mode, pps int64) *report.Suite {
	p := &plan.Plan{DUT: plan.DUT{Type: "Reference", Reference: &plan.Reference{Mode: &mode}}, Links: []plan.Link{{Name: "west"}, {Name: "east"}}, Directions: []plan.Direction{{From: "west", To: "east"}}}
	figures := &report.Figures{Runs: 1, PacketsPerSecond: pps}
	run := report.SuiteRun{Test: cell, Figures: figures, Evidence: &report.Report{Version: report.Version, Plan: p}}
	return &report.Suite{Version: report.SuiteVersion, Name: name, Cells: []report.SuiteCell{{Name: cell, Product: cell, Figures: figures, Runs: []report.SuiteRun{run}}}}
}

// What goes against expectation within a suite, and between it and another, is said until the suite, or the other, is measured anew.
func TestSurprisesStayUntilTheirSuiteIsMeasuredAnew(t *testing.T) {
	router, filter := plan.Mode{Router: &plan.RouterMode{Routes: 1}}, plan.Mode{Filter: &plan.FilterMode{Rules: 100}}
	plain, filtered := carried("frames", "router", router, 400_000), carried("sweep", "filter", filter, 440_000)
	rises := carried("tcp", "bridge", plan.Mode{}, 300_000)
	rises.Cells[0].Curve = []report.CurvePoint{{Load: unitstest.Rate("500kpps"), LossRatio: "0", LossRatioMin: "0"}, {Load: unitstest.Rate("400kpps"), LossRatio: "0.2", LossRatioMin: "0.1"}}
	flat := carried("tcp", "bridge", plan.Mode{}, 300_000)

	p := page{labels: []string{"tcp", "frames", "sweep"}}
	var said []surprising
	for _, step := range []struct {
		what     string
		measured []*report.Suite
		want     []string // of which suites something is said
	}{
		{"two suites that go against each other", []*report.Suite{plain, filtered}, []string{"frames sweep"}},
		{"one that does so by itself, of which the page speaks first", []*report.Suite{rises}, []string{"tcp", "frames sweep"}},
		{"the same once more", []*report.Suite{rises}, []string{"tcp", "frames sweep"}},
		{"all at once", []*report.Suite{plain, rises, filtered}, []string{"tcp", "frames sweep"}},
		{"one of the two, while the other's document is gone", []*report.Suite{filtered}, []string{"tcp"}},
		{"it goes against expectation no more", []*report.Suite{flat}, nil},
	} {
		said = p.withSurprises(said, step.measured)
		var got []string
		for _, s := range said {
			got = append(got, strings.Join(s.Cells, " "))
		}
		if !slices.Equal(got, step.want) {
			t.Errorf("%s: it is said of %q, want %q: %+v", step.what, got, step.want, said)
		}
	}
}
