package ramp

import (
	"fmt"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/units"
)

// A device may save up rate that is not used, as a policer does in its bucket, and carry more than its committed rate for a while after a calm moment, however long a window is. So a load is confirmed
// only by a window that began with nothing saved up: frames were lost just before, which happens to an empty bucket alone, and traffic went on since then without a pause, at loads no lower than that
// one. If the device's rate is lower than the load, its bucket is still empty when the window begins, and the window loses frames.
//
//	load      hi ✗┐                           bucket ╲
//	              │   lo                              ╲
//	              └────────── confirmed                ▁▁▁▁▁▁▁▁▁▁▁  empty, if lo is too much

// The bounds of overloads, which empty what the device saved up.
const (
	overloadTries = 4  // windows of one overload, each twice as long as the one before
	overloads     = 12 // such windows in a run
)

// steadiness is what is known of the rate that the device saves up, by direction.
type steadiness struct {
	// empty is a load: a device whose rate is lower has nothing saved up now. 0: it may have.
	empty []units.Ratio
	// steady is the highest load that was carried for the confirmation's duration from nothing saved up.
	steady []units.Ratio
	// began is what empty was when the last window began.
	began []units.Ratio

	after      target // what the present overload is for
	tries      int    // of the present overload, and how many of them lost no frames
	calm       int
	overloaded int  // windows of overloads so far
	inVain     bool // the latest overload lost no frames
}

// follow keeps up what the device may have saved up by the end of a window, which was measured by that step.
func (m *machine) follow(s procedure.Step, w report.Window) {
	for len(m.empty) < len(w.Directions) {
		m.empty, m.steady, m.began = append(m.empty, 0), append(m.steady, 0), append(m.began, 0)
	}
	for d, of := range w.Directions {
		m.followDirection(d, s, w, of)
	}
}

// followDirection is the same of one direction.
func (m *machine) followDirection(d int, s procedure.Step, w report.Window, of report.Direction) {
	unsteady := s.Kind != procedure.Held || w.Phase == report.WarmUp
	load := offeredLoad(of, w.Load)
	m.began[d] = min(m.empty[d], load)
	if unsteady || s.Rested {
		m.began[d] = 0
	}
	if m.began[d] >= load && s.Judge >= m.Ramp.ConfirmDuration.Std() && carried(w, of, m.MaxLossRatio) {
		m.steady[d] = max(m.steady[d], load)
	}
	switch {
	case unsteady:
		m.empty[d] = 0
	case of.Quality == report.Lossy:
		m.empty[d] = load
	case w.Evidence != nil && w.Evidence.Fault != "":
		m.empty[d] = 0 // nobody knows what was sent when
	default:
		m.empty[d] = m.began[d]
	}
}

// carried says that the device carried what a direction was sent in a window, or what had waited before as well.
func carried(w report.Window, of report.Direction, limit units.Ratio) bool {
	backlog := of.Quality == report.Invalid && measure.MoreCameBack(w, limit) && of.Returned.Packets >= of.Sent.Packets
	return of.Quality == report.Good || of.Quality == report.Short || backlog
}

// setters are the directions that lost frames at the lossy end.
func (m *machine) setters() (all []int) {
	for d, of := range m.history[m.hi.window].Directions {
		if of.Quality == report.Lossy {
			all = append(all, d)
		}
	}
	return all
}

// emptyAt says that a device which doesn't carry this load for good has nothing saved up now.
func (m *machine) emptyAt(load units.Ratio) bool {
	return m.hi == nil || !slices.ContainsFunc(m.setters(), func(d int) bool { return m.empty[d] < load })
}

// steadyAt says that the load, or a higher one, was carried for the confirmation's duration from nothing saved up. Without a load that loses frames there is nothing to empty the device by.
func (m *machine) steadyAt(load units.Ratio) bool {
	return m.hi == nil || !slices.ContainsFunc(m.setters(), func(d int) bool { return !m.steadyIn(d, load) })
}

// steadyIn is the same of one direction.
func (m *machine) steadyIn(d int, load units.Ratio) bool {
	return m.hi == nil || d < len(m.steady) && m.steady[d] >= load
}

// overloadFirst puts an overload before the next window where that is to hold a load, and the device may have saved up rate.
func (m *machine) overloadFirst() {
	if m.hi == nil || m.target.judge < m.Ramp.ConfirmDuration.Std() || m.Ramp.ConfirmDuration <= 0 || m.target.drained || m.emptyAt(m.target.load) || m.overloaded >= overloads {
		return
	}
	m.after, m.tries, m.calm = m.target, 0, 0
	m.overload()
}

// overloadAt is a load that surely loses frames: the highest of the staircase, as the less it is above the device's rate the longer it takes.
func (m *machine) overloadAt() units.Ratio {
	at := m.hi.asked
	for _, p := range m.points {
		if m.history[p.window].Phase == report.Ramping && p.lossy && !p.withdrawn {
			at = max(at, p.asked)
		}
	}
	return at
}

// overload asks for a window of it.
func (m *machine) overload() {
	at := m.overloadAt()
	judge := judged(m.Ramp) << m.calm
	if m.calm == overloadTries-1 { // loss that only a long window showed
		judge = max(judge, m.Ramp.ConfirmDuration.Std())
	}
	m.target = target{phase: report.Refine, load: at, judge: judge, overload: true}
	m.reason = m.withReason(fmt.Sprintf("overloading the device at %s of the target, so that nothing it saved up helps it to carry %s for %s", percent(at), percent(m.after.load), m.after.judge))
}

// observeOverload takes in a window of an overload: it goes on until frames are lost, within bounds, and longer where none were.
func (m *machine) observeOverload(p point) {
	m.overloaded++
	m.tries++
	if p.clean {
		m.calm++
	}
	if !m.emptyAt(m.after.load) && m.tries < overloadTries && m.overloaded < overloads {
		m.overload()
		return
	}
	m.inVain = !m.emptyAt(m.after.load)
	m.target, m.votes, m.repeats = m.after, votes{}, 0
	m.reason = m.confirmingSentence()
}

// mostOverload is how long all overloads of a run together take at most.
func mostOverload(p plan.Ramp) time.Duration {
	longest := judged(p) << (overloadTries - 1)
	return overloads*p.Settle.Std() + overloads/overloadTries*(longest-judged(p)+max(longest, p.ConfirmDuration.Std()))
}
