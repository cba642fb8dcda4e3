package iperf3

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/host/sockets"
)

// stream is one connection, which carries payload in one direction, with this side's counters. One goroutine sends or
// receives. Others read the counters.
type stream struct {
	id    int
	sends bool
	conn  net.Conn // *net.TCPConn or *net.UDPConn
	hops  int      // the remaining time to live of the first packet, or 0 if unknown

	bytes       atomic.Int64
	packets     atomic.Int64 // messages sent
	over        atomic.Bool  // the last datagram of an iperf 2 server has come
	lastArrival atomic.Int64 // when the last payload arrived, in nanoseconds since the beginning

	mu       sync.Mutex
	arrivals arrivals // of a receiver of datagrams
}

// streams are the streams of one test.
type streams []*stream

// filter keeps the streams that this side sends, or those that it receives.
func (s streams) filter(sends bool) (filtered streams) {
	for _, member := range s {
		if member.sends == sends {
			filtered = append(filtered, member)
		}
	}
	return filtered
}

func (s streams) ids() (numbers []int) {
	for _, member := range s {
		numbers = append(numbers, member.id)
	}
	return numbers
}

// jitter is a receiver's, in nanoseconds.
func (s *stream) jitter() float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.arrivals.jitter
}

// counts is what has been counted by a moment. TCP's counters are those of a sender.
type counts struct {
	bytes, datagrams                                 int64
	highest                                          int64
	missing, reordered, duplicates, tooLate, foreign int64
	// how many that were missing when the omitted time was over have arrived since
	overdue     int64
	dropped     int64
	retransmits int64
	// how many connections have TCP_INFO, and how many of those a round-trip time
	streams, roundTrips          int64
	roundTrip, longest, shortest time.Duration
	window, delivery             int64 // bytes, bits per second
}

// read is what has been counted by now. omitOver says that the omitted time ends now. Counters that the kernel
// doesn't report are an error.
func (s *stream) read(omitOver bool) (counts, error) {
	c := counts{bytes: s.bytes.Load()}
	switch conn := s.conn.(type) {
	case *net.TCPConn:
		if s.sends {
			return c, c.addTCP(conn)
		}
	case *net.UDPConn:
		if c.datagrams = s.packets.Load(); s.sends {
			return c, nil
		}
		s.mu.Lock()
		a := &s.arrivals
		if omitOver {
			a.omitted = a.highest
		}
		c.datagrams, c.highest, c.missing = a.distinct, int64(a.highest), a.missing()
		c.reordered, c.duplicates, c.tooLate, c.foreign = a.reordered, a.duplicates, a.tooLate, a.foreign
		c.overdue = a.overdue
		s.mu.Unlock()
		var err error
		c.dropped, err = sockets.Dropped(conn)
		return c, err
	}
	return c, nil
}

// addTCP adds TCP_INFO of a connection.
func (c *counts) addTCP(conn *net.TCPConn) error {
	info, err := sockets.TCPInfo(conn)
	if err != nil {
		return err
	}
	c.streams = 1
	c.retransmits, c.window, c.delivery = int64(info.Total_retrans), int64(info.Snd_cwnd)*int64(info.Snd_mss),
		int64(info.Delivery_rate)*8
	if info.Rtt > 0 {
		c.roundTrips, c.roundTrip = 1, time.Duration(info.Rtt)*time.Microsecond
		c.longest = c.roundTrip
	}
	if info.Min_rtt != math.MaxUint32 {
		c.shortest = time.Duration(info.Min_rtt) * time.Microsecond
	}
	return nil
}

// add adds another stream's.
func (c counts) add(o counts) counts {
	shortest := c.shortest
	if shortest == 0 || o.shortest != 0 && o.shortest < shortest {
		shortest = o.shortest
	}
	return counts{
		bytes: c.bytes + o.bytes, datagrams: c.datagrams + o.datagrams, highest: c.highest + o.highest,
		missing: c.missing + o.missing, reordered: c.reordered + o.reordered,
		duplicates: c.duplicates + o.duplicates, tooLate: c.tooLate + o.tooLate, foreign: c.foreign + o.foreign,
		dropped: c.dropped + o.dropped, retransmits: c.retransmits + o.retransmits,
		streams: c.streams + o.streams, roundTrips: c.roundTrips + o.roundTrips, roundTrip: c.roundTrip + o.roundTrip,
		longest: max(c.longest, o.longest), shortest: shortest,
		window: c.window + o.window, delivery: c.delivery + o.delivery,
	}
}

// minus is how much the counters have grown since an earlier reading.
func (c counts) minus(earlier counts) counts {
	return counts{
		bytes: c.bytes - earlier.bytes, datagrams: c.datagrams - earlier.datagrams,
		highest: c.highest - earlier.highest,
		missing: c.missing - earlier.missing, reordered: c.reordered - earlier.reordered,
		duplicates: c.duplicates - earlier.duplicates, tooLate: c.tooLate - earlier.tooLate,
		foreign: c.foreign - earlier.foreign, dropped: c.dropped - earlier.dropped,
		retransmits: c.retransmits - earlier.retransmits,
	}
}

