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

	"github.com/linerate-dev/linerate/internal/host/bounded"
)

// acceptPause is how long Accept waits before it tries again, where the machine has no files or memory left.
const acceptPause = 100 * time.Millisecond

// Accept takes the next connection. Where the machine or the process has no files or memory left for one, it tries
// again until ctx ends.
func Accept(ctx context.Context, l net.Listener) (net.Conn, error) {
	for {
		conn, err := l.Accept()
		if err == nil || !scarce(err) || bounded.Pause(ctx, acceptPause) != nil {
			return conn, err
		}
	}
}

// scarce says whether a connection could not be taken for lack of files or memory, or was closed before it was
// taken (accept(2)).
func scarce(err error) bool {
	errno, ok := errors.AsType[unix.Errno](err)
	return ok && slices.Contains([]unix.Errno{unix.EMFILE, unix.ENFILE, unix.ENOBUFS, unix.ENOMEM, unix.ECONNABORTED},
		errno)
}

// FromBeyond says whether an error of connecting, sending or receiving came from beyond this machine, as no answer
// in time, a refusal, or no route do. Other errors are the machine's own, for example when it has no files left, or
// a local rule forbids sending.
func FromBeyond(err error) bool {
	if errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	errno, ok := errors.AsType[unix.Errno](err)
	return ok && slices.Contains([]unix.Errno{unix.ETIMEDOUT, unix.ECONNREFUSED, unix.ECONNRESET, unix.EPIPE,
		unix.EHOSTUNREACH, unix.ENETUNREACH, unix.EHOSTDOWN}, errno)
}

// WithDescriptor runs fn with the socket's descriptor.
func WithDescriptor(conn syscall.Conn, fn func(fd int) error) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var fnErr error
	return errors.Join(raw.Control(func(fd uintptr) { fnErr = fn(int(fd)) }), fnErr)
}

// neededInfo is how many bytes of struct tcp_info (include/uapi/linux/tcp.h) the kernel must fill in, which is up
// to tcpi_bytes_retrans of Linux 4.19. The time of senders (tcpi_busy_time, tcpi_rwnd_limited, tcpi_sndbuf_limited)
// comes before that.
const neededInfo = unsafe.Offsetof(unix.TCPInfo{}.Bytes_retrans) + unsafe.Sizeof(unix.TCPInfo{}.Bytes_retrans)

// TCPInfo is the kernel's TCP_INFO of a connection. A kernel that fills in less than is needed is an error, because
// the missing members would read as zero.
func TCPInfo(conn *net.TCPConn) (unix.TCPInfo, error) {
	var info unix.TCPInfo
	err := WithDescriptor(conn, func(fd int) error {
		length, err := get(fd, unix.IPPROTO_TCP, unix.TCP_INFO, unsafe.Pointer(&info), unsafe.Sizeof(info))
		if err == nil && length < neededInfo {
			err = fmt.Errorf("the kernel gives only %d bytes of TCP_INFO, and %d are needed: use Linux 4.19 or newer",
				length, neededInfo)
		}
		return err
	})
	if err != nil {
		return info, fmt.Errorf("read TCP_INFO: %w", err)
	}
	return info, nil
}

// SavedHops is the remaining time to live (in IPv6 the hop limit) of the segment that opened an accepted
// connection. It is 0 where the kernel didn't keep it.
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

// ReceivedHops is the remaining time to live of a datagram, from its control messages (IP_RECVTTL,
// IPV6_RECVHOPLIMIT). It is 0 where they don't have it.
func ReceivedHops(control []byte) int {
	messages, err := unix.ParseSocketControlMessage(control)
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

// savedHeaders are the headers of the segment that opened an accepted connection (TCP_SAVED_SYN), from the IP
// header on. They are empty where the kernel kept none.
func savedHeaders(conn *net.TCPConn) []byte {
	var headers [128]byte
	var length uintptr
	err := WithDescriptor(conn, func(fd int) (err error) {
		length, err = get(fd, unix.IPPROTO_TCP, unix.TCP_SAVED_SYN, unsafe.Pointer(&headers), unsafe.Sizeof(headers))
		return err
	})
	if err != nil {
		return nil
	}
	return headers[:length]
}

// Dropped is how many packets the kernel threw away because the socket's receive buffer had no room, or for another
// reason of the socket's own (SO_MEMINFO, SK_MEMINFO_DROPS).
func Dropped(conn syscall.Conn) (int64, error) {
	const drops = 8 // enum sk_meminfo, include/uapi/linux/sock_diag.h
	var memory [drops + 1]uint32
	err := WithDescriptor(conn, func(fd int) error {
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

// get is getsockopt(2) into memory of some size. It returns how much of that the kernel filled in.
func get(fd, level, name int, value unsafe.Pointer, size uintptr) (uintptr, error) {
	length := uint32(size)
	if _, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), uintptr(level), uintptr(name), uintptr(value),
		uintptr(unsafe.Pointer(&length)), 0); errno != 0 {
		return 0, errno
	}
	return uintptr(length), nil
}

// Unacknowledged is how many bytes were written to a connection and not acknowledged by its other end yet (SIOCOUTQ).
func Unacknowledged(conn *net.TCPConn) (bytes int, err error) {
	err = WithDescriptor(conn, func(fd int) (err error) {
		bytes, err = unix.IoctlGetInt(fd, unix.SIOCOUTQ)
		return err
	})
	return bytes, err
}

// AcknowledgeNow makes the kernel acknowledge at once what has arrived, instead of up to 40 ms later
// (TCP_QUICKACK). It has no effect on later segments.
func AcknowledgeNow(conn *net.TCPConn) {
	// if it fails, the acknowledgement is late, but not lost
	_ = WithDescriptor(conn, func(fd int) error {
		return unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_QUICKACK,
			1)
	})
}

// SetOption sets an integer option of a socket, which its error names by the last argument.
func SetOption(fd, level, name, value int, option string) error {
	if err := unix.SetsockoptInt(fd, level, name, value); err != nil {
		return fmt.Errorf("set %s to %d: %w", option, value, err)
	}
	return nil
}

// SetBuffers sets the size of a socket's buffers, beyond the node's limits where the process has the right. A
// smaller size than asked for is an error.
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
	// without the right to force it, ask within the node's limits
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, force, size) != nil {
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
		return fmt.Errorf("%s: %w (sysctl net.ipv4.tcp_available_congestion_control lists what this kernel has)", name,
			err)
	}
	return nil
}

// CongestionControl is what the connection really uses. It is empty where the kernel doesn't say.
func CongestionControl(conn *net.TCPConn) string {
	var name string
	_ = WithDescriptor(conn, func(fd int) (err error) {
		name, err = unix.GetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION)
		return err
	})
	return name
}
