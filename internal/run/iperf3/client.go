package iperf3

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/host/sockets"
)

// Client makes tests with a server of linerate's or iperf3's. It is safe for concurrent use.
type Client struct {
	Server string // host and port
	Place  Place
	// Ours says that the server is linerate's, which answers every hello of a stream, so the client may repeat it.
	// iperf3 would count a second hello as a datagram of the test.
	Ours bool
	// Interval is how often counters are read, which is 1 s where 0.
	Interval time.Duration
	// EndsAtOnce says that the test's end follows the last datagram closely. It then waits in the same queues, so that
	// the server counts for as long as datagrams come, and not for longer.
	EndsAtOnce bool
	patience   time.Duration // for tests. It is 10 s where 0
}

// shortestInterval bounds how much memory intervals take. Tests of several hours have longer intervals.
const shortestInterval = 100 * time.Millisecond

// interval is the interval asked for, within its bounds.
func interval(asked time.Duration) time.Duration {
	return max(cmp.Or(asked, time.Second), shortestInterval)
}

// Measure makes one test. When ctx ends, the test ends without a result. When Measure returns, nothing of the test
// goes on.
func (c Client) Measure(ctx context.Context, t Test) (*Result, error) {
	s, err := c.Connect(ctx, t)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return s.Carry(ctx)
}

// Standing is a client's test whose streams are open. It must be closed.
type Standing struct {
	Live
	test *clientTest
}

// Connect connects to the server and opens a test's streams. A server that sends begins at once. A client begins when
// Carry is called.
func (c Client) Connect(ctx context.Context, t Test) (*Standing, error) {
	t = t.withDefaults()
	if err := t.check(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	address, err := resolve(ctx, c.Server)
	if err != nil {
		return nil, err
	}
	conn, err := c.Place.dial(ctx, "tcp", netip.AddrPort{}, address, plain)
	if err != nil {
		return nil, unreachable(ctx, address, err)
	}
	r := &clientTest{Client: c, address: address, finishes: make(chan struct{}),
		side: side{test: t, control: &control{Conn: conn, peer: "the server at " + address.String(),
			patience: cmp.Or(c.patience, answerTimeout)}}}
	err = r.bounded(ctx, func() error { return r.connect(ctx) })
	if err != nil {
		r.close()
		return nil, err
	}
	return &Standing{Live{&r.side}, r}, nil
}

// Carry sends payload for the test's duration, and returns what both sides counted. It is called once.
func (s *Standing) Carry(ctx context.Context) (result *Result, err error) {
	err = s.test.bounded(ctx, func() (err error) {
		result, err = s.test.carry(ctx, s.test.awaitEnd, s.test.exchange)
		return err
	})
	return result, err
}

// Finish has Carry end before the test's duration is over, with the counters of both sides. It may be called again.
func (s *Standing) Finish() { s.test.finishing.Do(func() { close(s.test.finishes) }) }

// Close ends the test. When it returns, nothing of the test goes on.
func (s *Standing) Close() { s.test.close() }

// bounded carries out a step until ctx ends. After an error it tells the server that the test is over.
func (r *clientTest) bounded(ctx context.Context, step func() error) error {
	defer context.AfterFunc(ctx, r.terminate)() // ends reads and writes of the control connection
	err := step()
	if err == nil {
		return nil
	}
	r.terminate()
	if ctx.Err() != nil {
		return fmt.Errorf("the test with %s was stopped: %w", r.control.peer, context.Cause(ctx))
	}
	return err
}

// unreachable says why there is no connection to a server.
func unreachable(ctx context.Context, address netip.AddrPort, err error) error {
	timeout, ok := errors.AsType[net.Error](err)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, unix.ECONNREFUSED):
		return fmt.Errorf("%w at %s, which refuses connections: start one there (iperf3 -s -p %d), or name another "+
			"port: %w", ErrUnreachable, address, address.Port(), err)
	case ok && timeout.Timeout():
		return fmt.Errorf("%w at %s within %s: check the address, the route, and that firewalls let TCP port %d "+
			"through: %w", ErrUnreachable, address, answerTimeout, address.Port(), err)
	case sockets.FromBeyond(err):
		return fmt.Errorf("%w at %s: %w", ErrUnreachable, address, err)
	}
	// A fault of this machine itself shows nothing about the server.
	return fmt.Errorf("connect to %s: %w", address, err)
}

// clientTest is one test on the client's side.
type clientTest struct {
	Client
	side
	address netip.AddrPort
	ends    sync.Once
	// finishes is closed when the test is to end before its duration is over.
	finishes  chan struct{}
	finishing sync.Once
}

// terminate tells the server that the test is over, and closes the control connection.
func (r *clientTest) terminate() {
	r.ends.Do(func() {
		_ = r.control.SetWriteDeadline(time.Now().Add(time.Second))
		_, _ = r.control.Write([]byte{byte(clientTerminate)})
		_ = r.control.Close()
	})
}

// newCookie is what the test's connections send first, so that the server recognizes them.
func newCookie() []byte {
	const letters = "abcdefghijklmnopqrstuvwxyz234567"
	cookie := make([]byte, cookieBytes)
	_, _ = rand.Read(cookie)
	for i := range cookie {
		cookie[i] = letters[cookie[i]%byte(len(letters))]
	}
	cookie[cookieBytes-1] = 0
	return cookie
}

