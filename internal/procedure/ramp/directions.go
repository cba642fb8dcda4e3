package ramp

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/units"
)

// All directions climb together, so the first that loses frames ends the climb of all. What another one can do isn't known then: each direction is bounded from above
// by its own loss alone, above the answer, where that is believed.
//
//	west→east  ───────── answer ┊ lost ✗✗ ─────────────▶ load       a limit
//	east→west  ───────── answer ┊ clean ───────────────▶ load       a lower bound: OtherDirection

// directions are the conclusions of each direction, for an answer that all of them share. With a single direction, it has the conclusion of the whole.
func (m *machine) directions(whole procedure.Conclusion, lo *point, unheld bool) []procedure.DirectionConclusion {
	all := make([]procedure.DirectionConclusion, len(m.history[lo.window].Directions))
	if len(all) == 1 {
		all[0] = procedure.DirectionConclusion{Reason: whole.Reason, Saturated: whole.Saturated, Confirmed: whole.Confirmed, Window: whole.Window, Lossy: procedure.None}
		if whole.Saturated {
			all[0].Lossy, all[0].Resolution = whole.Lossy, whole.Resolution
		}
		return all
	}
	for d := range all {
		all[d] = m.direction(d, whole, lo, unheld)
	}
	return all
}

func (m *machine) direction(d int, whole procedure.Conclusion, lo *point, unheld bool) procedure.DirectionConclusion {
	c := procedure.DirectionConclusion{Reason: whole.Reason, Confirmed: whole.Confirmed, Window: lo.window, Lossy: procedure.None}
	if whole.Reason == report.LossAboveLimit {
		c.Reason = report.OtherDirection
	}
	lossy := m.windowOfOwnLoss(d, lo)
	if unheld || m.hi == nil || lossy == procedure.None {
		return c
	}
	resolution := m.resolutionIn(d, lo, lossy)
	if blamed := m.reasonOfUnclearIn(d, lo, lossy, resolution); blamed != "" {
		c.Reason = blamed
		return c
	}
	if m.generatorOutrunIn(d, lo, lossy, resolution) {
		c.Reason = report.GeneratorLimited
		return c
	}
	c.Lossy, c.Resolution = lossy, resolution
	if m.confirmed != nil && !m.steadyIn(d, lo.load) {
		return c // it may have carried the answer from what it had saved up
	}
	near := tolerated * max(m.Ramp.RefineTo, whole.Resolution)
	if m.cleanBelow(d, lo, lossy) {
		near = min(tolerated*m.Ramp.RefineTo, max(m.Ramp.RefineTo, stumble))
	}
	if resolution <= near {
		c.Saturated, c.Reason = true, report.LossAboveLimit
	}
	return c
}

// cleanBelow says that the direction was clean above the answer and below the load at which it lost frames: its limit lies there, and not at the answer.
func (m *machine) cleanBelow(d int, lo *point, lossy int) bool {
	return slices.ContainsFunc(m.ballots(d, lo), func(b ballot) bool { return b.load < m.history[lossy].Load && b.clean > len(b.lossy) })
}

// together makes the answer as a whole say what holds for all its directions: it is the device's limit only if each direction's figure is.
func together(whole procedure.Conclusion) procedure.Conclusion {
	open := slices.IndexFunc(whole.Directions, func(d procedure.DirectionConclusion) bool { return !d.Saturated })
	if open < 0 {
		for _, d := range whole.Directions {
			whole.Resolution = max(whole.Resolution, d.Resolution)
		}
	}
	if !whole.Saturated || open < 0 {
		return whole
	}
	whole.Saturated, whole.Reason = false, whole.Directions[open].Reason
	if !slices.ContainsFunc(whole.Directions, func(d procedure.DirectionConclusion) bool { return d.Saturated }) {
		return unattributed(whole)
	}
	return whole
}

