package datapath

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// messages sends with sendmmsg on an AF_PACKET socket. That works on every interface,
// for frames of any length, and with no privilege but CAP_NET_RAW.
type messages struct {
	iface   string
	fd      int
	memory  []byte
	vectors [batchSize]unix.Iovec
	headers [batchSize]messageHeader
}

// messageHeader is the kernel's struct mmsghdr.
type messageHeader struct {
	header unix.Msghdr
	length uint32
	_      [4]byte
}

// newMessages opens a socket that sends to the interface and bypasses its queueing discipline.
func newMessages(iface string, index int, a *arena) (*messages, error) {
	fd, err := packetSocket(iface, index)
	if err != nil {
		return nil, err
	}
	m := &messages{iface: iface, fd: fd, memory: a.memory}
	for i := range m.headers {
		m.headers[i].header.Iov = &m.vectors[i]
		m.headers[i].header.SetIovlen(1)
	}
	return m, nil
}

// packetSocket opens an AF_PACKET socket that receives nothing.
func packetSocket(iface string, index int) (int, error) {
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("open a packet socket (needs CAP_NET_RAW): %w", err)
	}
	if err := unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_QDISC_BYPASS, 1); err != nil {
		return -1, errors.Join(fmt.Errorf("bypass the queueing discipline of %s: %w", iface, err), unix.Close(fd))
	}
	if err := enlargeSendBuffer(fd); err != nil {
		return -1, errors.Join(err, unix.Close(fd))
	}
	if err := unix.Bind(fd, &unix.SockaddrLinklayer{Ifindex: index}); err != nil {
		return -1, errors.Join(fmt.Errorf("bind a packet socket to %s: %w", iface, err), unix.Close(fd))
	}
	return fd, nil
}

func (m *messages) send(batch []piece, results []outcome) (retries int, err error) {
	for i, p := range batch {
		m.vectors[i].Base = &m.memory[p.offset]
		m.vectors[i].SetLen(int(p.length))
	}
	for sent := 0; sent < len(batch); {
		n, _, errno := unix.RawSyscall6(unix.SYS_SENDMMSG, uintptr(m.fd), uintptr(unsafe.Pointer(&m.headers[sent])),
			uintptr(len(batch)-sent), 0, 0, 0)
		switch {
		case errno == 0:
			for range n {
				results[sent] = accepted
				sent++
			}
		case errno == unix.EINTR:
		case errno == unix.EAGAIN:
			retries++
		case isDeviceGone(errno):
			return retries, sendError(m.iface, errno)
		case errno == unix.ENOBUFS:
			results[sent] = dropped
			sent++
		default:
			results[sent] = refused
			sent++
		}
	}
	return retries, nil
}

func (m *messages) close() error { return unix.Close(m.fd) }
