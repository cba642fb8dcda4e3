package datapath

import (
	"cmp"
	"time"
)

// How a thread catches up after a delay.
const (
	// maxBurst and maxBurstFrames are how much overdue traffic may leave at once, in time and in frames. A larger
	// burst would overflow the queue of a device that can take the rate. A veth's queue has 256 places.
	maxBurst       = float64(300 * time.Microsecond)
	maxBurstFrames = 192
	// maxLag is how much overdue traffic is still sent. Older traffic is never sent, and is counted as lost.
	maxLag = float64(25 * time.Millisecond)
	// maxLateness is how many gaps between two frames a frame may be late by without any lag, as many as liveMinBurst.
	// At 75 packets/s an emulated machine wakes a thread 5 ms late for each frame, and sent a quarter less than asked
	// when each of these delays was lag.
	maxLateness = 0.75
	// catchUpRate is by how much the schedule runs faster while it catches up. It is less than the resolution
	// of a search, because a device at its limit must not lose frames after a moment's delay of the generator.
	catchUpRate = 1.0 / 256
	// maxLagMargin is how near to maxLag the lag of a thread stays that is slower than the offered load. After a
	// stall, catching up makes the lag smaller than that within 51 ms.
	maxLagMargin = float64(200 * time.Microsecond)
)

// pacer turns real time into the schedule's time, in which frames are due. The two differ by pauses,
// by lag (time lost to a stall that is being caught up) and by slip (time that is given up).
//
//	real      ────────────╳ stall ╳──────────────────────▶
//	schedule  ────────────         ─ ─ ──────────────────▶   maxBurst at once, then faster until the lag is 0
type pacer struct {
	lag     float64
	slip    float64
	updated float64
	lost    float64 // frames given up
	// atMaxLagSince is when (real) the lag reached maxLag. It is 0 while the lag is smaller by maxLagMargin.
	atMaxLagSince float64
}

// advance returns the time up to which frames may leave now. next is when the earliest unsent frame is due, and
// rate is the present rate.
func (p *pacer) advance(real, next, rate float64) float64 {
	p.lag -= min(p.lag, max(real-p.updated, 0)*catchUpRate)
	p.updated = real
	horizon := real - p.slip - p.lag
	if excess := horizon - next - max(min(maxBurst, maxBurstFrames/rate), maxLateness/rate); excess > 0 {
		p.lag += excess
		horizon -= excess
	}
	if p.lag > maxLag {
		p.giveUp(p.lag-maxLag, rate)
		p.atMaxLagSince = cmp.Or(p.atMaxLagSince, real)
	} else if p.lag < maxLag-maxLagMargin {
		p.atMaxLagSince = 0
	}
	return horizon
}

// slow says that the thread is slower than the offered load, and not only late after a stall. Its overdue frames
// would leave after the run's end, and the device's forwarding of them would count as forwarding within the run.
func (p *pacer) slow(real float64) bool {
	return p.atMaxLagSince > 0 && real-p.atMaxLagSince > float64(linger)
}

// giveUp skips that much of the schedule, whose frames will not be sent.
func (p *pacer) giveUp(lag, rate float64) {
	p.lag -= lag
	p.slip += lag
	p.lost += lag * rate
}

// discardOverdue gives up all overdue frames beyond one burst when the rate changes, because frames overdue at
// the old rate must not be sent at the new one. Frames that became due since the thread last read the clock are
// among them, or they would all leave in one burst.
func (p *pacer) discardOverdue(real, next, rate float64) {
	p.advance(real, next, rate)
	p.giveUp(p.lag, rate)
}
