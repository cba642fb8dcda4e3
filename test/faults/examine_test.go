package faults

import (
	"math"
	"slices"
	"strings"
	"time"

	lineratev1alpha1 "github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/report"
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
	if lost := p.test.Status.LostRuns; lost != 0 && p.effect != anew || lost != 1 && p.effect == anew && p.phase != starting {
		p.Errorf("lostRuns is %d", lost)
	}
	p.verdictHolds()
}

// verdictHolds: a fault that ends a test lets it have no verdict.
func (p *play) verdictHolds() {
	p.Helper()
	if status, _, message := condition(p.test, lineratev1alpha1.ConditionPassed); !p.survives() && status != "Unknown" {
		p.Errorf("Passed=%s (%s) of a test that a fault ended", status, message)
	}
	if p.survives() && p.report == nil {
		p.Errorf("the test survived, and has no Report")
	}
	p.verdictIsTrue(p.test)
}

// verdictIsTrue holds a verdict to the figures: what passes is right, what is right doesn't fail.
func (p *play) verdictIsTrue(test *lineratev1alpha1.LoadTest) {
	p.Helper()
	status, _, message := condition(test, lineratev1alpha1.ConditionPassed)
	if (status == "True" && !within(test, demanded)) || (status == "False" && right(test)) {
		p.Errorf("Passed=%s (%s) with the figures %v", status, message, figures(test))
	}
}

// figures are what a status says of each direction, in packets/s.
func figures(t *lineratev1alpha1.LoadTest) (out []int64) {
	if t.Status.Result == nil {
		return nil
	}
	for _, d := range t.Status.Result.Directions {
		out = append(out, d.Received.PacketsPerSecond)
	}
	return out
}

// demanded is how far a figure may be from the known answer by the criterion of spec.
const demanded = 0.02

// right says whether a status has the known answer.
func right(t *lineratev1alpha1.LoadTest) bool { return within(t, 0.01) }

// within says whether a status has two figures that are no further than that from the known answer.
func within(t *lineratev1alpha1.LoadTest, share float64) bool {
	all := figures(t)
	for _, f := range all {
		if off(f) > share {
			return false
		}
	}
	return len(all) == 2
}

// off is how far a figure is from the known answer, as a share of it.
func off(figure int64) float64 { return math.Abs(float64(figure)-known) / known }

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
		if w.Quality == report.Invalid || !p.acted(w) {
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
	return p.survives() || p.test.Status.Result != nil && (p.report.Result.Window == window || p.report.Result.MaxReceived != nil && p.report.Result.MaxReceived.Window == window)
}

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
