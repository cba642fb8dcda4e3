package datapath

import (
	"math"
	"sync/atomic"
	"time"
)

// How a sending thread spends its time.
const (
	// quantum is the shortest doze of a thread. Frames that become due during a doze leave together.
	quantum = 50 * time.Microsecond
	// maxDoze is the longest doze, and the longest delay of an order.
	maxDoze = 5 * time.Millisecond
	// accountInterval is how often a thread publishes its processor time.
	accountInterval = 20 * time.Millisecond
)

// thread sends its share of a run's frames.
type thread struct {
	playback      *playback
	arena         *arena
	publishedLost int64 // frames given up, as published
	schedule      *schedule
	pacer         pacer
	transmitter   transmitter

	// next is when the thread reads the clock next, unless it has to wait for a processor. It is 0 before the start.
	next     atomic.Int64
	executed atomic.Uint64 // number of orders carried out
	paused   time.Duration // total up to the last resumption
	pausedAt time.Duration // 0 while not paused

	batch   []piece
	owners  []*track
	results []outcome
	slots   []slot

	// firstFrame is when the first frame of a finite run was passed on, and lastFrame when the last had been.
	firstFrame, lastFrame time.Duration
	urgency               urgency
	processor             int           // that the thread is bound to, or noProcessor
	usedTime, accountedAt time.Duration // processor time at the last account, and when that was
}

// slot is room for a frame that is made while sending. It holds a frame of one track, whose program then writes
// only the fields that vary.
type slot struct {
	piece piece
	holds *track
}

func (t *thread) prepare() error {
	t.batch = make([]piece, 0, batchSize)
	t.owners = make([]*track, 0, batchSize)
	t.results = make([]outcome, batchSize)
	if t.playback.layout.longest == 0 {
		return nil
	}
	t.slots = make([]slot, batchSize)
	for i := range t.slots {
		p, err := t.arena.reserve(t.playback.layout.longest)
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
	t.usedTime, t.accountedAt = threadTime(), Now()
	defer t.next.Store(0)
	for !t.playback.stop.Load() {
		instant := Now()
		t.next.Store(int64(instant))
		t.publishBusyTime(instant)
		if t.playback.version.Load() != t.executed.Load() {
			t.executeOrders()
		}
		next := t.schedule.next()
		real := t.time(instant)
		if t.finished(real, next) {
			return
		}
		if t.pausedAt != 0 {
			t.doze(maxDoze)
			continue
		}
		horizon := t.horizon(real, next)
		if next > horizon {
			t.wait(next - horizon)
			continue
		}
		if err := t.send(horizon); err != nil {
			t.playback.port.fail(err)
			return
		}
	}
}

// time is the run's time. It is negative before the start, and stands still in pauses.
func (t *thread) time(instant time.Duration) float64 {
	if t.pausedAt != 0 {
		instant = t.pausedAt
	}
	return float64(instant - t.playback.start - t.paused)
}

// finished says whether no frame is left to send. Frames due before the end may leave a little late, unless the
// thread is slower than the offered load.
func (t *thread) finished(real, next float64) bool {
	end := t.playback.end()
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

// horizon is the due time up to which frames may leave now. After the run's end, late frames leave at once.
func (t *thread) horizon(real, next float64) float64 {
	end := t.playback.end()
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
	t.playback.port.behind.Add(lost - t.publishedLost)
	t.publishedLost = lost
}

// wait dozes until a frame is due, unless more than a batch falls due meanwhile.
func (t *thread) wait(ahead float64) {
	if t.schedule.rate()*float64(quantum) > batchSize {
		return
	}
	t.doze(min(max(time.Duration(min(ahead, float64(maxDoze))), quantum), maxDoze))
}

func (t *thread) doze(span time.Duration) {
	t.next.Store(int64(Now() + span))
	doze(span)
}

// executeOrders carries out new orders, as of the instants at which they were given.
func (t *thread) executeOrders() {
	for _, o := range t.playback.ordersFrom(t.executed.Load()) {
		switch o.kind {
		case changeFactor:
			issued := t.time(o.instant)
			t.pacer.discardOverdue(issued, t.schedule.next(), t.schedule.rate())
			t.publishLost()
			t.schedule.setFactor(issued-t.pacer.slip, o.factor)
		case pauseRun:
			t.pausedAt = o.instant
		case resumeRun:
			t.paused += o.instant - t.pausedAt
			t.pausedAt = 0
		}
		t.executed.Add(1)
	}
}

// send sends the frames that are due up to the horizon, a batch at most. A frame with a stamp goes alone, right
// after it was stamped. Such a frame leaves the batch empty, and counts all the same, so that the thread looks
// for the end of the run, a stop and orders.
func (t *thread) send(horizon float64) error {
	t.batch, t.owners = t.batch[:0], t.owners[:0]
	for count := 0; count < batchSize && t.schedule.next() <= horizon; count++ {
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
	stamp{t.playback.port.generation(), uint16(track.flow.id), track.sequence, Now()}.write(frame, track.flow.network)
	track.sequence++
}

// flush sends the batch and counts it.
func (t *thread) flush() error {
	if len(t.batch) == 0 {
		return nil
	}
	if t.playback.finite && t.firstFrame == 0 {
		t.firstFrame = Now()
	}
	retries, err := t.transmitter.send(t.batch, t.results)
	if t.playback.finite {
		t.lastFrame = Now()
	}
	if err == nil {
		port := t.playback.port
		port.sent.tally(t.batch, t.owners, t.results, retries, port.dropsLeave())
	}
	t.batch, t.owners = t.batch[:0], t.owners[:0]
	return err
}

// publishBusyTime publishes the thread's processor time.
func (t *thread) publishBusyTime(instant time.Duration) {
	if instant-t.accountedAt < accountInterval {
		return
	}
	used := threadTime()
	t.playback.port.busy.Add(int64(used - t.usedTime))
	share := float64(used-t.usedTime) / float64(instant-t.accountedAt)
	if t.urgency.judge(share * float64(boundThreads.sharing(t.processor))) {
		t.urgency.apply()
	}
	t.usedTime, t.accountedAt = used, instant
}
