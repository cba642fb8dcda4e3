package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/report/reporttest"
	"github.com/linerate-dev/linerate/internal/units"
)

// Each cell that a page shows is one of the suites', and each of the suites' is shown.
func TestPagesShowTheCellsOfTheSuites(t *testing.T) {
	s := server(t)
	there := map[string]bool{}
	for _, f := range theSuites(t) {
		m := matrix(t, s, f.file, f.text, onOneMachine)
		for i := range m.Cells {
			there[f.name+" "+m.Cells[i].Product+" "+m.Cells[i].Loadtest] = m.Calibrates(i)
		}
	}
	shown := map[string]bool{}
	for _, p := range pages() {
		for _, table := range p.tables {
			for _, c := range table.columns {
				if len(c.published) > 0 && len(c.published) != len(table.rows) || len(c.ours) > 0 && len(c.ours) != len(table.rows) {
					t.Errorf("%s, column %s: %d and %d cells in %d rows", p.file, c.head, len(c.published), len(c.ours), len(table.rows))
				}
				for _, r := range c.ours {
					if r.as == nil {
						continue
					}
					name := r.suite + " " + r.product + " " + r.loadtest
					if _, is := there[name]; !is {
						t.Errorf("%s shows the cell %s, which no suite has", p.file, name)
					}
					shown[name] = true
				}
			}
		}
	}
	for name, calibrates := range there {
		if !calibrates && !shown[name] {
			t.Errorf("no page shows the cell %s", name)
		}
	}
}

// Each page has its part, which the suites that are kept write; a page of which none is kept stays as it is.
func TestEachPageHasItsPart(t *testing.T) {
	dir, save := t.TempDir(), t.TempDir()
	before := map[string]string{}
	for _, p := range pages() {
		text, err := os.ReadFile(filepath.Join("../../docs/measured/published", p.file))
		if err != nil {
			t.Fatal(err)
		}
		before[p.file] = string(text)
		if err := os.WriteFile(filepath.Join(dir, p.file), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var document bytes.Buffer
	if err := flooded().JSON(&document); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(save, "flood.suite.json"), document.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := write(dir, save); err != nil {
		t.Fatal(err)
	}
	for _, p := range pages() {
		text, err := os.ReadFile(filepath.Join(dir, p.file))
		if err != nil {
			t.Fatal(err)
		}
		written := strings.Contains(string(text), "- flood: measured on 2 March 2026")
		if flood := p.file == "flood.md"; written != flood || (string(text) == before[p.file]) == flood {
			t.Errorf("%s is now\n%s", p.file, text)
		}
	}
}

func TestMissingFiguresNameTheirCommand(t *testing.T) {
	for _, p := range pages() {
		if text := p.text(kept{}); !strings.Contains(text, "`make published-loadtests FORM=published`") || !strings.Contains(text, "`linerate run examples/published/"+p.suites+"`") || strings.Count(text, notMeasured) <= len(p.of) {
			t.Errorf("%s:\n%s", p.file, text)
		}
	}
}

// flooded is a suite of floods, of which one has been measured twice.
func flooded() *report.Suite {
	s := &report.Suite{Version: report.SuiteVersion, Producer: "linerate v1.2.3", Name: "flood", Started: time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC), Finished: time.Date(2026, 3, 2, 11, 0, 0, 0, time.UTC)}
	c := report.SuiteCell{Name: "router-10s", Product: "router", Loadtest: "10s", Figures: &report.Figures{Runs: 2, PacketsPerSecond: 410_000, LowerBound: true, Spread: &report.Spread{Percent: reporttest.Percent("2.5")}}}
	for i, pps := range []float64{400_000, 420_000} {
		r := &report.Report{Version: report.Version, Plan: &plan.Plan{Directions: []plan.Direction{{From: "west", To: "east"}}}, Environment: &report.Environment{Generators: []report.GeneratorEnvironment{{Machine: report.Machine{Processors: 2, CPUModel: "AMD EPYC", Kernel: "6.1"}}}}}
		r.Result.Observed = []report.Observed{{Observer: "kernel", Series: "received", Of: "west", Unit: "packets/s", Mean: new(1.0)}, {Observer: "kernel", Series: "received", Of: "east", Unit: "packets/s", Mean: new(pps)},
			{Observer: "cpu", Series: "busy", Of: report.AllProcessors, Unit: "s/s", Mean: new(1.5)}}
		c.Runs = append(c.Runs, report.SuiteRun{Test: fmt.Sprintf("flood-router-10s-r%d", i+1), Repetition: i + 1, Figures: &report.Figures{Runs: 1, PacketsPerSecond: int64(pps), LowerBound: true}, Evidence: r})
	}
	failed := report.SuiteCell{Name: "router-30s", Product: "router", Loadtest: "30s", Runs: []report.SuiteRun{{Test: "flood-router-30s-r1", Reason: "GeneratorLost"}}}
	s.Cells = []report.SuiteCell{c, failed}
	return s
}

func TestMeasuredFiguresAreBesideThePublishedOnes(t *testing.T) {
	text := floodPage().text(kept{"flood": flooded()})
	for _, want := range []string{
		"| router | - | 410.00 Kpps (400.00 Kpps to 420.00 Kpps) | ≥410.00 Kpps ±2.50% | no figure: GeneratorLost |",
		"| FreeBSD | 154 kpps | - |",
		"- flood: measured on 2 March 2026 with linerate v1.2.3, on 2 processors (AMD EPYC), Linux 6.1.\n",
		"| filter | - | not measured yet |", "What is not measured yet, `make published-loadtests FORM=published` measures", // a cell of a suite that is measured otherwise
		"Against expectation:\n\n- nothing.\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("it lacks %q:\n%s", want, text)
		}
	}
	if got := busy(&flooded().Cells[0]); got != "1.50" {
		t.Errorf("%s processors were busy", got)
	}
	if measured, all := (kept{"flood": flooded()}).measured("flood"); measured != 1 || all != 2 {
		t.Errorf("%d of %d cells are measured", measured, all)
	}
}

