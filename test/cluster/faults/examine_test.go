//go:build full

package faults

import (
	"slices"
	"strings"
	"time"

	lineratev1alpha1 "github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/test/rigs/calm"
	"github.com/linerate-dev/linerate/test/rigs/truth"
)

// tellsTheTruth holds the status to what the row expects.
func (p *play) tellsTheTruth() {
	p.Helper()
	_, reason, message := condition(p.test, lineratev1alpha1.ConditionComplete)
	if !slices.Contains(p.row.complete, reason) {
		p.Errorf("Complete is %s, want %s: %s", reason, strings.Join(p.row.complete, " or "), message)
	}
	if !strings.Contains(message, p.tells) {
		p.Errorf("Complete doesn't tell of the %s: %s", p.tells, message)
	}
	stalled, why, _ := condition(p.test, lineratev1alpha1.ConditionStalled)
	if goesOn, _, _ := condition(p.test, lineratev1alpha1.ConditionReconciling); goesOn != "" || (stalled == "True") == p.survives() || (stalled != "" && why != reason) {
		p.Errorf("Reconciling=%s, Stalled=%s %s, and the test is complete: %s", goesOn, stalled, why, reason)
	}
	if lost := p.test.Status.Operator.LostRuns; lost != 0 && p.effect != anew || lost != 1 && p.effect == anew && p.phase != starting {
		p.Errorf("lostRuns is %d", lost)
	}
	if p.survives() {
		p.claimsNothingElse(p.test, p.report)
	} else if status, _, message := condition(p.test, lineratev1alpha1.ConditionPassed); status != "Unknown" {
		p.Errorf("Passed=%s (%s) of a test that a fault ended", status, message)
	}
}

// device is what spec says of the device under test.
var device = truth.Device{Limits: map[string]int64{truth.Direction("west", "east"): known, truth.Direction("east", "west"): known}, Burst: 10 * time.Millisecond}

// claimsNothingElse holds a test that could measure to what is known of the device: it may have found less than that, and claims nothing else. That is so on
// any machine.
func (p *play) claimsNothingElse(test *lineratev1alpha1.LoadTest, r *report.Report) {
	p.Helper()
	if wrong := falseVerdict(test); wrong != "" {
		p.Errorf("%s: %s", test.Name, wrong)
	}
	if r == nil {
		p.Errorf("%s: nothing kept it from measuring, and there is no Report: %s", test.Name, state(test))
		return
	}
	for _, wrong := range device.Faults(r) {
		p.Errorf("%s: the Report isn't true: %s", test.Name, wrong)
	}
}

// answers holds a test that could measure to the known answer, which a calm machine lets it find, and returns the table's text for a test without it.
func (p *play) answers(test *lineratev1alpha1.LoadTest, taken calm.LostTime) string {
	p.Helper()
	outcome, said := answer(test, taken)
	switch outcome {
	case calm.Right:
	case calm.Disturbed:
		p.disturbed = true
		p.Logf("%s: %s: %s", test.Name, said, taken)
	case calm.Wrong:
		p.Errorf("%s: %s, on a calm machine: %s", test.Name, said, taken)
	}
	return said
}

// usesNoFaultyWindow holds every figure of the status, and every window that is worth something, to times in which the fault didn't act.
func (p *play) usesNoFaultyWindow() {
	p.Helper()
	if p.report == nil || p.effect == beside {
		return
	}
	if p.effect == anew {
		if p.report.Started.Before(p.struck) {
			p.Errorf("the Report is of a run that began at %v, before its runner was killed at %v", p.report.Started, p.struck)
		}
		return
	}
	for _, w := range p.report.Windows {
		if w.SaysNothing() || !p.acted(w) {
			continue
		}
		if p.counts(w.Number) {
			p.Errorf("window %d, %s, counts (%s), and the fault acted in it", w.Number, w.Phase, w.Quality)
		}
	}
}

// acted says whether the fault was there in any of a window. One that ended the test has no end.
func (p *play) acted(w report.Window) bool {
	begin := p.report.Started.Add(time.Duration(w.Start))
	end := begin.Add(time.Duration(w.Duration))
	return end.After(p.struck) && (!p.survives() || begin.Before(p.mended))
}

// counts says whether a figure of the status is of this window; where the test went on, whether one could be.
func (p *play) counts(window int) bool {
	return p.survives() || p.test.Status.Result != nil && (p.report.Answer.Window == window || p.report.Answer.MaxReceived != nil && p.report.Answer.MaxReceived.Window == window)
}

// quietBound is how long there may be traffic after a run has ended, or has lost what it needs.
const quietBound = 15 * time.Second

// silent: nothing is sent when nobody measures any more, and a run that is begun anew is begun in silence.
func (p *play) silent() {
	p.Helper()
	heard, err := p.wires.LastHeard()
	p.check(err)
	since := p.struck
	switch {
	case p.effect == anew:
		quiet, found := p.wires.Quiet(p.struck, 700*time.Millisecond)
		if !found {
			p.Errorf("the wires were never quiet after the runner was killed")
		}
		p.silence = max(0, quiet.Sub(p.struck))
		if late := heard.Sub(p.report.Finished); late > quietBound {
			p.Errorf("traffic was heard %v after the end of the run", late)
		}
	case p.survives():
		since = p.report.Finished
		fallthrough
	default:
		p.silence = max(0, heard.Sub(since))
	}
	if p.silence > quietBound {
		p.Errorf("traffic was heard until %v after %v", p.silence, since)
	}
}
