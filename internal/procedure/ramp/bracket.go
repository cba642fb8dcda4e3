package ramp

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/units"
)

// bracket is the search between the highest clean load and the lowest lossy one.
//
//	0 ────────── lo ─────────┬──────── ceiling ─────── hi ──────▶ load
//	           clean        aim        unclear        lossy
//
// The ceiling is hi, or lower where windows stayed unclear however often they were repeated: the search goes on below, but what it
// may claim is still the whole way up to hi.
type bracket struct {
	hi      *point
	first   *point // hi as it was marked first
	marker  string // which direction, or which look, lost the frames at hi
	ceiling units.Ratio
	// unclear: the ceiling is a load that could not be judged, and nothing was looked at between it and hi since.
	unclear bool
	// confirmed is the clean window of the confirmation's length that the answer comes from.
	confirmed *point
	// doubted: a confirmation failed, so that short windows are known to be fooled (a burst, a long queue); long ones are used.
	shortDistrusted bool
	hint            units.Ratio // where the failed confirmation says the limit is; 0 none
	heldLosses      []point     // loads at which long windows lost frames that short ones had not
	// losesOfEveryLoad: held loads far apart lost the same share, so that no step down, however long, leads to a clean one.
	losesOfEveryLoad bool
	// estimate is where the loss at hi says the limit is, if the device forwards as much above it as at it; 0 none.
	estimate units.Ratio
	// surprised: both sides of the estimate were clean. Either the device does better below than above its limit, or short windows are
	// fooled; a long look tells.
	bothSidesClean bool
	// proven: hi was seen to lose frames again after the staircase, or for as long as a confirmation.
	proven bool
	target target
	votes  votes

	refined, long, halved, resumed int
}

// target is the load that the search tries next.
type target struct {
	phase report.Phase
	load  units.Ratio
	judge time.Duration
	guess bool // not a halving
	// drained: a trial, which has no edges, as those of a held window may hide or feign more loss than the limit allows.
	drained bool
	// overload: it empties what the device saved up, and nothing else is concluded from it.
	overload bool
}

// votes are the windows at one load of the search, or of the hold. Loss is believed when it repeats: best of three.
type votes struct {
	lossy int
	least point // of the lossy ones the one that lost least
	clean bool  // one lost none after that: the next decides
}

// left is how many more windows the load probably needs.
func (v votes) left() int {
	if v.lossy == 1 && !v.clean {
		return 2
	}
	return 1
}

// mark sets the lossy end of the bracket.
func (m *machine) mark(p point, by string) {
	m.hi, m.marker, m.ceiling = &p, by, p.asked
	m.hint, m.estimate, m.unclear = 0, 0, false
	if m.first == nil {
		m.first = &p
	}
}

// forwarded is the share of the intended load that the device carried in a lossy window, in the direction that carried least, by frames or by bits. The loss is taken of the intended load, not of the offered one: a
// generator that stood still for a moment offers less and the device carries less, but the share that is lost stays.
func (m *machine) forwarded(p point) units.Ratio {
	carried := units.One
	for _, d := range m.history[p.window].Directions {
		if d.Quality == report.Lossy {
			carried = min(carried, measure.Carried(d))
		}
	}
	return mul(p.asked, carried)
}

// largestLoss is the share that a window lost in the direction that lost most, and the frames that it is a share of.
func (m *machine) largestLoss(p point) (loss units.Ratio, of int64) {
	for _, d := range m.history[p.window].Directions {
		if d.Quality == report.Lossy && min(d.LossRatio, units.One) > loss {
			loss, of = min(d.LossRatio, units.One), d.Sent.Packets
		}
	}
	return loss, of
}

// lo is the highest clean load below hi, preferring a long window at the same load; nil: there is none. Loads are compared as they were asked for: a generator that stood still for a moment may
// have lost frames at a lower mean load than it was clean at before.
func (m *machine) lo() *point {
	var best *point
	for i := range m.points {
		p := &m.points[i]
		if !p.clean || p.fooled || m.hi != nil && p.asked >= m.ceiling {
			continue
		}
		if best == nil || m.better(p, best) {
			best = p
		}
	}
	return best
}

