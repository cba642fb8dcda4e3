package datapath

import (
	"sync/atomic"
	"time"
)

type traffic64 struct{ packets, bytes uint64 }

// lostFrames converts slip, which is time, into frames, at the rate that held while the time slipped.
type lostFrames struct {
	frames    float64 // frames up to the last change of the factor
	baseSlip  uint64  // slip at the last change of the factor
	published int64
}

// publishBusyTime publishes how long the threads had frames to make, for any of their
// ports. A waiting thread runs its program too, and counts that time as idle.
func (l *liveRun) publishBusyTime(instant time.Duration) {
	for _, part := range l.parts {
		idle := atomic.LoadUint64(&part.thread.memory.Idle)
		l.port.busy.Add(max(int64(instant-l.accountedAt)-int64(idle-part.idle), 0))
		part.idle = idle
	}
	l.accountedAt = instant
}

// collectSent adds the frames sent since the last call to the port's counters.
// The kernel dropped the frames that left while the link was down.
func (l *liveRun) collectSent(linkUp bool) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.closed {
		return
	}
	for _, part := range l.parts {
		for i, track := range l.tracks {
			sent := &part.memory.Streams[i]
			total := traffic64{atomic.LoadUint64(&sent.Packets), atomic.LoadUint64(&sent.Bytes)}
			l.count(track, &part.counted[i], total, linkUp)
		}
		lost := &part.lost
		total := int64(lost.frames + float64(atomic.LoadUint64(&part.memory.Slip)-lost.baseSlip)*l.threadRate())
		l.port.behind.Add(total - lost.published)
		lost.published = total
	}
}

func (l *liveRun) count(t *track, counted *traffic64, total traffic64, linkUp bool) {
	if !t.program.Trims() {
		total.bytes = total.packets * uint64(wireLength(t.program.MaxLength()))
	}
	newPackets, newBytes := int64(total.packets-counted.packets), int64(total.bytes-counted.bytes)
	*counted = total
	sent := &l.port.sent
	if !linkUp {
		sent.errors.Add(newPackets)
		return
	}
	sent.total.add(newPackets, newBytes)
	if t.flow != nil {
		sent.flows[t.flow.id].add(newPackets, newBytes)
	}
}
