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
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/sockets"
)

// Client makes tests against a server of ours, or iperf3's. It is safe for concurrent use.
type Client struct {
	Server string // host and port
	Place  Place
	// Ours: the server is one of ours, which answers a stream's hello however often it is said. iperf3 takes a second one for a datagram of the test, so it is said once.
	Ours bool
	// Interval is how often counters are read; 1 s where 0.
	Interval time.Duration
	patience time.Duration // for tests; 10 s where 0
}

// shortestInterval bounds how much memory intervals take; longer tests than some hours take longer ones.
const shortestInterval = 100 * time.Millisecond

// interval is a valid one.
func interval(asked time.Duration) time.Duration {
	return max(cmp.Or(asked, time.Second), shortestInterval)
}

// Run makes one test. When ctx ends, the test does, without a result; when Run returns, nothing of it goes on.
func (c Client) Run(ctx context.Context, t Test) (*Result, error) {
	s, err := c.Connect(ctx, t)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return s.Carry(ctx)
}

// Standing is a test of a client's whose streams stand. It must be closed.
type Standing struct {
	Live
	run *clientRun
}

// Connect reaches the server and makes a test's streams. A server that sends does so at once; a client does when Carry is called.
func (c Client) Connect(ctx context.Context, t Test) (*Standing, error) {
	t = t.withDefaults()
	if err := t.check(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	at, err := resolve(ctx, c.Server)
	if err != nil {
		return nil, err
	}
	conn, err := c.Place.dial(ctx, "tcp", netip.AddrPort{}, at, plain)
	if err != nil {
		return nil, unreachable(ctx, at, err)
	}
	r := &clientRun{Client: c, at: at, side: side{test: t, control: &control{Conn: conn, with: "the server at " + at.String(), patience: cmp.Or(c.patience, answerTimeout)}}}
	err = r.bounded(ctx, func() error { return r.connect(ctx) })
	if err != nil {
		r.close()
		return nil, err
	}
	return &Standing{Live{&r.side}, r}, nil
}

// Carry has the payload go for the test's time, and returns what both sides counted. It is called once.
func (s *Standing) Carry(ctx context.Context) (result *Result, err error) {
	err = s.run.bounded(ctx, func() (err error) {
		result, err = s.run.carry(ctx, s.run.measure, s.run.exchange)
		return err
	})
	return result, err
}

// Close ends the test, whatever it does; when it returns, nothing goes on.
func (s *Standing) Close() { s.run.close() }

// bounded does something that ends with ctx; where it fails, the server is told that the test is over.
func (r *clientRun) bounded(ctx context.Context, do func() error) error {
	defer context.AfterFunc(ctx, r.terminate)() // wakes who reads or writes the control connection
	err := do()
	if err == nil {
		return nil
	}
	r.terminate()
	if ctx.Err() != nil {
		return fmt.Errorf("the test with %s was ended: %w", r.control.with, context.Cause(ctx))
	}
	return err
}

// unreachable says why there is no connection to a server.
func unreachable(ctx context.Context, at netip.AddrPort, err error) error {
	timeout, is := errors.AsType[net.Error](err)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, unix.ECONNREFUSED):
		return fmt.Errorf("%w at %s, which refuses connections: start one there (iperf3 -s -p %d), or name another port: %w", ErrUnreachable, at, at.Port(), err)
	case is && timeout.Timeout():
		return fmt.Errorf("%w at %s within %s: check the address, the way there, and that TCP port %d is let through: %w", ErrUnreachable, at, answerTimeout, at.Port(), err)
	case sockets.FromBeyond(err):
		return fmt.Errorf("%w at %s: %w", ErrUnreachable, at, err)
	}
	return fmt.Errorf("connect to %s: %w", at, err) // a fault of this machine's own says nothing of the server
}

// clientRun is one test of a client's.
type clientRun struct {
	Client
	side
	at   netip.AddrPort
	ends sync.Once
}

// terminate tells the server that the test is over, whatever it does, and hangs up.
func (r *clientRun) terminate() {
	r.ends.Do(func() {
		_ = r.control.SetWriteDeadline(time.Now().Add(time.Second))
		_, _ = r.control.Write([]byte{byte(clientTerminate)})
		_ = r.control.Close()
	})
}

// newCookie is what the test's connections show, so that the server knows them.
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

