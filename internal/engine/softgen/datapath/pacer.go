package datapath

import (
	"cmp"
	"time"
)

// How a thread catches up after a delay.
const (
	// maxBurst and maxBurstFrames are how much overdue traffic may leave at once, in time and in frames: more would overflow the
	// queue of a device that can take the rate. A veth's has 256 places.
	maxBurst       = float64(300 * time.Microsecond)
	maxBurstFrames = 192
	// maxLag is how much overdue traffic is still sent; older traffic is never sent, and is counted as lost.
	maxLag = float64(25 * time.Millisecond)
	// haste is by how much the schedule runs faster while it catches up. It is less than the resolution of a search: a device at its limit
	// must not lose frames because the generator was delayed a moment before.
	haste = 1.0 / 256
	// nearMaxLag is how near to maxLag the lag of a thread stays that is slower than asked. After a stall, haste makes it smaller than that within 51 ms.
	nearMaxLag = float64(200 * time.Microsecond)
)

// pacer turns real time into the schedule's time, in which frames are due. The two run together but for three things: pauses; lag,
// time lost to a stall that is being caught up; and slip, time that is given up.
//
//	real      ────────────╳ stall ╳──────────────────────▶
//	schedule  ────────────         ─ ─ ──────────────────▶   maxBurst at once, then a little faster until the lag is gone
type pacer struct {
	lag  float64
	slip float64
	last float64
	lost float64 // frames given up
	// behind is since when (real) as much is overdue as is still sent at most; 0: less is.
	behind float64
}

// advance is the time up to which frames may leave now. next is when the earliest unsent frame is due, rate the present rate.
func (p *pacer) advance(real, next, rate float64) float64 {
	p.lag -= min(p.lag, max(real-p.last, 0)*haste)
	p.last = real
	horizon := real - p.slip - p.lag
	if over := horizon - next - min(maxBurst, maxBurstFrames/rate); over > 0 {
		p.lag += over
		horizon -= over
	}
	if p.lag > maxLag {
		p.giveUp(p.lag-maxLag, rate)
		p.behind = cmp.Or(p.behind, real)
	} else if p.lag < maxLag-nearMaxLag {
		p.behind = 0
	}
	return horizon
}

// slow says that the thread is slower than asked, and not only behind after a stall. What is overdue would go on leaving after the run's end, and what a device forwards of it would count as forwarded within the run.
func (p *pacer) slow(real float64) bool { return p.behind > 0 && real-p.behind > float64(linger) }

// giveUp skips that much of the schedule: its frames will not be sent.
func (p *pacer) giveUp(lag, rate float64) {
	p.lag -= lag
	p.slip += lag
	p.lost += lag * rate
}

// startOver gives up everything that is overdue when the rate changes, except what may leave at once: frames overdue at the old rate must not be sent at the new one.
// That includes frames that became due since the thread's last look at the clock; otherwise they would all leave in one burst.
func (p *pacer) startOver(real, next, rate float64) {
	p.advance(real, next, rate)
	p.giveUp(p.lag, rate)
}
