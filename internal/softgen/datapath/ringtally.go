package datapath

import (
	"slices"
	"sync"
	"time"

	"github.com/linerate-dev/linerate/internal/units"
)

// ringTally counts the frames of a ring by when they came into it, not by when somebody got round to them: what waits in the ring has
// reached us, and is not the device's loss.
//
//	frames   ──1──2──3──4──5──6──7──▶
//	                 ▲walked     ▲arrived: a reading waits until the walk gets here, and counts up to here
//
// A reading waits for a bounded time. Whatever is not walked by then is missed, for good: its bytes aren't known, nor whether it was for
// our own MAC, so it is given to neither the device nor the port. Such a frame doesn't count as received when the walk does get to it.
type ringTally struct {
	mutex   sync.Mutex
	arrived int64 // frames that were put into the ring, as of the last mark
	walked  int64 // frames that were looked at
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

// ringPatience is how long a reading waits for the walk. The kernel hands a block over when it is a millisecond old; where its timer
// counts in jiffies of 4 ms, up to three of those.
const ringPatience = 15 * time.Millisecond

// mark takes the moment at which count is called, which says what arrived and what found no room since it was called before.
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

// walk counts the next frame of the ring; one that isn't for us is no traffic.
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
