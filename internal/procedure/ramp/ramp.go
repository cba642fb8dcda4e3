package ramp

import (
	"fmt"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/units"
)

// The bounds that make every run end. They are part of the rules in docs/search.md.
const (
	lossyRun        = 3    // consecutive Lossy windows of a direction that mark saturation
	bestOf          = 3    // windows that decide at most on a load of the search or the hold, once one has lost frames
	invalidRepeats  = 2    // times that one step is repeated because it was Invalid
	staircaseBudget = 10   // such repeats in the whole staircase
	topRepeats      = 6    // windows more at the top, while a run of Lossy windows is neither complete nor broken
	refineWindows   = 40   // windows of bisection
	longWindows     = 16   // windows of the confirmation's length
	longRepeats     = 2    // times that one of them is repeated because it was Invalid, or offered less than asked
	mostHalvings    = 8    // below a first step that already loses frames
	enoughFrames    = 1000 // in a window of the search, which is longer where it has fewer
	fewestFrames    = 200  // in the longest window, below which the search for a first clean load does not go
	rests           = 6    // times that traffic rests in a run, because frames of an earlier load came back
	mostWithdrawals = 2    // times that a saturation is withdrawn because its load is clean when looked at again
	plateauSteps    = 5    // steps without more offered before the climb is given up
	longestWindow   = 4    // steps' windows that one window of the search may be long
	mostLate        = 3    // steps in a row whose counters may come too late before the climb is given up
	loweredBy       = 4    // by which a load below the first step is lowered, where that could not be judged
	mostLowered     = 16   // windows below the first step
	longLowered     = 4    // the first of them, which may be longer than a step's
)

// Ramp is the procedure of a Plan.
type Ramp struct{ plan plan.Procedure }

// New is the ramp that the Plan describes.
func New(p plan.Procedure) Ramp { return Ramp{p} }

// Rates are target and warm-up.
func (r Ramp) Rates() procedure.Rates {
	rates := procedure.Rates{Full: procedure.Rate{Field: "ramp.targetRate", Rate: r.plan.Ramp.TargetRate}}
	if r.plan.Ramp.WarmupDuration > 0 {
		rates.WarmUp = procedure.Rate{Field: "ramp.warmupRate", Rate: r.plan.Ramp.WarmupRate}
	}
	return rates
}

// Next is the step after the windows measured so far.
func (r Ramp) Next(history []report.Window) procedure.Step { return replay(r.plan, history).next() }

// Steps is how many steps the staircase has. There are as many as fit the ramp's duration, at least one.
func Steps(r plan.Ramp) int {
	if r.StepDuration <= 0 {
		return 1
	}
	return max(1, int(r.RampDuration/r.StepDuration))
}

// Level is the height of step k of the staircase, from 1. It is k steps' share of the target, which the last one
// reaches.
func Level(k, steps int) units.Ratio {
	return units.RatioOf(int64(k), int64(steps))
}

// Bound is the longest that the procedure may take, whatever it finds, with every repeat and every step of the search
// used up. Traffic that is started with Bound.Whole stops by itself.
func (r Ramp) Bound() procedure.Bound {
	p := r.plan.Ramp
	judge := judged(p)
	total := (1 + invalidRepeats) * p.WarmupDuration.Std()
	climb := Steps(p) + staircaseBudget + topRepeats + mostLowered
	total += time.Duration(climb)*p.StepDuration.Std() + longLowered*(longestWindow-1)*judge
	total += (bestOf + invalidRepeats) * (p.SettleDuration.Std() + p.HoldDuration.Std())
	refine := p.SettleDuration.Std() + longestWindow*judge
	confirm := p.SettleDuration.Std() + p.ConfirmDuration.Std()
	search := longWindows * confirm
	if p.Precision > 0 {
		search += refineWindows * refine
	}
	// The window that uses up the time may be the longest, and a first confirmation may follow.
	if p.RefineDuration > 0 {
		search = min(search, p.RefineDuration.Std()+max(refine, confirm)+confirm)
	}
	total += search
	steps := (1 + invalidRepeats) + (bestOf + invalidRepeats) + climb + refineWindows + longWindows
	if p.ConfirmDuration > 0 {
		total, steps = total+longestOverloads(p), steps+overloadWindows
	}
	b := procedure.Bound{Steps: steps, Time: total, Rests: rests}
	if p.ConfirmDuration > 0 {
		b.Trial, b.Trials = p.ConfirmDuration.Std(), longWindows
	}
	return b
}

// Usual is warm-up, staircase, confirmation and hold, without what the search adds.
func (r Ramp) Usual() time.Duration {
	p := r.plan.Ramp
	return p.WarmupDuration.Std() + p.RampDuration.Std() + p.ConfirmDuration.Std() + p.HoldDuration.Std()
}

// Describe says how the ramp climbs.
func (r Ramp) Describe() procedure.Description {
	p := r.plan.Ramp
	d := procedure.Description{Parts: "warm-up, ramp, confirmation and hold", OnTop: "refinement"}
	if !p.TargetRate.IsZero() {
		d.Sentence = fmt.Sprintf("ramp to %s per direction in %s, a step each %s", p.TargetRate,
			p.RampDuration.Std().Round(time.Millisecond), p.StepDuration.Std().Round(time.Millisecond))
	}
	return d
}

// Remaining is how much longer the procedure will probably take. It counts the steps still to come, and a usual
// refinement.
func (r Ramp) Remaining(history []report.Window) time.Duration {
	m := replay(r.plan, history)
	p := r.plan.Ramp
	bisections := 0
	if m.stage != finished {
		bisections = m.search.bracket.bisections(m.steps)
	}
	narrow := time.Duration(bisections)*p.StepDuration.Std()*3/2 + m.search.confirmationLeft()
	switch m.stage {
	case warming:
		return p.WarmupDuration.Std() + p.RampDuration.Std() + p.HoldDuration.Std() + narrow
	case climbing, lowering:
		return time.Duration(m.steps-m.level+1)*p.StepDuration.Std() + p.HoldDuration.Std() + narrow
	case holding:
		return time.Duration(m.votes.remaining())*p.HoldDuration.Std() + narrow
	case narrowing:
		return max(narrow, p.SettleDuration.Std()+m.search.target.judge)
	case closing:
		return p.SettleDuration.Std() + m.search.target.judge
	case finished:
	}
	return 0
}

// judged is the part of a step that becomes a window. The schema refuses a settle that leaves nothing, and half is used
// then.
func judged(r plan.Ramp) time.Duration {
	if r.SettleDuration >= r.StepDuration {
		return r.StepDuration.Std() / 2
	}
	return (r.StepDuration - r.SettleDuration).Std()
}
