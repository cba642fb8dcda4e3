package iperf3

import "time"

// pacer says when a stream's next message is due. A sender that was held up makes good for a little of the time at once and for the rest not at all: a burst would overrun
// buffers, and its loss would look like the device's.
type pacer struct {
	gap     time.Duration // between two messages, in full nanoseconds
	rest    float64       // and a part of one
	owed    float64
	catchUp time.Duration
	next    time.Duration
}

const (
	longestCatchUp = 10 * time.Millisecond
	mostBurst      = 64 << 10
)

// newPacer is one for messages of a size at a rate; nil: nothing is ever early.
func newPacer(bitsPerSecond int64, message int) *pacer {
	if bitsPerSecond == 0 {
		return nil
	}
	exact := float64(message) * 8e9 / float64(bitsPerSecond)
	p := &pacer{gap: time.Duration(exact)}
	p.rest = exact - float64(p.gap)
	p.catchUp = min(longestCatchUp, time.Duration(exact*float64(max(1, mostBurst/message))))
	return p
}

// wait is for how long the next message is too early, at a time since the beginning. Once it is 0 the message counts as sent.
func (p *pacer) wait(now time.Duration) time.Duration {
	if p == nil {
		return 0
	}
	if now < p.next {
		return p.next - now
	}
	if late := now - p.next; late > p.catchUp {
		p.next = now - p.catchUp
	}
	p.next += p.gap
	if p.owed += p.rest; p.owed >= 1 {
		p.next, p.owed = p.next+1, p.owed-1
	}
	return 0
}
