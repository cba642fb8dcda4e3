package ramp

import (
	"cmp"
	"fmt"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// choose sets the next target, or finishes, by the first rule that applies.
func (s *search) choose() {
	b := &s.bracket
	lower, spent := b.lower(), s.budget.isSpent(b.shortDistrusted)
	switch {
	case lower == nil:
		s.chooseBelow(spent)
	case b.bothSidesClean && !lower.long && s.rules.Ramp.ConfirmDuration > 0 && !spent:
		b.bothSidesClean = false
		s.add("clean on both sides of where the loss puts the limit")
		s.chooseConfirmation(lower)
	case spent:
		s.chooseConfirmation(lower)
	case !b.narrow(lower):
		s.chooseBetween(lower)
	case b.upper != nil && !b.upperProven && b.refineTo > 0 && s.withdrawals < mostWithdrawals:
		s.try(b.upper.asked, fmt.Sprintf("all was clean up to %s of the target; looking whether %s still loses frames",
			percent(lower.asked), percent(b.upper.asked)))
		s.target.byEstimate = true
	case b.aboveUnclear(lower) > 0:
		load := b.aboveUnclear(lower)
		b.ceilingUnclear = false
		s.try(load, fmt.Sprintf("%s of the target could not be judged; looking above it, at %s", percent(b.ceiling),
			percent(load)))
	default:
		s.chooseConfirmation(lower)
	}
}

// chooseBelow goes on where nothing was clean yet.
func (s *search) chooseBelow(spent bool) {
	switch {
	case s.bracket.upper == nil:
		s.finish("no window was clean, and none surely lossy")
	case s.bracket.refineTo <= 0 || s.halvings >= mostHalvings:
		s.finish("even the lowest load lost frames")
	case spent:
		s.finish("no clean load was found within the bound of the search")
	default:
		s.chooseBetween(nil)
	}
}

// chooseBetween halves the bracket, or goes where the loss points.
func (s *search) chooseBetween(lower *point) {
	b, floor := &s.bracket, units.Ratio(0)
	b.grain = s.grainAt(cmp.Or(b.estimate, b.ceiling))
	if lower != nil {
		floor = lower.asked
	}
	load, byEstimate := b.between(floor)
	if b.heldEstimate > 0 {
		estimate, ready := b.fromHeldLoss(lower, floor)
		if !ready {
			s.chooseConfirmation(lower)
			return
		}
		load = cmp.Or(estimate, load)
	}
	switch {
	case lower != nil && (load <= floor || load >= b.ceiling):
		s.chooseConfirmation(lower)
		return
	case lower == nil && !s.nearest().hasFrames(s.fewestFrames(), load, s.longestOfFew(), s.rules.MaxLossRatio):
		s.finish("even the lowest load lost frames, and a window at a lower one has too few frames to judge")
		return
	case lower == nil:
		s.halvings++
	}
	s.try(load, fmt.Sprintf("trying %s, between %s and %s of the target", percent(load), percent(floor),
		percent(b.ceiling)))
	s.target.byEstimate = byEstimate
	if b.shortDistrusted {
		s.target.judge, s.target.trial = s.rules.Ramp.ConfirmDuration.Std(), s.edgesCover(load) && s.steadyAt(load)
		if width(load, b.ceiling) <= b.refineTo {
			s.target.phase = report.Confirm
		}
		s.overloadFirst()
	}
}

// chooseConfirmation holds the lower end of the bracket for the confirmation's duration, unless that is done, not
// wanted or used up.
func (s *search) chooseConfirmation(lower *point) {
	confirm := s.rules.Ramp.ConfirmDuration.Std()
	switch {
	case lower.long && confirm > 0 && s.steadyAt(lower.load):
		s.confirmed = lower
		s.end(fmt.Sprintf("confirmed at %s of the target", percent(lower.asked)))
	case confirm <= 0:
		s.end("no confirmation was asked for")
	case s.budget.longSpent():
		s.finish(fmt.Sprintf("not confirmed after %d long windows", s.budget.long))
	case lower.long && s.overload.spent():
		s.finish(fmt.Sprintf("not confirmed: %s of the target was carried for %s, but the device may have saved up "+
			"rate for that before, and an overload of %s lost no frames",
			percent(lower.asked), confirm, percent(s.bracket.overload())))
	case s.unclearGaps > 0 && s.tryUnclearGap():
	default:
		s.target = target{phase: report.Confirm, load: lower.asked, judge: confirm,
			trial: s.edgesCover(lower.asked) && s.steadyAt(lower.asked)}
		if !s.overloadFirst() {
			s.add(s.confirmingSentence())
		}
	}
}

// confirmingSentence says how the next load is held.
func (s *search) confirmingSentence() string {
	suffix := ""
	if s.target.trial {
		suffix = " by a trial, counted after its last frame: the edges of a held window may hide more than the loss " +
			"limit"
	}
	return fmt.Sprintf("confirming %s of the target for %s%s", percent(s.target.load), s.target.judge, suffix)
}

// try sets the next load, for a window that is long enough there.
func (s *search) try(load units.Ratio, reason string) {
	s.target = target{phase: report.Refine, load: load, judge: s.judgeFor(load)}
	s.add(reason)
}

// overloadFirst puts an overload before the target where that holds a load, and the device may have saved up rate for
// it.
func (s *search) overloadFirst() bool {
	t := s.target
	if s.bracket.upper == nil || !s.holds(t) || t.trial || s.bucket.emptyAt(t.load, s.bracket.losers()) ||
		s.overload.windows >= overloadWindows {
		return false
	}
	s.overload.begin(t)
	s.chooseOverload()
	return true
}

func (s *search) chooseOverload() {
	load, confirmed := s.bracket.overload(), s.overload.confirmed
	s.target = target{phase: report.Refine, load: load, judge: s.overload.judge(s.rules.Ramp), overload: true}
	s.add(fmt.Sprintf("overloading the device at %s of the target, so that nothing it saved up helps it to carry %s "+
		"for %s", percent(load), percent(confirmed.load), confirmed.judge))
}

// observeOverload takes in a window of an overload.
func (s *search) observeOverload(p point) {
	if s.overload.add(p, s.bucket.emptyAt(s.overload.confirmed.load, s.bracket.losers())) {
		s.chooseOverload()
		return
	}
	s.target, s.votes, s.repeats.count = s.overload.confirmed, votes{}, 0
	s.reason = s.confirmingSentence()
}

// judgeFor is how long a window at this load is to be. It is a step's window, or a multiple where that has too few
// frames.
func (s *search) judgeFor(load units.Ratio) time.Duration {
	judge := judged(s.rules.Ramp)
	for judge < s.longestOfFew() && !s.nearest().hasFrames(enoughFrames, load, judge, s.rules.MaxLossRatio) {
		judge *= 2
	}
	return min(judge, s.longestOfFew())
}

// fewestFrames is how many frames a window at least has below the lowest step. They may be few where the device lost
// a quarter of a load, as a load that it carries is seen by far fewer.
func (s *search) fewestFrames() int64 {
	if share, _ := s.nearest().largestLoss(); share >= units.One/4 {
		return fewestFrames
	}
	return enoughFrames
}

// longestOfFew is how long a window of the search may be where it has few frames.
func (s *search) longestOfFew() time.Duration {
	return max(s.longestShort(), s.rules.Ramp.ConfirmDuration.Std())
}

// grainAt is the least excess above the device's limit that a window of few frames at a load shows, which is the loss
// limit, what edges may explain, and a few frames. It is 0 where a window has enough frames to show less.
func (s *search) grainAt(load units.Ratio) units.Ratio {
	return s.nearest().leastExcess(load, s.judgeFor(load), s.rules.MaxLossRatio, s.bracket.refineTo/2)
}

// nearest is a window from which the rate of a load is derived.
func (s *search) nearest() *point {
	if s.bracket.upper != nil {
		return s.bracket.upper
	}
	return s.bracket.lower()
}

// longestShort is how long a short window of the search may be.
func (s *search) longestShort() time.Duration { return longestWindow * judged(s.rules.Ramp) }

// edgesCover reports whether the edges of a held window of the confirmation's length may hide or feign more loss than
// the limit allows, by how counters were read in windows at that load, or else in the last held window.
func (s *search) edgesCover(load units.Ratio) bool {
	var latest *point
	found := false
	for i := range s.measured {
		p := &s.measured[i]
		if !p.window.HasEdges() {
			continue
		}
		latest = p
		if p.asked == load {
			found = true
			if s.coveredByEdges(p) {
				return true
			}
		}
	}
	return !found && latest != nil && s.coveredByEdges(latest)
}

func (s *search) coveredByEdges(p *point) bool {
	return p.edgesCover(s.rules.Ramp.ConfirmDuration.Std(), s.rules.MaxLossRatio)
}

// steadyAt reports whether the device carried the load for as long as a confirmation with nothing saved up.
func (s *search) steadyAt(load units.Ratio) bool { return s.bucket.steadyAt(load, s.bracket.losers()) }
