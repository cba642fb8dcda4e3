package transit

import (
	"fmt"
	"strings"
	"time"
)

// Reading is the summary of a histogram that people read. It has the time within which a share of the frames
// arrived. It leaves out a share that single frames decide (p99.9 of 500 frames would be the longest of them all),
// and a share that frames with an unknown time could change.
type Reading struct {
	Frames uint64
	// Shares go from the least to the whole.
	Shares []Arrival
	// Beyond counts frames that took Limit or longer, for an unknown time.
	Beyond uint64
}

// Arrival says within which time a share of the frames arrived. Known is false where that time is Limit or longer.
type Arrival struct {
	Share    Share
	Time     time.Duration
	Measured bool
}

// leastAbove is how many frames have to lie above a share for it to be told.
const leastAbove = 10

// Read makes the reading of a histogram that lacks the times of so many received frames.
func (h Histogram) Read(missing uint64) Reading {
	r := Reading{Frames: h.Frames()}
	if len(h.counts) == Buckets {
		r.Beyond = h.counts[Beyond]
	}
	if r.Frames == 0 {
		return r
	}
	for _, s := range []Share{P50, P90, P99, P999, P9999, P99999, Whole} {
		total := r.Frames + missing
		rank := rankOf(total, s)
		if s > P50 && s < Whole && total-rank < leastAbove {
			continue
		}
		arrival, measured, certain := h.timeOfRank(rank, missing)
		if !certain {
			continue
		}
		r.Shares = append(r.Shares, Arrival{s, arrival, measured})
	}
	return r
}

// String is the reading in one line, such as "2000000 frames: p50 3.52µs, p99 37.1µs, all 1.02ms".
func (r Reading) String() string {
	if r.Frames == 0 {
		return "no frames"
	}
	parts := make([]string, 0, len(r.Shares))
	for _, a := range r.Shares {
		parts = append(parts, a.String())
	}
	text := fmt.Sprintf("%d frames: %s", r.Frames, strings.Join(parts, ", "))
	if r.Beyond > 0 {
		text += fmt.Sprintf("; %d took %v or longer", r.Beyond, Limit.Round(100*time.Millisecond))
	}
	return text
}

// String is "p99.9 37.1µs".
func (a Arrival) String() string {
	if !a.Measured {
		return fmt.Sprintf("%v over %v", a.Share, Limit.Round(100*time.Millisecond))
	}
	return fmt.Sprintf("%v %v", a.Share, rounded(a.Time))
}

// String is "p99.9", and "all" for the whole.
func (s Share) String() string {
	if s >= Whole {
		return "all"
	}
	text := fmt.Sprintf("p%d.%04d", s/10_000, s%10_000)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// rounded keeps three digits of a time, as its bucket has no more.
func rounded(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit)
}
