package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// powerRun is a suite whose one cell was measured twice, as its document is on one machine: without what was seen while nothing was sent, which is in the Reports beside it.
func powerRun(t *testing.T, dir string) *report.Suite {
	t.Helper()
	s := flooded()
	s.Name, s.Cells = "modes-power", s.Cells[:1]
	c := &s.Cells[0]
	c.Name, c.Product, c.Loadtest = "router", "router", ""
	for i := range c.Runs {
		run := &c.Runs[i]
		run.Test = []string{"modes-power-router-r1", "modes-power-router-r2"}[i]
		whole := *run.Evidence
		whole.Plan, whole.Ending = &plan.Plan{Version: plan.Version, Directions: whole.Plan.Directions}, report.Completed
		whole.Observations = []report.Observation{
			{Observer: "clocks", Observed: "Node", Type: "Frequencies", Series: []report.VitalSign{{Name: "highest", Subject: "machine", IdleBefore: new(1e9), IdleAfter: new(1e9)}}},
			{Observer: "cpu", Observed: "Node", Type: "Processors", Series: []report.VitalSign{
				{Name: "busy", Subject: "processor 0", IdleBefore: new(0.9), IdleAfter: new(0.9)},
				{Name: "busy", Subject: report.AllProcessors, IdleBefore: new(0.25 + 0.5*float64(i)), IdleAfter: new(0.125), Samples: []report.VitalSample{{Time: plan.Duration(time.Second), Value: 1}}},
			}},
		}
		text := new(strings.Builder)
		if err := report.JSON(text, &whole); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, run.Test+".json"), []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// Idle, full load, idle: of each run's own Report, averaged over the runs with the least and the most, and of all processors together. What nobody observed is called so.
func TestAPowerRunShowsWhatWasIdleBeforeAndAfterIt(t *testing.T) {
	dir := t.TempDir()
	s := powerRun(t, dir)
	shown := []ref{{"modes-power", "router", "busyAround"}, {"modes-power", "router", "heatAround"}}
	if err := takeIdle(s, dir, shown); err != nil {
		t.Fatal(err)
	}
	figures := figuresOf(s, shown)["router"]
	if figures["busyAround"] != "idle 0.50 (0.25 to 0.75), full 1.50, idle 0.12" || figures["heatAround"] != "not observed" {
		t.Errorf("got %v", figures)
	}
	for _, r := range evidence(&s.Cells[0]) {
		if signs := r.Observations[1].Series; len(signs) != 2 || signs[1].Samples != nil {
			t.Errorf("the document has samples: %+v", signs)
		}
	}
}

// A Report that is gone takes nothing but its own figure along.
func TestWithoutItsReportARunHasNoIdleLevel(t *testing.T) {
	dir := t.TempDir()
	s := powerRun(t, dir)
	if err := os.Remove(filepath.Join(dir, s.Cells[0].Runs[1].Test+".json")); err != nil {
		t.Fatal(err)
	}
	shown := []ref{{"modes-power", "router", "busyAround"}}
	if err := takeIdle(s, dir, shown); err != nil {
		t.Fatal(err)
	}
	if got := figuresOf(s, shown)["router"]["busyAround"]; got != "idle 0.25, full 1.50, idle 0.12" {
		t.Error(got)
	}
}

// Documents are large: Reports are read for the figures that need them, and for no other.
func TestReportsAreReadOnlyForFiguresOfIdleLevels(t *testing.T) {
	dir := t.TempDir()
	s := powerRun(t, dir)
	if err := takeIdle(s, dir, []ref{{"modes-power", "router", "busy"}, {"flood", "router", "busyAround"}}); err != nil {
		t.Fatal(err)
	}
	if evidence(&s.Cells[0])[0].Observations != nil {
		t.Error("a Report was read")
	}
}
