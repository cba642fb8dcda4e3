package eachdirection

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// Conclude says of each direction what its own ramp shows, and of all together what came back when all answers were held at once: no direction's figure depends on that, and the whole claims no
// more than that.
func (e Each) Conclude(history []report.Window) procedure.Conclusion {
	next := e.Next(history)
	c := procedure.Conclusion{Reason: report.NotMeasured, Window: procedure.None, Lossy: procedure.None, Finished: next.Done}
	if next.Done {
		c.Ending = next.Reason
	}
	var alone []procedure.Conclusion
	for _, name := range e.directions() {
		search := e.searchOf(history, name)
		own := e.alone.Conclude(search.windows)
		alone = append(alone, own)
		c.Directions = append(c.Directions, search.direction(own))
		c.NonMonotonic, c.Unproven = c.NonMonotonic || own.NonMonotonic, c.Unproven || own.Unproven
		c.Outvoted = append(c.Outvoted, own.Outvoted...)
	}
	if v := votesOf(allAtOnce(history)); v.decided {
		c.Together = &procedure.Together{Window: v.window, Verdict: v.verdict}
	}
	e.whole(&c, history)
	if c.Finished && len(history) > len(warmUps(history)) { // else nothing came back, and the ending says it
		c.Sentence = e.sentence(c, alone, history) + e.hiddenLossSentence(c, history)
	}
	c.Goals = e.goals(c, alone, history)
	return c
}

// goals are the conclusions of each goal, where each direction's own search had several: the first is the whole's; the loads of the others were not tried at once. nil: there are none, or some
// direction has none.
func (e Each) goals(whole procedure.Conclusion, alone []procedure.Conclusion, history []report.Window) []procedure.GoalConclusion {
	most := len(alone[0].Goals)
	for _, own := range alone {
		most = min(most, len(own.Goals))
	}
	var all []procedure.GoalConclusion
	for g := range most {
		goal := procedure.GoalConclusion{Name: alone[0].Goals[g].Name, Conclusion: whole}
		for i := range alone {
			own := alone[i].Goals[g]
			goal.Irregular, goal.InitialTrial, goal.WrongClass = cmp.Or(goal.Irregular, own.Irregular), own.InitialTrial, max(goal.WrongClass, own.WrongClass)
		}
		if g > 0 {
			goal.Conclusion = procedure.Conclusion{Reason: report.NotMeasured, Window: procedure.None, Lossy: procedure.None, Finished: whole.Finished, Ending: whole.Ending}
			for i, name := range e.directions() {
				goal.Directions = append(goal.Directions, e.searchOf(history, name).direction(alone[i].Goals[g].Conclusion))
			}
			e.whole(&goal.Conclusion, history)
			var said []string
			for i, name := range e.directions() {
				said = append(said, name+": "+alone[i].Goals[g].Sentence)
			}
			goal.Sentence = "each by itself: " + strings.Join(said, "; ") + "; the loads of this goal were not held at once"
		}
		all = append(all, goal)
	}
	return all
}

// direction is what a ramp of one direction alone concludes, with windows of the whole history.
func (s search) direction(own procedure.Conclusion) procedure.DirectionConclusion {
	d := procedure.DirectionConclusion{Reason: own.Reason, Saturated: own.Saturated, Confirmed: own.Confirmed, Window: own.Window, Lossy: own.Lossy, Resolution: own.Resolution}
	if len(own.Directions) == 1 {
		d = own.Directions[0]
	}
	d.Window, d.Lossy = s.indexInHistory(d.Window), s.indexInHistory(d.Lossy)
	return d
}

