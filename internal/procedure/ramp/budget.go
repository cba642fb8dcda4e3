package ramp

import (
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
)

// budget is what refinement and confirmation have used of the windows and the time that they may take.
type budget struct {
	ramp        plan.Ramp
	short, long int // windows of a step's length, or a few times that; and of the confirmation's
	spent       time.Duration
}

// addShort counts a window of the search. One that is longer than usual, as it has few frames, counts as several.
func (b *budget) addShort(judge time.Duration) {
	usual := longestWindow * judged(b.ramp)
	b.short += max(1, int((judge+usual-1)/usual))
}

// timeIsUp reports whether refinement and confirmation have taken as long as they may.
func (b *budget) timeIsUp() bool {
	return b.ramp.RefineDuration > 0 && b.spent >= b.ramp.RefineDuration.Std()
}

// isSpent reports whether no other load can be tried.
func (b *budget) isSpent(shortDistrusted bool) bool {
	return b.short >= refineWindows || shortDistrusted && b.longSpent() || b.timeIsUp()
}

// longSpent reports whether too few long windows are left to judge another load by, or no time for one.
func (b *budget) longSpent() bool {
	return b.long > longWindows-bestOf || b.long > 0 && b.timeIsUp()
}

// allowsVote reports whether another window of that length may follow.
func (b *budget) allowsVote(isLong bool) bool {
	if isLong {
		return !b.timeIsUp() && b.long < longWindows
	}
	return !b.timeIsUp() && b.short < refineWindows
}
