package datapath

import (
	"fmt"
	"time"
)

// prepare writes what the program finds when it is first run.
func (s *liveSender) prepare(factor float64) {
	s.memory.store(liveStart, liveNever)
	tellFactor(s.memory, s.tracks, factor, s.threads, s.batch)
	next, stream := liveNever, 0
	for k, t := range s.tracks {
		first := uint64(s.number)
		left := t.total/uint64(s.threads) + bit(first < t.total%uint64(s.threads))
		due := t.wait + float64(first)*t.gap(factor)
		if t.alone {
			first, left, due = 0, t.total, t.wait
		}
		whole, fraction := gapOf(due)
		if (t.total > 0 && left == 0) || (t.alone && s.number != 0) {
			whole, fraction = liveNever, 0
		}
		for word, value := range map[int16]uint64{liveDue: whole, liveDueFraction: fraction, liveIndex: first, liveLeft: left,
			liveGap: s.memory.load(liveWord(k, liveNewGap)), liveFraction: s.memory.load(liveWord(k, liveNewFraction))} {
			s.memory.store(liveWord(k, word), value)
		}
		if whole < next {
			next, stream = whole, k
		}
	}
	s.memory.store(liveNext, next)
	s.memory.store(liveStream, uint64(stream))
	if next == liveNever {
		s.memory.store(liveOver, 1)
	}
}

func bit(set bool) uint64 {
	if set {
		return 1
	}
	return 0
}

// tellFactor writes what follows of a factor; an order makes it hold.
func tellFactor(m *liveMemory, tracks []*track, factor float64, threads, batch int) {
	least, most, spacing := livePace(tracks, factor, threads, batch)
	m.store(liveLeast, least)
	m.store(liveMost, most)
	m.store(liveSpacing, spacing)
	for k, t := range tracks {
		gap := t.gap(factor)
		if !t.alone {
			gap *= float64(threads)
		}
		whole, fraction := gapOf(gap)
		m.store(liveWord(k, liveNewGap), whole)
		m.store(liveWord(k, liveNewFraction), fraction)
	}
}

// order passes an order on to the programs, and waits until they have carried it out.
func (l *live) order(o order) error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.closed {
		return nil
	}
	kind := map[orderKind]liveOrderKind{changeFactor: liveChangeFactor, pausePlay: livePause, resumePlay: liveResume}[o.kind]
	if o.kind == changeFactor {
		for _, t := range l.tracks {
			if err := liveRateFits(t, o.factor); err != nil {
				return fmt.Errorf("change the factor on %s to %v: stream %d %w, which live frames can't; start such a run anew, or use --path af_xdp", l.port.name, o.factor, t.id, err)
			}
		}
	}
	for _, part := range l.parts {
		if o.kind == changeFactor {
			tellFactor(part.memory, l.tracks, o.factor, len(l.parts), l.port.batch())
		}
		part.memory.store(liveOrder, uint64(kind))
		part.memory.store(liveVersion, part.memory.load(liveVersion)+1)
	}
	for _, part := range l.parts {
		if err := part.obeys(); err != nil {
			return err
		}
		if o.kind == changeFactor {
			lost, at := &part.lost, part.memory.load(liveSlipAt)
			lost.settled += float64(at-lost.base) * l.threadRate()
			lost.base = at
		}
	}
	if o.kind == changeFactor {
		l.factor = o.factor
	}
	return nil
}

// threadRate is how many frames a thread sends in a nanosecond.
func (l *live) threadRate() float64 {
	return liveRate(l.tracks, l.factor) / 1e9 / float64(len(l.parts))
}

// obeys waits until the program has carried out its last order.
func (p *livePart) obeys() error {
	for deadline := Now() + liveSetUp; p.memory.load(liveObeyed) != p.memory.load(liveVersion); sleep(50 * time.Microsecond) {
		if Now() > deadline {
			return fmt.Errorf("a sending thread didn't carry out its order within %v: its processor is taken by others", liveSetUp)
		}
	}
	return nil
}
