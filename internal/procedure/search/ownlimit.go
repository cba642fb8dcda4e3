package search

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure/goals"
)

// A trial's loss ratio is that of the direction which lost most. So two directions with nearly the same limit
// may fail the upper bound by turns, each in only some of its trials. And where a direction lost just a little
// more than the goal allows, a disturbance may have been the cause. At a load a little higher, each direction
// that has its limit here loses too much in every trial.
//
//	load ──────┬────────┬──────────────┬───▶
//	         lower    upper          apart: two widths above the upper bound
//
// So the last trials of a search are played there, for each goal with a direction that lost too much at the upper bound
// and isn't shown to have its limit there. These trials change no bound of a goal, which are the lowest load that fails
// the goal, and the highest below that meets it.

// apartWidths is how many of the goal's widths these trials lie above the upper bound. Together with the width between
// the bounds, that is less than nearWidths.
const apartWidths = 2

// nextOwnLimitTrial is the next of these trials. False means that no trial is left that could show anything.
func (s Search) nextOwnLimitTrial(c *course, history []report.Window) (goals.Ask, bool) {
	for i, v := range s.verdicts(c, history) {
		found := v.found
		if found.Lower == nil || found.Upper == nil {
			continue
		}
		load := found.Upper.Load / math.Pow(1-v.goal.Width.Float(), apartWidths)
		if load > s.settings.MaxLoad || v.timePlayedAt(load) >= v.goal.DurationSum.Std() {
			continue
		}
		if d := v.directionWithoutLimit(load); d >= 0 {
			name := v.history[v.worstOf(found.Upper, d)].Directions[d].Name()
			return goals.Ask{Load: load, Duration: v.goal.FinalTrialDuration.Std(), Goal: i,
				Reason: fmt.Sprintf("%s: does %s have its own limit here? tried a little above the load that did not "+
					"meet the goal", v.goal.Name, name)}, true
		}
	}
	return goals.Ask{}, false
}

// timePlayedAt is the duration of all whole trials at a load together.
func (v verdict) timePlayedAt(load float64) (span time.Duration) {
	for _, t := range v.trials {
		if t.Load == load && !t.Stopped {
			span += t.Duration
		}
	}
	return span
}

// directionWithoutLimit is the first direction that lost too much in a trial of the upper bound, isn't shown to have
// its limit there, and isn't known to meet the goal at the higher load. -1 means that there is none.
func (v verdict) directionWithoutLimit(load float64) int {
	for d, shown := range v.trialsConclusion().Directions {
		if shown.Saturated || !slices.ContainsFunc(v.found.Upper.Trials,
			func(i int) bool { return v.lostTooMuch(i, d) }) {
			continue
		}
		if lower := v.bySureLossOf(d).Lower; lower == nil || lower.Load < load {
			return d
		}
	}
	return -1
}

// lostTooMuch reports whether a direction of a trial lost more than the goal allows, for any cause.
func (v verdict) lostTooMuch(trial, direction int) bool {
	directions := v.history[v.trials[trial].window].Directions
	return direction < len(directions) && directions[direction].LossRatio > v.goal.LossRatio
}

// mostOwnLimitTrials is how many of these trials there can be, and how long they take together. Each goal has as many
// as decide a load.
func (s Search) mostOwnLimitTrials() (trials int, span time.Duration) {
	for _, g := range s.plan.Goals {
		count := int((g.DurationSum + g.FinalTrialDuration - 1) / g.FinalTrialDuration)
		trials += count
		span += time.Duration(count) * g.FinalTrialDuration.Std()
	}
	return trials, span
}
