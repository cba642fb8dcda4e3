package iperf3

import (
	"context"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/host/bounded"
	"github.com/linerate-dev/linerate/internal/host/sockets"
)

// transfer is one side's part of a test, from its first byte of payload to its last.
//
//	      omitted │       counted        │ draining
//	──────────────┼───────┬──────┬───────┼──────────▶
//	begin       omit    every interval  stop (nothing is sent any more), end (nothing is awaited any more)
type transfer struct {
	test     Test
	streams  streams
	interval time.Duration

	began   time.Time
	stopped chan struct{}  // closed when sending ends
	ending  chan struct{}  // closed when only payload in flight is still awaited
	sending sync.WaitGroup // goroutines that send
	working sync.WaitGroup // all other goroutines
	watched chan struct{}  // closed when intervals are no longer recorded
	broken  chan error     // gets the first error of a stream

	mu          sync.Mutex
	sent        ledger
	received    ledger
	omitted     map[int]counts // by stream, what had been counted when the omitted time was over
	sentUntil   time.Duration
	lastAck     time.Duration
	readErr     error // why the kernel's counters couldn't be read
	unconfirmed int64
	usage       unix.Rusage
}

// ledger is what one side counted of one direction, by intervals.
type ledger struct {
	start     time.Duration
	previous  counts
	omitting  bool
	draining  bool
	intervals []Interval
}

// newTransfer is a transfer over open streams, whose counters are read at that interval.
func newTransfer(test Test, streams streams, interval time.Duration) *transfer {
	return &transfer{test: test, streams: streams, interval: interval, stopped: make(chan struct{}),
		ending: make(chan struct{}), watched: make(chan struct{}), broken: make(chan error, 1),
		omitted: map[int]counts{}}
}

// elapsed is the transfer's clock.
func (t *transfer) elapsed() time.Duration { return time.Since(t.began) }

// begin starts sending and receiving. The caller must call close afterwards.
func (t *transfer) begin() {
	t.began = time.Now()
	_ = unix.Getrusage(unix.RUSAGE_SELF, &t.usage)
	t.sent.omitting, t.received.omitting = t.test.Omit > 0, t.test.Omit > 0
	message := make([]byte, t.test.message())
	_, _ = rand.NewChaCha8([32]byte{}).Read(message) // a device that compresses finds nothing
	t.test.head(message)
	for _, s := range t.streams {
		group := &t.working
		if s.sends {
			group = &t.sending
		}
		group.Go(func() {
			err := error(nil)
			if s.sends {
				err = s.send(t, message)
			} else {
				err = s.receive(t)
			}
			if err != nil {
				select {
				case t.broken <- err:
				default:
				}
			}
		})
	}
	t.working.Go(t.watch)
}

// watch records the intervals.
func (t *transfer) watch() {
	ticker := time.NewTicker(t.interval)
	defer ticker.Stop()
	var omitEnd <-chan time.Time
	if t.test.Omit > 0 {
		timer := time.NewTimer(t.test.Omit)
		defer timer.Stop()
		omitEnd = timer.C
	}
	for {
		select {
		case <-t.watched:
			return
		case <-omitEnd:
			t.mark(true)
			ticker.Reset(t.interval) // intervals are counted from here
		case <-ticker.C:
			t.mark(false)
		}
	}
}

// mark ends an interval of both directions.
func (t *transfer) mark(omitOver bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var sent, received counts
	elapsed := t.elapsed()
	for _, s := range t.streams {
		c, err := s.read(omitOver)
		if err != nil && t.readErr == nil {
			t.readErr = err
		}
		if omitOver {
			t.omitted[s.id] = c
		}
		if s.sends {
			sent = sent.add(c)
		} else {
			received = received.add(c)
		}
	}
	t.sent.mark(elapsed, sent)
	t.received.mark(elapsed, received)
	if omitOver {
		t.sent.omitting, t.received.omitting = false, false
	}
}

// mark ends an interval.
func (l *ledger) mark(end time.Duration, c counts) {
	grown := c.minus(l.previous)
	i := Interval{
		Start: l.start, End: end, Omitted: l.omitting, Draining: l.draining, Bytes: grown.bytes,
		Datagrams: grown.datagrams,
		Lost:      grown.missing, Reordered: grown.reordered, Duplicates: grown.duplicates, Dropped: grown.dropped,
		Retransmits: grown.retransmits, LongestRoundTrip: c.longest, ShortestRoundTrip: c.shortest,
		CongestionWindow: c.window, DeliveryRate: c.delivery,
	}
	if c.roundTrips > 0 {
		i.RoundTrip = c.roundTrip / time.Duration(c.roundTrips)
	}
	l.start, l.previous = end, c
	l.intervals = append(l.intervals, i)
}

