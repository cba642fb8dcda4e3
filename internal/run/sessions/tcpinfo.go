package sessions

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/host/sockets"
)

// heldByPath says whether congestion control keeps the connection from sending, because its congestion window is
// full, or because it recovers from losses (enum tcp_ca_state, TCP_CA_CWR and above).
func heldByPath(i unix.TCPInfo) bool {
	const congestionWindowReduced = 2
	// The kernel computes tcp_packets_in_flight so.
	inFlight := int64(i.Unacked) - int64(i.Sacked) - int64(i.Lost) + int64(i.Retrans)
	return i.Ca_state >= congestionWindowReduced || inFlight >= int64(i.Snd_cwnd)
}

func microseconds[T uint32 | uint64](v T) time.Duration { return time.Duration(v) * time.Microsecond }

// configure sets a socket's options before the socket connects. Buffers are set before the window scale is
// negotiated, and the socket closes by a reset instead of waiting until everything is sent.
func (s Shape) configure(fd int) error {
	err := errors.Join(sockets.SetOption(fd, unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(unanswered.Milliseconds()),
		"TCP_USER_TIMEOUT"), unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1}))
	if err != nil {
		return err
	}
	if s.CongestionControl != "" {
		if err := sockets.SetCongestionControl(fd, s.CongestionControl); err != nil {
			return fmt.Errorf("traffic.sessions.congestionControl: %w", err)
		}
	}
	if s.WindowBytes != 0 {
		if err := sockets.SetBuffers(fd, int(s.WindowBytes)); err != nil {
			return fmt.Errorf("traffic.sessions.window: %w", err)
		}
	}
	return nil
}
