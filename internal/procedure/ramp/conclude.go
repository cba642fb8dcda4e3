package ramp

import (
	"maps"
	"slices"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/units"
)

// Conclude draws the conclusion from the windows measured so far.
func (r Ramp) Conclude(history []report.Window) procedure.Conclusion {
	m, p := replay(r.plan, history), r.plan
	c := procedure.Conclusion{Reason: report.NotMeasured, Window: procedure.None, Lossy: procedure.None}
	c.Finished, c.Ending = m.ended()
	if m.hi != nil {
		c.Lossy = m.hi.window
		c.NonMonotonic = m.cleanAboveSaturation()
	}
	lo := m.lo()
	if m.confirmed != nil {
		lo = m.confirmed
	}
	unheld := lo == nil
	if unheld {
		lo = m.highestUnheldClean()
	}
	switch {
	case m.unproven(lo):
		c.Reason, c.Unproven = report.Inconclusive, true
		return c
	case lo == nil && len(m.points) > 0:
		c.Reason = report.NoCleanWindow
	case lo == nil:
	case m.hi == nil:
		c.Window, c.Reason = lo.window, m.unsaturated(lo)
	default:
		c.Window = lo.window
		c.Resolution = max(width(lo.asked, m.hi.asked), width(lo.load, m.hi.load), width(m.reallyOffered(lo), m.mostOffered()))
		c.Saturated, c.Reason = true, report.LossAboveLimit
		if between := m.unclearAbove(lo); between != nil && (p.Ramp.RefineTo <= 0 || c.Resolution > tolerated*p.Ramp.RefineTo) {
			c.Saturated, c.Reason = false, reasonOfUnclear(*between)
		}
		if m.generatorOutrun(lo, c.Resolution) {
			c.Saturated, c.Reason = false, report.GeneratorLimited
		}
		if unheld {
			c.Saturated, c.Reason = false, m.reasonOfUnheld()
		}
	}
	c.Confirmed = m.confirmed != nil
	if lo != nil {
		c.Outvoted = m.outvoted(lo)
		c.Directions = m.directions(c, lo, unheld)
	}
	return together(c)
}

// ended says that the run is complete, and how it ended.
func (m *machine) ended() (complete bool, how string) {
	switch {
	case m.looking: // for a better answer
		return true, m.ending
	case m.stage == finished:
		return true, m.reason
	}
	return false, ""
}

// highestUnheldClean is the highest clean load, below the lowest that lost frames when held, of those that could not be judged when they were held; nil: there is none.
func (m *machine) highestUnheldClean() *point {
	lowest := units.Ratio(1<<63 - 1)
	for _, p := range m.looks {
		if p.lossy {
			lowest = min(lowest, p.asked)
		}
	}
	if m.hi != nil {
		lowest = min(lowest, m.hi.asked)
	}
	var best *point
	for i := range m.points {
		if p := &m.points[i]; p.unheld && p.asked < lowest && (best == nil || p.asked > best.asked) {
			best = p
		}
	}
	return best
}

// unproven says that the load that would be the answer is not known to be clean: the edges of its window may hide more loss than the limit allows, and that load, or a higher one that had looked
// as clean, lost frames when it was held. A device that loses a little of every load has no answer, not even a lower bound.
func (m *machine) unproven(lo *point) bool {
	lost := m.shortDistrusted || slices.ContainsFunc(m.looks, func(held point) bool {
		return held.lossy && slices.ContainsFunc(m.points, func(p point) bool { return p.clean && p.asked == held.asked })
	})
	return lo != nil && m.confirmed == nil && lost && !m.surelyWithinLimit(m.history[lo.window])
}

// reasonOfUnheld is the reason of the last unclear window.
func (m *machine) reasonOfUnheld() report.Reason {
	for i := len(m.history) - 1; i >= 0; i-- {
		if p := pointOf(m.history[i], i); p.unclear() {
			return reasonOfUnclear(p)
		}
	}
	return report.Inconclusive
}

// outvoted are the loads up to the answer that lost frames in some window in which they were held, lowest first.
func (m *machine) outvoted(lo *point) (all []report.Outvoted) {
	at := map[units.Ratio]report.Outvoted{}
	for _, p := range m.looks {
		o := at[p.asked]
		o.Load, o.Of = p.asked, o.Of+1
		if p.lossy {
			o.Lossy = append(o.Lossy, m.history[p.window].Number)
		}
		at[p.asked] = o
	}
	for _, load := range slices.Sorted(maps.Keys(at)) {
		if load <= lo.asked && len(at[load].Lossy) > 0 {
			all = append(all, at[load])
		}
	}
	return all
}

