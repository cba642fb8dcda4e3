package measure

import (
	"cmp"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// burst is what a direction was to send in a span of bursts, and the longest time that one of its ports took for
// it. The time is 0 where some port doesn't report it.
func (s Span) burst(d Direction, direction int) *report.SentBurst {
	b := &report.SentBurst{Frames: s.Bursts[direction]}
	for _, p := range d.Pairs {
		first, last := edgesOf(s.Readings[p.Generator])
		sent, took := last.Ports[p.Send].Sent.Packets-first.Ports[p.Send].Sent.Packets, last.Ports[p.Send].Sending
		if sent == 0 {
			continue
		}
		if took <= 0 || sent < 2 {
			b.Sending = 0
			return b
		}
		// from the first frame to the last there is a gap less than there are frames
		b.Sending = max(b.Sending, plan.Duration(scale(int64(took), sent, sent-1)))
	}
	return b
}

// ofBurst turns the figures into those of a burst, which is sent in its own time, as the span's edges are read long
// before and after it. A burst has no received rate, because frames come back at the device's pace, for longer than
// the burst.
func (f *figures) ofBurst(b *report.SentBurst) {
	f.burst, f.edges = b, 0
	f.sending = cmp.Or(b.Sending.Std(), time.Duration(scale(b.Frames, int64(time.Second)*int64(units.PacketPerSecond),
		int64(f.intended))))
	f.offered, f.received = rates{}, rates{}
	f.offered.add(f.sent, f.sending)
	f.mostOffered = units.PacketRateOver(f.sent.Packets+1, int64(f.sending))
	for i := range f.shares {
		part := &f.shares[i]
		part.offered, part.received, part.edges = units.PacketRateOver(part.sent, int64(f.sending)), 0, 0
	}
}

// burstFiguresFromCounters are the figures of direction i of a window of bursts, from its counters.
func (s Setup) burstFiguresFromCounters(w report.Window, i int) figures {
	m := w.Directions[i]
	f := figures{direction: s.Directions[i], setup: s, sent: m.Sent, returned: m.Returned,
		receiveErrors: m.ReceiveErrors, sendDrops: m.SendDrops, damaged: m.DamagedFrames, waited: m.SendersWaited.Std()}
	f.intended = units.PacketRate(m.Intended.PacketsPerSecond) * units.PacketPerSecond
	if w.Evidence != nil {
		f.intended, f.foreign = w.Evidence.Directions[i].Intended, w.Evidence.Directions[i].Foreign
	}
	f.ofBurst(m.Burst)
	return f
}
