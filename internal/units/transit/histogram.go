package transit

import (
	"iter"
	"math/bits"
	"slices"
	"time"
)

// Histogram counts frames by transit time. The zero value is empty and ready to use. A copy shares its counts, but
// a Clone doesn't. It is not safe for concurrent use.
type Histogram struct{ counts []uint64 }

// FromCounts is a histogram of frames that Index has counted into buckets. It takes the slice, which has at most
// Buckets entries. Missing entries are 0.
func FromCounts(counts []uint64) Histogram { return Histogram{counts[:min(len(counts), Buckets)]} }

// Record counts a frame.
func (h *Histogram) Record(d time.Duration) { h.Add(Index(d), 1) }

// Add counts frames into a bucket.
func (h *Histogram) Add(index int, frames uint64) {
	h.grow(index + 1)
	h.counts[index] += frames
}

// Merge adds another histogram's frames.
func (h *Histogram) Merge(added Histogram) {
	h.grow(len(added.counts))
	for i, n := range added.counts {
		h.counts[i] += n
	}
}

// Since is what was counted after an earlier reading of the same histogram. A bucket that has fewer frames than
// before counts as begun anew.
func (h Histogram) Since(earlier Histogram) Histogram {
	difference := h.Clone()
	for i, n := range earlier.counts {
		if i < len(difference.counts) && difference.counts[i] >= n {
			difference.counts[i] -= n
		}
	}
	return difference
}

// Clone is a copy that shares nothing.
func (h Histogram) Clone() Histogram { return Histogram{slices.Clone(h.counts)} }

// grow makes room for so many buckets, up to what there are.
func (h *Histogram) grow(buckets int) {
	if missing := buckets - len(h.counts); missing > 0 {
		h.counts = append(h.counts, make([]uint64, missing)...)
	}
}

// Frames is how many were counted.
func (h Histogram) Frames() (frames uint64) {
	for _, n := range h.counts {
		frames += n
	}
	return frames
}

// All visits the buckets that have frames, shortest times first.
func (h Histogram) All() iter.Seq2[int, uint64] {
	return func(yield func(index int, frames uint64) bool) {
		for i, n := range h.counts {
			if n > 0 && !yield(i, n) {
				return
			}
		}
	}
}

// Share is a part of all frames, in millionths. It is a percentile without rounding, so that p99.999 of a hundred
// thousand frames leaves out exactly one.
type Share uint32

// The shares that people read.
const (
	P50    Share = 500_000
	P90    Share = 900_000
	P99    Share = 990_000
	P999   Share = 999_000
	P9999  Share = 999_900
	P99999 Share = 999_990
	Whole  Share = 1_000_000
)

// Percentile is the time within which at least this share of the frames arrived, rounded up to the end of its
// bucket. So it is at most 1 % above the exact time, and never below it. It is 0 without frames. Where ok is false,
// the frame took d or longer, and d is Limit.
func (h Histogram) Percentile(s Share) (d time.Duration, ok bool) {
	frames := h.Frames()
	if frames == 0 {
		return 0, true
	}
	return h.endOfRank(rankOf(frames, s))
}

// timeOfRank is the time of the frame of that rank among the counted frames and the missing ones, in the order of
// their times. certain says that the time is in one bucket, whether all missing frames took less than any other
// frame, or all of them more.
func (h Histogram) timeOfRank(rank, missing uint64) (d time.Duration, ok, certain bool) {
	if rank <= missing || rank > h.Frames() {
		return 0, false, false
	}
	shortest, _ := h.endOfRank(rank - missing)
	d, ok = h.endOfRank(rank)
	return d, ok, shortest == d
}

// endOfRank is the end of the bucket of the frame of a rank, from 1 to Frames.
func (h Histogram) endOfRank(rank uint64) (d time.Duration, ok bool) {
	var counted uint64
	for i, n := range h.counts {
		if counted += n; counted >= rank && n > 0 {
			shortest, longest := Bounds(i)
			if i == Beyond {
				return shortest, false
			}
			return longest, true
		}
	}
	return Limit, false // not reached, as the counts add up to frames
}

// rankOf is the rank of the last frame of a share, of all frames in the order of their times. It is the share of
// the frames, rounded up, and at least 1.
func rankOf(frames uint64, s Share) uint64 {
	high, low := bits.Mul64(frames, uint64(min(s, Whole)))
	rank, rest := bits.Div64(high, low, uint64(Whole))
	if rest > 0 {
		rank++
	}
	return max(rank, 1)
}