// send writes messages until the transfer stops sending.
func (s *stream) send(t *transfer, message []byte) error {
	p := newPacer(t.test.BitsPerSecond, len(message))
	_, datagrams := s.conn.(*net.UDPConn)
	if datagrams {
		message = append([]byte(nil), message...) // each message has another head
	}
	for t.due(p) {
		if datagrams {
			s.number(message, t.test)
		}
		n, err := s.conn.Write(message)
		s.bytes.Add(int64(n))
		if errors.Is(err, unix.ENOBUFS) { // the queue of the interface is full, and nothing was sent
			_ = pauseFor(shortPause, t.stopped)
			continue
		}
		switch {
		case err != nil && isClosed(t.stopped):
			return nil
		case err != nil:
			return fmt.Errorf("%w: send on stream %d: %w", ErrGone, s.id, err)
		}
		s.packets.Add(1)
	}
	return nil
}

// number writes the head of the next datagram.
func (s *stream) number(datagram []byte, test Test) {
	sent, next := time.Now(), uint64(s.packets.Load()+1)
	if test.iperf2 {
		binary.BigEndian.PutUint32(datagram, uint32(next))
		binary.BigEndian.PutUint32(datagram[4:], uint32(sent.Unix()))
		binary.BigEndian.PutUint32(datagram[8:], uint32(sent.Nanosecond()/1000))
		binary.BigEndian.PutUint32(datagram[12:], uint32(next>>32))
		return
	}
	binary.BigEndian.PutUint32(datagram, uint32(sent.Unix()))
	binary.BigEndian.PutUint32(datagram[4:], uint32(sent.Nanosecond()/1000))
	if test.short {
		binary.BigEndian.PutUint32(datagram[8:], uint32(next))
		return
	}
	binary.BigEndian.PutUint64(datagram[8:], next)
}

// The end of a transfer. Payload that is in flight when the client ends the test still counts. The receiver reads
// until nothing arrives for a while, and its kernel has nothing left.
const (
	quiet    = 200 * time.Millisecond
	brief    = 10 * time.Millisecond // in which a receiver with nothing in its way reads what has come
	maxDrain = 3 * time.Second
)

// receive reads and counts until the transfer ends, and then reads what is left.
func (s *stream) receive(t *transfer) error {
	buffer := make([]byte, max(t.test.MessageBytes, minDatagram))
	tcp, _ := s.conn.(*net.TCPConn)
	for {
		n, err := s.conn.Read(buffer)
		// a single segment would be acknowledged late, and the sender would measure a longer round-trip time than the
		// path's
		if tcp != nil && t.test.BitsPerSecond > 0 {
			sockets.AcknowledgeNow(tcp)
		}
		s.count(t, buffer[:n])
		switch {
		case err == nil:
		case isClosed(t.ending):
			return s.drain(t, buffer, time.Now().Add(maxDrain))
		default:
			return s.closed(t, err)
		}
	}
}

// closed is the result for a stream that the other side has closed. The message that the test is over comes on the
// control connection, and may arrive later.
func (s *stream) closed(t *transfer, cause error) error {
	select {
	case <-t.ending:
		return nil
	case <-time.After(maxIdleControl):
		return fmt.Errorf("%w: stream %d ended in the middle of the test: %w", ErrGone, s.id, cause)
	}
}

// drain reads until the other side has closed the stream, or nothing arrives any more, or the time is over.
func (s *stream) drain(t *transfer, buffer []byte, deadline time.Time) error {
	for time.Now().Before(deadline) {
		_ = s.conn.SetReadDeadline(time.Now().Add(quiet))
		n, err := s.conn.Read(buffer)
		s.count(t, buffer[:n])
		if err == nil {
			continue
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return nil
		}
		if found, err := s.sweep(t, buffer, deadline); !found || err != nil {
			return err
		}
	}
	return nil
}

// sweep reads what the kernel has, without waiting. A process that got no processor for a while finds its deadline
// over although payload has arrived. A sender that is faster than the reader keeps it until the time is over.
func (s *stream) sweep(t *transfer, buffer []byte, deadline time.Time) (found bool, err error) {
	_ = s.conn.SetReadDeadline(time.Time{})
	raw, err := s.conn.(syscall.Conn).SyscallConn()
	if err != nil {
		return false, err
	}
	for time.Now().Before(deadline) {
		var n int
		if err := raw.Read(func(fd uintptr) bool {
			n, _ = unix.Read(int(fd), buffer)
			return true
		}); err != nil {
			return found, err
		}
		if n <= 0 { // nothing is there, or the stream is closed
			return found, nil
		}
		found = true
		s.count(t, buffer[:n])
	}
	return found, nil
}

// count counts what one read returned, which is a datagram, or a part of a connection's payload.
func (s *stream) count(t *transfer, payload []byte) {
	if len(payload) == 0 {
		return
	}
	if _, datagrams := s.conn.(*net.UDPConn); datagrams {
		switch { // datagrams of the stream's setup
		case isHello(payload): // by a client whose answer was lost
			_ = answer(s.conn)
			return
		case isReply(payload):
			return
		}
		s.mu.Lock()
		previous := s.arrivals.distinct
		last := s.arrivals.add(payload, t.test, time.Now(), s.over.Load())
		isNew := s.arrivals.distinct > previous
		s.mu.Unlock()
		if last {
			s.over.Store(true)
			s.answerLast(t)
		}
		if !isNew {
			return // a duplicate is no throughput
		}
	}
	s.bytes.Add(int64(len(payload)))
	s.lastArrival.Store(int64(t.elapsed()))
}
