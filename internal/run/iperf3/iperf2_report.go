package iperf3

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

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
