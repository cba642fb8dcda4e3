package search

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/units"
)

// holder holds loads one after another.
type holder struct {
	Search
	course  *course
	history []report.Window
	next    int           // the window of the next step
	settle  time.Duration // longer than frames were under way in any trial
	// strictest is the goal by which a window's loss shows that nothing is saved up.
	strictest plan.Goal
	empty     []units.Ratio // by direction, a load. A device that carries less has nothing saved up now
	windows   int           // windows so far
	// directions is how many directions there are.
	directions int
	// fromNothing are the windows that began with nothing saved up, as far as what was forwarded in them is concerned.
	fromNothing []int
	// carried is the latest window in which a lower bound was carried, and carriedIn the directions that began it with
	// nothing saved up.
	carried   int
	carriedIn []int
}

// forwarded is the load that the limiting direction which carried least forwarded in a window, by frames or by bits.
func (h *holder) forwarded(window int, limiting []int) float64 {
	return h.forwardedBy(measure.Carried, window, limiting)
}

// forwardedBy is the load that the limiting direction which carried least forwarded in a window, by a share of what was
// offered.
func (h *holder) forwardedBy(share func(report.Direction) units.Ratio, window int, limiting []int) float64 {
	w, lowest := h.history[window], 1.0
	for _, d := range limiting {
		lowest = min(lowest, share(w.Directions[d]).Float())
	}
	return w.Load.Float() * lowest
}

// hold holds a load from nothing saved up, after an overload where that is needed. It returns Good, Lossy in some
// limiting direction, or Invalid, and then the course says why. False means that a window is missing.
func (h *holder) hold(v verdict, goal plan.Goal, limiting []int, load units.Ratio, lasts time.Duration,
	reason string) (window int, shows report.Quality, ok bool) {
	for try := 0; !h.emptyAt(limiting, load); try++ {
		if try == overloadTries || h.spent() {
			h.course.unheld = "an overload lost no frames"
			return procedure.NoWindow, report.Invalid, true
		}
		if _, ok := h.play(report.Refine, h.overload(v), leastHeld<<try,
			fmt.Sprintf("%s: an overload first, so that nothing is saved up", v.goal.Name)); !ok {
			return procedure.NoWindow, "", false
		}
	}
	for try := 0; try <= invalidRepeats && !h.spent() && h.emptyAt(limiting, load); try++ {
		index, ok := h.play(report.Confirm, load, lasts, reason)
		if !ok {
			return procedure.NoWindow, "", false
		}
		w := judgedBy(h.history[index], goal)
		if len(w.Directions) < h.directions {
			continue
		}
		if slices.ContainsFunc(limiting, func(d int) bool { return surelyLost(h.history[index], d, goal) > 0 }) {
			return index, report.Lossy, true
		}
		if !slices.ContainsFunc(limiting, func(d int) bool { return w.Directions[d].Quality == report.Invalid }) ||
			measure.MoreCameBack(w, goal.LossRatio) {
			return index, report.Good, true
		}
		h.course.unheld = fmt.Sprintf("window %d could not be judged: %s", w.Number, w.Reason)
	}
	return procedure.NoWindow, report.Invalid, true
}

// fewestLost is how many frames of a held window a goal's width has to be, so that edges don't hide them.
const fewestLost = 5

// heldFor is how long a goal's lower bound is held. That is a trial's time, or longer where the width of the goal is so
// few frames that the window's edges hide them.
func (h *holder) heldFor(g plan.Goal, load units.Ratio) time.Duration {
	lasts := max(g.FinalTrialDuration.Std(), leastHeld)
	for _, w := range h.history {
		for _, d := range w.Directions {
			rate := float64(d.Intended.PacketsPerSecond) * load.Float() / max(1, w.Load).Float()
			if perSecond := rate * g.Width.Float(); w.Phase == report.Trial && perSecond > 0 {
				return min(max(lasts, time.Duration(fewestLost/perSecond*float64(time.Second))), mostHeld)
			}
		}
	}
	return min(lasts, mostHeld)
}

// spent reports that no further window may be held.
func (h *holder) spent() bool {
	limit, _ := h.mostHeldTogether()
	return h.windows >= limit
}

// overload is a load well above the goal's upper bound.
func (h *holder) overload(v verdict) units.Ratio {
	return min(units.One, loadOf(v.found.Upper.Load)*11/10)
}

// play is the window of the next step. False means that the window is missing, and the course asks for it.
func (h *holder) play(phase report.Phase, load units.Ratio, lasts time.Duration, reason string) (window int, ok bool) {
	if h.next >= len(h.history) {
		h.course.Ended, h.course.Reason = false, reason
		h.course.step = procedure.Step{Kind: procedure.Hold, Phase: phase, Load: load, Settle: h.settle, Judge: lasts,
			Reason: reason}
		return procedure.NoWindow, false
	}
	window = h.next
	h.next++
	h.windows++
	if w := h.history[window]; len(w.Directions) >= h.directions && w.Counts() &&
		h.emptyAt(h.allDirections(), loadOf(h.forwarded(window, h.allDirections()))) {
		h.fromNothing = append(h.fromNothing, window)
	}
	h.follow(h.history[window])
	return window, true
}

// follow keeps up what the device may have saved up by the end of a window.
func (h *holder) follow(w report.Window) {
	for len(h.empty) < h.directions {
		h.empty = append(h.empty, 0)
	}
	for d := range h.empty {
		if d >= len(w.Directions) {
			h.empty[d] = 0
			continue
		}
		load := w.Load
		if w.Directions[d].UnderOffered() { // by more than a reading's noise
			load = offeredLoad(w, d)
		}
		h.empty[d] = min(h.empty[d], load)
		if surelyLost(w, d, h.strictest) > 0 {
			h.empty[d] = load
		}
		if w.Evidence != nil && w.Evidence.Fault != "" {
			h.empty[d] = 0
		}
	}
}

// strictest is the first goal with the smallest loss ratio of all goals, and a little more, as frames that are lost now
// and then show nothing.
func (s Search) strictest() plan.Goal {
	strict := s.plan.Goals[0]
	strict.LossRatio = slices.MinFunc(s.plan.Goals,
		func(a, b plan.Goal) int { return cmp.Compare(a.LossRatio, b.LossRatio) }).LossRatio + strict.Width/4
	return strict
}

// emptyAt reports whether a device that doesn't carry this load has nothing saved up now in these directions.
func (h *holder) emptyAt(limiting []int, load units.Ratio) bool {
	return !slices.ContainsFunc(limiting, func(d int) bool { return d >= len(h.empty) || h.empty[d] < load })
}
