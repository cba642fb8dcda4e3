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

// Conclude returns what each direction's own ramp shows, and what came back of all together when all answers were held
// at once. No direction's figure depends on that, and the whole claims no more than that.
func (e Procedure) Conclude(history []report.Window) procedure.Conclusion {
	next := e.Next(history)
	course := procedure.Course{Ended: next.End, Reason: next.Reason}
	c := course.Conclusion()
	var conclusions []procedure.Conclusion
	for _, name := range e.directions() {
		search := e.searchOf(history, name)
		conclusion := e.single.Conclude(search.windows)
		conclusions = append(conclusions, conclusion)
		c.Directions = append(c.Directions, search.direction(conclusion))
		c.NonMonotonic, c.Unproven = c.NonMonotonic || conclusion.NonMonotonic, c.Unproven || conclusion.Unproven
		c.Outvoted = append(c.Outvoted, conclusion.Outvoted...)
	}
	atOnce := votesOf(allAtOnce(history))
	e.whole(&c, atOnce, history)
	if c.Finished && len(history) > len(warmUps(history)) { // else nothing came back, and the ending says it
		c.Sentence = e.sentence(c, atOnce, conclusions, history) + e.hiddenLossSentence(c, atOnce, history)
	}
	c.Goals = e.goals(c, conclusions, history)
	for i, name := range e.directions() {
		for _, s := range conclusions[i].Sections {
			s.Title += ", " + name
			c.Sections = append(c.Sections, s)
		}
	}
	if atOnce.decided {
		c.Sections = append(c.Sections, atOnceSection(atOnce.verdict, history[atOnce.window]))
	}
	return c
}

// goals are the conclusions of each goal, where each direction's own search had several. The first is the whole's. The
// loads of the others were not tried at once. Nil means that some direction has none.
func (e Procedure) goals(whole procedure.Conclusion, perDirection []procedure.Conclusion,
	history []report.Window) []procedure.GoalConclusion {
	count := len(perDirection[0].Goals)
	for _, conclusion := range perDirection {
		count = min(count, len(conclusion.Goals))
	}
	var goals []procedure.GoalConclusion
	for g := range count {
		goal := procedure.GoalConclusion{Name: perDirection[0].Goals[g].Name, Conclusion: whole}
		if g > 0 {
			goal.Conclusion = procedure.Unanswered()
			goal.Finished, goal.Ending = whole.Finished, whole.Ending
			for i, name := range e.directions() {
				goal.Directions = append(goal.Directions,
					e.searchOf(history, name).direction(perDirection[i].Goals[g].Conclusion))
			}
			e.whole(&goal.Conclusion, votes{}, history)
			var clauses []string
			for i, name := range e.directions() {
				clauses = append(clauses, name+": "+perDirection[i].Goals[g].Sentence)
			}
			goal.Sentence = "each by itself: " + strings.Join(clauses, "; ") +
				"; the loads of this goal were not held at once"
		}
		goals = append(goals, goal)
	}
	return goals
}

// direction is what a ramp of one direction alone concludes, with windows of the whole history.
func (s search) direction(conclusion procedure.Conclusion) procedure.DirectionConclusion {
	d := procedure.DirectionConclusion{Reason: conclusion.Reason, Saturated: conclusion.Saturated,
		Confirmed: conclusion.Confirmed, Window: conclusion.Window, Lossy: conclusion.Lossy,
		Resolution: conclusion.Resolution}
	if len(conclusion.Directions) == 1 {
		d = conclusion.Directions[0]
	}
	d.Window, d.Lossy = s.indexInHistory(d.Window), s.indexInHistory(d.Lossy)
	return d
}

// whole is what may be claimed of all directions together, by the first rule that applies. atOnce is of the windows in
// which their answers were held at once.
func (e Procedure) whole(c *procedure.Conclusion, atOnce votes, history []report.Window) {
	missing := slices.IndexFunc(c.Directions,
		func(d procedure.DirectionConclusion) bool { return d.Window == procedure.NoWindow })
	switch {
	case missing >= 0: // some direction has no figure, nor has the whole
		c.Reason, c.Lossy = c.Directions[missing].Reason, c.Directions[missing].Lossy
	case !atOnce.judged():
		c.Window, c.Reason, c.Detail = windowOfMostReceived(c.Directions, history), report.Inconclusive,
			report.SumUnjudged
	case atOnce.verdict == report.Lossy:
		c.Window, c.Reason, c.Detail, c.Confirmed = atOnce.window, report.LoadHeld, report.LimitsTogether,
			e.plan.Ramp.ConfirmDuration > 0 || e.findsByTrials()
	default:
		c.Window = atOnce.window
		c.Reason, c.Saturated, c.Confirmed, c.Resolution = sumOf(c.Directions)
		switch {
		case c.Saturated && e.someHeldAboveLimit(c.Directions, history):
			c.Reason, c.Detail, c.Saturated, c.Resolution = report.Inconclusive, report.OthersHeldAbove, false, 0
		case atOnce.verdict == report.Short:
			c.Reason, c.Saturated, c.Resolution = report.GeneratorLimited, false, 0
		}
	}
}

// someHeldAboveLimit reports whether some direction was held above its own limit while others varied. The others found
// what that left of the device, and may carry more without it, so the sum bounds nothing.
func (e Procedure) someHeldAboveLimit(directions []procedure.DirectionConclusion, history []report.Window) bool {
	return slices.ContainsFunc(directions, func(d procedure.DirectionConclusion) bool {
		return history[d.Window].Load < e.plan.EachDirection.OtherLoad
	})
}

