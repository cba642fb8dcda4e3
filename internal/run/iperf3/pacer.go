package iperf3

import "time"

// pacer says when a stream's next message is due. After a delay, a sender catches up on a little of the time at once,
// and skips the rest. A burst would overrun buffers, and its loss would look like the device's.
type pacer struct {
	gap     time.Duration // between two messages, in full nanoseconds
	rest    float64       // and a fraction of a nanosecond
	owed    float64
	catchUp time.Duration
	next    time.Duration
}

const (
	longestCatchUp = 10 * time.Millisecond
	maxBurst       = 64 << 10
)

// newPacer is a pacer for messages of a size at a rate, or nil, by which no message is ever early.
func newPacer(bitsPerSecond int64, message int) *pacer {
	if bitsPerSecond == 0 {
		return nil
	}
	exact := float64(message) * 8e9 / float64(bitsPerSecond)
	p := &pacer{gap: time.Duration(exact)}
	p.rest = exact - float64(p.gap)
	p.catchUp = min(longestCatchUp, time.Duration(exact*float64(max(1, maxBurst/message))))
	return p
}

// wait is how long to wait for the next message, at a time since the beginning. Once it is 0 the message counts
// as sent.
func (p *pacer) wait(elapsed time.Duration) time.Duration {
	if p == nil {
		return 0
	}
	if elapsed < p.next {
		return p.next - elapsed
	}
	if late := elapsed - p.next; late > p.catchUp {
		p.next = elapsed - p.catchUp
	}
	p.next += p.gap
	if p.owed += p.rest; p.owed >= 1 {
		p.next, p.owed = p.next+1, p.owed-1
	}
	return 0
}