// What came back of an overload is no load that lost little.
func TestASweepShowsItsHighestLoadWithinTheLossLimit(t *testing.T) {
	var loads [3]units.Rate
	for i, text := range []string{"600kpps", "500kpps", "400kpps"} {
		rate, err := units.ParseRate(text)
		if err != nil {
			t.Fatal(err)
		}
		loads[i] = rate
	}
	c := &report.SuiteCell{Figures: &report.Figures{PacketsPerSecond: 450_000}, Curve: []report.CurvePoint{
		{Load: loads[0], LossRatio: "0.25", LossRatioMin: "0.25"}, {Load: loads[1], LossRatio: "0.001", LossRatioMin: "0"}, {Load: loads[2], LossRatio: "0", LossRatioMin: "0"}}}
	if got := clean(c); got != "500kpps" {
		t.Error(got)
	}
	if c.Curve = c.Curve[:1]; clean(c) != "none of them" {
		t.Error(clean(c))
	}
}

func TestBothWaysHaveEachInParentheses(t *testing.T) {
	both := int64(930e6)
	c := &report.SuiteCell{Name: "nat-tcp-both", Figures: &report.Figures{Runs: 1, GoodputBitsPerSecond: &both}}
	r := &report.Report{Version: report.Version}
	for _, each := range []int64{470e6, 460e6} {
		r.Result.Directions = append(r.Result.Directions, report.Direction{Sessions: &report.Sessions{GoodputBitsPerSecond: each}})
	}
	c.Runs = []report.SuiteRun{{Test: "r1", Figures: c.Figures, Evidence: r}}
	if got := goodput(c); got != "930.00 Mbps (470.00 Mbps + 460.00 Mbps)" {
		t.Error(got)
	}
}