// whole is what may be claimed of all directions together, by the first rule that applies.
func (e Each) whole(c *procedure.Conclusion, history []report.Window) {
	missing := firstWithoutFigure(c.Directions)
	switch {
	case missing != nil: // some direction has no figure: nor has the whole
		c.Reason, c.Lossy = missing.Reason, missing.Lossy
	case c.Together == nil || c.Together.Verdict == report.Invalid:
		c.Window, c.Reason = windowOfMostReceived(c.Directions, history), report.Inconclusive
	case c.Together.Verdict == report.Lossy:
		c.Window, c.Reason, c.Confirmed = c.Together.Window, report.LoadHeld, e.plan.Ramp.ConfirmDuration > 0 || e.plan.Search != nil
	default:
		c.Window = c.Together.Window
		c.Reason, c.Saturated, c.Confirmed, c.Resolution = sumOf(c.Directions)
		switch {
		case c.Saturated && e.someHeldAboveLimit(c.Directions, history):
			c.Reason, c.Saturated, c.Resolution = report.Inconclusive, false, 0
		case c.Together.Verdict == report.Short:
			c.Reason, c.Saturated, c.Resolution = report.GeneratorLimited, false, 0
		}
	}
}

// someHeldAboveLimit says that some direction was held above its own limit while others varied: they found what that left of the device, and may carry more without it, so the sum bounds nothing.
func (e Each) someHeldAboveLimit(all []procedure.DirectionConclusion, history []report.Window) bool {
	return slices.ContainsFunc(all, func(d procedure.DirectionConclusion) bool { return history[d.Window].Load < e.plan.Each.OthersAt })
}

// sumOf is what may be claimed of loads that were held at once without loss: a limit where each is one, and no more certain than the least certain. ReachedTarget holds only where no direction is
// open for another reason.
func sumOf(all []procedure.DirectionConclusion) (reason report.Reason, saturated, confirmed bool, resolution units.Ratio) {
	reason, saturated, confirmed = report.LossAboveLimit, true, true
	for _, d := range all {
		if !d.Saturated && (saturated || reason == report.ReachedTarget) {
			reason, saturated = d.Reason, false
		}
		confirmed = confirmed && d.Confirmed
		resolution = max(resolution, d.Resolution)
	}
	if !saturated {
		resolution = 0
	}
	return reason, saturated, confirmed, resolution
}

// firstWithoutFigure is the first direction without a figure; nil: each has one.
func firstWithoutFigure(all []procedure.DirectionConclusion) *procedure.DirectionConclusion {
	for i := range all {
		if all[i].Window == procedure.None {
			return &all[i]
		}
	}
	return nil
}

// windowOfMostReceived is the window of the direction's answer at which most came back in all directions together: the device carries at least that.
func windowOfMostReceived(all []procedure.DirectionConclusion, history []report.Window) int {
	most := all[0].Window
	for _, d := range all {
		if receivedPacketsPerSecond(history[d.Window]) > receivedPacketsPerSecond(history[most]) {
			most = d.Window
		}
	}
	return most
}

// sentence says what was found of each direction, and what came back of all at once. A search of one direction has a sentence for all its goals.
func (e Each) sentence(c procedure.Conclusion, alone []procedure.Conclusion, history []report.Window) string {
	var said []string
	for i, name := range e.directions() {
		found := directionSentence(c.Directions[i], name, history)
		if len(alone[i].Goals) > 0 {
			found = alone[i].Sentence
		}
		said = append(said, name+": "+found)
	}
	said[0] = "each by itself: " + said[0]
	if c.Together == nil {
		return strings.Join(append(said, c.Ending), "; ")
	}
	w := history[c.Together.Window]
	switch c.Together.Verdict {
	case report.Invalid:
		said = append(said, fmt.Sprintf("all at once could not be judged (window %d: %s), so the sum is at least that of the window in which most came back", w.Number, w.Reason))
	case report.Lossy:
		said = append(said, fmt.Sprintf("all at once the device does not carry them: %s came back of %s (window %d, %s)", received(w), offered(w), w.Number, lossOf(w)))
	case report.Short:
		said = append(said, fmt.Sprintf("all at once less was sent than asked for, and the device carries that: %s came back of %s (window %d)", received(w), offered(w), w.Number))
	default:
		said = append(said, fmt.Sprintf("all at once the device carries them: %s came back of %s (window %d)", received(w), offered(w), w.Number))
	}
	if c.Window != procedure.None && c.Reason == report.Inconclusive && c.Together.Verdict != report.Invalid && e.someHeldAboveLimit(c.Directions, history) {
		said = append(said, fmt.Sprintf("%s, which is more than one of them carries, so the device may carry more of the rest without it: the sum is a lower bound; lower othersAt to make it a limit", e.others()))
	}
	return strings.Join(said, "; ")
}