// better compares two clean windows: the higher load wins, and at the same load the one that proves more. What a generator at its limit offers varies by the noise of the reading, so a long window
// of that counts as much as a short one.
func (m *machine) better(p, than *point) bool {
	a, b := m.comparedLoad(p), m.comparedLoad(than)
	if m.hi == nil && p.short && than.short && p.long != than.long && !noticeablyLess(min(a, b), max(a, b)) {
		return p.long
	}
	return a > b || a == b && m.provesMore(p, than)
}

// provesMore compares two clean windows at the same load: a long one proves more than a short one that offered as much; else the one that offered more does.
func (m *machine) provesMore(p, than *point) bool {
	a, b := m.reallyOffered(p), m.reallyOffered(than)
	if p.long != than.long && !noticeablyLess(min(a, b), max(a, b)) {
		return p.long
	}
	return a >= b
}

// comparedLoad is what clean loads are compared by: within a bracket the intended load, so that each window narrows it; without one the offered load, as more was asked for in vain.
func (m *machine) comparedLoad(p *point) units.Ratio {
	if m.hi != nil {
		return p.asked
	}
	return p.load
}

// narrowEnough says that the bracket is as narrow as asked for.
func (m *machine) narrowEnough(lo *point) bool {
	if m.hi == nil || m.Ramp.RefineTo <= 0 {
		return true
	}
	return lo != nil && width(lo.asked, m.ceiling) <= m.Ramp.RefineTo
}

// chooseNextLoad chooses the search's next load, or finishes: the first rule that applies.
func (m *machine) chooseNextLoad() {
	lo := m.lo()
	switch {
	case lo == nil:
		m.chooseBelow()
	case m.wantsLongLook(lo):
		m.bothSidesClean = false
		m.reason = m.withReason("clean on both sides of where the loss puts the limit")
		m.chooseConfirmation(lo)
	case m.searchSpent():
		m.chooseConfirmation(lo)
	case !m.narrowEnough(lo):
		m.chooseBetween(lo)
	case m.lossyEndUnconfirmed():
		m.look(m.hi.asked, fmt.Sprintf("all was clean up to %s of the target; looking whether %s still loses frames", percent(lo.asked), percent(m.hi.asked)))
		m.target.guess = true
	case m.mayLookAboveUnclear(lo):
		m.unclear = false
		m.look(m.loadAboveUnclear(lo), fmt.Sprintf("%s of the target could not be judged; looking above it, at %s", percent(m.ceiling), percent(m.loadAboveUnclear(lo))))
	default:
		m.chooseConfirmation(lo)
	}
}

// chooseBelow goes on where nothing was clean yet.
func (m *machine) chooseBelow() {
	switch {
	case m.hi == nil:
		m.finish("no window was clean, and none surely lossy")
	case m.Ramp.RefineTo <= 0 || m.halved >= halvings:
		m.finish("even the lowest load lost frames")
	case m.searchSpent():
		m.finish("no clean load was found within the bound of the search")
	default:
		m.chooseBetween(nil)
	}
}

// look sets the search's next load, for a window that is long enough there.
func (m *machine) look(at units.Ratio, reason string) {
	m.target = target{phase: report.Refine, load: at, judge: m.judgeFor(at)}
	m.reason = m.withReason(reason)
}

// wantsLongLook says that a long window is to explain why both sides of the estimate were clean.
func (m *machine) wantsLongLook(lo *point) bool {
	return m.bothSidesClean && !lo.long && m.Ramp.ConfirmDuration > 0 && !m.searchSpent()
}

// lossyEndUnconfirmed says that the lossy end of the bracket was seen in the staircase only, and should be seen again: whatever troubled the device there may have passed.
func (m *machine) lossyEndUnconfirmed() bool {
	return m.hi != nil && !m.proven && m.Ramp.RefineTo > 0 && m.resumed < resumes && !m.searchSpent()
}

// mayLookAboveUnclear says that an unclear ceiling leaves the bracket much wider than asked for, although it is narrow below the ceiling. A load above the ceiling loses enough to be clear.
func (m *machine) mayLookAboveUnclear(lo *point) bool {
	return m.hi != nil && m.unclear && m.loadAboveUnclear(lo) > m.ceiling && m.loadAboveUnclear(lo) < m.hi.asked && !m.searchSpent()
}

func (m *machine) loadAboveUnclear(lo *point) units.Ratio {
	return lo.asked + 2*mul(lo.asked, m.Ramp.RefineTo)
}