// connect agrees on the test, and makes its streams.
func (r *clientRun) connect(ctx context.Context) error {
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
	if err := r.control.expect(createStreams, 3*r.control.patience); err != nil { // a server that sets up another test's streams comes to this one's later
		return err
	}
	if err := r.connectStreams(ctx, cookie); err != nil {
		return err
	}
	return r.ready(func(s state) error { return r.control.expect(s, r.control.patience) }, r.Interval)
}

// first awaits the server's first word, by which other programs than iperf3 are known.
func (r *clientRun) first() error {
	err := r.control.expect(paramExchange, r.control.patience)
	if errors.Is(err, ErrGone) {
		return fmt.Errorf("%w (after the first word: either that is no iperf3 server, such as iperf 2, which has another protocol and port 5001, or it hangs: start iperf3 -s there)", err)
	}
	return err
}

// expect awaits what the server says next.
func (c *control) expect(want state, patience time.Duration) error {
	got, err := c.await(patience)
	if err == nil && got != want {
		err = c.explain(got)
	}
	return err
}

// explain is what it means that the server said something else than was expected.
func (c *control) explain(got state) error {
	switch got {
	case accessDenied:
		return fmt.Errorf("%w: %s has another test, and iperf3 takes one at a time: wait for its end, or start a second server there on a port of its own (iperf3 -s -p 5202)", ErrBusy, c.with)
	case serverTerminate:
		return fmt.Errorf("%w: %s was ended in the middle of the test: start it again", ErrGone, c.with)
	case serverError:
		var number [4]byte
		if err := c.read(number[:], time.Second); err != nil {
			return fmt.Errorf("%w: %s can't make this test, and doesn't say why: its own output does", ErrRefused, c.with)
		}
		return fmt.Errorf("%w: %s can't make this test: %s", ErrRefused, c.with, saidBy(int(int32(binary.BigEndian.Uint32(number[:])))))
	default:
	}
	return fmt.Errorf("%w: %s says %d, which iperf3 doesn't at this point: either it is another program, or an iperf3 of another protocol: use 3.2 or newer there", ErrProtocol, c.with, got)
}

// connectStreams makes all streams, those that the client sends first.
func (r *clientRun) connectStreams(ctx context.Context, cookie []byte) error {
	for _, sends := range []bool{true, false} {
		if sends && !r.test.Flow.sends(false) || !sends && !r.test.Flow.receives(false) {
			continue
		}
		for range r.test.Parallel {
			s := &stream{id: streamID(len(r.streams)), sends: sends}
			var err error
			if r.test.Protocol == TCP {
				s.conn, err = r.connectTCP(ctx, cookie)
			} else {
				s.conn, err = r.connectUDP(ctx)
			}
			if s.conn != nil {
				r.streams = append(r.streams, s)
			}
			if err == nil {
				continue
			}
			err = fmt.Errorf("connect stream %d to %s: %w", s.id, r.at, err)
			if _, is := errors.AsType[*refusal](err); is || !sockets.FromBeyond(err) { // by this machine's own kernel
				return err
			}
			return fmt.Errorf("%w: %w", ErrGone, err)
		}
	}
	return nil
}

func (r *clientRun) connectTCP(ctx context.Context, cookie []byte) (net.Conn, error) {
	conn, err := r.Place.dial(ctx, "tcp", netip.AddrPort{}, r.at, r.test.shape)
	if err != nil {
		return nil, err
	}
	_ = conn.SetWriteDeadline(time.Now().Add(r.control.patience))
	_, err = conn.Write(cookie)
	return conn, errors.Join(err, conn.SetWriteDeadline(time.Time{}), r.test.own(conn.(*net.TCPConn)))
}

// What a client says with UDP before all else, and what a server answers, as numbers in the machine's own byte order; iperf3 before 3.12 has the old ones.
const (
	hello       uint32 = 0x36373839
	helloOld    uint32 = 123456789
	reply       uint32 = 0x39383736
	replyOld    uint32 = 987654321
	helloLength        = 4
)

// helloEvery is how often a client says hello until it is answered.
const helloEvery = 250 * time.Millisecond

func isHello(said []byte) bool {
	return len(said) == helloLength && slices.Contains([]uint32{hello, helloOld}, binary.NativeEndian.Uint32(said))
}

func isReply(said []byte) bool {
	return len(said) == helloLength && slices.Contains([]uint32{reply, replyOld}, binary.NativeEndian.Uint32(said))
}

