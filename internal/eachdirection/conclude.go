package eachdirection

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// Conclude says of each direction what its own ramp shows, and of all together what came of holding all that was found at once: no direction's figure depends
// on that, and the whole claims no more than that.
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
		c.Sentence = e.sentence(c, alone, history) + e.leftOpen(c, history)
	}
	c.Goals = e.goals(c, alone, history)
	return c
}

// goals are the conclusions of each goal, where each direction's own search had several: the first one's is the whole's, the others' loads were not tried at once. nil: there are none, or not
// each direction has them.
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

// direction is what a ramp of one direction alone concludes of it, in windows of the whole history.
func (s search) direction(own procedure.Conclusion) procedure.DirectionConclusion {
	d := procedure.DirectionConclusion{Reason: own.Reason, Saturated: own.Saturated, Confirmed: own.Confirmed, Window: own.Window, Lossy: own.Lossy, Resolution: own.Resolution}
	if len(own.Directions) == 1 {
		d = own.Directions[0]
	}
	d.Window, d.Lossy = s.placed(d.Window), s.placed(d.Lossy)
	return d
}

// whole is what may be claimed of all directions together, by the first rule that applies.
func (e Each) whole(c *procedure.Conclusion, history []report.Window) {
	missing := firstWithout(c.Directions)
	switch {
	case missing != nil: // some direction has no figure: nor has the whole
		c.Reason, c.Lossy = missing.Reason, missing.Lossy
	case c.Together == nil || c.Together.Verdict == report.Invalid:
		c.Window, c.Reason = mostOf(c.Directions, history), report.Inconclusive
	case c.Together.Verdict == report.Lossy:
		c.Window, c.Reason, c.Confirmed = c.Together.Window, report.LoadHeld, e.plan.Ramp.ConfirmDuration > 0 || e.plan.Search != nil
	default:
		c.Window = c.Together.Window
		c.Reason, c.Saturated, c.Confirmed, c.Resolution = sumOf(c.Directions)
		switch {
		case c.Saturated && e.crowdedOut(c.Directions, history):
			c.Reason, c.Saturated, c.Resolution = report.Inconclusive, false, 0
		case c.Together.Verdict == report.Short:
			c.Reason, c.Saturated, c.Resolution = report.GeneratorLimited, false, 0
		}
	}
}

// crowdedOut says that some direction was held above its own limit while others varied: what they found is what that left of the device, and without it they may carry more, so that
// the sum bounds nothing.
func (e Each) crowdedOut(all []procedure.DirectionConclusion, history []report.Window) bool {
	return slices.ContainsFunc(all, func(d procedure.DirectionConclusion) bool { return history[d.Window].Load < e.plan.Each.OthersAt })
}

// sumOf is what may be claimed of loads that were held at once without loss: they are a limit's sum where each is a limit, and no more certain than the least. All
// that was asked for is only what came back where no direction was open for another reason.
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

// firstWithout is the first direction without a figure; nil: each has one.
func firstWithout(all []procedure.DirectionConclusion) *procedure.DirectionConclusion {
	for i := range all {
		if all[i].Window == procedure.None {
			return &all[i]
		}
	}
	return nil
}

// mostOf is the direction's answer at which most came back in all directions together: so much the device carries at least.
func mostOf(all []procedure.DirectionConclusion, history []report.Window) int {
	most := all[0].Window
	for _, d := range all {
		if came(history[d.Window]) > came(history[most]) {
			most = d.Window
		}
	}
	return most
}

// sentence tells what was found of each direction, and what came of all at once. A search of a direction alone tells of all its goals itself.
func (e Each) sentence(c procedure.Conclusion, alone []procedure.Conclusion, history []report.Window) string {
	var said []string
	for i, name := range e.directions() {
		found := ofDirection(c.Directions[i], name, history)
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
		said = append(said, fmt.Sprintf("all at once could not be judged (window %d: %s), so that the sum is not known, and at least that of the busiest direction's window", w.Number, w.Reason))
	case report.Lossy:
		said = append(said, fmt.Sprintf("all at once the device does not carry them: %s came back of %s (window %d, %s)", received(w), offered(w), w.Number, lossOf(w)))
	case report.Short:
		said = append(said, fmt.Sprintf("all at once less was sent than asked for, and it carries that: %s came back of %s (window %d)", received(w), offered(w), w.Number))
	default:
		said = append(said, fmt.Sprintf("all at once it carries them: %s came back of %s (window %d)", received(w), offered(w), w.Number))
	}
	if c.Window != procedure.None && c.Reason == report.Inconclusive && c.Together.Verdict != report.Invalid && e.crowdedOut(c.Directions, history) {
		said = append(said, fmt.Sprintf("%s, which is more than one of them carries, and without that the device may carry more of the rest: the sum is a lower bound, and a limit only with a lower othersAt", e.others()))
	}
	return strings.Join(said, "; ")
}

// leftOpen says of clean answers how much edges may hide in them, where that is more than the limit, and that no answer is proven where such a load lost frames when it was held.
func (e Each) leftOpen(c procedure.Conclusion, history []report.Window) string {
	var most units.Ratio
	may := func(d report.Direction) {
		if report.LossLeftOpen(d.LossRatioMin, d.MostLost(), e.plan.MaxLossRatio) {
			most = max(most, d.MostLost())
		}
	}
	for i, name := range e.directions() {
		if at := c.Directions[i].Window; at != procedure.None {
			may(of(history[at], name))
		}
	}
	if c.Together != nil && c.Together.Verdict != report.Lossy && c.Together.Verdict != report.Invalid {
		for _, d := range history[c.Together.Window].Directions {
			may(d)
		}
	}
	said := ""
	if most > 0 {
		said = fmt.Sprintf("; clean is as far as edges and frames of others tell: up to %s may be lost", measure.Percent(most))
	}
	if c.Unproven {
		said += "; where no load is known to be clean, " + procedure.WhyUnproven
	}
	return said
}

// ofDirection is a direction's own answer with its reason.
func ofDirection(d procedure.DirectionConclusion, name string, history []report.Window) string {
	lossy := ""
	if d.Lossy != procedure.None {
		w := history[d.Lossy]
		lossy = fmt.Sprintf("; the lowest load that lost frames is %s (window %d, %s)", rate(of(w, name).Offered), w.Number, of(w, name).Reason)
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
	return fmt.Sprintf("%s, clean for %s in window %d, %s%s", rate(of(w, name).Offered), w.Duration.Std().Round(1e8), w.Number, found, lossy)
}

// of is a direction of a window.
func of(w report.Window, name string) report.Direction {
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

func rate(f report.Flow) string {
	return (units.PacketRate(f.PacketsPerSecond) * units.PacketPerSecond).FormatSI()
}

func offered(w report.Window) string { return rate(measure.Sum(w.Directions, nil).Offered) }

func received(w report.Window) string { return rate(measure.Sum(w.Directions, nil).Received) }
