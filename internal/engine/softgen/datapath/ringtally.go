package datapath

import (
	"slices"
	"sync"
	"time"

	"github.com/linerate-dev/linerate/internal/units"
)

// ringTally counts the frames of a ring by when they came into it, not by when they were read: frames that wait in the ring have
// reached the generator, and are not the device's loss.
//
//	frames   ──1──2──3──4──5──6──7──▶
//	                 ▲walked     ▲arrived: a reading waits until the walk gets here, and counts up to here
//
// A reading waits for a bounded time. A frame that isn't walked by then is missed, for good: its size is unknown, and whether it was for
// the port's own MAC, so it counts neither as received nor as the device's loss. It doesn't count as received when it is walked later.
type ringTally struct {
	mutex   sync.Mutex
	arrived int64 // frames that were put into the ring, as of the last mark
	walked  int64 // frames that were read
	givenUp int64 // frames up to this one that were not walked in time
	sum     tallied
	marks   []*ringMark
}

// ringMark is a moment: everything up to a frame.
type ringMark struct {
	frame   int64
	reached chan struct{} // closed when sum is final
	sum     tallied
}

// ringPatience is how long a reading waits for the walk. The kernel passes a block on when it is a millisecond old; where its timer
// counts in jiffies of 4 ms, up to three of those.
const ringPatience = 15 * time.Millisecond

// mark marks the moment at which it calls count, which returns what arrived and what found no room since its last call.
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

// walk counts the next frame of the ring; for a frame that isn't for this port, traffic is empty.
func (t *ringTally) walk(traffic units.Traffic, stray bool) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.walked++
	if t.walked > t.givenUp {
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

// settle waits for the walk to reach the mark, and gives up what is missing after the patience.
func (t *ringTally) settle(m *ringMark, patience time.Duration) tallied {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-m.reached:
	case <-timer.C:
		t.giveUp(m)
	}
	return m.sum
}

func (t *ringTally) giveUp(m *ringMark) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if from := max(t.walked, t.givenUp); m.frame > from {
		t.sum.missed += m.frame - from
		t.givenUp = m.frame
	}
	t.close(m.frame)
}
