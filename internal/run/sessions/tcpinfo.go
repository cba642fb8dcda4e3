package sessions

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/host/sockets"
)

// heldByPath says whether congestion control keeps the connection from sending, because its congestion window is
// full, or because it recovers from losses (enum tcp_ca_state, TCP_CA_CWR and above).
func heldByPath(i unix.TCPInfo) bool {
	const congestionWindowReduced = 2
	inFlight := int64(i.Unacked) - int64(i.Sacked) - int64(i.Lost) + int64(i.Retrans) // the kernel's tcp_packets_in_flight
	return i.Ca_state >= congestionWindowReduced || inFlight >= int64(i.Snd_cwnd)
}

func microseconds[T uint32 | uint64](v T) time.Duration { return time.Duration(v) * time.Microsecond }

// configure prepares a socket before it connects. It binds the socket to its interface, sets buffers before the
// window scale is negotiated, and makes it close by a reset instead of waiting until everything is sent.
func configure(fd int, iface string, shape Shape, six bool) error {
	if err := unix.BindToDevice(fd, iface); err != nil {
		return fmt.Errorf("bind to interface %s: %w", iface, err)
	}
	level, name := unix.IPPROTO_IP, unix.IP_TTL
	if six {
		level, name = unix.IPPROTO_IPV6, unix.IPV6_UNICAST_HOPS
	}
	for _, err := range []error{
		sockets.SetOption(fd, level, name, firstTTL, "the time to live"),
		sockets.SetOption(fd, unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(unanswered.Milliseconds()), "TCP_USER_TIMEOUT"),
		unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1}),
	} {
		if err != nil {
			return err
		}
	}
	if shape.CongestionControl != "" {
		if err := sockets.SetCongestionControl(fd, shape.CongestionControl); err != nil {
			return fmt.Errorf("traffic.sessions.congestionControl: %w", err)
		}
	}
	if shape.WindowBytes != 0 {
		if err := sockets.SetBuffers(fd, int(shape.WindowBytes)); err != nil {
			return fmt.Errorf("traffic.sessions.window: %w", err)
		}
	}
	return nil
}
