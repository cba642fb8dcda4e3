package sessions

import (
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// neededInfo is how much of struct tcp_info (include/uapi/linux/tcp.h) the kernel must fill in: up to tcpi_bytes_retrans, of Linux 4.19. The time of senders
// (tcpi_busy_time, tcpi_rwnd_limited, tcpi_sndbuf_limited) comes before that.
const neededInfo = unsafe.Offsetof(unix.TCPInfo{}.Bytes_retrans) + unsafe.Sizeof(unix.TCPInfo{}.Bytes_retrans)

// tcpInfo is what the kernel says of a connection. One that says less than is needed is an error: what it leaves out would read as zero.
func tcpInfo(conn *net.TCPConn) (unix.TCPInfo, error) {
	var info unix.TCPInfo
	err := onSocket(conn, func(fd int) error {
		length := uint32(unsafe.Sizeof(info))
		_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.IPPROTO_TCP, unix.TCP_INFO, uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&length)), 0)
		switch {
		case errno != 0:
			return errno
		case uintptr(length) < neededInfo:
			return fmt.Errorf("the kernel says only %d bytes of TCP_INFO, and %d are needed: use Linux 4.19 or newer", length, neededInfo)
		}
		return nil
	})
	if err != nil {
		return info, fmt.Errorf("read TCP_INFO: %w", err)
	}
	return info, nil
}

// heldByPath says that congestion control keeps the connection from sending: its congestion window is full, or it makes good for losses (enum tcp_ca_state: TCP_CA_CWR
// and above).
func heldByPath(i unix.TCPInfo) bool {
	const congestionWindowReduced = 2
	inFlight := int64(i.Unacked) - int64(i.Sacked) - int64(i.Lost) + int64(i.Retrans) // the kernel's tcp_packets_in_flight
	return i.Ca_state >= congestionWindowReduced || inFlight >= int64(i.Snd_cwnd)
}

func microseconds[T uint32 | uint64](v T) time.Duration { return time.Duration(v) * time.Microsecond }

// onSocket runs fn with the connection's descriptor.
func onSocket(conn syscall.Conn, fn func(fd int) error) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var said error
	return errors.Join(raw.Control(func(fd uintptr) { said = fn(int(fd)) }), said)
}

// option sets an integer option of a socket, and says which it was where it can't.
func option(fd, level, name, value int, what string) error {
	if err := unix.SetsockoptInt(fd, level, name, value); err != nil {
		return fmt.Errorf("set %s to %d: %w", what, value, err)
	}
	return nil
}

// configure gives a socket that isn't connected yet all that the test wants of it: bound to its interface, buffers before the window's scale is agreed on, and a reset
// instead of an end that takes as long as there is something to send.
func configure(fd int, iface string, shape Shape, six bool) error {
	if err := unix.BindToDevice(fd, iface); err != nil {
		return fmt.Errorf("bind to interface %s: %w", iface, err)
	}
	level, name := unix.IPPROTO_IP, unix.IP_TTL
	if six {
		level, name = unix.IPPROTO_IPV6, unix.IPV6_UNICAST_HOPS
	}
	for _, err := range []error{
		option(fd, level, name, firstTTL, "the time to live"),
		option(fd, unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(unanswered.Milliseconds()), "TCP_USER_TIMEOUT"),
		unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1}),
	} {
		if err != nil {
			return err
		}
	}
	if shape.CongestionControl != "" {
		if err := unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, shape.CongestionControl); err != nil {
			return fmt.Errorf("traffic.sessions.congestionControl: %s: %w (sysctl net.ipv4.tcp_available_congestion_control lists what this kernel has)", shape.CongestionControl, err)
		}
	}
	if shape.WindowBytes == 0 {
		return nil
	}
	for _, b := range []struct {
		force, plain int
		setting      string
	}{{unix.SO_SNDBUFFORCE, unix.SO_SNDBUF, "wmem_max"}, {unix.SO_RCVBUFFORCE, unix.SO_RCVBUF, "rmem_max"}} {
		if err := buffer(fd, b.force, b.plain, int(shape.WindowBytes), b.setting); err != nil {
			return err
		}
	}
	return nil
}

// buffer sets a socket's buffer to a size. The kernel gives twice that, for its own bookkeeping (socket(7)); less than asked for is an error.
func buffer(fd, force, plain, size int, setting string) error {
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, force, size) != nil { // who may not force it asks
		if err := option(fd, unix.SOL_SOCKET, plain, size, "the socket's buffer"); err != nil {
			return err
		}
	}
	got, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, plain)
	if err == nil && got < 2*size {
		err = fmt.Errorf("traffic.sessions.window: the kernel gives sockets %d bytes at most, and %d were asked for: raise sysctl net.core.%s, or ask for less", got/2, size, setting)
	}
	return err
}

// congestionControl is what the connection really has.
func congestionControl(conn *net.TCPConn) string {
	var name string
	_ = onSocket(conn, func(fd int) (err error) {
		name, err = unix.GetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION)
		return err
	})
	return name
}

// savedTTL is the time to live of the segment that opened the connection, as it came: IPv4's, or IPv6's hop limit; 0: the kernel didn't keep it.
func savedTTL(conn *net.TCPConn) int {
	var header [128]byte
	length := uint32(len(header))
	err := onSocket(conn, func(fd int) error {
		_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.IPPROTO_TCP, unix.TCP_SAVED_SYN, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&length)), 0)
		if errno != 0 {
			return errno
		}
		return nil
	})
	switch {
	case err != nil || length < 20:
		return 0
	case header[0]>>4 == 6:
		return int(header[7])
	}
	return int(header[8])
}