// connectUDP says hello, and waits for the answer, or in reverse for payload, which says the same where the answer was lost.
func (r *clientRun) connectUDP(ctx context.Context) (net.Conn, error) {
	conn, err := r.Place.dial(ctx, "udp", netip.AddrPort{}, r.at, r.test.shape)
	if err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, func() { _ = conn.SetReadDeadline(time.Unix(1, 0)) })()
	until := time.Now().Add(r.control.patience)
	for {
		if _, err := conn.Write(binary.NativeEndian.AppendUint32(nil, hello)); err != nil {
			return conn, err
		}
		again := until
		if r.Ours {
			again = earlier(until, time.Now().Add(helloEvery))
		}
		_ = conn.SetReadDeadline(again)
		err := heard(conn.(*net.UDPConn))
		switch {
		case errors.Is(err, unix.ECONNREFUSED):
			return conn, fmt.Errorf("it refuses UDP: %w", err)
		case err == nil:
			return conn, conn.SetReadDeadline(time.Time{})
		case !errors.Is(err, os.ErrDeadlineExceeded) || ctx.Err() != nil || !time.Now().Before(until):
			return conn, fmt.Errorf("it doesn't answer with UDP: check that UDP port %d is let through as TCP port %d is, and that the way there isn't so lossy: %w", r.at.Port(), r.at.Port(), err)
		}
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// heard waits for an answer to a hello, and takes it. Payload is left where it is: it counts.
func heard(conn *net.UDPConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	for said := make([]byte, helloLength+1); ; {
		var n int
		var failed error
		if err := raw.Read(func(fd uintptr) bool {
			n, _, failed = unix.Recvfrom(int(fd), said, unix.MSG_PEEK)
			return !errors.Is(failed, unix.EAGAIN)
		}); err != nil {
			return err
		}
		if failed != nil {
			return failed
		}
		if n > helloLength {
			return nil
		}
		if _, err := conn.Read(said); err != nil || isReply(said[:n]) {
			return err
		}
	}
}

// said is what the control connection brings next.
type said struct {
	state state
	err   error
}

// next awaits what the other side says, beside the payload.
func (c *control) next(awaiting *sync.WaitGroup) <-chan said {
	came := make(chan said, 1)
	awaiting.Go(func() {
		s, err := c.await(0)
		came <- said{s, err}
	})
	return came
}

// lastWords is for how long a side that lost a stream waits for the other's reason.
const lastWords = 500 * time.Millisecond

// measure waits for the payload's end, and returns until when the server was to send.
func (r *clientRun) measure(ctx context.Context) (time.Duration, error) {
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
		case <-time.After(lastWords):
			return 0, err
		}
	case <-whole.C:
	}
	r.transfer.stop()
	if err := r.transfer.settle(ctx); err != nil {
		return 0, err
	}
	planned := r.transfer.at()
	if err := r.transfer.end(func() error { return r.control.say(testEnd) }); err != nil {
		return 0, err
	}
	select {
	case s := <-next:
		if s.err != nil || s.state != exchangeResults {
			return 0, r.unasked(s)
		}
		return planned, nil
	case <-time.After(r.control.patience + mostDrain): // it may drain, too
		return 0, fmt.Errorf("%w: %s doesn't say what it counted: of the test only one side is known, which is no result", ErrIncomplete, r.control.with)
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}

// unasked is why the test ends early.
func (r *clientRun) unasked(s said) error {
	if s.err != nil {
		return s.err
	}
	return r.control.explain(s.state)
}

// exchange tells what this side counted, and joins it with what the server did.
func (r *clientRun) exchange(planned time.Duration) (*Result, error) {
	if err := r.control.writeDocument(r.transfer.results(planned, nil)); err != nil {
		return nil, err
	}
	document, err := r.control.readDocument(mostResults)
	if err != nil {
		return nil, fmt.Errorf("%w: the server's: %w", ErrIncomplete, err)
	}
	told, from, err := parseResults(document, ids(r.streams))
	if err != nil {
		return nil, err
	}
	result, err := r.transfer.result(false, planned, told, from)
	if err != nil {
		return nil, err
	}
	if err := r.control.expect(displayResults, r.control.patience); err != nil {
		return nil, err
	}
	_ = r.control.say(iperfDone) // the result is whole
	return result, nil
}
