// Package sockets has what Go's net package doesn't tell or set of Linux's sockets: TCP_INFO, buffers of a known size, congestion control, what is unacknowledged, what a socket
// dropped, whose fault an error is.
package sockets

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/pause"
)

// acceptPause is how long Accept waits before it takes connections again, where its machine has nothing to spare for them.
const acceptPause = 100 * time.Millisecond

// Accept takes the next connection. That the machine or the process has no files or memory left for one passes: it is tried again until ctx ends.
func Accept(ctx context.Context, l net.Listener) (net.Conn, error) {
	for {
		conn, err := l.Accept()
		if err == nil || !scarce(err) || pause.For(ctx, acceptPause) != nil {
			return conn, err
		}
	}
}

// scarce says that a connection could not be taken for want of files or memory, or that it was gone before it was taken (accept(2)).
func scarce(err error) bool {
	errno, is := errors.AsType[unix.Errno](err)
	return is && slices.Contains([]unix.Errno{unix.EMFILE, unix.ENFILE, unix.ENOBUFS, unix.ENOMEM, unix.ECONNABORTED}, errno)
}

// FromBeyond says of an error of connecting, sending or receiving that it came from beyond this machine: nobody answered in time, whoever did said no, or there is no way there. Others are the
// machine's own, as where it has no files left, or lets nobody send.
func FromBeyond(err error) bool {
	if errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	errno, is := errors.AsType[unix.Errno](err)
	return is && slices.Contains([]unix.Errno{unix.ETIMEDOUT, unix.ECONNREFUSED, unix.ECONNRESET, unix.EPIPE, unix.EHOSTUNREACH, unix.ENETUNREACH, unix.EHOSTDOWN}, errno)
}

// On runs fn with the socket's descriptor.
func On(conn syscall.Conn, fn func(fd int) error) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var said error
	return errors.Join(raw.Control(func(fd uintptr) { said = fn(int(fd)) }), said)
}

// neededInfo is how much of struct tcp_info (include/uapi/linux/tcp.h) the kernel must fill in: up to tcpi_bytes_retrans, of Linux 4.19. The time of senders
// (tcpi_busy_time, tcpi_rwnd_limited, tcpi_sndbuf_limited) comes before that.
const neededInfo = unsafe.Offsetof(unix.TCPInfo{}.Bytes_retrans) + unsafe.Sizeof(unix.TCPInfo{}.Bytes_retrans)

// TCPInfo is what the kernel says of a connection. One that says less than is needed is an error: what it leaves out would read as zero.
func TCPInfo(conn *net.TCPConn) (unix.TCPInfo, error) {
	var info unix.TCPInfo
	err := On(conn, func(fd int) error {
		length, err := get(fd, unix.IPPROTO_TCP, unix.TCP_INFO, unsafe.Pointer(&info), unsafe.Sizeof(info))
		if err == nil && length < neededInfo {
			err = fmt.Errorf("the kernel says only %d bytes of TCP_INFO, and %d are needed: use Linux 4.19 or newer", length, neededInfo)
		}
		return err
	})
	if err != nil {
		return info, fmt.Errorf("read TCP_INFO: %w", err)
	}
	return info, nil
}

// SavedHops is what was left of the time to live of the segment that opened an accepted connection: IPv4's, or IPv6's hop limit; 0: the kernel didn't keep it.
func SavedHops(conn *net.TCPConn) int {
	headers := savedHeaders(conn)
	switch {
	case len(headers) < 20:
		return 0
	case headers[0]>>4 == 6:
		return int(headers[7])
	}
	return int(headers[8])
}

// ReceivedHops is the same of a datagram, of what was received beside it (IP_RECVTTL, IPV6_RECVHOPLIMIT); 0: the kernel didn't tell.
func ReceivedHops(beside []byte) int {
	messages, err := unix.ParseSocketControlMessage(beside)
	if err != nil {
		return 0
	}
	for _, m := range messages {
		four := m.Header.Level == unix.IPPROTO_IP && m.Header.Type == unix.IP_TTL
		six := m.Header.Level == unix.IPPROTO_IPV6 && m.Header.Type == unix.IPV6_HOPLIMIT
		if (four || six) && len(m.Data) >= 4 {
			return int(binary.NativeEndian.Uint32(m.Data))
		}
	}
	return 0
}

