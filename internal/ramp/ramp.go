// Package ramp decides the next load from the windows measured so far: a staircase up to the target, bisection below the point where
// frames are lost, and a long look at the answer. It is a pure function of procedure and history, so a run can be replayed from its
// Report, and a decision can be tested without a generator.
//
//	load
//	target ┤                    ┌──  hold
//	       │                 ┌──┘  └┐     lossy ✗
//	       │         3 × ✗┌──┘      │    ┌─✗─┐
//	       │           ┌──┘         │ ┌──┘   └┐ ┌─ confirmed
//	       │        ┌──┘            └─┘       └─┘
//	       │     ┌──┘            bisection to refineTo
//	warm-up┤─────┘
//	       └──────────────────────────────────────────▶ time
//
// docs/measurement.md has the rules and their reasons.
package ramp

import (
	"time"

	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// The bounds that make every run end. They are part of the rules in docs/measurement.md.
const (
	lossyRun        = 3    // consecutive Lossy windows of a direction that mark saturation
	bestOf          = 3    // windows that decide at most, once one has lost frames, of a load of the search and of the hold
	invalidRepeats  = 2    // times that one step is repeated because it was Invalid
	staircaseBudget = 10   // such repeats in the whole staircase
	topRepeats      = 6    // windows more at the top, while a run of Lossy windows is neither complete nor broken
	refineWindows   = 40   // windows of bisection
	longWindows     = 16   // windows of the confirmation's length
	longRepeats     = 2    // times that one of them is repeated because it was Invalid, or offered less than asked
	halvings        = 8    // below a first step that already loses frames
	fewFrames       = 1000 // in a window, below which the search for a first clean load does not go
	resumes         = 2    // times that a saturation is withdrawn because its load is clean when looked at again
	plateauSteps    = 5    // steps without more offered before the climb is given up
)

// Step is the next stretch of constant load: Settle, which is not judged, then Judge, which becomes one window.
type Step struct {
	Phase report.Phase
	// Load is the height as a share of the target rate; in WarmUp the rate is the procedure's own and Load is 0.
	Load   units.Ratio
	Settle time.Duration
	Judge  time.Duration
	// Reason says why this step, where it isn't simply the next one of the staircase.
	Reason string
	// Number and Of count the staircase's steps, also while one is repeated.
	Number, Of int
	// Done ends the procedure; nothing but Reason is set then.
	Done bool
}

// Next is the step after the windows measured so far. History holds one window for each step that was carried out, in order.
func Next(p plan.Procedure, history []report.Window) Step {
	m := replay(p, history)
	return m.next()
}

// Steps is how many steps the staircase has: as many as fit the ramp's duration, at least one.
func Steps(r plan.Ramp) int {
	if r.StepDuration <= 0 {
		return 1
	}
	return max(1, int(r.RampDuration/r.StepDuration))
}

// Level is the height of step k of the staircase, from 1: k steps' share of the target, which the last one reaches.
func Level(k, steps int) units.Ratio {
	return units.RatioOf(int64(k), int64(steps))
}

// Bound is the longest that the procedure may take, whatever it finds: every repeat and every step of the search used up. Starting
// traffic with this duration (and an allowance for the time between steps) makes the generators stop by themselves.
func Bound(p plan.Procedure) time.Duration {
	r := p.Ramp
	step := r.StepDuration.Std()
	judge := judged(r)
	total := (1 + invalidRepeats) * r.WarmupDuration.Std()
	total += time.Duration(Steps(r)+staircaseBudget+topRepeats) * step
	total += (bestOf + invalidRepeats) * (r.Settle.Std() + r.HoldDuration.Std())
	if r.RefineTo > 0 {
		total += refineWindows * (r.Settle.Std() + longest*judge)
	}
	return total + longWindows*(r.Settle.Std()+r.ConfirmDuration.Std())
}

// MostSteps is the largest number of steps that Bound allows for.
func MostSteps(p plan.Procedure) int {
	return (1 + invalidRepeats) + (bestOf + invalidRepeats) + Steps(p.Ramp) + staircaseBudget + topRepeats + refineWindows + longWindows
}

// Remaining is how much longer the procedure will probably take: the steps still to come, and a usual refinement.
func Remaining(p plan.Procedure, history []report.Window) time.Duration {
	m := replay(p, history)
	r := p.Ramp
	narrow := time.Duration(m.bisectionsLeft())*r.StepDuration.Std()*3/2 + m.confirmLeft()
	switch m.stage {
	case warming:
		return r.WarmupDuration.Std() + r.RampDuration.Std() + r.HoldDuration.Std() + narrow
	case climbing:
		return time.Duration(m.steps-m.level+1)*r.StepDuration.Std() + r.HoldDuration.Std() + narrow
	case holding:
		return time.Duration(m.votes.left())*r.HoldDuration.Std() + narrow
	case narrowing:
		return narrow
	case finished:
	}
	return 0
}

// judged is the part of a step that becomes a window; a settle that leaves nothing is the schema's to refuse, and half is used.
func judged(r plan.Ramp) time.Duration {
	if r.Settle >= r.StepDuration {
		return r.StepDuration.Std() / 2
	}
	return (r.StepDuration - r.Settle).Std()
}
