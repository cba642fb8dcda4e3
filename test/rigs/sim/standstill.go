package sim

import (
	"sort"
	"time"
)

// Standstill is a time span in which a generator sends nothing, as its processor does other work, and the time after it in which the generator sends Faster
// times as fast, until it has caught up.
//
//	rate × Faster         ┌──┐
//	rate        ────┐     │  └──────
//	0               └─────┘
//	                At    + Lasts
type Standstill struct {
	At, Lasts time.Duration // At counts from the first start of traffic
	Faster    float64       // not above one: the missed frames are never sent
}

// caughtUp is when the generator has sent everything that it missed.
func (s Standstill) caughtUp() time.Duration {
	end := s.At + s.Lasts
	if s.Faster > 1 {
		end += time.Duration(float64(s.Lasts) / (s.Faster - 1))
	}
	return end
}

// pace is how many times as fast as asked for a generator sends at the moment up to which the world is computed, and for how much longer it
// stands still.
func (e *Engine) pace() (times float64, left time.Duration) {
	if !e.started {
		return 1, 0
	}
	since := e.world.last - e.startAt
	for _, s := range e.around(since) {
		switch {
		case since < s.At:
			return 1, 0
		case since < s.At+s.Lasts:
			return 0, s.At + s.Lasts - since
		case since < s.caughtUp():
			return s.Faster, 0
		}
	}
	return 1, 0
}

// stood is for how long a generator has stood still up to the moment up to which the world is computed.
func (e *Engine) stood() (sum time.Duration) {
	for _, s := range e.Stalls {
		if e.started {
			sum += min(max(0, e.world.last-e.startAt-s.At), s.Lasts)
		}
	}
	return sum
}

// around are the last stall that has begun by a moment, and the next.
func (e *Engine) around(since time.Duration) []Standstill {
	next := sort.Search(len(e.Stalls), func(i int) bool { return e.Stalls[i].At > since })
	return e.Stalls[max(0, next-1):min(next+1, len(e.Stalls))]
}

// awaitAnswer waits while a mute generator stands still.
func (e *Engine) awaitAnswer() {
	if !e.Mute {
		return
	}
	unlock := e.lock()
	_, left := e.pace()
	unlock()
	time.Sleep(left)
}
