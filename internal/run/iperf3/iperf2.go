package iperf3

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/host/bounded"
)

// Iperf2 makes tests with an iperf 2 server, whose protocol has no control connection. The client's first bytes, and
// the head of each datagram, say what the server shall do. It answers only the last datagram of a stream.
//
//	client                                      server
//	  │ header, payload ▶                          │   Forward
//	  │ header ▶ ◀ payload                         │   Reverse, on the same connection (iperf 2.1)
//	  │ header, payload ▶   ◀ connects, payload    │   Both (-d): the server connects to a port of the client's
//	  │ UDP's last datagram ▶ ◀ what came of it    │
type Iperf2 struct {
	Server string // host and port
	Place  Place
	// Interval is how often counters are read, which is 1 s where 0.
	Interval time.Duration
	patience time.Duration // for tests. It is 10 s where 0
}

// Iperf2Port is where iperf 2 listens, with TCP or UDP.
const Iperf2Port = 5001

// The header of a test, as iperf 2.1 sends it. Servers of iperf 2.0 know its first 24 bytes, and only where
// flagDual is set. Flags are in the first 4 bytes.
const (
	iperf2Header = 60
	iperf2Head   = 16 // of a datagram: number, time, and the number's upper half

	flagDual     = 0x80000001 // the server sends at once, over connections that it makes
	flagExtended = 0x40000000
	flagUDPTest  = 0x20000000
	flagNumber64 = 0x08000000 // datagrams have numbers of 64 bits
	flagReverse  = 0x04000000
	flagLength   = 0x00010000 // the low bits are twice the header's length
	upperReverse = 0x04000000
	versionUpper = 0x00020001 // 2.1.8, for servers that ask
	versionLower = 0x00080003
)

// Iperf2Standing is a test whose streams are open. It must be closed.
type Iperf2Standing struct {
	Live
	test *iperf2Test
}

// iperf2Test is one test with an iperf 2 server.
type iperf2Test struct {
	side
	client    Iperf2
	address   netip.AddrPort
	patience  time.Duration
	listener  interface{ Close() error } // where the server connects to, or nil
	port      int                        // of the listener
	local     netip.Addr                 // of this machine, to the server
	finishes  chan struct{}
	finishing sync.Once
}

// check refuses tests that iperf 2's protocol can't make.
func (c Iperf2) check(t Test) error {
	if err := t.check(); err != nil {
		return err
	}
	if least := iperf2Head + iperf2Header; t.Protocol == UDP && t.MessageBytes < least {
		return fmt.Errorf("datagrams of %d bytes: iperf 2's have %d at least", t.MessageBytes, least)
	}
	return nil
}

// Connect opens a test's streams. A server that sends begins at once. A client begins when Carry is called, which
// should be soon.
func (c Iperf2) Connect(ctx context.Context, t Test) (*Iperf2Standing, error) {
	t = t.withDefaults()
	t.iperf2, t.endless = true, true // its duration may be of any length
	if err := c.check(t); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	address, err := resolve(ctx, c.Server)
	if err != nil {
		return nil, err
	}
	r := &iperf2Test{client: c, address: address, patience: cmp.Or(c.patience, answerTimeout), side: side{test: t},
		finishes: make(chan struct{})}
	if err := r.connect(ctx); err != nil {
		r.close()
		return nil, err
	}
	r.transfer = newTransfer(r.test, r.streams, interval(c.Interval))
	return &Iperf2Standing{Live{&r.side}, r}, nil
}

// connect opens the client's streams, and awaits those that the server makes.
func (r *iperf2Test) connect(ctx context.Context) error {
	var back <-chan arrived
	var err error
	if r.local, err = r.client.Place.towards(ctx, r.address); err != nil {
		return r.unreachable(ctx, err)
	}
	if r.test.Flow == Bidirectional {
		if back, err = r.listen(ctx); err != nil {
			return err
		}
	}
	network := "tcp"
	if r.test.Protocol == UDP {
		network = "udp"
	}
	for range r.test.Parallel {
		conn, err := r.client.Place.dial(ctx, network, netip.AddrPort{}, r.address, r.test.shape)
		if err != nil {
			return r.unreachable(ctx, err)
		}
		s := &stream{id: len(r.streams) + 1, sends: r.test.Flow != Reverse, conn: conn}
		r.streams = append(r.streams, s)
		if tcp, ok := conn.(*net.TCPConn); ok {
			if err := r.test.configure(tcp); err != nil {
				return err
			}
		}
		if err := r.greet(s); err != nil {
			return r.gone(err)
		}
		if back != nil {
			if err := r.awaitBack(ctx, s, back); err != nil {
				return err
			}
		} else if err := bounded.Pause(ctx, r.apart()); err != nil {
			return err
		}
	}
	// the server's own come last, as Live has them
	slices.SortStableFunc(r.streams, func(a, b *stream) int { return cmp.Compare(rank(a), rank(b)) })
	return nil
}