// hiddenLossSentence says how much loss edges may hide in clean answers, where that is more than the limit, and that no answer is proven where such a load lost frames when it was held.
func (e Each) hiddenLossSentence(c procedure.Conclusion, history []report.Window) string {
	var most units.Ratio
	may := func(d report.Direction) {
		if report.LossLeftOpen(d.LossRatioMin, d.MostLost(), e.plan.MaxLossRatio) {
			most = max(most, d.MostLost())
		}
	}
	for i, name := range e.directions() {
		if at := c.Directions[i].Window; at != procedure.None {
			may(directionNamed(history[at], name))
		}
	}
	if c.Together != nil && c.Together.Verdict != report.Lossy && c.Together.Verdict != report.Invalid {
		for _, d := range history[c.Together.Window].Directions {
			may(d)
		}
	}
	said := ""
	if most > 0 {
		said = fmt.Sprintf("; loads are clean as far as edges and frames of others show: up to %s may be lost", measure.Percent(most))
	}
	if c.Unproven {
		said += "; where no load is known to be clean, " + procedure.WhyUnproven + fmt.Sprintf(procedure.WayOutOfUnproven, procedure.MaxLossRatio)
	}
	return said
}

// directionSentence is a direction's own answer with its reason.
func directionSentence(d procedure.DirectionConclusion, name string, history []report.Window) string {
	lossy := ""
	if d.Lossy != procedure.None {
		w := history[d.Lossy]
		lossy = fmt.Sprintf("; the lowest load that lost frames is %s (window %d, %s)", wording.PacketRate(directionNamed(w, name).Offered.PacketsPerSecond), w.Number, directionNamed(w, name).Reason)
	}
	switch {
	case d.Window == procedure.None && d.Reason == report.Inconclusive:
		return "no load of it is known to be clean" + lossy
	case d.Window == procedure.None:
		return "no load of it was clean" + lossy
	}
	w := history[d.Window]
	found := map[report.Reason]string{
		report.LossAboveLimit: "a limit",
		report.ReachedTarget:  "all that was asked for, a lower bound",
	}[d.Reason]
	if found == "" {
		found = fmt.Sprintf("a lower bound (%s)", d.Reason)
	}
	return fmt.Sprintf("%s, clean for %s in window %d, %s%s", wording.PacketRate(directionNamed(w, name).Offered.PacketsPerSecond), w.Duration.Std().Round(1e8), w.Number, found, lossy)
}

// directionNamed is the direction of this name in a window.
func directionNamed(w report.Window, name string) report.Direction {
	for _, d := range w.Directions {
		if d.Name() == name {
			return d
		}
	}
	return report.Direction{}
}

// lossOf is what a window lost in the directions that lost frames above the limit.
func lossOf(w report.Window) string {
	var said []string
	for _, d := range w.Directions {
		if d.Quality == report.Lossy {
			said = append(said, d.Name()+": "+measure.CameBack(d, 1))
		}
	}
	return strings.Join(said, ", ")
}

func offered(w report.Window) string {
	return wording.PacketRate(measure.Sum(w.Directions, nil).Offered.PacketsPerSecond)
}

func received(w report.Window) string {
	return wording.PacketRate(measure.Sum(w.Directions, nil).Received.PacketsPerSecond)
}