// unattributed is an answer above which frames were lost, but no direction's own loss makes it its limit: now one lost frames and now another, or one that lost them repeatedly was clean in between.
// It is for the reason that keeps a direction's own loss from being its limit, where there is one.
func unattributed(whole procedure.Conclusion) procedure.Conclusion {
	whole.Reason, whole.Unattributed = report.Inconclusive, true
	if blamed := slices.IndexFunc(whole.Directions, func(d procedure.DirectionConclusion) bool { return d.Reason != report.OtherDirection }); blamed >= 0 {
		whole.Reason, whole.Unattributed = whole.Directions[blamed].Reason, false
	}
	for i := range whole.Directions {
		if d := &whole.Directions[i]; d.Reason == report.OtherDirection {
			d.Reason = whole.Reason
		}
	}
	return whole
}

// ballot is what the windows at one load show of one direction: loss there is believed when it repeats, as it is for all directions together.
type ballot struct {
	load   units.Ratio
	lossy  []int // the windows that lost frames, as indexes into the history
	shorts int   // how many of those were offered less than asked: a generator that stumbled and caught up may have made a device lose frames
	clean  int
	void   int
}

// votes is how many windows count as loss: those of a generator that stumbles count only where it does so each time.
func (b ballot) votes() int {
	return len(b.lossy) - min(b.shorts, invalidRepeats)
}

// believed says that the loss repeated at this load, and was not outvoted.
func (b ballot) believed() bool { return b.votes() >= 2 && b.votes() > b.clean }

// counts says that the windows at this load speak for loss, if only together with those at another load.
func (b ballot) counts() bool { return b.votes() >= 1 && b.clean == 0 }

// open says that another window at this load would show more.
func (b ballot) open() bool {
	switch {
	case b.believed(), b.void > invalidRepeats, len(b.lossy)+b.clean >= bestOf+invalidRepeats:
		return false
	case b.clean == 0:
		return true
	}
	return b.votes() == 1 && b.clean == 1
}

// ballots are what the windows above the answer show of a direction, by load, the lowest first. A clean window shorter than the confirmation does not count where short windows are distrusted.
func (m *machine) ballots(d int, lo *point) []ballot {
	withdrawn := map[int]bool{}
	for _, p := range m.points {
		withdrawn[p.window] = p.withdrawn
	}
	var all []ballot
	for i, w := range m.history {
		if w.Phase == report.WarmUp || w.Load <= lo.asked || withdrawn[i] || d >= len(w.Directions) {
			continue
		}
		at := slices.IndexFunc(all, func(b ballot) bool { return b.load == w.Load })
		if at < 0 {
			at, all = len(all), append(all, ballot{load: w.Load})
		}
		b, seen := &all[at], w.Directions[d]
		switch seen.Quality {
		case report.Lossy:
			b.lossy = append(b.lossy, i)
			if offeredLoad(seen, w.Load) < w.Load {
				b.shorts++
			}
		case report.Good, report.Short:
			if !m.shortDistrusted || w.Duration >= m.Ramp.ConfirmDuration {
				b.clean++
			}
		case report.Invalid:
			b.void++
		case report.Unjudged:
		}
	}
	slices.SortFunc(all, func(a, b ballot) int { return cmp.Compare(a.load, b.load) })
	return all
}

// windowOfOwnLoss is the window of the lowest load above the answer at which the direction itself lost frames, as far as that is believed: the loss repeated at that load; or a run of lossy
// windows of the staircase began there; or frames were lost at a lower load, too, and the direction was clean nowhere from there on. None: no loss is believed.
func (m *machine) windowOfOwnLoss(d int, lo *point) int {
	ballots, begun := m.ballots(d, lo), m.runBeginsAt(d, lo)
	cleanest := units.Ratio(0) // the highest load at which the direction was clean
	for _, b := range ballots {
		if b.clean > 0 {
			cleanest = b.load
		}
	}
	before := false // frames were lost at a lower load, and at none from there on the direction was clean
	for _, b := range ballots {
		single := b.counts() && b.load > cleanest
		if b.believed() || begun == b.load && len(b.lossy) > b.clean || single && before {
			return m.mostOfferedOf(d, b.lossy)
		}
		before = before || single
	}
	return procedure.None
}

// mostOfferedOf is the window, of several lossy ones at one load, in which most was offered, so that the bound is surely not too low.
func (m *machine) mostOfferedOf(d int, lossy []int) int {
	return slices.MaxFunc(lossy, func(a, b int) int {
		return int(m.history[a].Directions[d].Offered.PacketsPerSecond - m.history[b].Directions[d].Offered.PacketsPerSecond)
	})
}

