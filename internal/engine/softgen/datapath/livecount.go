package datapath

import (
	"sync/atomic"
	"time"
)

type traffic64 struct{ packets, bytes uint64 }

// lostFrames turns slip, which is time, into frames, at the rate that held then.
type lostFrames struct {
	settled   float64 // frames, up to the last change of factor
	base      uint64  // slip at that
	published int64
}

// account publishes how long the threads had something to do, for whichever port: a thread that waits does so by
// running its program, too.
func (l *live) account(now time.Duration) {
	for _, part := range l.parts {
		idle := atomic.LoadUint64(&part.thread.memory.Idle)
		l.port.busy.Add(max(int64(now-l.looked)-int64(idle-part.idle), 0))
		part.idle = idle
	}
	l.looked = now
}

// harvest adds what was sent since the last time to the port's counters. What left while the link was down was
// dropped by the kernel.
func (l *live) harvest(up bool) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.closed {
		return
	}
	for _, part := range l.parts {
		for i, track := range l.tracks {
			sent := &part.memory.Streams[i]
			all := traffic64{atomic.LoadUint64(&sent.Packets), atomic.LoadUint64(&sent.Bytes)}
			l.count(track, &part.seen[i], all, up)
		}
		lost := &part.lost
		all := int64(lost.settled + float64(atomic.LoadUint64(&part.memory.Slip)-lost.base)*l.threadRate())
		l.port.behind.Add(all - lost.published)
		lost.published = all
	}
}

func (l *live) count(t *track, seen *traffic64, all traffic64, up bool) {
	if !t.program.Trims() {
		all.bytes = all.packets * uint64(wireLength(t.program.MaxLength()))
	}
	newPackets, newBytes := int64(all.packets-seen.packets), int64(all.bytes-seen.bytes)
	*seen = all
	sent := &l.port.sent
	if !up {
		sent.errors.Add(newPackets)
		return
	}
	sent.all.add(newPackets, newBytes)
	if t.flow != nil {
		sent.flows[t.flow.id].add(newPackets, newBytes)
	}
}
