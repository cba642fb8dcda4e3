package sessions

import (
	"math"
	"net"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/sockets"
)

// watched are a sender's TCP connections, looked at until close, and what their kernel says of them, added up. It is safe for concurrent use.
type watched struct {
	conns   []*net.TCPConn
	working sync.WaitGroup
	ended   chan struct{}

	mu   sync.Mutex
	seen measure.Sending // what samples add up to
}

func watch(conns []*net.TCPConn) *watched {
	w := &watched{conns: conns, ended: make(chan struct{})}
	w.working.Go(w.watch)
	return w
}

func (w *watched) watch() {
	ticker := time.NewTicker(sampleEvery)
	defer ticker.Stop()
	for {
		select {
		case <-w.ended:
			return
		case <-ticker.C:
		}
		w.mu.Lock()
		for _, conn := range w.conns {
			if info, err := sockets.TCPInfo(conn); err == nil {
				w.sample(info)
			}
		}
		w.mu.Unlock()
	}
}

func (w *watched) sample(info unix.TCPInfo) {
	w.seen.Samples++
	if heldByPath(info) {
		w.seen.HeldByPath++
	}
	if info.Rtt > 0 {
		rtt := microseconds(info.Rtt)
		w.seen.RoundTripSamples++
		w.seen.RoundTrips += rtt
		w.seen.LongestRoundTrip = max(w.seen.LongestRoundTrip, rtt)
	}
}

// read is what the connections have done by now. One whose counters can't be read makes the reading a broken one.
func (w *watched) read(at func() time.Duration) measure.Sending {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.seen
	w.seen.LongestRoundTrip = 0
	r.At, r.Connections = at(), len(w.conns)
	for _, conn := range w.conns {
		info, err := sockets.TCPInfo(conn)
		if err != nil {
			if r.Broken == "" {
				r.Broken = err.Error()
			}
			continue
		}
		r.AcknowledgedBytes += int64(info.Bytes_acked)
		r.SentBytes, r.RetransmittedBytes = r.SentBytes+int64(info.Bytes_sent), r.RetransmittedBytes+int64(info.Bytes_retrans)
		r.Segments, r.RetransmittedSegments = r.Segments+int64(info.Data_segs_out), r.RetransmittedSegments+int64(info.Total_retrans)
		r.Busy, r.ReceiverLimited, r.BufferLimited = r.Busy+microseconds(info.Busy_time), r.ReceiverLimited+microseconds(info.Rwnd_limited), r.BufferLimited+microseconds(info.Sndbuf_limited)
		if shortest := microseconds(info.Min_rtt); info.Min_rtt != 0 && info.Min_rtt != math.MaxUint32 && (r.ShortestRoundTrip == 0 || shortest < r.ShortestRoundTrip) {
			r.ShortestRoundTrip = shortest
		}
	}
	return r
}

func (w *watched) close() {
	close(w.ended)
	w.working.Wait()
}
