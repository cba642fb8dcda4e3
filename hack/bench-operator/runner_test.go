package main

import (
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/plan"
)

// A minute's run goes through all phases in their order, and never back.
func TestARunPrintsEachPhaseOnce(t *testing.T) {
	var told []string
	last := -1
	for second := range 60 {
		p := progressAt(time.Duration(second)*time.Second, time.Minute)
		if p.Percent < last || p.Percent > 99 || p.RemainingSeconds != int64(60-second) {
			t.Errorf("after %d s it is at %d %%, with %d s to go", second, p.Percent, p.RemainingSeconds)
		}
		last = p.Percent
		if len(told) == 0 || told[len(told)-1] != p.Phase {
			told = append(told, p.Phase)
		}
	}
	if len(told) != len(phases) {
		t.Errorf("the phases are %v", told)
	}
	for i, phase := range told {
		if phase != phases[i].name {
			t.Errorf("phase %d is %s, want %s", i, phase, phases[i].name)
		}
	}
}

// What runners write is as large as a run of a minute makes it, and can be read again.
func TestReportsAreAsLargeAsThoseOfRuns(t *testing.T) {
	p := &plan.Plan{Version: plan.Version, Directions: []plan.Direction{{From: "west", To: "east"}, {From: "east", To: "west"}}}
	r := aReport(p, time.Now())
	if len(r.Windows) != 20 || len(r.Samples) != 60 || len(r.Answer.Directions) != 2 {
		t.Fatalf("%d windows, %d samples, %d directions", len(r.Windows), len(r.Samples), len(r.Answer.Directions))
	}
	data, annotations, err := delivery.EncodeReport(r, true, 1)
	if err != nil {
		t.Fatal(err)
	}
	read, _, err := delivery.DecodeReport(data, annotations)
	if err != nil || len(read.Windows) != 20 {
		t.Errorf("it is read as %+v (%v)", read, err)
	}
}
