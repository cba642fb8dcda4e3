package datapath

import (
	"math"
	"sort"
)

// timeline says when each frame of one stream is due, in nanoseconds of the run's time. It computes from an anchor,
// which is the frame from which the present rate holds, so errors don't add up. A change of rate moves the anchor.
//
//	continuous    |  .  .  .  .  .  .  .        gap
//	bursts        |  ....      ....      ....   gap within, pause between
type timeline struct {
	gap       float64 // between frames, at the present rate
	pause     float64 // between the last frame of a burst and the first of the next
	burst     uint64  // frames per burst; 0 for one endless burst
	total     uint64  // frames of the stream; 0 for an endless one
	anchor    uint64
	anchorDue float64 // when the anchor is due
}

// due is when a frame leaves. Frames before the anchor are overdue, and due together with the anchor.
func (l *timeline) due(frame uint64) float64 {
	if frame <= l.anchor {
		return l.anchorDue
	}
	if l.burst == 0 {
		return l.anchorDue + float64(frame-l.anchor)*l.gap
	}
	pauses := frame/l.burst - l.anchor/l.burst
	return l.anchorDue + float64(frame-l.anchor-pauses)*l.gap + float64(pauses)*l.pause
}

// end is when the last frame of a finite stream is due.
func (l *timeline) end() float64 { return l.due(l.total - 1) }

// rescale changes the gap from the instant on. A wait for the next frame that has begun is stretched in
// proportion, so that the change neither loses nor gains a part of a frame. Pauses between bursts stay.
func (l *timeline) rescale(instant, gap float64) {
	next := l.firstAfter(instant)
	due := l.due(next)
	if wait := due - instant; wait > 0 && wait <= l.gap && next > 0 && (l.burst == 0 || next%l.burst != 0) {
		due = instant + wait*gap/l.gap
	}
	l.anchor, l.anchorDue, l.gap = next, due, gap
}

// firstAfter is the first frame due after the instant.
func (l *timeline) firstAfter(instant float64) uint64 {
	if instant < l.anchorDue {
		return l.anchor
	}
	ahead := 1
	for l.due(l.anchor+uint64(ahead)) <= instant && ahead < math.MaxInt/2 {
		ahead *= 2
	}
	return l.anchor + uint64(sort.Search(ahead, func(n int) bool { return l.due(l.anchor+uint64(n)) > instant }))
}
