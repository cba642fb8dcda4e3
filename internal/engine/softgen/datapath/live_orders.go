package datapath

import (
	"fmt"
	"math"
	"sync/atomic"
	"time"
)

// prepare writes the part's words for the program's first run on frames of this length.
func (s *liveSender) prepare(part *sendPart, frameLength int, factor float64) {
	part.Start = liveNever
	storeFactor(part, s.tracks, factor, s.threads, s.batch)
	next, stream := liveNever, 0
	for k, t := range s.tracks {
		first := uint64(s.number)
		remaining := t.total/uint64(s.threads) + bit(first < t.total%uint64(s.threads))
		due := t.wait + float64(first)*t.gap(factor)
		if t.singleThread {
			first, remaining, due = 0, t.total, t.wait
		}
		whole, fraction := gapOf(due)
		if (t.total > 0 && remaining == 0) || (t.singleThread && s.number != 0) {
			whole, fraction = liveNever, 0
		}
		words := &part.Streams[k]
		words.Step, words.FixedRate = s.step(t), bit(t.fixedRate)
		words.Longer = uint64(t.program.MaxLength() - frameLength)
		words.Gap, words.Fraction = words.NewGap, words.NewFraction
		words.Due, words.DueFraction, words.Index, words.Remaining = whole, fraction, first, remaining
		if whole < next {
			next, stream = whole, k
		}
	}
	part.Next, part.NextStream, part.Finished = next, uint64(stream), bit(next == liveNever)
}

// step is the distance of the frame indices of one thread.
func (s *liveSender) step(t *track) uint64 {
	if t.singleThread {
		return 1
	}
	return uint64(s.threads)
}

// gapOf splits a gap into whole nanoseconds and a fraction of 2⁻³².
func gapOf(gap float64) (whole, fraction uint64) {
	floor, rest := math.Modf(gap)
	return uint64(floor), uint64(math.Ldexp(rest, 32))
}

func bit(set bool) uint64 {
	if set {
		return 1
	}
	return 0
}

// storeFactor writes the words that depend on the factor. They are valid with the next order.
func storeFactor(m *sendPart, tracks []*track, factor float64, threads, batch int) {
	minBurst, maxBurst, spacing := livePace(tracks, factor, threads, batch)
	atomic.StoreUint64(&m.MinBurst, minBurst)
	atomic.StoreUint64(&m.MaxBurst, maxBurst)
	atomic.StoreUint64(&m.Spacing, spacing)
	for k, t := range tracks {
		gap := t.gap(factor)
		if !t.singleThread {
			gap *= float64(threads)
		}
		whole, fraction := gapOf(gap)
		atomic.StoreUint64(&m.Streams[k].NewGap, whole)
		atomic.StoreUint64(&m.Streams[k].NewFraction, fraction)
	}
}

// order passes an order on to the programs, and waits until they have carried it out.
func (l *liveRun) order(o order) error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.closed {
		return nil
	}
	kind := map[orderKind]sendShared{
		changeFactor: sendSharedCHANGE_FACTOR,
		pauseRun:     sendSharedPAUSE,
		resumeRun:    sendSharedRESUME,
	}[o.kind]
	if o.kind == changeFactor {
		for _, t := range l.tracks {
			if err := checkLiveRate(t, o.factor); err != nil {
				return fmt.Errorf("change the factor on %s to %v: stream %d %w, and live frames can't send that; "+
					"start a new run, or use --path af_xdp", l.port.name, o.factor, t.id, err)
			}
		}
	}
	for _, part := range l.parts {
		if o.kind == changeFactor {
			storeFactor(part.memory, l.tracks, o.factor, len(l.parts), l.port.batch())
		}
		atomic.StoreUint64(&part.memory.Order, uint64(kind))
		atomic.StoreUint64(&part.memory.Version, atomic.LoadUint64(&part.memory.Version)+1)
	}
	for _, part := range l.parts {
		if err := part.awaitOrder(); err != nil {
			return err
		}
		if o.kind == changeFactor {
			lost, slip := &part.lost, atomic.LoadUint64(&part.memory.SlipAtOrder)
			lost.frames += float64(slip-lost.baseSlip) * l.threadRate()
			lost.baseSlip = slip
		}
	}
	if o.kind == changeFactor {
		l.factor = o.factor
	}
	return nil
}

// threadRate is how many frames a thread sends in a nanosecond.
func (l *liveRun) threadRate() float64 {
	return liveRate(l.tracks, l.factor) / 1e9 / float64(len(l.parts))
}

// awaitOrder waits until the program has carried out its last order.
func (p *livePart) awaitOrder() error {
	executed := func() bool { return atomic.LoadUint64(&p.memory.Executed) == atomic.LoadUint64(&p.memory.Version) }
	for deadline := Now() + liveSetupTimeout; !executed(); sleep(50 * time.Microsecond) {
		if Now() > deadline {
			return fmt.Errorf("a sending thread didn't carry out its order within %v: "+
				"its processor is taken by others", liveSetupTimeout)
		}
	}
	return nil
}
