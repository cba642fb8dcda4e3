package iperf3

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/host/sockets"
)

// connectStreams opens all streams, first those on which the client sends.
func (r *clientTest) connectStreams(ctx context.Context, cookie []byte) error {
	for _, sends := range []bool{true, false} {
		if sends && !r.test.Flow.sends(false) || !sends && !r.test.Flow.receives(false) {
			continue
		}
		for range r.test.Parallel {
			s := &stream{id: streamID(len(r.streams)), sends: sends}
			var err error
			if r.test.Protocol == TCP {
				s.conn, err = r.connectTCP(ctx, cookie)
			} else {
				s.conn, err = r.connectUDP(ctx)
			}
			if s.conn != nil {
				r.streams = append(r.streams, s)
			}
			if err == nil {
				continue
			}
			err = fmt.Errorf("connect stream %d to %s: %w", s.id, r.address, err)
			if _, ok := errors.AsType[*refusal](err); ok || !sockets.FromBeyond(err) {
				return err // this machine's own kernel refused it
			}
			return fmt.Errorf("%w: %w", ErrGone, err)
		}
	}
	return nil
}

func (r *clientTest) connectTCP(ctx context.Context, cookie []byte) (net.Conn, error) {
	conn, err := r.Place.dial(ctx, "tcp", netip.AddrPort{}, r.address, r.test.shape)
	if err != nil {
		return nil, err
	}
	_ = conn.SetWriteDeadline(time.Now().Add(r.control.patience))
	_, err = conn.Write(cookie)
	return conn, errors.Join(err, conn.SetWriteDeadline(time.Time{}), r.test.configure(conn.(*net.TCPConn)))
}

// The first datagram of a client's UDP stream, and the server's answer, as numbers in the machine's own byte order.
// iperf3 before 3.12 sends the old ones.
const (
	hello       uint32 = 0x36373839
	helloOld    uint32 = 123456789
	reply       uint32 = 0x39383736
	replyOld    uint32 = 987654321
	helloLength        = 4
)

// helloEvery is how often a client sends hello until there is an answer.
const helloEvery = 250 * time.Millisecond

func isHello(datagram []byte) bool {
	return len(datagram) == helloLength && slices.Contains([]uint32{hello, helloOld},
		binary.NativeEndian.Uint32(datagram))
}

func isReply(datagram []byte) bool {
	return len(datagram) == helloLength && slices.Contains([]uint32{reply, replyOld},
		binary.NativeEndian.Uint32(datagram))
}

// connectUDP sends hello, and waits for the answer, or with Reverse for payload, which means the same if the
// answer was lost.
func (r *clientTest) connectUDP(ctx context.Context) (net.Conn, error) {
	conn, err := r.Place.dial(ctx, "udp", netip.AddrPort{}, r.address, r.test.shape)
	if err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, func() { _ = conn.SetReadDeadline(time.Unix(1, 0)) })()
	deadline := time.Now().Add(r.control.patience)
	for {
		if _, err := conn.Write(binary.NativeEndian.AppendUint32(nil, hello)); err != nil {
			return conn, err
		}
		retryTime := deadline
		if r.Ours {
			retryTime = earlier(deadline, time.Now().Add(helloEvery))
		}
		_ = conn.SetReadDeadline(retryTime)
		err := awaitReply(conn.(*net.UDPConn))
		switch {
		case errors.Is(err, unix.ECONNREFUSED):
			return conn, fmt.Errorf("it refuses UDP: %w", err)
		case err == nil:
			return conn, conn.SetReadDeadline(time.Time{})
		case !errors.Is(err, os.ErrDeadlineExceeded) || ctx.Err() != nil || !time.Now().Before(deadline):
			return conn, fmt.Errorf("it doesn't answer with UDP: check that firewalls let UDP port %d through as well "+
				"as TCP port %d, and that the path doesn't lose too many packets: %w", r.address.Port(),
				r.address.Port(), err)
		}
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// awaitReply waits for the answer to a hello, and reads it. It leaves payload in the socket, as payload counts.
func awaitReply(conn *net.UDPConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	for buffer := make([]byte, helloLength+1); ; {
		var n int
		var failed error
		if err := raw.Read(func(fd uintptr) bool {
			n, _, failed = unix.Recvfrom(int(fd), buffer, unix.MSG_PEEK)
			return !errors.Is(failed, unix.EAGAIN)
		}); err != nil {
			return err
		}
		if failed != nil {
			return failed
		}
		if n > helloLength {
			return nil
		}
		if _, err := conn.Read(buffer); err != nil || isReply(buffer[:n]) {
			return err
		}
	}
}