func (m *machine) searchSpent() bool {
	return m.refined >= refineWindows || m.shortDistrusted && m.longWindowsSpent() || m.timeIsUp()
}

// timeIsUp says that refinement and confirmation have taken as long as they may.
func (m *machine) timeIsUp() bool { return m.Ramp.RefineFor > 0 && m.spent >= m.Ramp.RefineFor.Std() }

// longWindowsSpent says that too few long windows are left to judge another load by, or no time for one.
func (m *machine) longWindowsSpent() bool {
	return m.long > longWindows-bestOf || m.long > 0 && m.timeIsUp()
}

// chooseConfirmation holds the clean end of the bracket for the confirmation's duration, unless that is done, not wanted or used up.
func (m *machine) chooseConfirmation(lo *point) {
	switch {
	case lo.long && m.Ramp.ConfirmDuration > 0 && m.steadyAt(lo.load):
		m.confirmed = lo
		m.endSearch(fmt.Sprintf("confirmed at %s of the target", percent(lo.asked)))
	case m.Ramp.ConfirmDuration <= 0:
		m.endSearch("no confirmation was asked for")
	case m.longWindowsSpent():
		m.finish(fmt.Sprintf("not confirmed after %d long windows", m.long))
	case lo.long && (m.inVain || m.overloaded >= overloads):
		m.finish(fmt.Sprintf("not confirmed: %s of the target was carried for %s, but the device may have saved up rate for that before, and an overload of %s lost no frames", percent(lo.asked), m.Ramp.ConfirmDuration.Std(), percent(m.overloadAt())))
	case m.looked > 0 && m.lookBelowUnclear():
	default:
		m.target = target{phase: report.Confirm, load: lo.asked, judge: m.Ramp.ConfirmDuration.Std(), drained: m.edgesCover(lo.asked) && m.steadyAt(lo.asked)}
		if m.overloadFirst(); !m.target.overload {
			m.reason = m.withReason(m.confirmingSentence())
		}
	}
}

// confirmingSentence says how the next load is held.
func (m *machine) confirmingSentence() string {
	how := ""
	if m.target.drained {
		how = " by a trial, counted after its last frame: the edges of a held window may hide more than the loss limit"
	}
	return fmt.Sprintf("confirming %s of the target for %s%s", percent(m.target.load), m.target.judge, how)
}

// chooseBetween bisects, or goes where a failed confirmation points.
func (m *machine) chooseBetween(lo *point) {
	floor := units.Ratio(0)
	if lo != nil {
		floor = lo.asked
	}
	at, guess := m.between(floor)
	if m.hint > 0 {
		hinted, known := m.hinted(lo, floor)
		if !known {
			m.chooseConfirmation(lo)
			return
		}
		at = cmp.Or(hinted, at)
	}
	switch {
	case lo != nil && (at <= floor || at >= m.ceiling):
		m.chooseConfirmation(lo)
		return
	case lo == nil && !m.resolvable(at, longest*judged(m.Ramp)):
		m.finish("even the lowest load lost frames, and a window at a lower one has too few frames to judge")
		return
	case lo == nil:
		m.halved++
	}
	m.look(at, fmt.Sprintf("trying %s, between %s and %s of the target", percent(at), percent(floor), percent(m.ceiling)))
	m.target.guess = guess
	if m.shortDistrusted {
		m.target.judge, m.target.drained = m.Ramp.ConfirmDuration.Std(), m.edgesCover(at) && m.steadyAt(at)
		if width(at, m.ceiling) <= m.Ramp.RefineTo {
			m.target.phase = report.Confirm
		}
		m.overloadFirst()
	}
}

// hinted is the load that a failed confirmation points at; 0: the hint was wrong. Not known: the clean end is to be confirmed first.
func (m *machine) hinted(lo *point, floor units.Ratio) (load units.Ratio, known bool) {
	near := floor + mul(floor, m.Ramp.RefineTo)*9/10 // just within what is to be resolved above the clean end
	switch {
	case m.hint > near, m.hint > floor && width(m.hint, m.ceiling) <= m.Ramp.RefineTo:
		return min(m.hint, m.ceiling-1), true
	case !lo.long:
		return 0, false
	case len(m.heldLosses) > 1 && !m.losesOfEveryLoad: // the limit isn't where the loss says
		m.hint = 0
		return 0, true
	}
	m.hint = 0
	return near, true
}

