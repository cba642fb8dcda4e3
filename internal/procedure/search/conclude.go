package search

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/procedure/goals"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// Conclude returns what the trials show of each goal. The first goal's conclusion is the whole's.
func (s Search) Conclude(history []report.Window) procedure.Conclusion {
	c := s.replay(history)
	unanswered := c.Conclusion()
	if len(c.trials) == 0 {
		return unanswered
	}
	var clauses []string
	var conclusions []procedure.GoalConclusion
	verdicts := s.verdicts(&c, history)
	for _, v := range verdicts {
		g := procedure.GoalConclusion{Name: v.goal.Name, Conclusion: v.trialsConclusion()}
		g.Sentence = v.sentence(g.Conclusion) + v.steadySentence()
		v.concludeSteady(&g.Conclusion)
		conclusions, clauses = append(conclusions, g), append(clauses, g.Sentence)
	}
	whole := conclusions[0].Conclusion
	whole.Goals, whole.Sentence = conclusions, strings.Join(clauses, "; ")
	whole.Sections = s.sections(verdicts, history)
	whole.Finished, whole.Ending = unanswered.Finished, unanswered.Ending
	return whole
}

// verdict is what the trials show of one goal.
type verdict struct {
	Search
	*course
	history []report.Window
	index   int // of the goal
	goal    plan.Goal
	found   goals.Result
}

// verdicts are what the trials that the search asked for show of each goal.
func (s Search) verdicts(c *course, history []report.Window) (verdicts []verdict) {
	for i, found := range s.settings.Conclude(c.counted()[:c.searched]) {
		verdicts = append(verdicts, verdict{s, c, history, i, s.plan.Goals[i], found})
	}
	return verdicts
}

// trialsConclusion is the goal's conclusion from the trials alone. An answer is a limit only where each direction's own
// loss bounds it. Frames that generators did not send, or lost themselves, make a bound in the reference's arithmetic,
// but no bound of the device.
func (v verdict) trialsConclusion() procedure.Conclusion {
	c := procedure.Unanswered()
	if v.found.Upper != nil {
		c.Lossy = v.worst(v.found.Upper)
	}
	switch {
	case v.found.Lower != nil:
		c.Window, c.Confirmed = v.median(), true
		v.concludeDirections(&c)
	case v.found.Upper != nil && v.bySureLossOf(-1).Upper != nil:
		c.Reason, c.Lossy = report.NoCleanLoad, v.firstLossy()
	case v.found.Upper != nil:
		c.Reason = v.reasonOfUpperBound()
	}
	return c
}

// firstLossy is the window of the upper bound's first trial in which some direction surely lost more than the goal
// allows.
func (v verdict) firstLossy() int {
	for _, i := range v.found.Upper.Trials {
		if window := v.trials[i].window; procedure.LostAbove(v.history[window].Directions, v.goal.LossRatio) {
			return window
		}
	}
	return v.worst(v.found.Upper)
}

// chance is a probability as documents have it, and 0 where it is unknown.
func chance(p float64) units.Ratio {
	if math.IsNaN(p) || p <= 0 {
		return 0
	}
	return max(1, units.RatioOfShare(min(p, 1)))
}

// median is the window of the trial that the conditional throughput is of. Among the whole trials at the lower bound,
// it is the one with that loss ratio.
func (v verdict) median() int {
	best, distance := procedure.NoWindow, math.Inf(1)
	for _, i := range v.found.Lower.Trials {
		t := v.trials[i]
		if t.Stopped || t.Duration < v.goal.FinalTrialDuration.Std() {
			continue
		}
		if d := math.Abs(v.found.Lower.Load*(1-t.LossRatio) - v.found.ConditionalThroughput); d < distance {
			best, distance = t.window, d
		}
	}
	if best == procedure.NoWindow {
		return v.trials[v.found.Lower.Trials[0]].window
	}
	return best
}

// worst is the window of a bound's trial that lost most.
func (v verdict) worst(b *goals.Bound) int {
	return v.trials[slices.MaxFunc(b.Trials, func(i, j int) int {
		return cmp.Compare(v.trials[i].LossRatio, v.trials[j].LossRatio)
	})].window
}

// bySureLossOf is what the trials show by the frames alone that the device surely lost, in one direction, or with -1 in
// the direction that lost most of them.
func (v verdict) bySureLossOf(direction int) goals.Result {
	trials := v.counted()
	for i := range trials {
		w := v.history[v.trials[i].window]
		trials[i].LossRatio = 0
		for d := range w.Directions {
			if direction < 0 || direction == d {
				trials[i].LossRatio = max(trials[i].LossRatio, surelyLost(w, d, v.goal))
			}
		}
	}
	return v.settings.Conclude(trials)[v.index]
}

// nearWidths is how many of the goal's widths a direction's own upper bound may lie above the answer, for the answer to
// be that direction's limit.
const nearWidths = 4

