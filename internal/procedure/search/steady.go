package search

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// A device may save up rate that is not used, as a policer does in its bucket, and every trial begins after a pause. In
// short trials such a device carries more than it does for as long as one likes. So after the trials each goal's lower
// bound that is a limit is held by traffic that has just lost frames, to an empty bucket, and goes on since then. What
// loses frames there is no limit, and the device's committed rate is looked for instead, which is the rate that comes
// back.
//
//	load  overload ✗┐
//	                │ lower bound ✓       held: the device's limit
//	                └──────────────
//	                │ lower bound ✗┐
//	                               │ committed rate ✓ ┌ ✗
//	                               └──────────────────┘

// The bounds of these windows.
const (
	overloadTries  = 3  // windows of one overload, each twice as long as the one before
	committedTries = 8  // loads that are held to enclose a committed rate
	heldMost       = 20 // windows for each goal
	leastHeld      = time.Second
	mostHeld       = 5 * time.Second
	// clearlyMore is how many times as much must be forwarded at another time for a device not to be the same.
	clearlyMore = 1.1
)

// steady is what windows that began with nothing saved up show of a goal's lower bound. The windows are indexes into
// the history. NoWindow means that there is none.
type steady struct {
	carried, lost int
	// refuted means that the lower bound lost frames. carried is a lower load then, if any.
	refuted bool
	// unknown is why nothing is known. Empty means that something is known, or that the bound was not held.
	unknown string
}

// holdLowerBounds holds the goals' lower bounds, the highest first, and records what each shows. The course has the
// next step where a window is missing.
func (s Search) holdLowerBounds(c *course, history []report.Window, next int) {
	h := holder{Search: s, course: c, history: history, next: next,
		settle: procedure.SettleAfterTrials(history[:min(next, len(history))]), strictest: s.strictest()}
	c.steady = make([]steady, len(s.plan.Goals))
	verdicts := s.verdicts(c, history)
	slices.SortStableFunc(verdicts, func(a, b verdict) int { return cmp.Compare(lowerLoad(b), lowerLoad(a)) })
	for _, v := range verdicts {
		limiting := v.limiting()
		if len(limiting) == 0 {
			continue
		}
		h.directions = len(v.trialsConclusion().Directions)
		if h.shown(v, limiting) {
			c.steady[v.index] = steady{carried: h.carried, lost: procedure.NoWindow}
			continue
		}
		found, complete := h.confirm(v, limiting)
		if !complete {
			return
		}
		c.steady[v.index] = found
		if h.carried, h.carriedIn = found.carried, limiting; found.refuted || found.unknown != "" {
			h.carriedIn = nil
		}
	}
	h.withdraw(c.steady)
}

// shown reports whether the latest load that was held shows this goal's bound, too, since as much came back of it as
// the goal asks for.
func (h *holder) shown(v verdict, limiting []int) bool {
	for _, d := range limiting {
		if !slices.Contains(h.carriedIn, d) {
			return false
		}
	}
	return h.forwarded(h.carried, limiting) >= loadOf(v.found.Lower.Load).Float()*(1-(v.goal.LossRatio+
		v.goal.Width).Float())
}

func lowerLoad(v verdict) float64 {
	if v.found.Lower == nil {
		return 0
	}
	return v.found.Lower.Load
}

// limiting are the directions whose own loss bounds the goal's answer.
func (v verdict) limiting() (directions []int) {
	for d, conclusion := range v.trialsConclusion().Directions {
		if conclusion.Saturated {
			directions = append(directions, d)
		}
	}
	return directions
}

// withdraw leaves a goal's bound open if one window refutes it and another window, which began with nothing saved up,
// too, shows the contrary. More was forwarded there, or as much lost nothing. The device was not the same both times.
func (h *holder) withdraw(found []steady) {
	for i, s := range found {
		if !s.refuted {
			continue
		}
		lost := h.history[s.lost]
		j := slices.IndexFunc(h.fromNothing, func(n int) bool {
			carried := h.history[n].Load >= lost.Load && !slices.ContainsFunc(h.allDirections(),
				func(d int) bool { return surelyLost(h.history[n], d, h.plan.Goals[i]) > 0 })
			return carried || h.forwarded(n, h.allDirections()) > lost.Load.Float()*clearlyMore
		})
		if j >= 0 {
			found[i] = steady{carried: procedure.NoWindow, lost: procedure.NoWindow,
				unknown: fmt.Sprintf("right after an overload the device lost frames at one time (window %d), and "+
					"carried more at another (window %d)", lost.Number, h.history[h.fromNothing[j]].Number)}
		}
	}
}

// allDirections is the index of every direction.
func (h *holder) allDirections() (directions []int) {
	for d := range h.directions {
		directions = append(directions, d)
	}
	return directions
}

// confirm holds a goal's lower bound, and a lower load where that loses frames. False means that a window is missing.
func (h *holder) confirm(v verdict, limiting []int) (found steady, complete bool) {
	found = steady{carried: procedure.NoWindow, lost: procedure.NoWindow}
	load := loadOf(v.found.Lower.Load)
	loose := v.goal
	loose.LossRatio += loose.Width // what is lost now and then is the trials' to judge
	for losses := 0; losses < 2; {
		index, verdict, ok := h.hold(v, loose, limiting, load, h.heldFor(v.goal, load), "holding what met "+v.goal.Name+
			" right after an overload: nothing that the device saved up in a pause helps it now")
		switch {
		case !ok:
			return found, false
		case verdict == report.Invalid:
			found.unknown = h.course.unheld
			return found, true
		case verdict == report.Good:
			found.carried = index
			return found, true
		}
		found.lost = index
		losses++
	}
	found.refuted = true
	return found, h.findCommitted(&found, v, limiting)
}

