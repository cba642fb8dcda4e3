package frameloss

import (
	"fmt"
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
	if p.FrameLoss == nil {
		return FrameLoss{}
	}
	return FrameLoss{*p.FrameLoss, p.MaxLossRatio}
}

// Rates are the highest load, which all others are shares of, and for the warm-up the lowest.
func (f FrameLoss) Rates() procedure.Rates {
	return f.warmUp().Rates(procedure.Rate{Field: "frameLoss.from", Rate: f.plan.From}, procedure.Rate{Field: "frameLoss.to", Rate: f.plan.To})
}

func (f FrameLoss) warmUp() procedure.WarmUp {
	return procedure.WarmUp{Kind: procedure.Trial, Lasts: f.plan.WarmupDuration.Std()}
}

// trials are the windows after the warm-up.
func (f FrameLoss) trials(history []report.Window) []report.Window {
	return f.warmUp().After(history)
}

// loads is how many loads there are: from, each whole step below it down to to, and to itself. Rates that make no descent, as to is not below from or has another unit, give the one load from;
// without a step there are from and to.
func (f FrameLoss) loads() int {
	from, to, step := f.plan.From.Micros, f.plan.To.Micros, f.plan.Step.Micros
	switch {
	case to <= 0 || to >= from || f.plan.To.Kind != f.plan.From.Kind:
		return 1
	case step <= 0 || f.plan.Step.Kind != f.plan.From.Kind:
		return 2
	}
	return 1 + int((from-to-1)/step) + 1 // from, the steps that end above to, to
}

// load is the k-th load from above, from 0, as a share of the highest: exact steps of the rate, rounded once.
func (f FrameLoss) load(k int) units.Ratio {
	switch {
	case k <= 0:
		return units.One
	case k >= f.loads()-1:
		return units.RatioOf(f.plan.To.Micros, f.plan.From.Micros)
	}
	return units.RatioOf(f.plan.From.Micros-int64(k)*f.plan.Step.Micros, f.plan.From.Micros)
}

// descent is the state that replaying the trials leads to.
type descent struct {
	level   int             // of the next load, from 0
	repeats int             // of it, because its trial was Invalid
	budget  int             // repeats left for all loads
	clean   int             // successive loads down to the last at which nothing was lost
	reason  string          // of the next trial, or how the descent came to its end
	ended   bool            // there is no next trial
	unclear []report.Window // the last trials of loads that could not be judged
}

// descend replays the history.
func (f FrameLoss) descend(history []report.Window) descent {
	d := descent{budget: repeatBudget}
	if lost := f.warmUp().NothingCameBack(history); lost != "" {
		d.reason, d.ended = lost, true
		return d
	}
	for _, w := range f.trials(history) {
		d.reason = ""
		f.observe(&d, w)
		if d.ended {
			break
		}
	}
	return d
}

// observe takes in a trial's window. A load that can't be judged ends a run of clean ones: nothing is known of it.
func (f FrameLoss) observe(d *descent, w report.Window) {
	counts := w.Counts()
	switch {
	case !counts && d.repeats < invalidRepeats && d.budget > 0:
		d.repeats++
		d.budget--
		d.reason = procedure.Repeated(w)
		return
	case !counts:
		d.clean = 0
		d.unclear = append(d.unclear, w)
	case clean(w):
		d.clean++
	default:
		d.clean = 0
	}
	d.level, d.repeats = d.level+1, 0
	switch {
	case f.plan.StopAfterClean > 0 && d.clean >= f.plan.StopAfterClean:
		d.ended, d.reason = true, fmt.Sprintf("nothing was lost at %s in succession, down to %s of %s", loads(d.clean), percent(w.Load), f.plan.From)
	case d.level >= f.loads():
		d.ended, d.reason = true, fmt.Sprintf("the descent reached its end after %s", loads(d.level))
	}
}

// clean says that the device surely lost no frame in any direction: as many came back as were sent, except those that the generator itself dropped or that the window's edges (of a trial few or
// none) may have cut. This is RFC 2544's "no frames are lost", by counters: neither maxLossRatio nor whether the generator offered all that was asked for matters.
func clean(w report.Window) bool {
	for _, d := range w.Directions {
		if measure.SurelyLost(d) > 0 {
			return false
		}
	}
	return true
}

func loads(n int) string { return wording.Counted(n, "load") }

// Next is the next trial: of the next load below, or once more of the one that could not be judged.
func (f FrameLoss) Next(history []report.Window) procedure.Step {
	d := f.descend(history)
	if d.ended {
		return procedure.Step{Done: true, Reason: d.reason}
	}
	if f.warmUp().Due(history) {
		return f.warmUp().Step()
	}
	return procedure.Step{Kind: procedure.Trial, Phase: report.Trial, Load: f.load(d.level), Judge: f.plan.TrialDuration.Std(), Reason: d.reason,
		Number: d.level + 1, Of: f.loads()}
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
	d := f.descend(history)
	if d.ended {
		return 0
	}
	return f.warmUp().Left(history) + time.Duration(f.loads()-d.level)*f.plan.TrialDuration.Std()
}

// Describe says which loads are tried.
func (f FrameLoss) Describe() procedure.Description {
	if f.plan.From.IsZero() {
		return procedure.Description{}
	}
	said := fmt.Sprintf("frame loss at %s from %s per direction", loads(f.loads()), f.plan.From)
	if f.loads() > 1 {
		said += fmt.Sprintf(" down to %s", f.plan.To)
	}
	said += fmt.Sprintf(", a trial of %s each", f.plan.TrialDuration.Std())
	if f.plan.StopAfterClean > 0 {
		said += fmt.Sprintf(", until nothing is lost at %s in succession", loads(f.plan.StopAfterClean))
	}
	return procedure.Description{Parts: "warm-up and trials", OnTop: "what disturbed trials repeat", Sentence: said}
}
