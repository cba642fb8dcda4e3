package datapath

import (
	"errors"
	"fmt"
	"time"
)

// errNotLive is why a run is sent by another path than live frames.
var errNotLive = errors.New("not by live frames")

const (
	// liveLongestFrame is a page less the kernel's own part of it (struct
	// xdp_page_head, XDP_PACKET_HEADROOM, skb_shared_info).
	liveLongestFrame = 3300
	// liveMaxStreams bounds how long the search for the next stream takes.
	liveMaxStreams = int(sendSharedSTREAMS)
	// liveLongestGap is the longest gap that the program can stretch (PROPORTION_BITS in send.h).
	liveLongestGap = 1 << 36 // ns
)

// checkLiveRun says why live frames can't carry a run, or returns nil if they can.
func checkLiveRun(run Run, tracks []*track) error {
	if n := len(tracks); n > liveMaxStreams {
		return fmt.Errorf("%w: %d streams, of %d at most", errNotLive, n, liveMaxStreams)
	}
	for _, t := range tracks {
		if err := checkLiveStream(t, run.Factor); err != nil {
			return fmt.Errorf("%w: stream %d %w", errNotLive, t.id, err)
		}
	}
	return nil
}

func checkLiveStream(t *track, factor float64) error {
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
	return checkLiveRate(t, factor)
}

// checkLiveRate bounds a stream's gap, which must exceed a nanosecond and fit 64 bits.
func checkLiveRate(t *track, factor float64) error {
	switch gap := t.gap(factor); {
	case gap < 1:
		return fmt.Errorf("would send %.4g frames/s, more than one in a nanosecond", 1e9/gap)
	case gap > liveLongestGap/64: // at most 64 threads share a stream
		return fmt.Errorf("would send a frame in %v", time.Duration(gap))
	}
	return nil
}

// liveRate is how many frames a second all tracks together send at a factor.
func liveRate(tracks []*track, factor float64) (perSecond float64) {
	for _, t := range tracks {
		perSecond += 1e9 / t.gap(factor)
	}
	return perSecond
}

const (
	// liveBatch is how many frames the kernel sends as one batch without Options.Batch. Frames leave
	// at a batch's end. The dropped frames of waiting belong to the batch, so a batch of 16 waits
	// for some 3 µs. A batch of 64 sent no more frames, and a batch of 8 sent a quarter fewer.
	liveBatch = 16
	// A smaller batch lets half as many overdue frames leave at once as it has.
	//
	// liveMinBurst is how many overdue frames may leave at once while no time is owed. An eighth of the
	// owed time is added, up to liveMaxBurst. Smaller bursts fall short of the rate where a device's
	// work on frames takes most of a processor. Larger bursts need a longer queue at the receiver.
	liveMinBurst = 0.75
	liveMaxBurst = 8
	// liveEvenBurst is liveMinBurst of a batch of one. Successive stalls keep to a queue of two frames.
	// liveRunInterval, in ns, is a little more than the time between two runs of the program.
	liveEvenBurst   = 0.25
	liveRunInterval = 600
	// liveSpacingMargin is how much closer than a mean gap frames of several streams may follow each other.
	liveSpacingMargin = 1.0 / 16
)

// livePace is the program's view of the total rate. It is how much overdue time may leave
// at once, at least and at most, and the shortest time between two frames of a thread.
func livePace(tracks []*track, factor float64, threads, batch int) (minBurst, maxBurst, spacing uint64) {
	gap := 1e9 * float64(threads) / liveRate(tracks, factor)
	lower := liveMinBurst * gap
	upper := max(lower, min(liveMaxBurst, float64(batch)/2)*gap)
	if batch == 1 {
		lower = min(lower, max(liveEvenBurst*gap, liveRunInterval))
		upper = lower
	}
	return uint64(lower), uint64(upper), uint64(gap * (1 - liveSpacingMargin))
}