// between is the next load between the ends. Where the loss at the upper end shows how much the device carries, the search first looks at both sides of that: for a device that carries as much
// under overload, two windows are enough. For another they are wasted, as a guess that turns out lossy is followed by a halving.
//
//	lo ──────────── below ┊ estimate ┊ above ─────────── hi
//	                      ◀─ refineTo ─▶
func (m *machine) between(floor units.Ratio) (at units.Ratio, guess bool) {
	below := m.estimate - mul(m.estimate, m.Ramp.RefineTo)/2
	above := m.estimate + mul(m.estimate, m.Ramp.RefineTo)*9/20
	switch {
	case m.estimate == 0 || m.shortDistrusted:
	case floor < below && below < m.ceiling:
		return below, true
	case floor >= below && floor < above && above < m.ceiling:
		m.estimate = 0
		return above, true
	}
	m.estimate = 0
	return floor + (m.ceiling-floor)/2, false
}

// surelyWithinLimit says that a clean window lost no more than the limit in any direction, whatever its edges hide; where not one frame may be lost, whatever frames of others hide, too.
func (m *machine) surelyWithinLimit(w report.Window) bool {
	return !slices.ContainsFunc(w.Directions, func(d report.Direction) bool {
		return !measure.SurelyWithin(d, m.MaxLossRatio) || m.MaxLossRatio == 0 && d.MostLost() > 0
	})
}

// longerWindowHelps says that a short window leaves open whether too many frames were lost, as its edges may account for them, and that the longest window of the search would not.
func (m *machine) longerWindowHelps(w report.Window) bool {
	return slices.ContainsFunc(w.Directions, func(d report.Direction) bool {
		return measure.OnlyEdgesSay(d, m.MaxLossRatio) && !measure.EdgesCover(d, w.Duration.Std(), longest*judged(m.Ramp), m.MaxLossRatio)
	})
}

// edgesCover says that the edges of a held window of the confirmation's length may hide or feign more loss than the limit allows, by how counters were read in windows at that load, or else in the
// last held window.
func (m *machine) edgesCover(at units.Ratio) bool {
	var atLoad, last []report.Window
	for _, w := range m.history {
		if w.Phase == report.WarmUp || !w.HasEdges() {
			continue
		}
		if last = []report.Window{w}; w.Load == at {
			atLoad = append(atLoad, w)
		}
	}
	if len(atLoad) == 0 {
		atLoad = last
	}
	return slices.ContainsFunc(atLoad, func(w report.Window) bool {
		return slices.ContainsFunc(w.Directions, func(d report.Direction) bool {
			return measure.EdgesCover(d, w.Duration.Std(), m.Ramp.ConfirmDuration.Std(), m.MaxLossRatio)
		})
	})
}

// longest is how many steps' windows one window of the search may be long.
const longest = 4

// judgeFor is how long a window at this load is to be: a step's window, or a multiple where that has too few frames.
func (m *machine) judgeFor(at units.Ratio) time.Duration {
	judge := judged(m.Ramp)
	for judge < longest*judged(m.Ramp) && !m.resolvable(at, judge) {
		judge *= 2
	}
	return judge
}

// resolvable says that a window at this load has enough frames to tell the loss limit from no loss: one for each share of the limit, and at most fewFrames. With fewer, a window without loss is
// chance.
func (m *machine) resolvable(at units.Ratio, judge time.Duration) bool {
	needed := int64(fewFrames)
	if m.MaxLossRatio > 0 {
		needed = min(needed, int64(units.One/m.MaxLossRatio))
	}
	of := m.hi
	if of == nil {
		of = m.lo()
	}
	for _, d := range m.history[of.window].Directions {
		perSecond := units.PacketRate(d.Intended.PacketsPerSecond).Mul(units.RatioOf(int64(at), int64(of.asked)))
		if int64(perSecond)*judge.Milliseconds()/1000 < needed {
			return false
		}
	}
	return true
}

// withReason joins what led into the search with what the search does first.
func (m *machine) withReason(s string) string {
	if m.reason == "" {
		return s
	}
	return m.reason + "; " + s
}