// sumOf is what may be claimed of loads that were held at once without loss. The sum is a limit where each load is one,
// and no more certain than the least certain. TargetReached holds only where no direction is open for another reason.
func sumOf(
	directions []procedure.DirectionConclusion,
) (reason report.Reason, saturated, confirmed bool, resolution units.Ratio) {
	reason, saturated, confirmed = report.LossAboveLimit, true, true
	for _, d := range directions {
		if !d.Saturated && (saturated || reason == report.TargetReached) {
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

// windowOfMostReceived is the window of the direction's answer at which most came back in all directions together. The
// device carries at least that.
func windowOfMostReceived(directions []procedure.DirectionConclusion, history []report.Window) int {
	return slices.MaxFunc(directions, func(a, b procedure.DirectionConclusion) int {
		return cmp.Compare(receivedPacketsPerSecond(history[a.Window]), receivedPacketsPerSecond(history[b.Window]))
	}).Window
}

// sentence says what was found of each direction, and what came back of all at once. A search of one direction has a
// sentence for all its goals.
func (e Procedure) sentence(c procedure.Conclusion, atOnce votes, perDirection []procedure.Conclusion,
	history []report.Window) string {
	var clauses []string
	for i, name := range e.directions() {
		found := directionSentence(c.Directions[i], name, history)
		if len(perDirection[i].Goals) > 0 {
			found = perDirection[i].Sentence
		}
		clauses = append(clauses, name+": "+found)
	}
	clauses[0] = "each by itself: " + clauses[0]
	if !atOnce.decided {
		return strings.Join(append(clauses, c.Ending), "; ")
	}
	w := history[atOnce.window]
	switch atOnce.verdict {
	case report.Invalid:
		clauses = append(clauses, fmt.Sprintf("all at once could not be judged (window %d: %s), so the sum is at "+
			"least that of the window in which most came back", w.Number, w.Reason))
	case report.Lossy:
		clauses = append(clauses, fmt.Sprintf("all at once the device does not carry them: %s came back of %s "+
			"(window %d, %s)", received(w), offered(w), w.Number, lossOf(w)))
	case report.Short:
		clauses = append(clauses, fmt.Sprintf("all at once less was sent than asked for, and the device carries "+
			"that: %s came back of %s (window %d)", received(w), offered(w), w.Number))
	default:
		clauses = append(clauses, fmt.Sprintf("all at once the device carries them: %s came back of %s (window %d)",
			received(w), offered(w), w.Number))
	}
	if c.Detail == report.OthersHeldAbove {
		clauses = append(clauses, fmt.Sprintf("%s, which is more than one of them carries, so the device may carry "+
			"more of the rest without it: the sum is a lower bound; lower otherLoad to make it a limit", e.othersText()))
	}
	return strings.Join(clauses, "; ")
}

// hiddenLossSentence says how much loss edges may hide in clean answers, where that is more than the limit, and that no
// answer is proven where such a load lost frames when it was held.
func (e Procedure) hiddenLossSentence(c procedure.Conclusion, atOnce votes, history []report.Window) string {
	var hidden units.Ratio
	consider := func(d report.Direction) {
		if report.LossLeftOpen(d.LossRatioMin, d.MostLost(), e.plan.MaxLossRatio) {
			hidden = max(hidden, d.MostLost())
		}
	}
	for i, name := range e.directions() {
		if window := c.Directions[i].Window; window != procedure.NoWindow {
			consider(directionNamed(history[window], name))
		}
	}
	if atOnce.judged() && atOnce.verdict != report.Lossy {
		for _, d := range history[atOnce.window].Directions {
			consider(d)
		}
	}
	text := ""
	if hidden > 0 {
		text = fmt.Sprintf("; loads are clean as far as edges and frames of others show: up to %s may be lost",
			measure.Percent(hidden))
	}
	if c.Unproven {
		text += "; where no load is known to be clean, " + procedure.WhyUnproven +
			fmt.Sprintf(procedure.WayOutOfUnproven, procedure.MaxLossRatio)
	}
	return text
}

// directionSentence is a direction's own answer with its reason.
func directionSentence(d procedure.DirectionConclusion, name string, history []report.Window) string {
	lossy := ""
	if d.Lossy != procedure.NoWindow {
		w := history[d.Lossy]
		lossy = fmt.Sprintf("; the lowest load that lost frames is %s (window %d, %s)",
			wording.PacketRate(directionNamed(w, name).Offered.PacketsPerSecond), w.Number,
			directionNamed(w, name).Reason)
	}
	switch {
	case d.Window == procedure.NoWindow && d.Reason == report.Inconclusive:
		return "no load of it is known to be clean" + lossy
	case d.Window == procedure.NoWindow:
		return "no load of it was clean" + lossy
	}
	w := history[d.Window]
	found := map[report.Reason]string{
		report.LossAboveLimit: "a limit",
		report.TargetReached:  "all that was asked for, a lower bound",
	}[d.Reason]
	if found == "" {
		found = fmt.Sprintf("a lower bound (%s)", d.Reason)
	}
	return fmt.Sprintf("%s, clean for %s in window %d, %s%s",
		wording.PacketRate(directionNamed(w, name).Offered.PacketsPerSecond), w.Duration.Std().Round(1e8), w.Number,
		found, lossy)
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
	var clauses []string
	for _, d := range w.Directions {
		if d.Quality == report.Lossy {
			clauses = append(clauses, d.Name()+": "+measure.CameBack(d, 1))
		}
	}
	return strings.Join(clauses, ", ")
}

func offered(w report.Window) string {
	return wording.PacketRate(measure.Sum(w.Directions, nil).Offered.PacketsPerSecond)
}

func received(w report.Window) string {
	return wording.PacketRate(measure.Sum(w.Directions, nil).Received.PacketsPerSecond)
}
