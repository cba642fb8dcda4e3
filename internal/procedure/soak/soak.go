package soak

import (
	"cmp"
	"fmt"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/units"
)

// grid is the step of all loads, as a share of the highest. It is far finer than any estimate, and far coarser than the
// difference between two machines' arithmetic.
const grid = units.One / 1_000_000

// Soak is the procedure of a Plan.
type Soak struct{ plan plan.Soak }

var _ procedure.Procedure = Soak{}

// New returns the soak that the Plan describes.
func New(p plan.Procedure) Soak { return Soak{*cmp.Or(p.Soak, &plan.Soak{})} }

// Rates are the highest load, which all loads are shares of, and the lowest load, which the warm-up sends.
func (s Soak) Rates() procedure.Rates {
	return s.warmUp().Rates(procedure.Rate{Field: "soak.maxRate", Rate: s.plan.MaxRate},
		procedure.Rate{Field: "soak.minRate", Rate: s.plan.MinRate})
}

func (s Soak) warmUp() procedure.WarmUp {
	return procedure.WarmUp{Kind: procedure.Trial, Lasts: s.plan.WarmupDuration.Std()}
}

// lowest is the lowest load, as a share of the highest.
func (s Soak) lowest() units.Ratio {
	return max(grid, units.RatioOf(s.plan.MinRate.Micros, s.plan.MaxRate.Micros))
}

// trialLength is how long trial n sends, counted from 0, after the trials before it sent for sentBefore. 0 means that
// there is no such trial. The last trial gets what is left of the duration, if that is as long as the first trial.
func (s Soak) trialLength(n int, sentBefore time.Duration) time.Duration {
	first, remaining := s.plan.FirstTrialDuration.Std(), s.plan.Duration.Std()-sentBefore
	if first <= 0 || remaining < first && n > 0 {
		return 0
	}
	return min(remaining, first+time.Duration(n)*s.plan.TrialGrowth.Std())
}

// allTrials is how many trials fit into the duration, and how long they send together.
func (s Soak) allTrials() (n int, sent time.Duration) {
	for ; ; n++ {
		next := s.trialLength(n, sent)
		if next <= 0 || n > maxTrials {
			return n, sent
		}
		sent += next
	}
}

// maxTrials ends the counting of trials, since no soak with more of them is admitted.
const maxTrials = 10_000

// Next is the next trial.
func (s Soak) Next(history []report.Window) procedure.Step {
	c := s.replay(history)
	return c.Next(s.warmUp(), history, func() procedure.Step {
		load, reason := s.nextLoad(c.trials)
		total, _ := s.allTrials()
		return procedure.Step{Kind: procedure.Trial, Phase: report.Trial, Load: load, Judge: s.trialLength(c.attempts,
			c.sent), Reason: cmp.Or(c.Reason, reason), Number: c.attempts + 1, Total: total}
	})
}

// Bound is the warm-up, and all trials.
func (s Soak) Bound() procedure.Bound {
	n, _ := s.allTrials()
	longest := s.plan.FirstTrialDuration.Std() + time.Duration(max(0, n-1))*s.plan.TrialGrowth.Std()
	return s.warmUp().Bound(n, s.plan.Duration.Std(), min(longest, s.plan.Duration.Std()))
}

// Usual is the warm-up and the duration.
func (s Soak) Usual() time.Duration { return s.Remaining(nil) }

// Remaining is the rest of the warm-up and of the duration.
func (s Soak) Remaining(history []report.Window) time.Duration {
	c := s.replay(history)
	return c.Remaining(s.warmUp(), history, s.plan.Duration.Std()-c.sent)
}

// Describe says what is estimated.
func (s Soak) Describe() procedure.Description {
	if s.plan.MaxRate.IsZero() {
		return procedure.Description{}
	}
	return procedure.Description{Parts: "warm-up and trials", OnTop: "what passes between trials",
		Sentence: fmt.Sprintf("soak of %s: trials from %s up, between %s and %s per direction, for the load at which "+
			"%s of the frames is lost", s.plan.Duration.Std(), s.plan.FirstTrialDuration.Std(),
			s.plan.MinRate, s.plan.MaxRate, s.plan.LossRatio)}
}
