package iperf3

import (
	"context"
	"net"
	"sync"
	"time"
)

// side is what client and server have in common of one test.
type side struct {
	control  *control
	test     Test
	streams  []*stream
	transfer *transfer
	awaiting sync.WaitGroup // who waits for what the other side says next
}

// ready agrees with the other side that the test runs, once all streams stand; every is how often counters are read.
func (s *side) ready(agree func(state) error, every time.Duration) error {
	for _, is := range []state{testStart, testRunning} {
		if err := agree(is); err != nil {
			return err
		}
	}
	s.transfer = newTransfer(s.test, s.streams, interval(every))
	return nil
}

// carry has the payload go until measure says that it is over, and exchanges what both sides counted.
func (s *side) carry(ctx context.Context, measure func(context.Context) (time.Duration, error), exchange func(planned time.Duration) (*Result, error)) (*Result, error) {
	s.transfer.begin()
	planned, err := measure(ctx)
	if err != nil {
		return nil, err
	}
	return exchange(planned)
}

// close drops the control connection and all streams, and waits for who works on them.
func (s *side) close() {
	_ = s.control.Close()
	if s.transfer != nil {
		s.transfer.close()
	}
	for _, each := range s.streams {
		_ = each.conn.Close()
	}
	s.awaiting.Wait()
}

// Live is one side of a test whose streams stand. It is safe for concurrent use, also when the test is over: counters stand still then.
type Live struct{ side *side }

// Counters are what one side has counted by a moment of the streams that it sends, or of those that it receives, from the first byte on: nothing is omitted.
type Counters struct {
	Bytes int64
	// Streams are the datagrams of each; nil with TCP.
	Streams []Numbers
	// Of a receiver of datagrams: what its own sockets had no room for is Dropped. Jitter is that of the stream that has most.
	Reordered, Duplicates, Dropped int64
	Jitter                         time.Duration
}

// Numbers are of one stream's datagrams: the highest number that was sent, or that came, and how many were, each once.
type Numbers struct{ Highest, Distinct int64 }

// Counters are what this side has counted by now of the streams that it sends, or of the others.
func (l *Live) Counters(sends bool) (c Counters, err error) {
	for _, s := range l.side.streams {
		if s.sends != sends {
			continue
		}
		n, err := s.read(false)
		if err != nil {
			return c, err
		}
		c.Bytes += n.bytes
		if _, tcp := s.conn.(*net.TCPConn); tcp {
			continue
		}
		numbers := Numbers{n.highest, n.datagrams}
		if sends {
			numbers.Highest = n.datagrams
		}
		c.Streams = append(c.Streams, numbers)
		c.Reordered, c.Duplicates, c.Dropped = c.Reordered+n.reordered, c.Duplicates+n.duplicates, c.Dropped+n.dropped
		s.mu.Lock()
		c.Jitter = max(c.Jitter, time.Duration(s.arrivals.jitter))
		s.mu.Unlock()
	}
	return c, nil
}

// Conns are the streams that this side sends, or the others: *net.TCPConn or *net.UDPConn. Who asks looks at them and does nothing with them.
func (l *Live) Conns(sends bool) (conns []net.Conn) {
	for _, s := range l.side.streams {
		if s.sends == sends {
			conns = append(conns, s.conn)
		}
	}
	return conns
}

// Hops are what was left of the time to live of the first packet of each stream that this side receives; none where it wasn't asked for (Place.Hops), or the kernel doesn't tell.
func (l *Live) Hops() (left []int) {
	for _, s := range l.side.streams {
		if !s.sends && s.hops > 0 {
			left = append(left, s.hops)
		}
	}
	return left
}
