package ramp

import (
	"maps"
	"math"
	"slices"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/units"
)

// stumble is how wide the bracket may be for what the generator left out at the answer, where more was offered and
// lost.
const stumble = units.One / 20

// tolerated is how many times wider than asked for the bracket may stay, where windows in it could not be judged,
// before the answer is called a lower bound.
const tolerated = 4

// Conclude draws the conclusion from the windows measured so far.
func (r Ramp) Conclude(history []report.Window) procedure.Conclusion {
	m := replay(r.plan, history)
	s := m.search
	c := conclusion{rules: r.plan, measured: m.measured, bracket: &s.bracket, bucket: &s.bucket,
		heldWindows: s.heldWindows, confirmed: s.confirmed}
	whole := c.draw()
	whole.Finished, whole.Ending = m.ended()
	return whole
}

// conclusion is what the windows of a run show, complete or not.
type conclusion struct {
	rules       plan.Procedure
	measured    []point // all windows but the warm-up's
	bracket     *bracket
	bucket      *bucket
	heldWindows []point
	confirmed   *point
}

// draw finds the answer. It is the confirmed load, else the lower end, else a clean load that could not be judged when
// held.
func (c *conclusion) draw() procedure.Conclusion {
	whole := procedure.Unanswered()
	upper := c.bracket.upper
	if upper != nil {
		whole.Lossy = upper.index
		whole.NonMonotonic = c.cleanAboveSaturation()
	}
	answer := c.confirmed
	if answer == nil {
		answer = c.bracket.lower()
	}
	heldUnclear := answer == nil
	if heldUnclear {
		answer = c.highestHeldUnclear()
	}
	switch {
	case c.unproven(answer):
		whole.Reason, whole.Unproven = report.Inconclusive, true
		return whole
	case answer == nil && len(c.bracket.points) > 0:
		whole.Reason = report.NoCleanLoad
	case answer == nil:
	case upper == nil:
		whole.Window, whole.Reason = answer.index, c.unsaturated(answer)
	default:
		whole.Window = answer.index
		whole.Resolution = max(width(answer.asked, upper.asked), width(answer.load, upper.load),
			width(answer.leastOffered(), upper.largestOffered()))
		whole.Reason = c.saturated(answer, whole.Resolution, heldUnclear)
		whole.Saturated = whole.Reason == report.LossAboveLimit
	}
	whole.Confirmed = c.confirmed != nil
	if answer != nil {
		whole.Outvoted = c.outvoted(answer)
		whole.Directions = c.directions(whole, answer, heldUnclear)
	}
	return ofAllDirections(whole)
}

// saturated is LossAboveLimit, or why an answer below a lossy load is only a lower bound.
func (c *conclusion) saturated(answer *point, resolution units.Ratio, heldUnclear bool) report.Reason {
	refineTo := c.rules.Ramp.Precision
	if heldUnclear { // the reason of the last unclear window
		for _, p := range slices.Backward(c.measured) {
			if p.unclear() {
				return p.reason()
			}
		}
		return report.Inconclusive
	}
	if generatorOutrun(answer.short, c.bracket.upper.short, c.lostHigher(answer), resolution, refineTo) {
		if answer.short {
			return answer.reasonOfShort()
		}
		return c.bracket.upper.reasonOfShort()
	}
	if unclear := c.unclearAbove(answer); unclear != nil && (refineTo <= 0 || resolution > tolerated*refineTo) {
		return unclear.reason()
	}
	return report.LossAboveLimit
}

// highestHeldUnclear is the highest clean load, below the lowest that lost frames when held, of those that could not be
// judged when they were held. Nil means that there is none.
func (c *conclusion) highestHeldUnclear() *point {
	lowestLossy := units.Ratio(math.MaxInt64)
	for _, p := range c.heldWindows {
		if p.lossy {
			lowestLossy = min(lowestLossy, p.asked)
		}
	}
	if c.bracket.upper != nil {
		lowestLossy = min(lowestLossy, c.bracket.upper.asked)
	}
	var highest *point
	for i := range c.bracket.points {
		if p := &c.bracket.points[i]; p.heldUnclear && p.asked < lowestLossy &&
			(highest == nil || p.asked > highest.asked) {
			highest = p
		}
	}
	return highest
}

