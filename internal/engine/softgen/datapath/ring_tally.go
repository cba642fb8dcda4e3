package datapath

import (
	"slices"
	"sync"
	"time"

	"github.com/linerate-dev/linerate/internal/units"
)

// ringTally counts the frames of a ring by when they came into it, and not by when they were read.
// Frames that wait in the ring have reached the generator, and are not the device's loss.
//
//	frames   ──1──2──3──4──5──6──7──▶
//	                 ▲walked     ▲arrived: a reading waits until the walk gets here, and counts up to here
//
// A reading waits for a bounded time. A frame that isn't walked by then is missed for good. Nobody knows its
// size, and whether it was for the port's own MAC, so it counts neither as received nor as the device's loss. A
// later walk doesn't count it as received.
type ringTally struct {
	mutex     sync.Mutex
	arrived   int64 // frames that the kernel put into the ring, at the last mark
	walked    int64 // frames that were read
	abandoned int64 // the last frame that was given up
	sum       receiveCounts
	marks     []*ringMark
}

// ringMark is the moment after a frame came into the ring.
type ringMark struct {
	frame   int64
	reached chan struct{} // closed when sum is final
	sum     receiveCounts
}

// ringTimeout is how long a reading waits for the walk. The kernel passes a block on when it is a millisecond old, or
// after up to three jiffies of 4 ms where its timer counts jiffies. The walk itself may wait for a processor: on an
// emulated machine 15 ms were too few, and frames that had reached the generator counted as dropped by it. The mark
// says which frames count, so a reading that waits is as exact as one that doesn't.
const ringTimeout = 500 * time.Millisecond

// mark marks the moment at which it calls count. count returns the frames that arrived and the frames that
// found no room since its last call.
func (t *ringTally) mark(count func() (arrived, dropped int64)) *ringMark {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	arrived, dropped := count()
	t.arrived, t.sum.missed = t.arrived+arrived, t.sum.missed+dropped
	m := &ringMark{frame: t.arrived, reached: make(chan struct{})}
	t.marks = append(t.marks, m)
	t.close(t.walked)
	return m
}

// walk counts the next frame of the ring. traffic is empty for a frame that isn't for this port.
func (t *ringTally) walk(traffic units.Traffic, stray bool) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.walked++
	if t.walked > t.abandoned {
		t.sum.received = t.sum.received.Add(traffic)
		if stray {
			t.sum.strays = t.sum.strays.Add(traffic)
		}
	}
	t.close(t.walked)
}

// close finishes the marks up to a frame.
func (t *ringTally) close(frame int64) {
	for len(t.marks) > 0 && t.marks[0].frame <= frame {
		m := t.marks[0]
		m.sum = t.sum
		close(m.reached)
		t.marks = slices.Delete(t.marks, 0, 1)
	}
}

// settle waits for the walk to reach the mark, and abandons the missing frames after the timeout.
func (t *ringTally) settle(m *ringMark, timeout time.Duration) receiveCounts {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-m.reached:
	case <-timer.C:
		t.abandon(m)
	}
	return m.sum
}

func (t *ringTally) abandon(m *ringMark) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if start := max(t.walked, t.abandoned); m.frame > start {
		t.sum.missed += m.frame - start
		t.abandoned = m.frame
	}
	t.close(m.frame)
}
