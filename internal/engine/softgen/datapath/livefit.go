package datapath

import (
	"errors"
	"fmt"
	"time"
)

// errNotLive is why a run is sent another way than by live frames.
var errNotLive = errors.New("not by live frames")

const (
	// liveLongestFrame is what a page has room for beside what the kernel keeps in it (struct xdp_page_head,
	// XDP_PACKET_HEADROOM, skb_shared_info).
	liveLongestFrame = 3300
	// liveMostStreams bounds how long the search for the next stream takes.
	liveMostStreams = int(sendSharedSTREAMS)
	// liveLongestGap is how long a gap may be so that the program can stretch it (send.h: PROPORTION_BITS).
	liveLongestGap = 1 << 36 // ns
)

// liveCarries says why live frames can't carry a run; nil: they can.
func liveCarries(run Run, tracks []*track) error {
	if n := len(tracks); n > liveMostStreams {
		return fmt.Errorf("%w: %d streams, of %d at most", errNotLive, n, liveMostStreams)
	}
	for _, t := range tracks {
		if err := liveStreamFits(t, run.Factor); err != nil {
			return fmt.Errorf("%w: stream %d %w", errNotLive, t.id, err)
		}
	}
	return nil
}

func liveStreamFits(t *track, factor float64) error {
	switch length := t.program.MaxLength(); {
	case length > liveLongestFrame:
		return fmt.Errorf("has frames of %d bytes, of %d at most", length, liveLongestFrame)
	case t.burst > 0:
		return errors.New("sends bursts again and again")
	case t.next != nil || !t.selfStart:
		return errors.New("is part of a chain of streams")
	case t.silent:
		return errors.New("sends nothing")
	}
	return liveRateFits(t, factor)
}

// liveRateFits bounds what a stream's gap may be: above a nanosecond, and short enough to be counted in 64 bits.
func liveRateFits(t *track, factor float64) error {
	switch gap := t.gap(factor); {
	case gap < 1:
		return fmt.Errorf("would send %.4g frames/s, more than one in a nanosecond", 1e9/gap)
	case gap > liveLongestGap/64: // as many threads share a stream at most
		return fmt.Errorf("would send a frame in %v", time.Duration(gap))
	}
	return nil
}

// liveRate is how many frames a second all tracks send at a factor.
func liveRate(tracks []*track, factor float64) (perSecond float64) {
	for _, t := range tracks {
		perSecond += 1e9 / t.gap(factor)
	}
	return perSecond
}

const (
	// liveBatch is how many frames the kernel takes in hand before it passes them on, unless somebody says
	// (Options.Batch): frames leave at a batch's end, and those that are dropped to wait belong to it, so one of 16
	// waits for some 3 µs. One of 64 sent no more, and one of 8 a quarter less.
	liveBatch = 16
	// A smaller batch lets half as many overdue frames leave at once as it has.
	//
	// liveBurstLeast and liveBurstMost are how many overdue frames may leave at once where nothing is owed, and at
	// most: an eighth of the time that is owed comes to the least. Fewer at most fall short of the rate where a
	// device's work on frames takes most of a processor, and more need a longer queue at the receiver.
	liveBurstLeast = 0.75
	liveBurstMost  = 8
	// liveBurstEven is the same of a batch of one, so little that stalls which follow each other keep to a queue of
	// two frames; liveLookEvery is some more than the program takes to look again, in ns.
	liveBurstEven = 0.25
	liveLookEvery = 600
	// liveCrowding is how much closer than a mean gap frames of several streams may follow each other.
	liveCrowding = 1.0 / 16
)

// livePace is what the program has to know of the rate as a whole: how much overdue time may leave at once, at least
// and at most, and the least time between two frames of a thread.
func livePace(tracks []*track, factor float64, threads, batch int) (least, most, spacing uint64) {
	gap := 1e9 * float64(threads) / liveRate(tracks, factor)
	atLeast := liveBurstLeast * gap
	atMost := max(atLeast, min(liveBurstMost, float64(batch)/2)*gap)
	if batch == 1 {
		atLeast = min(atLeast, max(liveBurstEven*gap, liveLookEvery))
		atMost = atLeast
	}
	return uint64(atLeast), uint64(atMost), uint64(gap * (1 - liveCrowding))
}
