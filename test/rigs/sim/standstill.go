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
//	                At    + Lasts
type Standstill struct {
	Offset, Duration time.Duration // At counts from the first start of traffic
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

// pace is how many times as fast as asked for a generator sends at the moment up to which the world is
// computed, and for how much longer it stands still.
func (e *Engine) pace() (times float64, remaining time.Duration) {
	if !e.started {
		return 1, 0
	}
	elapsed := e.world.computed - e.startAt
	for _, s := range e.around(elapsed) {
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

// stood is for how long a generator has stood still up to the moment up to which the world is computed.
func (e *Engine) stood() (sum time.Duration) {
	for _, s := range e.Stalls {
		if e.started {
			sum += min(max(0, e.world.computed-e.startAt-s.Offset), s.Duration)
		}
	}
	return sum
}

// around are the last stall that has begun by a moment, and the next.
func (e *Engine) around(elapsed time.Duration) []Standstill {
	next := sort.Search(len(e.Stalls), func(i int) bool { return e.Stalls[i].Offset > elapsed })
	return e.Stalls[max(0, next-1):min(next+1, len(e.Stalls))]
}

// awaitAnswer waits while a mute generator stands still.
func (e *Engine) awaitAnswer() {
	if !e.Mute {
		return
	}
	unlock := e.lock()
	_, remaining := e.pace()
	unlock()
	time.Sleep(remaining)
}
