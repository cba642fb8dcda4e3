package datapath

import (
	"errors"
	"fmt"
	"time"
)

// errNotLive is why a run is sent another way than by live frames.
var errNotLive = errors.New("not by live frames")

const (
	// liveLongestFrame is what a page has room for beside what the kernel keeps in it (struct xdp_page_head, XDP_PACKET_HEADROOM, skb_shared_info).
	liveLongestFrame = 3300
	// liveMostStreams bounds how long the search for the next stream takes.
	liveMostStreams = 64
	// tagRoom is what the kernel allows a frame beyond the interface's MTU: an Ethernet header and a VLAN tag.
	tagRoom = 18
)

// liveCarries says why live frames can't carry a run; nil: they can.
func liveCarries(p *port, run Run, tracks []*track) error {
	if n := len(tracks); n > liveMostStreams {
		return fmt.Errorf("%w: %d streams, of %d at most", errNotLive, n, liveMostStreams)
	}
	for _, t := range tracks {
		if err := liveStreamFits(p, t, run.Factor); err != nil {
			return fmt.Errorf("%w: stream %d %w", errNotLive, t.id, err)
		}
	}
	return nil
}

func liveStreamFits(p *port, t *track, factor float64) error {
	most := min(liveLongestFrame, p.mtu+tagRoom)
	switch length := t.program.MaxLength(); {
	case length > most:
		return fmt.Errorf("has frames of %d bytes, of %d at most here", length, most)
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

// liveBatch is how many frames the kernel takes in hand before it passes them on, by a thread's rate at the start: frames leave at a batch's end, and those that are dropped to wait belong to
// it. One of 16 waits for some 3 µs, and is as many as the kernel hands to a driver at once; one of 64 sends up to a quarter more, in bursts.
func liveBatch(perSecond float64) int {
	if perSecond <= 1_500_000 {
		return 16
	}
	return 64
}

const (
	// liveBurstFrames is how many overdue frames may leave at once, and maxBurst for how much time they may count.
	liveBurstFrames = 16
	// liveCrowding is how much closer than a mean gap frames of several streams may follow each other.
	liveCrowding = 1.0 / 16
)

// livePace is what the program has to know of the rate as a whole: what may leave at once, and the least time between two frames of a thread.
func livePace(tracks []*track, factor float64, threads int) (burst, spacing uint64) {
	gap := 1e9 * float64(threads) / liveRate(tracks, factor)
	return uint64(min(maxBurst, liveBurstFrames*gap)), uint64(gap * (1 - liveCrowding))
}
