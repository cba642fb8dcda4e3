package ramp

import (
	"fmt"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/report"
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
	doubted bool
	hint    units.Ratio // where the failed confirmation says the limit is; 0 none
	// estimate is where the loss at hi says the limit is, if the device forwards as much above it as at it; 0 none.
	estimate units.Ratio
	// surprised: both sides of the estimate were clean. Either the device does better below than above its limit, or short windows are
	// fooled; a long look tells.
	surprised bool
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

// forwarded is the share of what was asked for that the device carried in a lossy window, in the direction that carried least. The loss
// is taken of what was asked, not of what was offered: a generator that stood still for a moment offers less, and the device carries
// less, but the share that is lost stays.
func (m *machine) forwarded(p point) units.Ratio {
	loss := units.Ratio(0)
	for _, d := range m.history[p.window].Directions {
		if d.Quality == report.Lossy {
			loss = max(loss, min(d.LossRatio, units.One))
		}
	}
	return mul(p.asked, units.One-loss)
}

// lo is the highest clean load below hi, preferring a long look at the same load; nil if there is none. What is below is told by the
// loads asked for: a generator that stood still for a moment may have lost frames at a lower mean load than it was clean at before.
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

// better compares two clean windows: the higher load, and at the same one what tells more. What a generator at its end offers varies by the noise of the reading, so that a long window of that
// is not less than a short one.
func (m *machine) better(p, than *point) bool {
	a, b := m.height(p), m.height(than)
	if m.hi == nil && p.short && than.short && p.long != than.long && !noticeablyLess(min(a, b), max(a, b)) {
		return p.long
	}
	return a > b || a == b && m.tellsMore(p, than)
}

// tellsMore compares two clean windows at the same load: a long one tells more than a short one in which as much was sent, else the one
// in which more was.
func (m *machine) tellsMore(p, than *point) bool {
	a, b := m.reallyOffered(p), m.reallyOffered(than)
	if p.long != than.long && !noticeablyLess(min(a, b), max(a, b)) {
		return p.long
	}
	return a >= b
}

// height is what clean loads are compared by: within a bracket what was asked for, so that each look makes it narrower; without one,
// what was really offered, of which more was asked for in vain.
func (m *machine) height(p *point) units.Ratio {
	if m.hi != nil {
		return p.asked
	}
	return p.load
}

// narrow says that the bracket is as narrow as it is to be.
func (m *machine) narrow(lo *point) bool {
	if m.hi == nil || m.Ramp.RefineTo <= 0 {
		return true
	}
	return lo != nil && width(lo.asked, m.ceiling) <= m.Ramp.RefineTo
}

// aim chooses the search's next load, or finishes: the first rule that applies.
func (m *machine) aim() {
	lo := m.lo()
	switch {
	case lo == nil:
		m.aimBelow()
	case m.wonders(lo):
		m.surprised = false
		m.reason = m.because("clean on both sides of where the loss says the limit is")
		m.aimToConfirm(lo)
	case m.exhausted():
		m.aimToConfirm(lo)
	case !m.narrow(lo):
		m.aimBetween(lo)
	case m.doubtful():
		m.look(report.Refine, m.hi.asked, fmt.Sprintf("all was clean up to %s of the target; looking whether %s still loses frames", percent(lo.asked), percent(m.hi.asked)))
		m.target.guess = true
	case m.foggy(lo):
		m.unclear = false
		m.look(report.Refine, m.overFog(lo), fmt.Sprintf("%s of the target could not be judged; looking above it, at %s", percent(m.ceiling), percent(m.overFog(lo))))
	default:
		m.aimToConfirm(lo)
	}
}

// aimBelow goes on where nothing was clean yet.
func (m *machine) aimBelow() {
	switch {
	case m.hi == nil:
		m.finish("no window was clean, and none surely lossy")
	case m.Ramp.RefineTo <= 0 || m.halved >= halvings:
		m.finish("even the lowest load lost frames")
	case m.exhausted():
		m.finish("no clean load was found within the bound of the search")
	default:
		m.aimBetween(nil)
	}
}

// look sets the search's next load, for a window that is long enough there.
func (m *machine) look(phase report.Phase, at units.Ratio, reason string) {
	m.target = target{phase: phase, load: at, judge: m.judgeFor(at)}
	m.reason = m.because(reason)
}

// wonders says that a surprise is to be explained by a long look.
func (m *machine) wonders(lo *point) bool {
	return m.surprised && !lo.long && m.Ramp.ConfirmDuration > 0 && !m.exhausted()
}

// doubtful says that the lossy end of the bracket was seen in the staircase only, and should be seen again: whatever troubled the device
// there may have passed.
func (m *machine) doubtful() bool {
	return m.hi != nil && !m.proven && m.Ramp.RefineTo > 0 && m.resumed < resumes && !m.exhausted()
}

// foggy says that an unclear ceiling leaves the bracket much wider than asked for, although it is narrow below the ceiling. A load above
// the fog loses enough to be told.
func (m *machine) foggy(lo *point) bool {
	return m.hi != nil && m.unclear && m.overFog(lo) > m.ceiling && m.overFog(lo) < m.hi.asked && !m.exhausted()
}

func (m *machine) overFog(lo *point) units.Ratio { return lo.asked + 2*mul(lo.asked, m.Ramp.RefineTo) }

func (m *machine) exhausted() bool {
	return m.refined >= refineWindows || m.doubted && m.spent()
}

// spent says that too few long windows are left to judge another load by.
func (m *machine) spent() bool { return m.long > longWindows-bestOf }

// aimToConfirm holds the clean end of the bracket for the confirmation's duration, unless that is done, not wanted or used up.
func (m *machine) aimToConfirm(lo *point) {
	switch {
	case lo.long && m.Ramp.ConfirmDuration > 0:
		m.confirmed = lo
		m.end(fmt.Sprintf("confirmed at %s of the target", percent(lo.asked)))
	case m.Ramp.ConfirmDuration <= 0:
		m.end("no confirmation was asked for")
	case m.spent():
		m.finish(fmt.Sprintf("not confirmed after %d long windows", m.long))
	default:
		m.target = target{phase: report.Confirm, load: lo.asked, judge: m.Ramp.ConfirmDuration.Std(), drained: m.edgesCover(lo.asked)}
		how := ""
		if m.target.drained {
			how = " by a trial, counted after its last frame: the edges of a held window may hide more than the loss limit"
		}
		m.reason = m.because(fmt.Sprintf("confirming %s of the target for %s%s", percent(lo.asked), m.Ramp.ConfirmDuration.Std(), how))
	}
}

// aimBetween bisects, or goes where a failed confirmation points.
func (m *machine) aimBetween(lo *point) {
	floor := units.Ratio(0)
	if lo != nil {
		floor = lo.asked
	}
	at, guess := m.between(floor)
	if m.hint > 0 {
		near := floor + mul(floor, m.Ramp.RefineTo)*9/10 // just within what is to be resolved above the clean end
		switch {
		case m.hint > near, m.hint > floor && width(m.hint, m.ceiling) <= m.Ramp.RefineTo:
			at = min(m.hint, m.ceiling-1)
		case !lo.long:
			m.aimToConfirm(lo)
			return
		default:
			at, m.hint = near, 0
		}
	}
	switch {
	case lo != nil && (at <= floor || at >= m.ceiling):
		m.aimToConfirm(lo)
		return
	case lo == nil && !m.resolvable(at, longest*judged(m.Ramp)):
		m.finish("even the lowest load lost frames, and a lower one has too few to tell")
		return
	case lo == nil:
		m.halved++
	}
	m.look(report.Refine, at, fmt.Sprintf("trying %s, between %s and %s of the target", percent(at), percent(floor), percent(m.ceiling)))
	m.target.guess = guess
	if m.doubted {
		m.target.judge, m.target.drained = m.Ramp.ConfirmDuration.Std(), m.edgesCover(at)
		if width(at, m.ceiling) <= m.Ramp.RefineTo {
			m.target.phase = report.Confirm
		}
	}
}

// between is the next load between the ends. Where the loss at the upper one tells how much the device carries, that is looked at from
// both sides first: of a device that carries as much under overload, two looks are enough. Of another they are two windows wasted, for a
// guess that turns out lossy is followed by a halving.
//
//	lo ──────────── below ┊ estimate ┊ above ─────────── hi
//	                      ◀─ refineTo ─▶
func (m *machine) between(floor units.Ratio) (at units.Ratio, guess bool) {
	below := m.estimate - mul(m.estimate, m.Ramp.RefineTo)/2
	above := m.estimate + mul(m.estimate, m.Ramp.RefineTo)*9/20
	switch {
	case m.estimate == 0 || m.doubted:
	case floor < below && below < m.ceiling:
		return below, true
	case floor >= below && floor < above && above < m.ceiling:
		m.estimate = 0
		return above, true
	}
	m.estimate = 0
	return floor + (m.ceiling-floor)/2, false
}

// sure says that a clean window lost no more than the limit in any direction, whatever its edges hide; where not one frame may be lost, whatever frames of others may stand for, too.
func (m *machine) sure(w report.Window) bool {
	return !slices.ContainsFunc(w.Directions, func(d report.Direction) bool {
		return !measure.SurelyWithin(d, m.MaxLossRatio) || m.MaxLossRatio == 0 && d.MostLost() > 0
	})
}

// longerTells says that a short window leaves open whether too many frames were lost, as its edges may account for them, and one of the search that is as long as may be would not.
func (m *machine) longerTells(w report.Window) bool {
	return slices.ContainsFunc(w.Directions, func(d report.Direction) bool {
		return measure.OnlyEdgesSay(d, m.MaxLossRatio) && !measure.EdgesCover(d, w.Duration.Std(), longest*judged(m.Ramp), m.MaxLossRatio)
	})
}

// edgesCover says that the edges of a held window of the confirmation's length may hide or feign more loss than the limit allows, by how counters were read in windows at that load; where there is
// none, in the last one that was held.
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

// resolvable says that a window at this load has enough frames to tell the loss limit from none: one for each share of the limit, and
// at most fewFrames. Below that, a window without loss is chance.
func (m *machine) resolvable(at units.Ratio, judge time.Duration) bool {
	needed := int64(fewFrames)
	if m.MaxLossRatio > 0 {
		needed = min(needed, int64(units.One/m.MaxLossRatio))
	}
	for _, d := range m.history[m.hi.window].Directions {
		perSecond := units.PacketRate(d.Intended.PacketsPerSecond).Mul(units.RatioOf(int64(at), int64(m.hi.asked)))
		if int64(perSecond)*judge.Milliseconds()/1000 < needed {
			return false
		}
	}
	return true
}

// because joins what led into the search with what the search does first.
func (m *machine) because(s string) string {
	if m.reason == "" {
		return s
	}
	return m.reason + "; " + s
}