// concludeDirections decides for each direction whether its own loss bounds the answer, and for the whole what holds
// for all directions.
func (v verdict) concludeDirections(c *procedure.Conclusion) {
	answer := v.history[c.Window]
	for i := range answer.Directions {
		d := procedure.DirectionConclusion{Reason: v.reasonOfLowerBound(), Confirmed: true, Window: c.Window,
			Lossy: procedure.NoWindow}
		if upper := v.bySureLossOf(i).Upper; upper != nil && loadOf(upper.Load) > answer.Load {
			d.Lossy = v.worstOf(upper, i)
			d.Resolution = width(min(answer.Load, offeredLoad(answer, i)), max(v.history[d.Lossy].Load,
				offeredLoad(v.history[d.Lossy], i)))
			if d.Saturated = d.Resolution <= nearWidths*v.goal.Width; d.Saturated {
				d.Reason = report.LossAboveLimit
			}
		}
		c.Directions = append(c.Directions, d)
	}
	if len(c.Directions) == 0 {
		c.Reason = report.Inconclusive
		return
	}
	limits := slices.ContainsFunc(c.Directions, func(d procedure.DirectionConclusion) bool { return d.Saturated })
	c.Saturated, c.Reason = true, report.LossAboveLimit
	for i := range c.Directions {
		d := &c.Directions[i]
		c.Resolution = max(c.Resolution, d.Resolution)
		if d.Saturated {
			continue
		}
		if limits {
			d.Reason = report.OtherDirection
		}
		if c.Saturated {
			c.Saturated, c.Reason = false, d.Reason
		}
	}
	if !c.Saturated {
		c.Resolution = 0
	}
}

// worstOf is the window of a bound's trial that lost most in one direction.
func (v verdict) worstOf(b *goals.Bound, direction int) int {
	largest, window := -1.0, procedure.NoWindow
	for _, i := range b.Trials {
		w := v.history[v.trials[i].window]
		if direction >= len(w.Directions) {
			continue
		}
		if lost := surelyLost(w, direction, v.goal); lost > largest {
			largest, window = lost, v.trials[i].window
		}
	}
	return window
}

// reasonOfLowerBound is why an answer is a lower bound where no direction's own loss bounds it.
func (v verdict) reasonOfLowerBound() report.Reason {
	switch {
	case v.found.Upper != nil:
		return v.reasonOfUpperBound()
	case v.found.Irregular == goals.MaximumClean:
		return report.TargetReached
	}
	return report.Inconclusive
}

// reasonOfUpperBound is what made the upper bound where the device alone did not. It is generators that sent or
// received too little, the machine that plays the device, or unknown.
func (v verdict) reasonOfUpperBound() report.Reason {
	reason := report.Inconclusive
	for _, i := range v.found.Upper.Trials {
		w := v.history[v.trials[i].window]
		judged := judgedBy(w, v.goal)
		switch {
		case judged.LostToBursts(), slices.ContainsFunc(judged.Directions, func(d report.Direction) bool {
			missing, _ := notSent(w, d)
			return missing > 0 && w.Decided == nil && !d.HeldUp || d.GeneratorDrops() > 0
		}):
			return report.GeneratorLimited
		case judged.LostToMachine(), judged.LostToDisturbance(), judged.LostToLateCounters(), judged.HeldUp():
			reason = report.MachineLimited
		}
	}
	return reason
}

// offeredLoad is a direction's load as it was offered.
func offeredLoad(w report.Window, direction int) units.Ratio {
	d := w.Directions[direction]
	if d.Intended.PacketsPerSecond <= 0 {
		return w.Load
	}
	return units.Ratio(units.PacketRate(w.Load).Mul(units.RatioOf(d.Offered.PacketsPerSecond,
		d.Intended.PacketsPerSecond)))
}

// width is how far lo lies below hi, as a share of hi.
func width(lo, hi units.Ratio) units.Ratio { return units.RatioOf(int64(hi-lo), int64(hi)) }

// sentence has a goal's bounds with the trials behind them.
func (v verdict) sentence(c procedure.Conclusion) string {
	text := v.goal.Name + ": "
	lower, upper := v.found.Lower, v.found.Upper
	switch {
	case lower != nil:
		text += fmt.Sprintf("met at %s (%s)", wording.PacketRate(v.intended(lower)), v.goodTrialsText(lower))
	case c.Reason == report.NoCleanLoad:
		text += "irregular, no load met it"
	case upper != nil:
		text += "irregular, no load is known to meet it"
	default:
		return text + "not decided"
	}
	switch {
	case upper != nil:
		w := v.history[c.Lossy]
		text += fmt.Sprintf(", not met at %s (%s; window %d, %s)", wording.PacketRate(v.intended(upper)),
			v.goodTrialsText(upper), w.Number, worstLoss(w))
	case v.found.Irregular == goals.MaximumClean:
		text += ", which is the highest load: irregular, the limit lies there or above"
	default:
		text += ", and what lies above was not decided"
	}
	if lower != nil && upper != nil && !c.Saturated {
		text += fmt.Sprintf(", but not every direction is shown to lose frames of the device (%s): a lower bound",
			c.Reason)
	}
	return text
}

// goodTrialsText says how many of a bound's trials lost no more than the goal allows, of the trials that show it.
func (v verdict) goodTrialsText(b *goals.Bound) string {
	g := v.goodTrials(b)
	text := fmt.Sprintf("%d of %s lost at most %s %%", g.good, wording.Counted(g.counted, "trial"),
		v.goal.LossRatio.Percent())
	if g.open > 0 {
		text += fmt.Sprintf(", %d more ended early for another goal", g.open)
	}
	return text
}

// worstLoss is what the direction lost that lost most.
func worstLoss(w report.Window) string {
	if len(w.Directions) == 0 {
		return w.Reason
	}
	d := slices.MaxFunc(w.Directions, func(a, b report.Direction) int { return int(a.LossRatio - b.LossRatio) })
	return d.Name() + ": " + measure.CameBack(d, 1)
}
