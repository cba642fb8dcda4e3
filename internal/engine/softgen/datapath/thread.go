package datapath

import (
	"math"
	"sync/atomic"
	"time"
)

// How a sending thread spends its time.
const (
	// quantum is the shortest time that a thread dozes: frames that become due in it leave together.
	quantum = 50 * time.Microsecond
	// attention is the longest: orders are carried out that soon.
	attention = 5 * time.Millisecond
	// accounting is how often a thread publishes how much processor time it has used.
	accounting = 20 * time.Millisecond
)

// thread sends its share of a run's frames.
type thread struct {
	play        *play
	arena       *arena
	lost        int64 // frames given up, as published
	schedule    *schedule
	pacer       pacer
	transmitter transmitter

	next     atomic.Int64  // when it looks at the clock next, unless it has to wait for a processor; 0: it has not begun
	obeyed   atomic.Uint64 // orders carried out
	paused   time.Duration // in all, up to the last resumption
	pausedAt time.Duration // 0: not paused

	batch   []piece
	owners  []*track
	results []outcome
	slots   []slot

	first, last     time.Duration // when the first frame of a finite run was handed over, and when the last had been
	urgency         urgency
	used, accounted time.Duration // processor time: at the last account, and when that was
}

// slot is room for a frame that is made while sending. It records which program's frame it holds: the same program then writes only what varies.
type slot struct {
	piece piece
	holds *track
}

func (t *thread) prepare() error {
	t.batch = make([]piece, 0, batchSize)
	t.owners = make([]*track, 0, batchSize)
	t.results = make([]outcome, batchSize)
	if t.play.layout.longest == 0 {
		return nil
	}
	t.slots = make([]slot, batchSize)
	for i := range t.slots {
		p, err := t.arena.reserve(t.play.layout.longest)
		if err != nil {
			return err
		}
		t.slots[i].piece = p
	}
	return nil
}

// run sends until the run is over or stopped.
func (t *thread) run() {
	t.urgency.apply()
	t.used, t.accounted = threadTime(), Now()
	defer t.next.Store(0)
	for !t.play.stop.Load() {
		now := Now()
		t.next.Store(int64(now))
		t.account(now)
		if t.play.version.Load() != t.obeyed.Load() {
			t.obey()
		}
		next := t.schedule.next()
		real := t.time(now)
		if t.over(real, next) {
			return
		}
		if t.pausedAt != 0 {
			t.doze(attention)
			continue
		}
		horizon := t.horizon(real, next)
		if next > horizon {
			t.wait(next - horizon)
			continue
		}
		if err := t.send(horizon); err != nil {
			t.play.port.fail(err)
			return
		}
	}
}

// time is the run's time: negative before its start, and standing still in pauses.
func (t *thread) time(now time.Duration) float64 {
	if t.pausedAt != 0 {
		now = t.pausedAt
	}
	return float64(now - t.play.start - t.paused)
}

// over says whether nothing is left to send. Frames due before the end may leave a little late, unless the thread is slower than asked.
func (t *thread) over(real, next float64) bool {
	end := t.play.end()
	if math.IsInf(next, 1) || next+t.pacer.slip >= end {
		return true
	}
	if real > end+float64(linger) || real >= end && t.pacer.slow(real) {
		t.pacer.giveUp(end-t.pacer.slip-next, t.schedule.rate())
		t.publishLost()
		return true
	}
	return false
}

// horizon is the due time up to which frames may leave now. When the run's time is up, late frames leave at once.
func (t *thread) horizon(real, next float64) float64 {
	end := t.play.end()
	if real >= end {
		return math.Nextafter(end-t.pacer.slip, 0)
	}
	slip := t.pacer.slip
	horizon := t.pacer.advance(real, next, t.schedule.rate())
	if t.pacer.slip != slip {
		t.publishLost()
	}
	return horizon
}

func (t *thread) publishLost() {
	lost := int64(t.pacer.lost)
	t.play.port.behind.Add(lost - t.lost)
	t.lost = lost
}

// wait dozes until something is due; where more than a batch falls due meanwhile, it doesn't.
func (t *thread) wait(ahead float64) {
	if t.schedule.rate()*float64(quantum) > batchSize {
		return
	}
	t.doze(min(max(time.Duration(min(ahead, float64(attention))), quantum), attention))
}

func (t *thread) doze(span time.Duration) {
	t.next.Store(int64(Now() + span))
	doze(span)
}

// obey carries out new orders, as of the moment at which they were given.
func (t *thread) obey() {
	for _, o := range t.play.since(t.obeyed.Load()) {
		switch o.kind {
		case changeFactor:
			given := t.time(o.at)
			t.pacer.startOver(given, t.schedule.next(), t.schedule.rate())
			t.publishLost()
			t.schedule.setFactor(given-t.pacer.slip, o.factor)
		case pausePlay:
			t.pausedAt = o.at
		case resumePlay:
			t.paused += o.at - t.pausedAt
			t.pausedAt = 0
		}
		t.obeyed.Add(1)
	}
}

// send hands over what is due up to the horizon, at most a batch. A frame with a stamp goes alone, right after it was stamped; it leaves the batch empty, and counts all the same, so that the end of a
// run, a stop and orders are looked at.
func (t *thread) send(horizon float64) error {
	t.batch, t.owners = t.batch[:0], t.owners[:0]
	for taken := 0; taken < batchSize && t.schedule.next() <= horizon; taken++ {
		track, index := t.schedule.pop()
		switch {
		case track == nil || track.silent:
		case track.flow != nil && track.flow.stamped:
			if err := t.flush(); err != nil {
				return err
			}
			t.stamped(track, index)
			if err := t.flush(); err != nil {
				return err
			}
		default:
			t.add(track, index)
		}
	}
	return t.flush()
}

// add makes a frame and puts it into the batch.
func (t *thread) add(track *track, index uint64) {
	t.owners = append(t.owners, track)
	if n := uint64(len(track.prebuilt)); n > 0 {
		t.batch = append(t.batch, track.prebuilt[index%n])
		return
	}
	s := &t.slots[len(t.batch)]
	buffer := t.arena.bytes(s.piece)
	if s.holds != track {
		copy(buffer, track.program.Bytes())
		s.holds = track
	}
	t.batch = append(t.batch, piece{s.piece.offset, uint32(track.program.Frame(index, buffer))})
}

func (t *thread) stamped(track *track, index uint64) {
	t.add(track, index)
	frame := t.arena.bytes(t.batch[len(t.batch)-1])
	stamp{t.play.port.generation(), uint16(track.flow.id), track.sequence, Now()}.write(frame, track.flow.network)
	track.sequence++
}

// flush sends the batch and counts it.
func (t *thread) flush() error {
	if len(t.batch) == 0 {
		return nil
	}
	if t.play.finite && t.first == 0 {
		t.first = Now()
	}
	retries, err := t.transmitter.send(t.batch, t.results)
	if t.play.finite {
		t.last = Now()
	}
	if err == nil {
		t.play.port.tally(t.batch, t.owners, t.results, retries)
	}
	t.batch, t.owners = t.batch[:0], t.owners[:0]
	return err
}

// account publishes the processor time used.
func (t *thread) account(now time.Duration) {
	if now-t.accounted < accounting {
		return
	}
	used := threadTime()
	t.play.port.busy.Add(int64(used - t.used))
	if t.urgency.judge(float64(used-t.used) / float64(now-t.accounted)) {
		t.urgency.apply()
	}
	t.used, t.accounted = used, now
}