// runBeginsAt is the load above the answer at which the direction's first run of lossy windows in the staircase began, by the same rule as saturation; 0: there is none.
func (m *machine) runBeginsAt(d int, lo *point) units.Ratio {
	var run []int
	for i, p := range m.points {
		w := m.history[p.window]
		if w.Phase != report.Ramping || p.withdrawn || p.asked <= lo.asked || d >= len(w.Directions) {
			continue
		}
		switch w.Directions[d].Quality {
		case report.Lossy:
			run = append(run, i)
		case report.Good, report.Short:
			run = nil
		case report.Invalid, report.Unjudged:
		}
		if len(run) == lossyRun {
			carried := m.medianOf(run, func(p point) units.Ratio { return m.forwardedIn(d, p.window) })
			return m.points[m.firstCredible(run, carried)].asked
		}
	}
	return 0
}

// forwardedIn is the share of the intended load that the device carried of a direction in a window.
func (m *machine) forwardedIn(d, window int) units.Ratio {
	w := m.history[window]
	return mul(w.Load, units.One-min(w.Directions[d].LossRatio, units.One))
}

// resolutionIn is how far the direction's answer may lie below the load of the lossy window, as a share of that.
func (m *machine) resolutionIn(d int, lo *point, lossy int) units.Ratio {
	low, high := m.history[lo.window], m.history[lossy]
	of, at := low.Directions[d], high.Directions[d]
	most := high.Load
	if at.Intended.PacketsPerSecond > 0 {
		most = max(most, mul(high.Load, units.RatioOf(at.Offered.PacketsPerSecond, at.Intended.PacketsPerSecond)))
	}
	least := low.Load
	if of.Intended.PacketsPerSecond > 0 {
		least = min(least, mul(low.Load, units.RatioOf(of.Offered.PacketsPerSecond, of.Intended.PacketsPerSecond)))
	}
	return max(width(low.Load, high.Load), width(offeredLoad(of, low.Load), offeredLoad(at, high.Load)), width(least, most))
}

// reasonOfUnclearIn is why a direction's limit is unknown although it lost frames: at a load below that no window of the direction could be judged, which leaves much more unresolved than asked
// for. Empty: there is no such load.
func (m *machine) reasonOfUnclearIn(d int, lo *point, lossy int, resolution units.Ratio) report.Reason {
	if m.Ramp.RefineTo > 0 && resolution <= tolerated*m.Ramp.RefineTo {
		return ""
	}
	for _, b := range m.ballots(d, lo) {
		if b.void == 0 || len(b.lossy)+b.clean > 0 || b.load >= m.history[lossy].Load {
			continue
		}
		for i, w := range m.history {
			if w.Load == b.load && w.Phase != report.WarmUp && d < len(w.Directions) && w.Directions[d].Quality == report.Invalid {
				return reasonOfUnclear(pointOf(w, i))
			}
		}
	}
	return ""
}

// generatorOutrunIn is generatorOutrun for one direction.
func (m *machine) generatorOutrunIn(d int, lo *point, lossy int, resolution units.Ratio) bool {
	short := func(window int) bool {
		w := m.history[window]
		return offeredLoad(w.Directions[d], w.Load) < w.Load || w.Directions[d].Quality == report.Short
	}
	held := offeredLoad(m.history[lo.window].Directions[d], lo.asked)
	more := slices.ContainsFunc(m.history, func(w report.Window) bool {
		return w.Phase != report.WarmUp && d < len(w.Directions) && w.Directions[d].Quality == report.Lossy && noticeablyLess(held, offeredLoad(w.Directions[d], w.Load))
	})
	return m.isGeneratorOutrun(short(lo.window), short(lossy), more, resolution)
}

// The search ends when the direction that lost frames first is resolved. Of a device that carries as much in every direction, noise decides which one that is, and another would
// stay a lower bound though it loses frames a little above: so such a direction is looked at once or twice more, as short a way above the answer as its limit is to be resolved.
//
//	answer ┊ hi ✗ (west→east)      ┊ closer: east→west ✗✗
//	       ◀── refineTo ──▶
//	       ◀── 2 or 3 × refineTo ────────────▶ only if its loss above says that it carries more than the first

