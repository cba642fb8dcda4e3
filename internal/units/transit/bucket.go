package transit

import (
	"math"
	"math/bits"
	"time"
)

const (
	// FineBits is how many bits of a time, from its highest one on, tell its bucket.
	FineBits = 8
	// LimitBits is how many bits the longest time has that has a bucket of its own. 2^34 ns are 17.2 s.
	LimitBits = 34
	// Beyond is the bucket of all times from Limit on.
	Beyond = (LimitBits-FineBits)<<(FineBits-1) + 1<<FineBits
	// Buckets is how many there are.
	Buckets = Beyond + 1
	// Limit is the shortest time that shares the bucket of all longer ones.
	Limit = time.Duration(1) << LimitBits
)

// Index is the bucket of a time. A negative one, which only clocks that disagree can make, counts as none.
func Index(d time.Duration) int {
	if d >= Limit {
		return Beyond
	}
	v := uint64(max(d, 0))
	shift := bits.Len64(v >> FineBits)
	return shift<<(FineBits-1) + int(v>>shift)
}

// Bounds are the shortest time of a bucket and the longest.
func Bounds(index int) (shortest, longest time.Duration) {
	switch {
	case index < 1<<FineBits:
		return time.Duration(index), time.Duration(index)
	case index >= Beyond:
		return Limit, math.MaxInt64
	}
	shift := index>>(FineBits-1) - 1
	fine := index - shift<<(FineBits-1)
	return time.Duration(fine) << shift, time.Duration(fine+1)<<shift - 1
}