// rank is 0 of a stream that this side sends, and 1 of others.
func rank(s *stream) int {
	if s.sends {
		return 0
	}
	return 1
}

// apart is the time between the first datagrams of two streams. An iperf 2 server that meets a client takes its
// listening socket for it, and opens another one.
func (r *iperf2Test) apart() time.Duration {
	if r.test.Protocol == TCP {
		return 0
	}
	return brief
}

// greetEvery is how often a stream's first datagram is sent until the server's own stream comes.
const greetEvery = 250 * time.Millisecond

// awaitBack awaits the stream that the server makes for one of the client's. A first datagram may be lost.
func (r *iperf2Test) awaitBack(ctx context.Context, s *stream, back <-chan arrived) error {
	patience, again := time.NewTimer(r.patience), time.NewTicker(greetEvery)
	defer patience.Stop()
	defer again.Stop()
	for {
		select {
		case a := <-back:
			r.streams = append(r.streams, &stream{id: len(r.streams) + 1, conn: a.conn})
			return nil
		case <-again.C:
			if r.test.Protocol == UDP {
				if err := r.greet(s); err != nil {
					return r.gone(err)
				}
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-patience.C:
			return fmt.Errorf("%w: the iperf 2 server at %s didn't connect back to %s port %d of this machine within %s: "+
				"let that through, or measure one direction at a time", ErrGone, r.address, r.test.Protocol, r.port,
				r.patience)
		}
	}
}

// greet sends the header with TCP, and otherwise the first datagram.
func (r *iperf2Test) greet(s *stream) error {
	if r.test.Protocol == TCP {
		_ = s.conn.SetWriteDeadline(time.Now().Add(r.patience))
		_, err := s.conn.Write(r.test.iperf2Header(r.port))
		return errors.Join(err, s.conn.SetWriteDeadline(time.Time{}))
	}
	datagram := make([]byte, r.test.MessageBytes)
	r.test.head(datagram)
	s.number(datagram, r.test)
	n, err := s.conn.Write(datagram)
	if s.sends {
		s.bytes.Add(int64(n))
		s.packets.Add(1)
	}
	return err
}

// iperf2Header is what the server is told. port is where it connects to, and 0 where it doesn't.
func (t Test) iperf2Header(port int) []byte {
	h := make([]byte, iperf2Header)
	flags, upper, length := uint32(flagExtended|flagLength), uint32(0), uint32(2*iperf2Header)
	if t.Protocol == UDP {
		flags, length = flags|flagNumber64, 2*(iperf2Head+iperf2Header)
	}
	switch t.Flow {
	case Forward:
	case Bidirectional:
		flags |= flagDual
	case Reverse:
		flags, upper = flags|flagReverse, upperReverse
		if t.Protocol == UDP {
			flags |= flagUDPTest
		}
	}
	window := uint32(min(t.WindowBytes, maxWindow))
	if t.Protocol == UDP {
		window = uint32(min(t.BitsPerSecond, 1<<32-1))
		binary.BigEndian.PutUint32(h[12:], uint32(t.MessageBytes))
	}
	binary.BigEndian.PutUint32(h, flags|length)
	binary.BigEndian.PutUint32(h[4:], uint32(t.Parallel))
	binary.BigEndian.PutUint32(h[8:], uint32(port))
	binary.BigEndian.PutUint32(h[16:], window)
	binary.BigEndian.PutUint32(h[20:], uint32(-int32(t.Duration/(10*time.Millisecond)))) // negative: a time
	binary.BigEndian.PutUint32(h[32:], upper)
	binary.BigEndian.PutUint32(h[36:], versionUpper)
	binary.BigEndian.PutUint32(h[40:], versionLower)
	binary.BigEndian.PutUint32(h[48:], uint32(t.BitsPerSecond))
	binary.BigEndian.PutUint32(h[52:], uint32(t.BitsPerSecond>>32)<<8)
	return h
}

// head writes what each message begins with, behind the number of a datagram.
func (t Test) head(message []byte) {
	if t.iperf2 && t.Protocol == UDP {
		copy(message[iperf2Head:], t.iperf2Header(t.back))
	}
}

// listen awaits the server's own streams, on a port of this machine's choice.
func (r *iperf2Test) listen(ctx context.Context) (<-chan arrived, error) {
	place, back := r.client.Place, make(chan arrived, r.test.Parallel)
	local := netip.AddrPortFrom(place.Address, 0).String()
	if !place.Address.IsValid() {
		local = ":0"
	}
	config := net.ListenConfig{KeepAlive: -1, Control: place.Control(func(fd int, six bool) error {
		return errors.Join(unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1), r.test.shape(fd, six))
	})}
	config.SetMultipathTCP(false)
	return back, place.Namespace.Do(func() error {
		if r.test.Protocol == TCP {
			l, err := config.Listen(ctx, "tcp", local)
			if err != nil {
				return fmt.Errorf("listen for the server's connections: %w", err)
			}
			r.listener, r.port = l, l.Addr().(*net.TCPAddr).Port
			r.awaiting.Go(func() { r.acceptBack(l, back) })
			return nil
		}
		l, err := config.ListenPacket(ctx, "udp", local)
		if err != nil {
			return fmt.Errorf("listen for the server's datagrams: %w", err)
		}
		r.listener, r.port = l, l.LocalAddr().(*net.UDPAddr).Port
		r.test.back = r.port
		r.awaiting.Go(func() { r.receiveBack(ctx, l.(*net.UDPConn), back) })
		return nil
	})
}

