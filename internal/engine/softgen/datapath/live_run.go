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

// liveRun is a run that the kernel sends as XDP's live frames. User space makes a program
// for each thread, starts the thread's call, renews its lease, and reads its counters.
// User space handles no frame, so a delay shorter than the lease changes nothing.
//
//	keeper ── lease, orders ──▶ a part's memory ◀── due times, counters ── program ── frames ──▶ the interface
//	                                                                            ▲ again and again, in turns
//	                            thread ── one call while any port sends on it ──┘
type liveRun struct {
	port        *port
	tracks      []*track
	table       liveTable
	parts       []*livePart // by thread
	duration    time.Duration
	sending     time.Duration // from the first frame of finite streams to the last; set at the end
	haltOnce    sync.Once
	halted      chan struct{}
	accountedAt time.Duration // of publishBusyTime, which only the supervisor calls

	mutex  sync.Mutex // guards closed and factor, and keeps orders in sequence
	closed bool
	factor float64
}

const (
	// liveLease is how long a thread sends without its supervisor. The
	// lease is long for a busy machine, and short beside a heartbeat.
	liveLease = 2 * time.Second
	// liveKeepInterval is how often the supervisor checks an endless run.
	liveKeepInterval = 20 * time.Millisecond
	// liveSetupTimeout bounds how long the kernel takes to begin a call. A quiet machine takes some 25 ms.
	liveSetupTimeout = 5 * time.Second
	// liveStartDelay is how long after the threads are ready a run begins that was to begin at once.
	liveStartDelay = time.Millisecond
)

// startLive begins a run, and returns when all threads are ready. After an errNotLive, another path can carry the run.
func startLive(p *port, run Run, tracks []*track, threads int) (_ *liveRun, err error) {
	if err := checkLiveRun(run, tracks); err != nil {
		return nil, err
	}
	if err := checkLiveInterface(p); err != nil {
		return nil, fmt.Errorf("%w: %w", errNotLive, err)
	}
	l := &liveRun{port: p, tracks: tracks, duration: run.Duration, factor: run.Factor, halted: make(chan struct{})}
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
	if err := l.awaitThreads(); err != nil {
		return nil, err
	}
	for _, part := range l.parts {
		part.id = int(part.thread.id.Load())
		p.waits.begin(part.id)
	}
	l.start(run.Start)
	return l, nil
}

// load makes a program for each thread.
func (l *liveRun) load(threads int) error {
	function, err := composeFrames(l.tracks, uint8(l.port.runs.Load()+1), &l.table)
	if err != nil {
		return fmt.Errorf("%w: %w", errNotLive, err)
	}
	for k := range threads {
		part, err := liveThreads.join(l.port, k, threads, longest(l.tracks), func(thread *liveThread) (*livePart,
			error) {
			s := liveSender{
				tracks:    l.tracks,
				number:    k,
				threads:   threads,
				batch:     thread.batch,
				finite:    l.finite(),
				makeFrame: function,
			}
			return s.load(l.port, thread, l.factor)
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
func (l *liveRun) finite() bool {
	return l.duration > 0 || !slices.ContainsFunc(l.tracks, func(t *track) bool { return t.total == 0 })
}

// awaitThreads waits until the kernel runs each thread's program.
func (l *liveRun) awaitThreads() error {
	for deadline := Now() + liveSetupTimeout; ; sleep(time.Millisecond) {
		waiting := 0
		for _, part := range l.parts {
			part.lease(Now() + liveLease)
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
			return fmt.Errorf("%w: %d of %d threads were not ready within %v", errNotLive, waiting, len(l.parts),
				liveSetupTimeout)
		}
	}
}

// start sets when the run begins. If that instant has passed, the run begins as soon as all threads can know.
func (l *liveRun) start(instant time.Duration) {
	l.accountedAt = Now()
	instant = max(instant, l.accountedAt+liveStartDelay)
	end := uint64(math.MaxInt64)
	if l.duration > 0 && l.duration < math.MaxInt64-instant {
		end = uint64(instant + l.duration)
	}
	for _, part := range l.parts {
		atomic.StoreUint64(&part.memory.Offset, uint64(instant))
		atomic.StoreUint64(&part.memory.End, end)
		atomic.StoreUint64(&part.memory.Start, uint64(instant))
	}
}

// supervise renews the leases until the run is over or halted, and returns the error that ended the run.
func (l *liveRun) supervise() error {
	var failure error
	wasUp := l.port.link.isUp.Load()
	for failure == nil && !l.finished() {
		instant := Now()
		for _, part := range l.parts {
			part.lease(instant + liveLease)
			if part.thread.failed() {
				failure = fmt.Errorf("send on %s: %w", l.port.name, part.thread.err)
			}
		}
		if isUp := l.port.link.isUp.Load(); isUp != wasUp {
			l.collectSent(wasUp)
			wasUp = isUp
		}
		l.publishBusyTime(instant)
		select {
		case <-l.halted:
			return errors.Join(failure, l.end())
		case <-time.After(l.keepInterval()):
		}
	}
	return errors.Join(failure, l.end())
}

// keepInterval is how long the supervisor may sleep.
func (l *liveRun) keepInterval() time.Duration {
	if l.finite() {
		return liveKeepInterval / 10
	}
	return liveKeepInterval
}

// finished says whether no thread has a frame left to send.
func (l *liveRun) finished() bool {
	sends := func(part *livePart) bool { return atomic.LoadUint64(&part.memory.Finished) == 0 }
	return !slices.ContainsFunc(l.parts, sends)
}

// halt ends the run. The supervisor does the rest.
func (l *liveRun) halt() { l.haltOnce.Do(func() { close(l.halted) }) }

// sendingTime is how long the threads together sent finite streams. It is 0 for a run with an endless stream,
// and before the first frame.
func (l *liveRun) sendingTime() time.Duration {
	var earliest, latest uint64
	for _, part := range l.parts {
		if begin := atomic.LoadUint64(&part.memory.FirstFrame); begin > 0 && (earliest == 0 || begin < earliest) {
			earliest = begin
		}
		latest = max(latest, atomic.LoadUint64(&part.memory.LastFrame))
	}
	return time.Duration(latest - earliest)
}

// end stops sending, waits until all frames have left, and counts them.
func (l *liveRun) end() error {
	for _, part := range l.parts {
		l.port.waits.end(part.id, part.overdue())
		atomic.StoreUint64(&part.memory.Lease, 0)
	}
	var errs []error
	for _, part := range l.parts {
		errs = append(errs, liveThreads.leave(part))
	}
	l.collectSent(l.port.link.isUp.Load())
	l.sending = l.sendingTime()
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.closed = true
	for _, part := range l.parts {
		errs = append(errs, part.close())
	}
	return errors.Join(append(errs, l.table.values.Close())...)
}
