package rig

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/linerate-dev/linerate/test/rigs/fabric"
)

const (
	// tick is how often the wires are looked at.
	tick = 250 * time.Millisecond
	// murmur is how many frames in a tick are no traffic: kernels announce themselves when interfaces come up, and
	// ask for neighbours. The least load of a test is far above it.
	murmur = 40
)

// Listener counts what goes over wires of a fabric, from when it was made until its context ends.
type Listener struct {
	fabric fabric.Spec
	// wires are those that it listens to; none: all.
	wires []string

	mu     sync.Mutex
	counts map[fabric.End]uint64
	ticks  []Tick
	broken error
}

// Tick is what entered the wires between two looks.
type Tick struct {
	// Time is the end of it.
	Time   time.Time
	Frames uint64
}

// Listen begins to listen to wires of these names; no name: to all.
func (r *Rig) Listen(ctx context.Context, wires ...string) *Listener {
	l := &Listener{fabric: r.Fabric, wires: wires}
	go l.run(ctx)
	return l
}

func (l *Listener) run(ctx context.Context) {
	next := time.NewTicker(tick)
	defer next.Stop()
	for {
		counts, err := l.fabric.Entered()
		l.count(time.Now(), counts, err)
		select {
		case <-ctx.Done():
			return
		case <-next.C:
		}
	}
}

// count adds what is new. An end that wasn't there before began at 0; one that is gone has said its last.
func (l *Listener) count(instant time.Time, counts map[fabric.End]uint64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.broken = err
		return
	}
	var frames uint64
	for end, n := range counts {
		if len(l.wires) > 0 && !slices.Contains(l.wires, end.Wire) {
			continue
		}
		if previous := l.counts[end]; l.counts != nil && n > previous {
			frames += n - previous
		}
	}
	l.counts = counts
	l.ticks = append(l.ticks, Tick{instant, frames})
}

// LastHeard is when traffic was last seen; the zero time if never. The error says that the wires can't be listened to.
func (l *Listener) LastHeard() (time.Time, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := len(l.ticks) - 1; i >= 0; i-- {
		if l.ticks[i].Frames > murmur {
			return l.ticks[i].Time, l.broken
		}
	}
	return time.Time{}, l.broken
}

// Rate is the frames per second over the last second or so, on its wires together.
func (l *Listener) Rate() float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	first := max(0, len(l.ticks)-5)
	if len(l.ticks)-first < 2 {
		return 0
	}
	var frames uint64
	for _, t := range l.ticks[first+1:] {
		frames += t.Frames
	}
	return float64(frames) / l.ticks[len(l.ticks)-1].Time.Sub(l.ticks[first].Time).Seconds()
}

// Between is how many frames were seen in ticks between the two times.
func (l *Listener) Between(start, end time.Time) (frames uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, t := range l.ticks {
		if i > 0 && l.ticks[i-1].Time.After(start) && t.Time.Before(end) {
			frames += t.Frames
		}
	}
	return frames
}
