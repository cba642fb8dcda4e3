package datapath

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cilium/ebpf"
)

// live sends a run from inside the kernel: XDP's live frames. User space makes a program for each thread, starts its call, renews its lease, and reads what it counted; it isn't in the way of
// any frame, and as long as it is held up by less than the lease nobody sees that.
//
//	keeper ── lease, orders ──▶ a thread's memory ◀── due times, counters ── program ── frames ──▶ the interface
//	                                                                             ▲ again and again
//	                                             thread ── one call for the run ─┘
type live struct {
	port     *port
	tracks   []*track
	table    liveTable
	threads  []*liveThread
	frame    []byte // what the kernel's frames begin as
	duration time.Duration
	sending  time.Duration // from the first frame to the last of finite streams, once it has ended
	over     atomic.Bool
	halting  sync.Once
	halted   chan struct{}

	mutex  sync.Mutex // guards what follows, and orders
	closed bool
	factor float64
	seen   [][]traffic64 // of each thread and track: what harvest had found
	lost   []lostFrames  // of each thread
	idle   []uint64
	looked time.Duration
}

const (
	// liveLeased is how long a sender goes on without its keeper. It is long for a machine that is busy, and short beside a heartbeat.
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
	l := &live{port: p, tracks: tracks, duration: run.Duration, factor: run.Factor, halted: make(chan struct{}), frame: make([]byte, longest(tracks)),
		lost: make([]lostFrames, threads), idle: make([]uint64, threads), seen: make([][]traffic64, threads)}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.end())
		}
	}()
	if err := l.load(p, threads); err != nil {
		return nil, err
	}
	for k, t := range l.threads {
		t.begun = true
		go t.run(l, k)
	}
	if err := l.ready(); err != nil {
		return nil, err
	}
	l.start(run.Start)
	return l, nil
}

// load makes the programs.
func (l *live) load(p *port, threads int) error {
	var templates, lists []uint32
	for _, t := range l.tracks {
		lists = append(lists, l.table.addList(t.program.Table()))
		templates = append(templates, l.table.add(t.program.Bytes()))
	}
	if err := l.table.load(); err != nil {
		return fmt.Errorf("%w: %w", errNotLive, err)
	}
	for k := range threads {
		l.seen[k] = make([]traffic64, len(l.tracks))
		memory, err := newLiveMemory(len(l.tracks))
		if err != nil {
			return fmt.Errorf("%w: %w", errNotLive, err)
		}
		t := &liveThread{memory: memory, ended: make(chan struct{})}
		l.threads = append(l.threads, t)
		s := &liveSender{tracks: l.tracks, thread: k, threads: threads, batch: p.batch(), interfaceAt: p.index, frame: len(l.frame), finite: l.finite(), timed: allFinite(l.tracks), generation: uint8(p.runs.Load() + 1),
			memory: memory, table: &l.table, templates: templates, lists: lists}
		instructions, err := s.assemble()
		if err != nil {
			return err
		}
		if t.program, err = ebpf.NewProgram(&ebpf.ProgramSpec{Name: "linerate_send", Type: ebpf.XDP, License: "Apache-2.0", Instructions: instructions}); err != nil {
			return fmt.Errorf("%w: %w", errNotLive, err)
		}
		s.prepare(l.factor)
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
		for _, t := range l.threads {
			t.lease(Now() + liveLeased)
			select {
			case <-t.ended:
				return fmt.Errorf("%w: %w", errNotLive, t.err)
			default:
			}
			if t.memory.load(liveReady) == 0 {
				waiting++
			}
		}
		switch {
		case waiting == 0:
			return nil
		case Now() > deadline:
			return fmt.Errorf("%w: %d of %d threads were not ready within %v", errNotLive, waiting, len(l.threads), liveSetUp)
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
	for _, t := range l.threads {
		t.memory.store(liveOffset, uint64(at))
		t.memory.store(liveEnd, end)
		t.memory.store(liveStart, uint64(at))
	}
}

// keep sees to the run until it is over or halted, and says what ended it.
func (l *live) keep() error {
	var failure error
	wasUp := l.port.link.up.Load()
	for failure == nil && !l.done() {
		now := Now()
		for _, t := range l.threads {
			t.lease(now + liveLeased)
			select {
			case <-t.ended:
				failure = t.err
			default:
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
	return !slices.ContainsFunc(l.threads, func(t *liveThread) bool { return t.memory.load(liveOver) == 0 })
}

// halt ends the run: the keeper does the rest.
func (l *live) halt() { l.halting.Do(func() { close(l.halted) }) }

// took is how long the threads sent finite streams together; 0: they sent none, or others.
func (l *live) took() time.Duration {
	var first, last uint64
	for _, t := range l.threads {
		if at := t.memory.load(liveFirst); at > 0 && (first == 0 || at < first) {
			first = at
		}
		last = max(last, t.memory.load(liveLatest))
	}
	return time.Duration(last - first)
}

// end has nothing more leave, waits for the threads, and counts what they sent.
func (l *live) end() error {
	l.over.Store(true)
	for _, t := range l.threads {
		t.memory.store(liveLease, 0)
	}
	for _, t := range l.threads {
		if t.begun {
			t.end()
		}
	}
	l.harvest(l.port.link.up.Load())
	l.sending = l.took()
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.closed = true
	var errs []error
	for _, t := range l.threads {
		errs = append(errs, t.close())
	}
	if l.table.values != nil {
		errs = append(errs, l.table.values.Close())
	}
	return errors.Join(errs...)
}