// closerWindows is how many windows may be spent on that. They count as windows of the search, or of the confirmation's length.
const closerWindows = 6

// endSearch finishes the run, after looking below loads that could not be judged, and for directions' own limits just above the answer.
func (m *machine) endSearch(reason string) {
	if m.ending = reason; m.lookBelowUnclear() {
		m.looking, m.held = true, m.confirmed
		m.reason = m.ending + "; " + m.reason
		return
	}
	m.lookForOwnLimits()
}

// lookForOwnLimits looks at the next load that may show a direction's own limit, or finishes.
func (m *machine) lookForOwnLimits() {
	d, at := m.directionToLookAt()
	if d == procedure.None {
		m.finish(m.ending)
		return
	}
	m.stage = closing
	m.target = target{phase: report.Refine, load: at, judge: m.judgeFor(at)}
	if m.shortDistrusted {
		m.target.judge, m.target.drained = m.Ramp.ConfirmDuration.Std(), m.edgesCover(at)
	}
	dir := m.history[m.answer().window].Directions[d]
	m.reason = fmt.Sprintf("%s; looking whether %s→%s, too, loses frames just above that, at %s", m.ending, dir.From, dir.To, percent(at))
}

// observeCloser takes in a window that looks for a direction's own limit.
func (m *machine) observeCloser(p point) {
	m.closers++
	if p.long = m.shortDistrusted; p.long {
		m.long++
	} else {
		m.refined++
	}
	m.lookForOwnLimits()
}

// directionToLookAt finds a direction whose own limit may show just above the answer, and the load; None: there is none, or too many windows were spent.
func (m *machine) directionToLookAt() (direction int, at units.Ratio) {
	lo := m.answer()
	spent := m.closers >= closerWindows || m.refined >= refineWindows || m.shortDistrusted && m.long >= longWindows || m.timeIsUp()
	if lo == nil || m.hi == nil || m.Ramp.RefineTo <= 0 || spent {
		return procedure.None, 0
	}
	for d := range m.history[lo.window].Directions {
		if at := m.loadForOwnLimit(d, lo); at > 0 {
			return d, at
		}
	}
	return procedure.None, 0
}

// loadForOwnLimit is the load at which a direction's own limit may show and be narrower than known so far; 0: there is none. A direction without any lossy window has its limit above all loads
// tried, and one that carried clearly more than the answer in lossy windows has it there.
func (m *machine) loadForOwnLimit(d int, lo *point) units.Ratio {
	known := units.Ratio(1<<63 - 1)
	if lossy := m.windowOfOwnLoss(d, lo); lossy != procedure.None {
		known = m.history[lossy].Load
		if width(lo.asked, known) <= 2*m.Ramp.RefineTo {
			return 0
		}
	}
	ballots, lost, carried := m.ballots(d, lo), false, units.Ratio(0)
	for _, b := range ballots {
		for _, i := range b.lossy {
			lost = true
			if !m.shortDistrusted || m.history[i].Duration >= m.Ramp.ConfirmDuration { // else some of it may have been saved up
				carried = max(carried, m.forwardedIn(d, i))
			}
		}
	}
	for times := units.Ratio(1); times < tolerated; times++ {
		at := lo.asked + mul(lo.asked, units.RatioOf(int64(times*m.Ramp.RefineTo), int64(units.One-times*m.Ramp.RefineTo)))
		at = min(max(at, m.hi.asked), units.One)
		if at >= known || !lost {
			return 0
		}
		if carried > at-mul(at, m.MaxLossRatio) {
			continue
		}
		i := slices.IndexFunc(ballots, func(b ballot) bool { return b.load == at })
		if i < 0 || ballots[i].open() {
			return at
		}
	}
	return 0
}

// answer is the clean window that the run's figures come from, as far as the search has got; nil: there is none.
func (m *machine) answer() *point {
	if m.confirmed != nil {
		return m.confirmed
	}
	return m.lo()
}
