package frames

import (
	"fmt"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/measure"
)

// balance compares what was sent with what came back between two readings. It has neither a clock nor an engine.
type balance struct {
	setup  *measure.Setup
	demand *demand
}

// allBack says whether a trial's traffic is over, and every frame came back or was dropped by the generator itself.
// Traffic is over once the planned number of frames was sent, as a generator that pauses for a moment has sent fewer.
// allBack is false where background traffic was heard, or where more came back than was sent, as from a device that
// sends frames twice. One frame may then be counted in place of another that is still in flight.
func (b *balance) allBack(sending time.Duration, first, latest []engine.Reading) bool {
	return b.sentAll(sending, first, latest) && b.allReturned(first, latest)
}

// atRest says whether nothing but background traffic came between two readings.
func (b *balance) atRest(first, latest []engine.Reading) bool {
	for _, d := range b.setup.Directions {
		t := between(d, first, latest)
		if t.Sent.Packets != 0 || t.ReceiveErrors != 0 || t.Returned.Packets > backgroundIn(d, drainPoll) {
			return false
		}
	}
	return true
}

// backgroundIn is how many frames of background traffic may come in a time span.
func backgroundIn(d measure.Direction, span time.Duration) int64 {
	rate := d.Background + d.Strays
	if rate == 0 {
		return 0
	}
	return 1 + 2*int64(rate.PerSecond()*span.Seconds())
}

// sends says whether anything was sent between two readings.
func (b *balance) sends(first, latest []engine.Reading) bool {
	for _, d := range b.setup.Directions {
		if between(d, first, latest).Sent.Packets != 0 {
			return true
		}
	}
	return false
}

// allSend says whether each direction's frames were sent between two readings, as far as it has any.
func (b *balance) allSend(first, latest []engine.Reading) bool {
	for i, d := range b.setup.Directions {
		if b.demand.rates[i] > 0 && between(d, first, latest).Sent.Packets == 0 {
			return false
		}
	}
	return true
}

// sentAll says whether the frames of a trial were sent, but for those of a moment.
func (b *balance) sentAll(sending time.Duration, first, latest []engine.Reading) bool {
	for i, d := range b.setup.Directions {
		due := b.demand.rates[i].PerSecond() * (sending - unsent).Seconds()
		if float64(between(d, first, latest).Sent.Packets) < due {
			return false
		}
	}
	return true
}

// between is what a direction sent and received between two readings of all generators.
func between(d measure.Direction, a, b []engine.Reading) report.Total {
	t := report.Total{From: d.From, To: d.To}
	for _, p := range d.Pairs {
		first, latest := a[p.Generator].Ports, b[p.Generator].Ports
		t.Sent = t.Sent.Add(d.OfLoad(latest[p.Send].Sent.Sub(first[p.Send].Sent)))
		t.SendDrops += latest[p.Send].SendDrops - first[p.Send].SendDrops
		first, latest = a[p.Receiver].Ports, b[p.Receiver].Ports
		t.Returned = t.Returned.Add(d.OfLoad(latest[p.Receive].Received.Sub(first[p.Receive].Received)))
		t.ReceiveErrors += latest[p.Receive].ReceiveErrors - first[p.Receive].ReceiveErrors
		t.DamagedFrames += latest[p.Receive].Damaged - first[p.Receive].Damaged
	}
	return t
}

// notSent names a direction in which the number of frames sent isn't the burst's. It is empty if there is none.
func (b *balance) notSent(frames []int64, first, latest []engine.Reading) string {
	for i, d := range b.setup.Directions {
		if sent := between(d, first, latest).Sent.Packets; sent != frames[i] {
			return fmt.Sprintf("%s→%s: the generators sent %d frames of a burst of %d", d.From, d.To, sent, frames[i])
		}
	}
	return ""
}

// allReturned says whether every frame came back, or was dropped by the generator itself. It is false where there is
// background traffic, as a foreign frame may then be counted in place of a lost one.
func (b *balance) allReturned(first, latest []engine.Reading) bool {
	for _, d := range b.setup.Directions {
		if t := between(d, first, latest); d.Background+d.Strays > 0 || t.Returned.Packets+
			t.ReceiveErrors != t.Sent.Packets {
			return false
		}
	}
	return true
}