// reallyOffered is a point's load as it was offered, to the last frame: a difference that the search ignores as noise of the reading still widens the resolution.
func (m *machine) reallyOffered(p *point) units.Ratio {
	w := m.history[p.window]
	least := w.Load
	for _, d := range w.Directions {
		if d.Intended.PacketsPerSecond > 0 {
			least = min(least, mul(w.Load, units.RatioOf(d.Offered.PacketsPerSecond, d.Intended.PacketsPerSecond)))
		}
	}
	return least
}

// mostOffered is the lossy end's load as it was asked for, or as it was offered if that is more: a generator that catches up after a stall sends a little faster for a while.
func (m *machine) mostOffered() units.Ratio {
	most := m.hi.asked
	for _, d := range m.history[m.hi.window].Directions {
		if d.Quality == report.Lossy && d.Intended.PacketsPerSecond > 0 {
			most = max(most, mul(m.hi.asked, units.RatioOf(d.Offered.PacketsPerSecond, d.Intended.PacketsPerSecond)))
		}
	}
	return most
}

// generatorOutrun says that the loss above the answer may come from a generator that was asked for more than it can send, and sends what it can in bursts: it sent less than asked, and the
// difference is wider than the bracket was to be. Where frames were lost at a load that was offered, not only asked for, above the answer, a few percent are a stumble: the limit lies between.
func (m *machine) generatorOutrun(lo *point, resolution units.Ratio) bool {
	return m.isGeneratorOutrun(lo.short, m.hi.short, m.lostAtHigherOffer(lo), resolution)
}

// isGeneratorOutrun judges by whether less than asked was sent at the answer, or at the lossy end, and by whether frames were lost where more was offered than at the answer.
func (m *machine) isGeneratorOutrun(answerShort, lossyShort, more bool, resolution units.Ratio) bool {
	switch {
	case !answerShort && !lossyShort:
		return false
	case m.Ramp.RefineTo <= 0:
		return !more
	case more:
		return answerShort && resolution > max(stumble, tolerated*m.Ramp.RefineTo)
	}
	return resolution > tolerated*m.Ramp.RefineTo
}

// lostAtHigherOffer says that some window lost frames while noticeably more was offered than at the answer.
func (m *machine) lostAtHigherOffer(lo *point) bool {
	for i := range m.history {
		p := pointOf(m.history[i], i)
		if m.history[i].Phase != report.WarmUp && p.lossy && noticeablyLess(lo.load, p.load) {
			return true
		}
	}
	return false
}

// stumble is how wide the bracket may be for what the generator left out at the answer, where more was offered and lost.
const stumble = units.One / 20

// tolerated is how many times wider than asked for the bracket may stay, where windows in it could not be judged, before the answer is
// called a lower bound.
const tolerated = 4

// cleanAboveSaturation says that after saturation was marked, a higher load of the staircase was clean.
func (m *machine) cleanAboveSaturation() bool {
	for _, p := range m.points {
		phase := m.history[p.window].Phase
		if p.window > m.first.window && p.clean && p.load > m.first.load && (phase == report.Ramping || phase == report.Hold) {
			return true
		}
	}
	return false
}

// unsaturated is why there is only a lower bound.
func (m *machine) unsaturated(lo *point) report.Reason {
	if lo.asked >= units.One && !lo.short {
		return report.ReachedTarget
	}
	if lo.short {
		return report.GeneratorLimited
	}
	reason := report.Inconclusive
	for _, p := range m.points {
		switch {
		case p.asked <= lo.asked:
		case p.short || p.isGenerators():
			return report.GeneratorLimited
		case p.machine:
			reason = report.MachineLimited
		}
	}
	return reason
}

// unclearAbove is a load between the answer and the lossy one at which no window, however often repeated, could be judged.
func (m *machine) unclearAbove(lo *point) *point {
	var found *point
	for i := range m.history {
		p := pointOf(m.history[i], i)
		if m.history[i].Phase != report.WarmUp && p.unclear() && p.asked > lo.asked && p.asked < m.hi.asked && !m.judgedAt(p.asked) {
			found = &p
		}
	}
	return found
}

// judgedAt says that the last window at this load was clean or lossy: a window that was lossy before, and could not be judged when it was looked at again, proves nothing.
func (m *machine) judgedAt(asked units.Ratio) bool {
	judged := false
	for i := range m.history {
		if p := pointOf(m.history[i], i); p.asked == asked && m.history[i].Phase != report.WarmUp {
			judged = !p.unclear()
		}
	}
	return judged
}

// reasonOfUnclear is the reason that an unclear window gives.
func reasonOfUnclear(p point) report.Reason {
	switch {
	case p.isGenerators():
		return report.GeneratorLimited
	case p.machine:
		return report.MachineLimited
	}
	return report.Inconclusive
}