// connect agrees with the server on the test, and opens its streams.
func (r *clientTest) connect(ctx context.Context) error {
	cookie := newCookie()
	if err := r.control.write(cookie); err != nil {
		return err
	}
	if err := r.first(); err != nil {
		return err
	}
	if err := r.control.writeDocument(r.test.parameters()); err != nil {
		return err
	}
	// a server may set up another test's streams first
	if err := r.control.expect(createStreams, 3*r.control.patience); err != nil {
		return err
	}
	if err := r.connectStreams(ctx, cookie); err != nil {
		return err
	}
	return r.ready(func(s state) error { return r.control.expect(s, r.control.patience) }, r.Interval)
}

// first awaits the server's first answer, which shows whether the server is iperf3.
func (r *clientTest) first() error {
	err := r.control.expect(paramExchange, r.control.patience)
	if errors.Is(err, ErrGone) {
		return fmt.Errorf("%w (after its first answer: either it is no iperf3 server, such as iperf 2, which has "+
			"another protocol and port 5001, or it hangs: start iperf3 -s there)", err)
	}
	return err
}

// expect awaits a state from the server.
func (c *control) expect(want state, patience time.Duration) error {
	got, err := c.await(patience)
	if err == nil && got != want {
		err = c.explain(got)
	}
	return err
}

// explain is the error for a state that wasn't expected.
func (c *control) explain(got state) error {
	switch got {
	case accessDenied:
		return fmt.Errorf("%w: %s has another test, and iperf3 takes one at a time: wait for its end, or start a "+
			"second server there on a port of its own (iperf3 -s -p 5202)", ErrBusy, c.peer)
	case serverTerminate:
		return fmt.Errorf("%w: %s was stopped in the middle of the test: start it again", ErrGone, c.peer)
	case serverError:
		var number [4]byte
		if err := c.read(number[:], time.Second); err != nil {
			return fmt.Errorf("%w: %s can't make this test, and doesn't say why: its own output does", ErrRefused,
				c.peer)
		}
		return fmt.Errorf("%w: %s can't make this test: %s", ErrRefused, c.peer,
			meaningOf(int(int32(binary.BigEndian.Uint32(number[:])))))
	default:
	}
	return fmt.Errorf("%w: %s sends state %d, which iperf3 doesn't at this point: it is another program, such as "+
		"iperf 2, which has another protocol, or a very old version: use iperf3 3.2 or newer there", ErrProtocol, c.peer, got)
}

// stateEvent is the next state on the control connection, or its error.
type stateEvent struct {
	state state
	err   error
}

// next reads the other side's next state while payload goes.
func (c *control) next(awaiting *sync.WaitGroup) <-chan stateEvent {
	events := make(chan stateEvent, 1)
	awaiting.Go(func() {
		s, err := c.await(0)
		events <- stateEvent{s, err}
	})
	return events
}

// reasonWait is how long a side that lost a stream waits for the other side's reason.
const reasonWait = 500 * time.Millisecond

// awaitEnd waits for the end of the payload, and returns how long the server was to send.
func (r *clientTest) awaitEnd(ctx context.Context) (time.Duration, error) {
	next := r.control.next(&r.awaiting)
	whole := time.NewTimer(r.test.Omit + r.test.Duration)
	defer whole.Stop()
	select {
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	case s := <-next:
		return 0, r.unasked(s)
	case err := <-r.transfer.broken:
		select {
		case s := <-next:
			return 0, r.unasked(s)
		case <-time.After(reasonWait):
			return 0, err
		}
	case <-whole.C:
	case <-r.finishes:
	}
	r.transfer.stop()
	last := quiet
	if r.EndsAtOnce {
		last = brief
	}
	if err := r.transfer.settle(ctx, last); err != nil {
		return 0, err
	}
	planned := r.transfer.elapsed()
	if err := r.transfer.end(func() error { return r.control.say(testEnd) }); err != nil {
		return 0, err
	}
	select {
	case s := <-next:
		if s.err != nil || s.state != exchangeResults {
			return 0, r.unasked(s)
		}
		return planned, nil
	case <-time.After(r.control.patience + maxDrain): // the server may drain, too
		return 0, fmt.Errorf("%w: %s doesn't report its counters, and a test needs those of both sides", ErrIncomplete,
			r.control.peer)
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}

// unasked is the error for a state that ends the test early.
func (r *clientTest) unasked(s stateEvent) error {
	if s.err != nil {
		return s.err
	}
	return r.control.explain(s.state)
}

// exchange sends this side's counters, and joins them with the server's.
func (r *clientTest) exchange(planned time.Duration) (*Result, error) {
	if err := r.control.writeDocument(r.transfer.results(planned, nil)); err != nil {
		return nil, err
	}
	document, err := r.control.readDocument(maxResults)
	if err != nil {
		return nil, fmt.Errorf("%w: the server's: %w", ErrIncomplete, err)
	}
	reported, summary, err := parseResults(document, r.streams.ids())
	if err != nil {
		return nil, err
	}
	result, err := r.transfer.result(false, planned, reported, summary)
	if err != nil {
		return nil, err
	}
	if err := r.control.expect(displayResults, r.control.patience); err != nil {
		return nil, err
	}
	_ = r.control.say(iperfDone) // the result is complete
	return result, nil
}