// acceptBack accepts the server's connections until the listener is closed. Others are closed.
func (r *iperf2Test) acceptBack(l net.Listener, back chan<- arrived) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		tcp := conn.(*net.TCPConn)
		from := tcp.RemoteAddr().(*net.TCPAddr).AddrPort().Addr().Unmap()
		if from != r.address.Addr() || r.test.configure(tcp) != nil {
			_ = conn.Close()
			continue
		}
		select {
		case back <- arrived{conn: conn}:
		default:
			_ = conn.Close()
		}
	}
}

// receiveBack makes a socket for each of the server's sockets that sends. Datagrams that come before are its first
// ones, from before the time that is judged.
func (r *iperf2Test) receiveBack(ctx context.Context, l *net.UDPConn, back chan<- arrived) {
	var sources []netip.AddrPort
	buffer := make([]byte, 1<<16)
	for {
		_, from, err := l.ReadFromUDPAddrPort(buffer)
		if err != nil {
			return
		}
		source := netip.AddrPortFrom(from.Addr().Unmap(), from.Port())
		if source.Addr() != r.address.Addr() || slices.Contains(sources, source) || len(sources) == r.test.Parallel {
			continue
		}
		conn, err := r.client.Place.dial(ctx, "udp", netip.AddrPortFrom(r.local, uint16(r.port)), source,
			func(fd int, six bool) error {
				return errors.Join(unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1), r.test.shape(fd, six))
			})
		if err != nil {
			continue
		}
		sources = append(sources, source)
		back <- arrived{conn: conn}
	}
}

// Carry sends payload for the test's duration, or until Finish, and returns what the server reports, which with TCP is
// nothing. It is called once.
func (s *Iperf2Standing) Carry(ctx context.Context) (*Result, error) {
	r := s.test
	r.transfer.begin()
	r.listenForIperf3()
	whole := time.NewTimer(r.test.Duration)
	defer whole.Stop()
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case err := <-r.transfer.broken:
		return nil, r.gone(err)
	case <-whole.C:
	case <-r.finishes:
	}
	r.transfer.stop()
	result := &Result{Test: r.test}
	for _, flow := range []Flow{Forward, Reverse} {
		if r.test.Flow != flow && r.test.Flow != Bidirectional {
			continue
		}
		d := Direction{Flow: flow, Sent: Side{Lasted: r.transfer.sentUntil}}
		switch {
		case flow == Reverse:
			r.awaitLast(ctx)
		case r.test.Protocol == TCP:
			if err := r.transfer.settle(ctx, 0); err != nil {
				return nil, err
			}
			d.Unacknowledged = r.transfer.unconfirmed
		default:
			var err error
			if d.Reported, err = r.report(ctx); err != nil {
				return nil, err
			}
			if err := bounded.Pause(ctx, iperf2Rest); err != nil {
				return nil, err
			}
		}
		result.Directions = append(result.Directions, d)
	}
	return result, r.transfer.end(func() error { return nil })
}

// Finish has Carry end before the test's duration is over. It may be called again.
func (s *Iperf2Standing) Finish() { s.test.finishing.Do(func() { close(s.test.finishes) }) }

// Close ends the test. When it returns, nothing of the test goes on here. With UDP a server goes on sending until its
// time is over.
func (s *Iperf2Standing) Close() { s.test.close() }

