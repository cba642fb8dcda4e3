package iperf3

import (
	"context"
	"net"
	"sync"
	"time"
)

// side is what client and server share of one test.
type side struct {
	control  *control
	test     Test
	streams  streams
	transfer *transfer
	awaiting sync.WaitGroup // goroutines that wait for the other side's next state
}

// ready agrees with the other side that the test runs, once all streams are open. period is how often counters are
// read.
func (s *side) ready(agree func(state) error, period time.Duration) error {
	for _, next := range []state{testStart, testRunning} {
		if err := agree(next); err != nil {
			return err
		}
	}
	s.transfer = newTransfer(s.test, s.streams, interval(period))
	return nil
}

// carry sends and receives payload until awaitEnd returns, and then exchanges the counters of both sides.
func (s *side) carry(ctx context.Context, measure func(context.Context) (time.Duration, error),
	exchange func(planned time.Duration) (*Result, error)) (*Result, error) {
	s.transfer.begin()
	planned, err := measure(ctx)
	if err != nil {
		return nil, err
	}
	return exchange(planned)
}

// close closes the control connection and all streams, and waits for their goroutines.
func (s *side) close() {
	_ = s.control.Close()
	if s.transfer != nil {
		s.transfer.close()
	}
	for _, open := range s.streams {
		_ = open.conn.Close()
	}
	s.awaiting.Wait()
}

// Live is one side of a test whose streams are open. It is safe for concurrent use, also after the test, when
// counters stand still.
type Live struct{ side *side }

// Counters are what one side has counted by a moment, of the streams that it sends or of those that it
// receives, from the first byte on, with the omitted time.
type Counters struct {
	Bytes int64
	// Each are the bytes of each stream.
	Each []int64
	// Streams are the datagrams of each, and nil with TCP.
	Streams []Numbers
	// The last members are a receiver's of datagrams. Dropped is what its own sockets had no room for, and Jitter is
	// the largest of any stream.
	Reordered, Duplicates, Dropped int64
	Jitter                         time.Duration
}

// Numbers describe one stream's datagrams by the highest number that was sent or has arrived, and by how many were,
// each counted once.
type Numbers struct{ Highest, Distinct int64 }

// Counters are what this side has counted by now, of the streams that it sends, or of those that it receives.
func (l *Live) Counters(sends bool) (c Counters, err error) {
	for _, s := range l.side.streams.filter(sends) {
		n, err := s.read(false)
		if err != nil {
			return c, err
		}
		c.Bytes, c.Each = c.Bytes+n.bytes, append(c.Each, n.bytes)
		if _, tcp := s.conn.(*net.TCPConn); tcp {
			continue
		}
		numbers := Numbers{n.highest, n.datagrams}
		if sends {
			numbers.Highest = n.datagrams
		}
		c.Streams = append(c.Streams, numbers)
		c.Reordered, c.Duplicates, c.Dropped = c.Reordered+n.reordered, c.Duplicates+n.duplicates, c.Dropped+n.dropped
		c.Jitter = max(c.Jitter, time.Duration(s.jitter()))
	}
	return c, nil
}

// Conns are the streams that this side sends, or those that it receives, each a *net.TCPConn or a *net.UDPConn. The
// caller may only inspect them.
func (l *Live) Conns(sends bool) (conns []net.Conn) {
	for _, s := range l.side.streams.filter(sends) {
		conns = append(conns, s.conn)
	}
	return conns
}

// Hops are the remaining time to live of the first packet of each stream that this side receives. They are empty
// without Place.Hops, or if the kernel doesn't keep it.
func (l *Live) Hops() (hops []int) {
	for _, s := range l.side.streams.filter(false) {
		if s.hops > 0 {
			hops = append(hops, s.hops)
		}
	}
	return hops
}
