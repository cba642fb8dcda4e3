package frameloss

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// The bounds of repeats.
const (
	invalidRepeats = 2  // times that one trial is repeated because it was Invalid
	repeatBudget   = 10 // such repeats in the whole descent
)

// FrameLoss is the procedure of a Plan.
type FrameLoss struct {
	plan         plan.FrameLoss
	maxLossRatio units.Ratio
}

var _ procedure.Procedure = FrameLoss{}

// New is the descent that the Plan describes.
func New(p plan.Procedure) FrameLoss {
	return FrameLoss{*cmp.Or(p.FrameLoss, &plan.FrameLoss{}), p.MaxLossRatio}
}

// Rates are the highest load, which all loads are shares of, and the lowest load for the warm-up.
func (f FrameLoss) Rates() procedure.Rates {
	return f.warmUp().Rates(procedure.Rate{Field: "frameLoss.from", Rate: f.plan.MaxRate},
		procedure.Rate{Field: "frameLoss.to", Rate: f.plan.MinRate})
}

func (f FrameLoss) warmUp() procedure.WarmUp {
	return procedure.WarmUp{Kind: procedure.Trial, Lasts: f.plan.WarmupDuration.Std()}
}

// loads is how many loads there are. These are from, each whole step below it down to to, and to itself. Rates that
// make no descent, as to is not below from or has another unit, give the one load from. Without a step there are from
// and to.
func (f FrameLoss) loads() int {
	highest, lowest, step := f.plan.MaxRate.Micros, f.plan.MinRate.Micros, f.plan.Step.Micros
	switch {
	case lowest <= 0 || lowest >= highest || f.plan.MinRate.Kind != f.plan.MaxRate.Kind:
		return 1
	case step <= 0 || f.plan.Step.Kind != f.plan.MaxRate.Kind:
		return 2
	}
	return 1 + int((highest-lowest-1)/step) + 1 // from, the steps that end above to, to
}

// load is the k-th load from above, from 0, as a share of the highest. It is an exact step of the rate, rounded once.
func (f FrameLoss) load(k int) units.Ratio {
	switch {
	case k <= 0:
		return units.One
	case k >= f.loads()-1:
		return units.RatioOf(f.plan.MinRate.Micros, f.plan.MaxRate.Micros)
	}
	return units.RatioOf(f.plan.MaxRate.Micros-int64(k)*f.plan.Step.Micros, f.plan.MaxRate.Micros)
}

// course is the state that replaying the trials leads to.
type course struct {
	procedure.Course

	level   int             // of the next load, from 0
	budget  int             // repeats left for all loads
	clean   int             // successive loads down to the last at which nothing was lost
	unclear []report.Window // the last trials of loads that could not be judged
}

func (f FrameLoss) replay(history []report.Window) course {
	c := course{budget: repeatBudget}
	c.Replay(f.warmUp(), history, func(i int) { f.observe(&c, history[i]) })
	return c
}

// observe takes in a trial's window. A load that can't be judged ends a run of clean ones, since nothing is
// known of it.
func (f FrameLoss) observe(c *course, w report.Window) {
	switch counts := w.Counts(); {
	case !counts && c.budget > 0 && c.Repeat(w, invalidRepeats):
		c.budget--
		return
	case counts && clean(w):
		c.clean++
	default:
		c.clean = 0
		if !counts {
			c.unclear = append(c.unclear, w)
		}
	}
	c.level++
	c.GoOn()
	switch {
	case f.plan.CleanTrials > 0 && c.clean >= f.plan.CleanTrials:
		c.End(fmt.Sprintf("nothing was lost at %s in succession, down to %s of %s", loads(c.clean), percent(w.Load),
			f.plan.MaxRate))
	case c.level >= f.loads():
		c.End("the descent reached its end after " + loads(c.level))
	}
}

// clean reports whether the device surely lost no frame in any direction. As many came back as were sent, except those
// that the generator itself dropped, or that the window's edges (of a trial few or none) may have cut. This is RFC
// 2544's "no frames are lost", by counters. Neither maxLossRatio nor whether the generator offered all that was asked
// for matters.
func clean(w report.Window) bool {
	return !slices.ContainsFunc(w.Directions, func(d report.Direction) bool { return measure.SurelyLost(d) > 0 })
}

func loads(n int) string { return wording.Counted(n, "load") }

// Next is the next trial. It is at the next load below, or once more at a load that could not be judged.
func (f FrameLoss) Next(history []report.Window) procedure.Step {
	c := f.replay(history)
	return c.Next(f.warmUp(), history, func() procedure.Step {
		return procedure.Step{Kind: procedure.Trial, Phase: report.Trial, Load: f.load(c.level),
			Judge: f.plan.TrialDuration.Std(), Reason: c.Reason, Number: c.level + 1, Total: f.loads()}
	})
}

// Bound is every load, and every repeat used up.
func (f FrameLoss) Bound() procedure.Bound {
	trials := f.loads() + min(repeatBudget, invalidRepeats*f.loads())
	return f.warmUp().Bound(trials, time.Duration(trials)*f.plan.TrialDuration.Std(), f.plan.TrialDuration.Std())
}

// Usual is the warm-up and a trial of every load.
func (f FrameLoss) Usual() time.Duration { return f.Remaining(nil) }

// Remaining is what is left on the way down to the lowest load, though the descent may end above it.
func (f FrameLoss) Remaining(history []report.Window) time.Duration {
	c := f.replay(history)
	return c.Remaining(f.warmUp(), history, time.Duration(f.loads()-c.level)*f.plan.TrialDuration.Std())
}

// Describe says which loads are tried.
func (f FrameLoss) Describe() procedure.Description {
	if f.plan.MaxRate.IsZero() {
		return procedure.Description{}
	}
	sentence := fmt.Sprintf("frame loss at %s from %s per direction", loads(f.loads()), f.plan.MaxRate)
	if f.loads() > 1 {
		sentence += fmt.Sprintf(" down to %s", f.plan.MinRate)
	}
	sentence += fmt.Sprintf(", a trial of %s each", f.plan.TrialDuration.Std())
	if f.plan.CleanTrials > 0 {
		sentence += fmt.Sprintf(", until nothing is lost at %s in succession", loads(f.plan.CleanTrials))
	}
	return procedure.Description{Parts: "warm-up and trials", OnTop: "what disturbed trials repeat", Sentence: sentence,
		Trial: f.plan.TrialDuration.Std()}
}