func (r *iperf2Test) close() {
	if r.listener != nil {
		_ = r.listener.Close()
	}
	if r.transfer != nil {
		r.transfer.close()
	}
	for _, open := range r.streams {
		_ = open.conn.Close()
	}
	r.awaiting.Wait()
}

// awaitLast waits until the server's streams of datagrams have ended, so that they don't reach into another test.
func (r *iperf2Test) awaitLast(ctx context.Context) {
	if r.test.Protocol == TCP {
		return
	}
	deadline := r.transfer.began.Add(r.test.Duration + 2*time.Second)
	for time.Now().Before(deadline) && slices.ContainsFunc(r.streams.filter(false),
		func(s *stream) bool { return !s.over.Load() }) {
		if bounded.Pause(ctx, ackPoll) != nil {
			return
		}
	}
}

// reportEvery is how often a stream's last datagram is sent until the server answers, and mostLast how often at most.
// Its answer may be lost among what the server itself sends. A server answers again whatever comes within 250 ms of its
// answer, and then closes its socket.
const (
	reportEvery = 50 * time.Millisecond
	mostLast    = 100
)

// iperf2Rest is the time until another test. Debian's server of UDP (2.1.8) takes as long to close a stream's socket,
// and one that meets a new client meanwhile may hang or crash.
const iperf2Rest = time.Second

// report sends each stream's last datagram, and reads what the server counted.
func (r *iperf2Test) report(ctx context.Context) (reported []Reported, err error) {
	sending := r.streams.filter(true)
	reported = make([]Reported, len(sending))
	errs := make([]error, len(sending))
	var asking sync.WaitGroup
	for i, s := range sending {
		asking.Go(func() { reported[i], errs[i] = r.reportOf(ctx, s) })
	}
	asking.Wait()
	return reported, errors.Join(errs...)
}

func (r *iperf2Test) reportOf(ctx context.Context, s *stream) (Reported, error) {
	defer context.AfterFunc(ctx, func() { _ = s.conn.SetReadDeadline(time.Unix(1, 0)) })()
	_ = s.conn.SetWriteDeadline(time.Time{})
	datagram, buffer := make([]byte, r.test.MessageBytes), make([]byte, 1<<16)
	r.test.head(datagram)
	var refused error // as where the server answered, and ended, and its answer is still to be read
	for range mostLast {
		last := s.packets.Add(1)
		s.bytes.Add(int64(len(datagram)))
		s.number(datagram, r.test)
		binary.BigEndian.PutUint32(datagram, uint32(-last))
		binary.BigEndian.PutUint32(datagram[12:], uint32(-last>>32))
		_, err := s.conn.Write(datagram)
		if refused = cmp.Or(err, refused); err != nil && !errors.Is(err, unix.ECONNREFUSED) {
			return Reported{}, r.gone(err)
		}
		_ = s.conn.SetReadDeadline(time.Now().Add(reportEvery))
		for {
			n, err := s.conn.Read(buffer)
			if errors.Is(err, unix.ECONNREFUSED) {
				refused = err
				continue
			}
			if err != nil {
				break
			}
			if reported, ok := parseIperf2Report(buffer[:n]); ok {
				return reported, nil
			}
		}
		if ctx.Err() != nil {
			return Reported{}, context.Cause(ctx)
		}
	}
	if refused != nil {
		return Reported{}, r.gone(refused)
	}
	return Reported{}, fmt.Errorf("%w: the iperf 2 server at %s doesn't report what came: start one there for UDP (iperf "+
		"-s -u -p %d), and let UDP port %d through", ErrIncomplete, r.address, r.address.Port(), r.address.Port())
}

// parseIperf2Report reads a server's answer to a last datagram. In iperf before 2.0.10 its numbers follow 12 bytes,
// and later 16.
func parseIperf2Report(b []byte) (Reported, bool) {
	const isReport, numbers = 0x80000000, 9 * 4
	for _, head := range []int{iperf2Head, iperf2Head - 4} {
		if len(b) < head+numbers || binary.BigEndian.Uint32(b[head:])&isReport == 0 {
			continue
		}
		n := func(i int) int64 { return int64(binary.BigEndian.Uint32(b[head+4*i:])) }
		r := Reported{Bytes: n(1)<<32 + n(2), Missing: n(5), Datagrams: n(7),
			Lasted: time.Duration(n(3))*time.Second + time.Duration(n(4))*time.Microsecond}
		if len(b) >= head+numbers+4 {
			r.Jitter = time.Duration(n(8))*time.Second + time.Duration(n(9))*time.Microsecond
		}
		return r, r.Missing <= r.Datagrams && r.Lasted > 0
	}
	return Reported{}, false
}

