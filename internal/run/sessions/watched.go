package sessions

import (
	"cmp"
	"math"
	"net"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/host/sockets"
	"github.com/linerate-dev/linerate/internal/measure"
)

// watched samples TCP_INFO of a sender's connections until close, and adds up the samples. It is safe for
// concurrent use.
type watched struct {
	infos   func() ([]unix.TCPInfo, error)
	working sync.WaitGroup
	ended   chan struct{}

	mu   sync.Mutex
	sums measure.Sending // what samples add up to
}

func watch(infos func() ([]unix.TCPInfo, error)) *watched {
	w := &watched{infos: infos, ended: make(chan struct{})}
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
		infos, _ := w.infos() // an error shows in the next read
		for _, info := range infos {
			w.sample(info)
		}
		w.mu.Unlock()
	}
}

func (w *watched) sample(info unix.TCPInfo) {
	w.sums.Samples++
	if heldByPath(info) {
		w.sums.HeldByPath++
	}
	if info.Rtt > 0 {
		rtt := microseconds(info.Rtt)
		w.sums.RoundTripSamples++
		w.sums.RoundTrips += rtt
		w.sums.LongestRoundTrip = max(w.sums.LongestRoundTrip, rtt)
	}
}

// read is what the connections have sent by now. If the counters of a connection can't be read, the reading is broken.
func (w *watched) read(clock func() time.Duration) measure.Sending {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.sums
	w.sums.LongestRoundTrip = 0
	r.At = clock()
	infos, err := w.infos()
	if err != nil {
		r.Broken = err.Error()
	}
	for _, info := range infos {
		r.AcknowledgedBytes += int64(info.Bytes_acked)
		r.Each = append(r.Each, measure.ConnectionSending{SentBytes: int64(info.Bytes_sent),
			AcknowledgedBytes: int64(info.Bytes_acked), RetransmittedSegments: int64(info.Total_retrans)})
		r.SentBytes, r.RetransmittedBytes = r.SentBytes+int64(info.Bytes_sent), r.RetransmittedBytes+
			int64(info.Bytes_retrans)
		r.Segments, r.RetransmittedSegments = r.Segments+int64(info.Data_segs_out), r.RetransmittedSegments+
			int64(info.Total_retrans)
		r.Busy, r.ReceiverLimited, r.BufferLimited = r.Busy+microseconds(info.Busy_time), r.ReceiverLimited+
			microseconds(info.Rwnd_limited), r.BufferLimited+microseconds(info.Sndbuf_limited)
		if shortest := microseconds(info.Min_rtt); info.Min_rtt != 0 && info.Min_rtt != math.MaxUint32 &&
			(r.ShortestRoundTrip == 0 || shortest < r.ShortestRoundTrip) {
			r.ShortestRoundTrip = shortest
		}
	}
	return r
}

// infosOf reads TCP_INFO of this process's own connections.
func infosOf(conns []*net.TCPConn) func() ([]unix.TCPInfo, error) {
	return func() (infos []unix.TCPInfo, err error) {
		for _, conn := range conns {
			info, infoErr := sockets.TCPInfo(conn)
			if infoErr != nil {
				err = cmp.Or(err, infoErr)
				continue
			}
			infos = append(infos, info)
		}
		return infos, err
	}
}

func (w *watched) close() {
	close(w.ended)
	w.working.Wait()
}
