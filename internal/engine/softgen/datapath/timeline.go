package datapath

import (
	"math"
	"sort"
)

// timeline says when each frame of one stream is due, in nanoseconds of the run's time. It computes from an anchor, the frame from
// which the present rate holds, so no errors add up; a change of rate moves the anchor.
//
//	continuous    |  .  .  .  .  .  .  .        gap
//	bursts        |  ....      ....      ....   gap within, pause between
type timeline struct {
	gap    float64 // between frames, at the present rate
	pause  float64 // between the last frame of a burst and the first of the next
	burst  uint64  // frames per burst; 0: one endless burst
	total  uint64  // frames in all; 0: endless
	anchor uint64
	at     float64 // when the anchor is due
}

// due is when a frame leaves. Frames before the anchor are overdue: they are due with it.
func (l *timeline) due(frame uint64) float64 {
	if frame <= l.anchor {
		return l.at
	}
	if l.burst == 0 {
		return l.at + float64(frame-l.anchor)*l.gap
	}
	pauses := frame/l.burst - l.anchor/l.burst
	return l.at + float64(frame-l.anchor-pauses)*l.gap + float64(pauses)*l.pause
}

// end is when the last frame of a finite stream is due.
func (l *timeline) end() float64 { return l.due(l.total - 1) }

// rescale changes the gap from now on. The wait for the next frame that has begun is stretched in proportion, so that the change
// neither loses nor gains a part of a frame; pauses between bursts stay.
func (l *timeline) rescale(now, gap float64) {
	next := l.firstAfter(now)
	due := l.due(next)
	if wait := due - now; wait > 0 && wait <= l.gap && next > 0 && (l.burst == 0 || next%l.burst != 0) {
		due = now + wait*gap/l.gap
	}
	l.anchor, l.at, l.gap = next, due, gap
}

// firstAfter is the first frame due after now.
func (l *timeline) firstAfter(now float64) uint64 {
	if now < l.at {
		return l.anchor
	}
	ahead := 1
	for l.due(l.anchor+uint64(ahead)) <= now && ahead < math.MaxInt/2 {
		ahead *= 2
	}
	return l.anchor + uint64(sort.Search(ahead, func(n int) bool { return l.due(l.anchor+uint64(n)) > now }))
}