// findCommitted encloses the highest load that is carried from nothing saved up. A device that carries such a load
// forwards its committed rate of every load above. What came back by frames is held first. A device that counts packets
// forwards so many, whichever they are. A device that counts bytes loses frames of that load, and what came back by
// bits is held next. Once a load is carried, a load just above it is held, and then the middle of what is left. Each is
// held for mostHeld. A pause of 13 ms where the load changes saves up enough for 1.3 % more in a second, and for 0.3 %
// more in five.
//
//	✗ lost ── by frames ✗ ── by bits ✓ ── just above ✓ ── middle ✗ …
func (h *holder) findCommitted(found *steady, v verdict, limiting []int) (complete bool) {
	width := v.goal.Width.Float()
	share, raised := measure.CarriedFrames, false
	for range committedTries {
		load := loadOf(h.forwardedBy(share, found.lost, limiting) / (1 - v.goal.LossRatio.Float()) * (1 - width/2))
		reason := "what met " + v.goal.Name +
			" in trials lost frames right after an overload: holding what came back of it"
		share = measure.Carried
		if found.carried != procedure.NoWindow {
			carried, lost := h.history[found.carried].Load.Float(), h.history[found.lost].Load
			load, reason = loadOf(carried/math.Pow(1-width, 1.5)),
				"holding a little more than what the device carries right after an overload"
			if lost <= load {
				return true
			}
			if raised {
				load, reason = loadOf(math.Sqrt(carried*lost.Float())),
					"holding a load between what the device carries and what it doesn't, right after an overload"
			}
			raised = true
		}
		index, verdict, ok := h.hold(v, v.goal, limiting, load, mostHeld, reason)
		switch {
		case !ok:
			return false
		case verdict == report.Lossy:
			found.lost = index
		case verdict == report.Good:
			found.carried = index
		default:
			return true
		}
	}
	return true
}

// mostHeldTogether is how many windows are held at most, and how long they take.
func (s Search) mostHeldTogether() (windows int, span time.Duration) {
	windows = heldMost * len(s.plan.Goals)
	return windows, time.Duration(windows) * (procedure.MostSettle + mostHeld)
}

// concludeSteady makes a goal's conclusion claim no more than what holds right after an overload.
func (v verdict) concludeSteady(c *procedure.Conclusion) {
	if len(v.steady) == 0 {
		return
	}
	found := v.steady[v.index]
	if found.unknown != "" {
		c.ShownFor = v.goal.FinalTrialDuration
	}
	if !found.refuted {
		return
	}
	c.Reason, c.Saturated, c.Resolution, c.Window, c.Lossy, c.Confirmed = report.BurstsOnly, false, 0, found.carried,
		found.lost, found.carried != procedure.NoWindow
	if found.carried == procedure.NoWindow {
		c.Directions = nil
		return
	}
	answer, lossy := v.history[found.carried], v.history[found.lost]
	for i := range c.Directions {
		d := &c.Directions[i]
		*d = procedure.DirectionConclusion{Reason: report.OtherDirection, Confirmed: true, Window: found.carried,
			Lossy: procedure.NoWindow}
		if surelyLost(lossy, i, v.goal) > 0 {
			d.Lossy, d.Resolution = found.lost, width(min(answer.Load, offeredLoad(answer, i)),
				max(lossy.Load, offeredLoad(lossy, i)))
			d.Reason, d.Saturated = report.BurstsOnly, d.Resolution <= nearWidths*v.goal.Width
			c.Resolution = max(c.Resolution, d.Resolution)
		}
	}
	c.Saturated = !slices.ContainsFunc(c.Directions, func(d procedure.DirectionConclusion) bool { return !d.Saturated })
	if !c.Saturated {
		c.Resolution = 0
	}
}

// steadySentence says what the held windows showed. Empty means that the bounds hold.
func (v verdict) steadySentence() string {
	if len(v.steady) == 0 {
		return ""
	}
	found := v.steady[v.index]
	pause := fmt.Sprintf("trials of %s that begin after a pause", v.goal.FinalTrialDuration.Std())
	switch {
	case found.unknown != "":
		return fmt.Sprintf("; that is shown in %s, and for no longer: %s", pause, found.unknown)
	case !found.refuted:
		return ""
	case found.carried == procedure.NoWindow:
		w := v.history[found.lost]
		return fmt.Sprintf("; only in %s: right after an overload the device lost frames of as much (window %d, %s), "+
			"and no load is known that it carries then", pause, w.Number, worstLoss(w))
	}
	w := v.history[found.carried]
	return fmt.Sprintf("; only in %s, as bursts: for as long as one likes the device carries %s, held for %s right "+
		"after an overload (window %d)", pause,
		wording.PacketRate(measure.Sum(w.Directions, nil).Offered.PacketsPerSecond), w.Duration.Std().Round(1e8),
		w.Number)
}