// stop ends sending. Payload in flight goes on.
func (t *transfer) stop() {
	if isClosed(t.stopped) {
		return
	}
	close(t.stopped)
	for _, s := range t.streams.filter(true) {
		_ = s.conn.SetWriteDeadline(time.Unix(1, 0))
	}
	t.sending.Wait() // everything written by now belongs to the interval that ends here
	t.mark(false)
	t.mu.Lock()
	t.sent.draining = true
	t.sentUntil = t.elapsed()
	t.lastAck = t.sentUntil
	t.mu.Unlock()
}

// Bounds of the wait for payload in flight when sending ends. A connection on which nothing is acknowledged for a
// while is stuck. Its bytes were sent, but not received.
const (
	ackPoll    = 2 * time.Millisecond
	maxUnmoved = 3 * time.Second
	maxUnacked = 30 * time.Second
)

// settle waits until everything that was sent is acknowledged, and then for last, until the receiver has read it, as
// iperf3 reads nothing after a test's end.
func (t *transfer) settle(ctx context.Context, last time.Duration) error {
	if len(t.streams.filter(true)) == 0 {
		return nil
	}
	if t.test.Protocol == TCP {
		if err := t.acknowledged(ctx); err != nil {
			return err
		}
	}
	return bounded.Pause(ctx, last)
}

// acknowledged waits until everything that was sent is acknowledged.
func (t *transfer) acknowledged(ctx context.Context) error {
	previous := -1
	for moved := time.Now(); ; {
		pending := 0
		for _, s := range t.streams {
			if conn, ok := s.conn.(*net.TCPConn); ok && s.sends {
				n, err := sockets.Unacknowledged(conn)
				if err != nil {
					return err
				}
				pending += n
			}
		}
		if pending != previous {
			previous, moved = pending, time.Now()
			t.mu.Lock()
			t.lastAck, t.unconfirmed = t.elapsed(), int64(pending)
			t.mu.Unlock()
		}
		if pending == 0 || time.Since(moved) > maxUnmoved || t.elapsed()-t.sentUntil > maxUnacked {
			return nil
		}
		if err := bounded.Pause(ctx, ackPoll); err != nil {
			return err
		}
	}
}

// end ends receiving. It tells the other side, by say, that it may close its streams, and reads the payload in
// flight. It returns when all goroutines are done.
func (t *transfer) end(say func() error) error {
	t.stop()
	t.mark(false)
	close(t.ending)
	t.mu.Lock()
	t.received.draining = true
	t.mu.Unlock()
	for _, s := range t.streams {
		if conn, ok := s.conn.(*net.TCPConn); ok {
			_ = conn.SetLinger(-1) // buffered data may still be sent
		}
	}
	err := say()
	for _, s := range t.streams {
		switch conn, ok := s.conn.(*net.TCPConn); {
		case !s.sends:
			_ = s.conn.SetReadDeadline(time.Unix(1, 0))
		case ok:
			_ = conn.CloseWrite() // the other side sees where the payload ends
		}
	}
	close(t.watched)
	t.working.Wait()
	t.mark(false)
	return err
}

// close closes all streams and waits for their goroutines.
func (t *transfer) close() {
	for _, channel := range []chan struct{}{t.stopped, t.ending, t.watched} {
		if !isClosed(channel) {
			close(channel)
		}
	}
	for _, s := range t.streams {
		_ = s.conn.Close()
	}
	t.sending.Wait()
	t.working.Wait()
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// shortPause is a wait that Go's timers would stretch to a millisecond, which would turn a paced stream into bursts.
const shortPause = 2 * time.Millisecond

// due waits until a stream's next message is due, or returns false if sending has ended.
func (t *transfer) due(p *pacer) bool {
	for {
		wait := p.wait(t.elapsed())
		if isClosed(t.stopped) {
			return false
		}
		if wait <= 0 {
			return true
		}
		if !pauseFor(wait, t.stopped) {
			return false
		}
	}
}

// pauseFor waits for the given time, or returns false if it was stopped.
func pauseFor(wait time.Duration, stopped <-chan struct{}) bool {
	if wait <= shortPause {
		ts := unix.NsecToTimespec(int64(wait))
		_ = unix.Nanosleep(&ts, nil) // a signal may end it early. The pacer then says how long to wait still
		return true
	}
	timer := time.NewTimer(wait - shortPause/2)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-stopped:
		return false
	}
}
