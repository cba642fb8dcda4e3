package ramp

import (
	"fmt"
	"math"
	"slices"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// observeSearch takes in a window of the search.
func (m *machine) observeSearch(p point) {
	m.confirmed = nil // the search goes on, for a higher load
	if m.target.overload {
		m.observeOverload(p)
		return
	}
	isLong := m.Ramp.ConfirmDuration > 0 && m.target.judge >= m.Ramp.ConfirmDuration.Std() && (m.shortDistrusted || m.target.phase == report.Confirm)
	p.long = isLong && (!p.clean || m.surelyWithinLimit(m.history[p.window]))
	if isLong {
		m.long++
		m.keepHeldWindow(p)
	} else {
		m.refined++
	}
	if m.wantsAnother(p, isLong) {
		return
	}
	m.settleLoad(p, isLong)
	m.votes, m.repeats = votes{}, 0
	if m.stage == narrowing {
		m.chooseNextLoad()
	}
}

// keepHeldWindow keeps a window in which a load was held for the conclusion, even one that is outvoted.
func (m *machine) keepHeldWindow(p point) {
	if !p.unclear() {
		m.looks = append(m.looks, p)
	}
}

// wantsAnother says that the same load needs another window: this one could not be judged or shows less than it should, or windows don't agree yet.
func (m *machine) wantsAnother(p point, isLong bool) bool {
	switch {
	case p.unclear():
		return m.repeatUnclear(p, isLong)
	case p.lossy && p.short && m.mayRepeat(isLong) && m.repeatStumble(m.history[p.window]):
		return true
	case p.clean && m.mayRepeat(isLong) && m.repeatClean(p, isLong):
		return true
	}
	return m.vote(p, !m.timeIsUp() && (isLong && m.long < longWindows || !isLong && m.refined < refineWindows))
}

// repeatClean repeats a clean window that proves less than it was to prove.
func (m *machine) repeatClean(p point, isLong bool) bool {
	switch {
	case isLong && m.sentTooLittle(p):
		return m.repeatShort(p)
	case isLong && !p.long:
		return m.repeatDrained(p)
	case !isLong && m.repeats < invalidRepeats && m.longerWindowHelps(m.history[p.window]):
		return m.repeatLonger(p)
	}
	return false
}

func (m *machine) repeatUnclear(p point, isLong bool) bool {
	if !m.mayRepeat(isLong) || !m.repeatInvalid(m.history[p.window]) {
		return false
	}
	if !isLong && !p.bursts && !p.machine { // a longer window has more of them
		m.target.judge = min(2*m.target.judge, longest*judged(m.Ramp))
	}
	return true
}

// repeatShort keeps a clean window as the lower bound that it is, and asks for the same load once more.
func (m *machine) repeatShort(p point) bool {
	m.points = append(m.points, p)
	m.repeats++
	m.reason = fmt.Sprintf("window %d lost nothing, but the generator sent less than the %s that was asked for; tried again",
		m.history[p.window].Number, percent(p.asked))
	return true
}

// repeatLonger asks for a load once more, for longer: more frames are missing than the limit allows, and the edges of so short a window may account for all of them.
func (m *machine) repeatLonger(p point) bool {
	w := m.history[p.window]
	m.repeats++
	m.target.judge = min(2*m.target.judge, longest*judged(m.Ramp))
	m.reason = fmt.Sprintf("window %d is repeated for longer, which shows more: %s", w.Number, w.Reason)
	return true
}

// othersCame is why a trial without loss proves nothing where not one frame may be lost.
const othersCame = "frames of others may have taken the place of lost ones"

// repeatDrained asks once more for a load that was clean as far as the window's edges show, by a trial, which has no edges.
func (m *machine) repeatDrained(p point) bool {
	m.repeats++
	m.target.drained = true
	w := m.history[p.window]
	m.reason = fmt.Sprintf("window %d lost none as far as its edges show, but they may hide more than the loss limit; tried again by a trial, counted after its last frame", w.Number)
	if !w.HasEdges() {
		m.reason = fmt.Sprintf("window %d is repeated, %s: %s", w.Number, othersCame, w.Reason)
	}
	return true
}

// vote is best of three: loss in one window may be chance, or come from a machine that was busy for a moment, however long the window. It says that another window is needed and allowed.
//
//	lossy ─┬─ lossy: believed
//	       └─ clean ── the third decides
//	clean: believed
func (m *machine) vote(p point, may bool) bool {
	w := m.history[p.window]
	if p.lossy && (m.votes.lossy == 0 || m.forwarded(p) > m.forwarded(m.votes.least)) {
		m.votes.least = p
	}
	if p.lossy {
		m.votes.lossy++
	}
	switch {
	case !may:
	case p.lossy && m.votes.lossy == 1 && !m.votes.clean:
		m.reason = fmt.Sprintf("window %d lost frames at %s of the target; tried again, as loss is believed when it repeats", w.Number, percent(p.asked))
		return true
	case p.clean && m.votes.lossy == 1 && !m.votes.clean:
		m.votes.clean = true
		m.reason = fmt.Sprintf("window %d lost none at %s of the target, the one before did; the next decides", w.Number, percent(p.asked))
		return true
	}
	return false
}

// repeatStumble repeats a step, within its bound, because frames were lost while the generator sent less than asked: one that stands still for a moment and then catches up sends a burst that a
// device may well lose.
func (m *machine) repeatStumble(w report.Window) bool {
	if m.repeats >= invalidRepeats {
		return false
	}
	m.repeats++
	m.reason = fmt.Sprintf("window %d is repeated, the generator sent less than asked and may have caught up in a burst: %s", w.Number, w.Reason)
	return true
}

// sentTooLittle says that so much less was sent than asked for that the answer would be wider than it is to be: what was not sent was not proven.
func (m *machine) sentTooLittle(p point) bool {
	return m.hi != nil && m.Ramp.RefineTo > 0 && width(m.reallyOffered(&p), p.asked) > m.Ramp.RefineTo/2
}

func (m *machine) mayRepeat(isLong bool) bool {
	switch {
	case m.timeIsUp():
		return false
	case isLong:
		return m.long < longWindows && m.repeats < longRepeats
	}
	return m.refined < refineWindows
}

// settleLoad moves the end of the bracket that the point belongs to.
func (m *machine) settleLoad(p point, isLong bool) {
	w := m.history[p.window]
	switch {
	case p.lossy && (!isLong || m.votes.lossy > 1):
		m.settleLossy(p, isLong)
	case p.clean:
		m.settleClean(p)
		if isLong && !p.long && !w.HasEdges() {
			m.finish(fmt.Sprintf("not confirmed: %s (window %d: %s); keep LLDP, STP and other people's traffic off the links", othersCame, w.Number, w.Reason))
		}
	case m.hi == nil && m.target.phase != report.Confirm:
		m.points = append(m.points, p)
	case m.hi == nil && m.held != nil:
		m.confirmed = m.held
		m.finish(fmt.Sprintf("confirmed at %s of the target; window %d, at %s, can't be judged: %s", percent(m.held.asked), w.Number, percent(p.asked), w.Reason))
	case m.hi == nil:
		m.finish(fmt.Sprintf("not confirmed: window %d can't be judged: %s", w.Number, w.Reason))
	default:
		m.settleUnclear(p, isLong)
	}
}

// settleLossy believes the loss, and takes the long window that lost least: a disturbance adds to what the device loses.
func (m *machine) settleLossy(p point, isLong bool) {
	if isLong {
		p = m.votes.least
	}
	m.mark(p, m.marker)
	m.proven = true
	if !m.target.guess {
		m.estimate = m.forwarded(p)
	}
	if isLong {
		m.goOnBelowHeldLoss(p, m.history[p.window])
	}
}

func (m *machine) settleClean(p point) {
	m.points = append(m.points, p)
	if m.hi == nil {
		return
	}
	m.bothSidesClean = m.target.guess && m.estimate == 0 && p.asked < m.hi.asked
	if p.asked >= m.ceiling {
		m.ceiling = m.hi.asked
	}
	if p.asked == m.hi.asked {
		m.withdrawSaturation(p)
	}
}

func (m *machine) settleUnclear(p point, isLong bool) {
	m.unclear = !p.isGeneratorsOrMachines() && p.asked < m.ceiling
	m.ceiling = min(m.ceiling, p.asked)
	m.proven = m.proven || p.asked >= m.hi.asked // looking again does not tell
	if isLong {
		m.goOnBelowUnclear(p.asked - mul(p.asked, m.Ramp.RefineTo)/2)
	}
	m.reason = fmt.Sprintf("%s of the target stays unclear (%s); searching below", percent(p.asked), m.history[p.window].Reason)
}

// goOnBelowHeldLoss goes on after long windows lost frames where short ones lost none: the device forwarded that share of the better one, so the limit is near there. But a device that is slow for a
// small part of the time loses little of any load above its limit: each load that loses frames too is followed by a step down four times as long, so that few windows get below it, and some are left.
func (m *machine) goOnBelowHeldLoss(p point, w report.Window) {
	if m.marker == "" {
		m.marker = "the confirmation"
	}
	step := mul(p.asked, m.Ramp.RefineTo) / 2
	m.losesOfEveryLoad = m.losesOfEveryLoad || slices.ContainsFunc(m.heldLosses, func(above point) bool { return m.lostAsMuchAs(above, p) })
	if !m.losesOfEveryLoad {
		step = min(step<<(2*len(m.heldLosses)), p.asked/2)
	}
	m.heldLosses = append(m.heldLosses, p)
	m.distrustShortWindows(min(max(m.forwarded(p), m.loadJustBelow(p)), p.asked-step))
	m.reason = fmt.Sprintf("window %d lost frames at %s of the target when held, and so did another window: %s", w.Number, percent(p.asked), w.Reason)
}

// lostAsMuchAs says that a load lost the same share, neither less nor more, as one a tenth or more above it: within a twentieth of the share and what so few frames scatter by (three times the root of their number).
func (m *machine) lostAsMuchAs(above, p point) bool {
	if width(p.asked, above.asked) < units.One/10 {
		return false
	}
	share, _ := m.largestLoss(above)
	lost, of := m.largestLoss(p)
	expected := share.Float() * float64(of)
	return math.Abs(lost.Float()*float64(of)-expected) < max(expected/20, 3*math.Sqrt(expected))
}

// loadJustBelow is the load just far enough below a lossy one that the bracket is as narrow as asked for, if that little more than the device carried is well within the loss limit; else 0.
func (m *machine) loadJustBelow(p point) units.Ratio {
	at := p.asked - mul(p.asked, m.Ramp.RefineTo) + 1
	if width(m.forwarded(p), at) > m.MaxLossRatio/2 {
		return 0
	}
	return at
}

// goOnBelowUnclear goes on with long windows at the hint, as those above it can't be judged. Short ones above it were not refuted: if nothing else is clean in the end, they are lower bounds.
func (m *machine) goOnBelowUnclear(hint units.Ratio) {
	for i := range m.points {
		p := &m.points[i]
		p.unheld = p.unheld || p.clean && !p.fooled && !p.long && p.asked > hint
	}
	m.distrustShortWindows(hint)
}

// distrustShortWindows goes on with long windows at the hint; short ones above it missed the loss.
func (m *machine) distrustShortWindows(hint units.Ratio) {
	m.shortDistrusted, m.hint = true, hint
	for i := range m.points {
		m.points[i].fooled = m.points[i].fooled || !m.points[i].long && m.points[i].asked > hint
	}
}

func (m *machine) saturationSentence() string {
	return fmt.Sprintf("saturation: %d windows in a row lost frames on %s, the first at %s of the target", lossyRun, m.marker, percent(m.hi.load))
}
