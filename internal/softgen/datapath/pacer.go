package datapath

import "time"

// How a thread that was held up makes good for it.
const (
	// maxBurst and maxBurstFrames are how much overdue traffic may leave at once, in time and in frames: more would overflow the
	// queue of a device that can take the rate. A veth's has 256 places.
	maxBurst       = float64(300 * time.Microsecond)
	maxBurstFrames = 192
	// maxLag is how much overdue traffic is kept; what is older is never sent, and counted as such.
	maxLag = float64(25 * time.Millisecond)
	// haste is by how much the schedule runs faster while it catches up. It is less than what a search resolves: a device at its limit
	// must not lose frames because the generator had been held up a moment before.
	haste = 1.0 / 256
)

// pacer turns real time into the schedule's time, in which frames are due. The two run together but for three things: pauses; lag,
// time lost to a stall and being made up for; and slip, time that is given up.
//
//	real      ────────────╳ stall ╳──────────────────────▶
//	schedule  ────────────         ─ ─ ──────────────────▶   maxBurst at once, then a trifle faster until the lag is gone
type pacer struct {
	lag  float64
	slip float64
	last float64
	lost float64 // frames given up
}

// advance tells up to which time frames may leave now. Next is when the earliest unsent frame is due, rate the present one.
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
	}
	return horizon
}

// giveUp stretches the schedule: frames of that much time will not be sent.
func (p *pacer) giveUp(lag, rate float64) {
	p.lag -= lag
	p.slip += lag
	p.lost += lag * rate
}

// startOver gives up all that is overdue at a time when the rate changes, but for what may leave at once: the old rate's debt is not paid at the new one.
// What is overdue since the thread looked last is part of it: unless it is given up as well, it all leaves in one burst.
func (p *pacer) startOver(real, next, rate float64) {
	p.advance(real, next, rate)
	p.giveUp(p.lag, rate)
}
