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

// grid is the step of all loads, as a share of the highest: far finer than any estimate, and far coarser than the difference between two machines' arithmetic.
const grid = units.One / 1_000_000

// Soak is the procedure of a Plan.
type Soak struct{ plan plan.Soak }

var _ procedure.Procedure = Soak{}

// New returns the soak that the Plan describes.
func New(p plan.Procedure) Soak {
	if p.Soak == nil {
		return Soak{}
	}
	return Soak{*p.Soak}
}

// Rates are the highest load, which all others are shares of, and the lowest, which the warm-up sends.
func (s Soak) Rates() procedure.Rates {
	return s.warmUp().Rates(procedure.Rate{Field: "soak.maxRate", Rate: s.plan.MaxRate}, procedure.Rate{Field: "soak.minRate", Rate: s.plan.MinRate})
}

func (s Soak) warmUp() procedure.WarmUp {
	return procedure.WarmUp{Kind: procedure.Trial, Lasts: s.plan.WarmupDuration.Std()}
}

// lowest is the lowest load, as a share of the highest.
func (s Soak) lowest() units.Ratio {
	return max(grid, units.RatioOf(s.plan.MinRate.Micros, s.plan.MaxRate.Micros))
}

// trialLength is how long trial n sends, counted from 0, after the trials before it sent for sentBefore; 0: there is no such trial. The last trial gets what is left of the duration, if that is as
// long as the first trial.
func (s Soak) trialLength(n int, sentBefore time.Duration) time.Duration {
	first, left := s.plan.FirstTrial.Std(), s.plan.Duration.Std()-sentBefore
	if first <= 0 || left < first && n > 0 {
		return 0
	}
	return min(left, first+time.Duration(n)*s.plan.TrialGrowth.Std())
}

// trialCount is how many trials fit into the duration, and trialTime how long they send together.
func (s Soak) trialCount() int {
	n, _ := s.allTrials()
	return n
}

func (s Soak) trialTime() time.Duration {
	_, sent := s.allTrials()
	return sent
}

func (s Soak) allTrials() (n int, sent time.Duration) {
	for ; ; n++ {
		next := s.trialLength(n, sent)
		if next <= 0 || n > maxTrials {
			return n, sent
		}
		sent += next
	}
}

// maxTrials ends the counting of trials: no soak with more of them is admitted.
const maxTrials = 10_000

// Next is the next trial.
func (s Soak) Next(history []report.Window) procedure.Step {
	p := s.replay(history)
	switch {
	case p.ended:
		return procedure.Step{Done: true, Reason: p.reason}
	case s.warmUp().Due(history):
		return s.warmUp().Step()
	}
	load, why := s.nextLoad(p.trials)
	return procedure.Step{Kind: procedure.Trial, Phase: report.Trial, Load: load, Judge: s.trialLength(p.made, p.sent), Reason: cmp.Or(p.reason, why), Number: p.made + 1, Of: s.trialCount()}
}

// Bound is the warm-up, and all trials.
func (s Soak) Bound() procedure.Bound {
	n := s.trialCount()
	longest := s.plan.FirstTrial.Std() + time.Duration(max(0, n-1))*s.plan.TrialGrowth.Std()
	return s.warmUp().Bound(n, s.plan.Duration.Std(), min(longest, s.plan.Duration.Std()))
}

// Usual is the warm-up and the duration.
func (s Soak) Usual() time.Duration { return s.Remaining(nil) }

// Remaining is the rest of the warm-up and of the duration.
func (s Soak) Remaining(history []report.Window) time.Duration {
	p := s.replay(history)
	if p.ended {
		return 0
	}
	return s.warmUp().Left(history) + s.plan.Duration.Std() - p.sent
}

// Describe says what is estimated.
func (s Soak) Describe() procedure.Description {
	if s.plan.MaxRate.IsZero() {
		return procedure.Description{}
	}
	return procedure.Description{Parts: "warm-up and trials", OnTop: "what passes between trials",
		Sentence: fmt.Sprintf("soak of %s: trials from %s up, between %s and %s per direction, for the load at which %s of the frames is lost", s.plan.Duration.Std(), s.plan.FirstTrial.Std(),
			s.plan.MinRate, s.plan.MaxRate, s.plan.LossRatio)}
}
