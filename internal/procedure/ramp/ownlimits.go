package ramp

import (
	"fmt"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/units"
)

// end finishes the run, after looking below loads that could not be judged, and for directions' own limits just above
// the answer.
func (s *search) end(reason string) {
	s.ending = reason
	if s.tryUnclearGap() {
		s.optional, s.lowerBound = true, s.confirmed
		s.reason = s.ending + "; " + s.reason
		return
	}
	s.lookForOwnLimits()
}

// tryUnclearGap tries the next load between the answer and what could not be judged above it, if that may show more.
func (s *search) tryUnclearGap() bool {
	b := &s.bracket
	lower := b.lower()
	if b.upper != nil || b.refineTo <= 0 || s.unclearGaps >= mostUnclearGaps || lower == nil || lower.short ||
		s.budget.isSpent(b.shortDistrusted) {
		return false
	}
	next := b.lowestNotClean(lower)
	if next == nil {
		return false
	}
	load, fault := next.asked, "lost frames, and was not looked at again"
	if next.unclear() {
		load, fault = lower.asked+(next.asked-lower.asked)/2, "could not be judged"
		if width(lower.asked, next.asked) <= max(stumble, b.refineTo) {
			return false
		}
	}
	s.unclearGaps++
	b.cause = "a look below what could not be judged"
	s.try(load, fmt.Sprintf("%s of the target %s: looking at %s", percent(next.asked), fault, percent(load)))
	return true
}

// The search ends when the direction that lost frames first is resolved. Of a device that carries as much in every
// direction, noise decides which one that is, and another would stay a lower bound though it loses frames a little
// above. So such a direction is tried once or twice more, as short a way above the answer as its limit is to be
// resolved.
//
//	answer ┊ upper ✗ (west→east)   ┊ own limit: east→west ✗✗
//	       ◀── refineTo ──▶
//	       ◀── 2 or 3 × refineTo ────────────▶ only if its loss above says that it carries more than the first

// mostOwnWindows is how many windows may look for directions' own limits. They count as windows of the search,
// or of the confirmation's length.
const mostOwnWindows = 6

// lookForOwnLimits tries the next load that may show a direction's own limit, or finishes.
func (s *search) lookForOwnLimits() {
	d, load := s.ownLimit()
	if d == procedure.NoWindow {
		s.finish(s.ending)
		return
	}
	s.stage = closing
	s.target = target{phase: report.Refine, load: load, judge: s.judgeFor(load)}
	if s.bracket.shortDistrusted {
		s.target.judge, s.target.trial = s.rules.Ramp.ConfirmDuration.Std(), s.edgesCover(load)
	}
	direction := s.answer().window.Directions[d]
	s.reason = fmt.Sprintf("%s; looking whether %s→%s, too, loses frames just above that, at %s", s.ending,
		direction.From, direction.To, percent(load))
}

// observeOwnLimit takes in a window that looks for a direction's own limit.
func (s *search) observeOwnLimit() {
	s.ownWindows++
	if s.bracket.shortDistrusted {
		s.budget.long++
	} else {
		s.budget.addShort(s.target.judge)
	}
	s.lookForOwnLimits()
}

// ownLimit finds a direction whose own limit may show just above the answer, and the load. NoWindow means that there is
// none, or that too many windows were spent.
func (s *search) ownLimit() (direction int, load units.Ratio) {
	answer, b := s.answer(), &s.bracket
	spent := s.ownWindows >= mostOwnWindows || !s.budget.allowsVote(false) ||
		b.shortDistrusted && !s.budget.allowsVote(true)
	if answer == nil || b.upper == nil || b.refineTo <= 0 || spent {
		return procedure.NoWindow, 0
	}
	for d := range answer.window.Directions {
		loss := ownLossOf(d, answer, s.measured, b, s.rules.Ramp)
		if load := loss.nextLoad(b.upper.asked, s.rules.MaxLossRatio); load > 0 {
			return d, load
		}
	}
	return procedure.NoWindow, 0
}