// answerLast is the answer to the last datagram of a server's stream, with what came.
func (s *stream) answerLast(t *transfer) {
	s.mu.Lock()
	distinct, highest, jitter := s.arrivals.distinct, int64(s.arrivals.highest), time.Duration(s.arrivals.jitter)
	s.mu.Unlock()
	b, elapsed, bytes := make([]byte, iperf2Head+10*4), t.elapsed(), s.bytes.Load()
	for i, v := range []int64{0x80000000, bytes >> 32, bytes, int64(elapsed / time.Second),
		int64(elapsed % time.Second / time.Microsecond), highest - distinct, 0, highest, int64(jitter / time.Second),
		int64(jitter % time.Second / time.Microsecond)} {
		binary.BigEndian.PutUint32(b[iperf2Head+4*i:], uint32(v))
	}
	_, _ = s.conn.Write(b) // it asks again where this is lost
}

// readIperf2 is the number of an iperf 2 datagram, and whether it is the stream's last one. Servers of iperf 2.0 write
// only the lower half of a number.
func (a *arrivals) readIperf2(datagram []byte) (number uint64, sent time.Time, last, ok bool) {
	if len(datagram) < iperf2Head {
		return 0, sent, false, false
	}
	low, high := binary.BigEndian.Uint32(datagram), binary.BigEndian.Uint32(datagram[12:])
	sent = time.Unix(int64(binary.BigEndian.Uint32(datagram[4:])), int64(binary.BigEndian.Uint32(datagram[8:]))*1000)
	if int32(low) < 0 && (high == 1<<32-1 || a.highest < 1<<30) {
		return unwrap(a.highest, -low), sent, true, true
	}
	return unwrap(a.highest, low), sent, false, true
}

// unreachable is why there is no connection.
func (r *iperf2Test) unreachable(ctx context.Context, err error) error {
	timeout, ok := errors.AsType[net.Error](err)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, unix.ECONNREFUSED):
		return fmt.Errorf("%w at %s, which refuses connections: start one there (iperf -s -p %d), or name another port: "+
			"%w", ErrNoIperf2, r.address, r.address.Port(), err)
	case ok && timeout.Timeout():
		return fmt.Errorf("%w at %s within %s: check the address, the route, and that firewalls let TCP port %d "+
			"through: %w", ErrNoIperf2, r.address, answerTimeout, r.address.Port(), err)
	}
	return fmt.Errorf("connect to %s: %w", r.address, err)
}

// gone is why a stream ended early.
func (r *iperf2Test) gone(err error) error {
	switch {
	case r.test.Protocol == UDP && errors.Is(err, unix.ECONNREFUSED) && r.test.Parallel > 1:
		return fmt.Errorf("%w at %s, whose UDP port refuses datagrams: start one there for UDP (iperf -s -u -p %d); iperf "+
			"2.1.8 may crash at several streams of UDP, so use one (traffic.sessions.parallel: 1): %w", ErrNoIperf2, r.address,
			r.address.Port(), err)
	case r.test.Protocol == UDP && errors.Is(err, unix.ECONNREFUSED):
		return fmt.Errorf("%w at %s, whose UDP port refuses datagrams: start one there for UDP (iperf -s -u -p %d), as "+
			"iperf 2 serves TCP or UDP: %w", ErrNoIperf2, r.address, r.address.Port(), err)
	case errors.Is(err, errIperf3):
		return fmt.Errorf("%w: the server at %s answers as iperf3 does, which has another protocol: name it as iperf3, or "+
			"start iperf -s there", ErrProtocol, r.address)
	}
	return fmt.Errorf("the iperf 2 server at %s ended the test: %w", r.address, err)
}

// errIperf3 says that a server answered as iperf3's protocol has it.
var errIperf3 = errors.New("it sent a state of iperf3's protocol")

// listenForIperf3 breaks the test where a server sends on a connection on which only the client does. An iperf3 server
// takes a client's first bytes for a cookie, and the kernel confirms what nobody reads.
func (r *iperf2Test) listenForIperf3() {
	for _, s := range r.streams.filter(true) {
		if _, ok := s.conn.(*net.TCPConn); !ok {
			continue
		}
		r.awaiting.Go(func() {
			var b [1]byte
			n, _ := s.conn.Read(b[:])
			if n == 1 && slices.Contains([]state{paramExchange, accessDenied}, state(int8(b[0]))) {
				select {
				case r.transfer.broken <- errIperf3:
				default:
				}
			}
		})
	}
}