// unproven reports whether the load that would be the answer is not known to be clean. The edges of its window may hide
// more loss than the limit allows, and that load, or a higher one that had looked as clean, lost frames when it was
// held. A device that loses a little of every load has no answer, not even a lower bound.
func (c *conclusion) unproven(answer *point) bool {
	lost := len(c.bracket.heldLosses) > 0 || slices.ContainsFunc(c.heldWindows, func(lossy point) bool {
		cleanBefore := func(p point) bool { return p.clean && p.asked == lossy.asked }
		return lossy.lossy && slices.ContainsFunc(c.bracket.points, cleanBefore)
	})
	return answer != nil && c.confirmed == nil && lost && !answer.surelyWithin(c.rules.MaxLossRatio)
}

// outvoted are the loads up to the answer that lost frames in some window in which they were held, lowest first.
func (c *conclusion) outvoted(answer *point) (loads []report.Outvoted) {
	byLoad := map[units.Ratio]report.Outvoted{}
	for _, p := range c.heldWindows {
		o := byLoad[p.asked]
		o.Load, o.Judged = p.asked, o.Judged+1
		if p.lossy {
			o.Lossy = append(o.Lossy, p.window.Number)
		}
		byLoad[p.asked] = o
	}
	for _, load := range slices.Sorted(maps.Keys(byLoad)) {
		if load <= answer.asked && len(byLoad[load].Lossy) > 0 {
			loads = append(loads, byLoad[load])
		}
	}
	return loads
}

// generatorOutrun reports whether the loss above the answer may come from a generator that was asked for more than it
// can send, and sends what it can in bursts. Less than asked was sent then at the answer, or at the lossy load, and the
// difference is wider than the bracket was to be. Where frames were lost at a load that was offered, not only asked
// for, above the answer, a few percent are a stumble, and the limit lies between.
func generatorOutrun(answerShort, lossyShort, lostHigher bool, resolution, refineTo units.Ratio) bool {
	switch {
	case !answerShort && !lossyShort:
		return false
	case refineTo <= 0:
		return !lostHigher
	case lostHigher:
		return answerShort && resolution > max(stumble, tolerated*refineTo)
	}
	return resolution > tolerated*refineTo
}

// lostHigher reports whether some window lost frames while noticeably more was offered than at the answer.
func (c *conclusion) lostHigher(answer *point) bool {
	return slices.ContainsFunc(c.measured, func(p point) bool { return p.lossy && noticeablyLess(answer.load, p.load) })
}

// cleanAboveSaturation reports whether, after saturation was marked, a higher load of the staircase was clean.
func (c *conclusion) cleanAboveSaturation() bool {
	first := c.bracket.first
	return slices.ContainsFunc(c.bracket.points, func(p point) bool {
		climbed := p.window.Phase == report.Ramping || p.window.Phase == report.Hold
		return climbed && p.clean && p.index > first.index && p.load > first.load
	})
}

// unsaturated is why there is only a lower bound, where no load is known to lose frames.
func (c *conclusion) unsaturated(answer *point) report.Reason {
	if answer.asked >= units.One && !answer.short {
		return report.TargetReached
	}
	if answer.short {
		return answer.reasonOfShort()
	}
	reason := report.Inconclusive
	for _, p := range c.bracket.points {
		switch {
		case p.asked <= answer.asked:
		case p.weak || p.generatorAtFault():
			return report.GeneratorLimited
		case p.short || p.machine:
			reason = report.MachineLimited
		}
	}
	return reason
}

// unclearAbove is the last window at a load between the answer and the lossy one whose last window could not be judged.
// A window that was lossy before proves nothing then. Nil means that there is none.
func (c *conclusion) unclearAbove(answer *point) (unclear *point) {
	decided := map[units.Ratio]bool{}
	for _, p := range slices.Backward(c.measured) {
		if decided[p.asked] {
			continue
		}
		decided[p.asked] = true
		if p.unclear() && p.asked > answer.asked && p.asked < c.bracket.upper.asked {
			return &p
		}
	}
	return nil
}