// savedHeaders are the headers of the segment that opened an accepted connection (TCP_SAVED_SYN), from the IP header on; empty: the kernel kept none.
func savedHeaders(conn *net.TCPConn) []byte {
	var headers [128]byte
	var length uintptr
	err := On(conn, func(fd int) (err error) {
		length, err = get(fd, unix.IPPROTO_TCP, unix.TCP_SAVED_SYN, unsafe.Pointer(&headers), unsafe.Sizeof(headers))
		return err
	})
	if err != nil {
		return nil
	}
	return headers[:length]
}

// Dropped is how many packets the kernel threw away because the socket's receive buffer had no room, or for another reason of the socket's own (SO_MEMINFO, SK_MEMINFO_DROPS).
func Dropped(conn syscall.Conn) (int64, error) {
	const drops = 8 // enum sk_meminfo, include/uapi/linux/sock_diag.h
	var memory [drops + 1]uint32
	err := On(conn, func(fd int) error {
		length, err := get(fd, unix.SOL_SOCKET, unix.SO_MEMINFO, unsafe.Pointer(&memory), unsafe.Sizeof(memory))
		if err == nil && length < unsafe.Sizeof(memory) {
			err = errors.New("the kernel doesn't count them: use Linux 4.12 or newer")
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("read what the socket dropped: %w", err)
	}
	return int64(memory[drops]), nil
}

// get is getsockopt(2) into memory of some size; it returns how much of that the kernel filled in.
func get(fd, level, name int, into unsafe.Pointer, size uintptr) (uintptr, error) {
	length := uint32(size)
	if _, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), uintptr(level), uintptr(name), uintptr(into), uintptr(unsafe.Pointer(&length)), 0); errno != 0 {
		return 0, errno
	}
	return uintptr(length), nil
}

// Unacknowledged is how many bytes were written to a connection and not acknowledged by its other end yet (SIOCOUTQ).
func Unacknowledged(conn *net.TCPConn) (bytes int, err error) {
	err = On(conn, func(fd int) (err error) {
		bytes, err = unix.IoctlGetInt(fd, unix.SIOCOUTQ)
		return err
	})
	return bytes, err
}

// AcknowledgeNow has the kernel acknowledge what came without waiting for more of it, by up to 40 ms (TCP_QUICKACK). It holds for what has come, and not for what comes.
func AcknowledgeNow(conn *net.TCPConn) {
	_ = On(conn, func(fd int) error { return unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_QUICKACK, 1) }) // without it an acknowledgement is late, and none is lost
}

// SetOption sets an integer option of a socket, and says which it was where it can't.
func SetOption(fd, level, name, value int, what string) error {
	if err := unix.SetsockoptInt(fd, level, name, value); err != nil {
		return fmt.Errorf("set %s to %d: %w", what, value, err)
	}
	return nil
}

// SetBuffers gives a socket buffers of a size, past the node's limits where the program may. Less than asked for is an error.
func SetBuffers(fd, size int) error {
	for _, b := range []struct {
		force, plain int
		setting      string
	}{{unix.SO_SNDBUFFORCE, unix.SO_SNDBUF, "wmem_max"}, {unix.SO_RCVBUFFORCE, unix.SO_RCVBUF, "rmem_max"}} {
		if err := setBuffer(fd, b.force, b.plain, size, b.setting); err != nil {
			return err
		}
	}
	return nil
}

// setBuffer sets one buffer. The kernel gives twice the size, for its own bookkeeping (socket(7)).
func setBuffer(fd, force, plain, size int, setting string) error {
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, force, size) != nil { // who may not force it asks
		if err := SetOption(fd, unix.SOL_SOCKET, plain, size, "the socket's buffer"); err != nil {
			return err
		}
	}
	got, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, plain)
	if err == nil && got < 2*size {
		err = fmt.Errorf("the kernel gives sockets %d bytes at most, and %d were asked for: raise sysctl net.core.%s, or ask for less", got/2, size, setting)
	}
	return err
}

// SetCongestionControl chooses a connection's congestion control by the kernel's name of it.
func SetCongestionControl(fd int, name string) error {
	if err := unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, name); err != nil {
		return fmt.Errorf("%s: %w (sysctl net.ipv4.tcp_available_congestion_control lists what this kernel has)", name, err)
	}
	return nil
}

// CongestionControl is what the connection really has; empty: the kernel doesn't tell.
func CongestionControl(conn *net.TCPConn) string {
	var name string
	_ = On(conn, func(fd int) (err error) {
		name, err = unix.GetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION)
		return err
	})
	return name
}
