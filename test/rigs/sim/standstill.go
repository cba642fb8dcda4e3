package sim

import (
	"sort"
	"time"
)

// Standstill is a time span in which a generator sends nothing, as its processor does other work, and the time
// after it in which the generator sends Faster times as fast, until it has caught up.
//
//	rate × Faster         ┌──┐
//	rate        ────┐     │  └──────
//	0               └─────┘
//	                Offset+ Duration
type Standstill struct {
	Offset, Duration time.Duration // Offset counts from the first start of traffic
	Faster           float64       // not above one if the missed frames are never sent
}

// caughtUp is when the generator has sent everything that it missed.
func (s Standstill) caughtUp() time.Duration {
	end := s.Offset + s.Duration
	if s.Faster > 1 {
		end += time.Duration(float64(s.Duration) / (s.Faster - 1))
	}
	return end
}

// standstills are in order of time, and don't overlap. Times count from the first start of traffic. A negative time is
// before it.
type standstills []Standstill

// pace is how many times as fast as asked for a generator sends at a time, and for how much longer it stands still.
func (stalls standstills) pace(elapsed time.Duration) (times float64, remaining time.Duration) {
	for _, s := range stalls.around(elapsed) {
		switch {
		case elapsed < s.Offset:
			return 1, 0
		case elapsed < s.Offset+s.Duration:
			return 0, s.Offset + s.Duration - elapsed
		case elapsed < s.caughtUp():
			return s.Faster, 0
		}
	}
	return 1, 0
}

// stood is how long a generator has stood still up to a time.
func (stalls standstills) stood(elapsed time.Duration) (sum time.Duration) {
	for _, s := range stalls {
		sum += min(max(0, elapsed-s.Offset), s.Duration)
	}
	return sum
}

// around are the last stall that has begun by a time, and the next.
func (stalls standstills) around(elapsed time.Duration) standstills {
	next := sort.Search(len(stalls), func(i int) bool { return stalls[i].Offset > elapsed })
	return stalls[max(0, next-1):min(next+1, len(stalls))]
}
