package iperf3

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

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
