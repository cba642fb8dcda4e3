package datapath

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// live sends a run from inside the kernel: XDP's live frames. User space makes a program for each thread, starts its
// call, renews its lease, and reads what it counted; it isn't in the way of any frame, and as long as it is held up
// by less than the lease nobody sees that.
//
//	keeper ── lease, orders ──▶ a part's memory ◀── due times, counters ── program ── frames ──▶ the interface
//	                                                                            ▲ again and again, in turns with those of other ports
//	                            thread ── one call while any port sends on it ──┘
type live struct {
	port     *port
	tracks   []*track
	table    liveTable
	parts    []*livePart // by thread
	duration time.Duration
	sending  time.Duration // from the first frame to the last of finite streams, once it has ended
	halting  sync.Once
	halted   chan struct{}

	mutex  sync.Mutex // guards what follows, and orders
	closed bool
	factor float64
	looked time.Duration
}

const (
	// liveLeased is how long a sender goes on without its keeper. It is long for a machine that is busy, and short
	// beside a heartbeat.
	liveLeased = 2 * time.Second
	// liveAttention is how often the keeper looks.
	liveAttention = 20 * time.Millisecond
	// liveSetUp is how long the kernel may take to begin a call: some 25 ms on a quiet machine.
	liveSetUp = 5 * time.Second
	// liveNotice is how long after all threads are ready a run begins that was to begin at once.
	liveNotice = time.Millisecond
)

// startLive begins a run: when it returns, all threads are ready. An errNotLive says that another way can carry it.
func startLive(p *port, run Run, tracks []*track, threads int) (_ *live, err error) {
	if err := liveCarries(run, tracks); err != nil {
		return nil, err
	}
	if err := liveTakes(p); err != nil {
		return nil, fmt.Errorf("%w: %w", errNotLive, err)
	}
	l := &live{port: p, tracks: tracks, duration: run.Duration, factor: run.Factor, halted: make(chan struct{})}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.end())
		}
	}()
	if err := l.load(threads); err != nil {
		return nil, err
	}
	for _, part := range l.parts {
		part.thread.begin()
	}
	if err := l.ready(); err != nil {
		return nil, err
	}
	for _, part := range l.parts {
		part.id = int(part.thread.id.Load())
		p.waits.begin(part.id)
	}
	l.start(run.Start)
	return l, nil
}

// load makes a program for each of so many threads.
func (l *live) load(threads int) error {
	function, err := composeFrames(l.tracks, uint8(l.port.runs.Load()+1), &l.table)
	if err != nil {
		return fmt.Errorf("%w: %w", errNotLive, err)
	}
	for k := range threads {
		part, err := crew.join(l.port, k, threads, longest(l.tracks), func(on *liveThread) (*livePart, error) {
			s := liveSender{
				tracks:    l.tracks,
				number:    k,
				threads:   threads,
				batch:     on.batch,
				finite:    l.finite(),
				makeFrame: function,
			}
			return s.load(l.port, on, l.factor)
		})
		switch {
		case err == nil:
			l.parts = append(l.parts, part)
		case errors.Is(err, errNotLive):
			return err
		default:
			return fmt.Errorf("%w: %w", errNotLive, err)
		}
	}
	return nil
}

// finite says whether the run ends by itself.
func (l *live) finite() bool {
	return l.duration > 0 || !slices.ContainsFunc(l.tracks, func(t *track) bool { return t.total == 0 })
}

// ready waits until the kernel runs each thread's program.
func (l *live) ready() error {
	for deadline := Now() + liveSetUp; ; sleep(time.Millisecond) {
		waiting := 0
		for _, part := range l.parts {
			part.lease(Now() + liveLeased)
			if part.thread.failed() {
				return fmt.Errorf("%w: %w", errNotLive, part.thread.err)
			}
			if atomic.LoadUint64(&part.memory.Runs) == 0 {
				waiting++
			}
		}
		switch {
		case waiting == 0:
			return nil
		case Now() > deadline:
			return fmt.Errorf("%w: %d of %d threads were not ready within %v", errNotLive, waiting, len(l.parts), liveSetUp)
		}
	}
}

// start says when the run begins: where that has passed, as soon as all threads can know.
func (l *live) start(at time.Duration) {
	l.looked = Now()
	at = max(at, l.looked+liveNotice)
	end := uint64(math.MaxInt64)
	if l.duration > 0 && l.duration < math.MaxInt64-at {
		end = uint64(at + l.duration)
	}
	for _, part := range l.parts {
		atomic.StoreUint64(&part.memory.Offset, uint64(at))
		atomic.StoreUint64(&part.memory.End, end)
		atomic.StoreUint64(&part.memory.Start, uint64(at))
	}
}

// keep sees to the run until it is over or halted, and says what ended it.
func (l *live) keep() error {
	var failure error
	wasUp := l.port.link.up.Load()
	for failure == nil && !l.done() {
		now := Now()
		for _, part := range l.parts {
			part.lease(now + liveLeased)
			if part.thread.failed() {
				failure = fmt.Errorf("send on %s: %w", l.port.name, part.thread.err)
			}
		}
		if up := l.port.link.up.Load(); up != wasUp {
			l.harvest(wasUp)
			wasUp = up
		}
		l.account(now)
		select {
		case <-l.halted:
			return errors.Join(failure, l.end())
		case <-time.After(l.glance()):
		}
	}
	return errors.Join(failure, l.end())
}

// glance is how long the keeper may look away.
func (l *live) glance() time.Duration {
	if l.finite() {
		return liveAttention / 10
	}
	return liveAttention
}

// done says whether no thread has anything left to send.
func (l *live) done() bool {
	sends := func(part *livePart) bool { return atomic.LoadUint64(&part.memory.Finished) == 0 }
	return !slices.ContainsFunc(l.parts, sends)
}

// halt ends the run: the keeper does the rest.
func (l *live) halt() { l.halting.Do(func() { close(l.halted) }) }

// took is how long the threads sent finite streams together; 0: they sent none, or others.
func (l *live) took() time.Duration {
	var first, last uint64
	for _, part := range l.parts {
		if at := atomic.LoadUint64(&part.memory.FirstFrame); at > 0 && (first == 0 || at < first) {
			first = at
		}
		last = max(last, atomic.LoadUint64(&part.memory.LastFrame))
	}
	return time.Duration(last - first)
}

// end has nothing more leave, waits until all has left, and counts what was sent.
func (l *live) end() error {
	for _, part := range l.parts {
		l.port.waits.end(part.id, part.overdue())
		atomic.StoreUint64(&part.memory.Lease, 0)
	}
	var errs []error
	for _, part := range l.parts {
		errs = append(errs, crew.leave(part))
	}
	l.harvest(l.port.link.up.Load())
	l.sending = l.took()
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.closed = true
	for _, part := range l.parts {
		errs = append(errs, part.close())
	}
	if l.table.values != nil {
		errs = append(errs, l.table.values.Close())
	}
	return errors.Join(errs...)
}
