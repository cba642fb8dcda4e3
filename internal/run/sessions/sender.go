package sessions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/linerate-dev/linerate/internal/host/sockets"
	"github.com/linerate-dev/linerate/internal/measure"
)

// connectTimeout is how long it may take until all connections of a direction are open. A lost first segment is sent
// again after 1 s, then after 2 s more.
const connectTimeout = 10 * time.Second

// sender makes one direction's connections, and writes to them for a finite time. It is safe for concurrent use.
type sender struct {
	socket
	course
	conns   []*net.TCPConn
	watched *watched // once all connections are open
	written atomic.Int64
	working sync.WaitGroup
}

// errOver says that a sender has sent for as long as it was to.
func errOver(lasts time.Duration) error { return fmt.Errorf("its own time, %s, was over", lasts) }

// connect makes all connections, each from the link's own address by its own interface.
func connect(ctx context.Context, s socket, token string, remote netip.Addr) (*sender, *Opened, error) {
	w := &sender{socket: s}
	opened := &Opened{Remote: remote, Interface: s.iface}
	err := s.namespace.Do(func() (err error) {
		if opened.Route, err = routeTo(s.iface, remote); err != nil {
			return err
		}
		return w.dial(ctx, token, remote)
	})
	if err != nil {
		w.close()
		return nil, nil, err
	}
	for _, conn := range w.conns {
		if opened.Local = addressOf(conn.LocalAddr()); opened.Local != s.local {
			w.close()
			return nil, nil, fmt.Errorf("a connection to %s was made from %s instead of %s", remote, opened.Local,
				s.local)
		}
		info, err := sockets.TCPInfo(conn)
		if err != nil {
			w.close()
			return nil, nil, err
		}
		opened.Connections++
		opened.SegmentBytes, opened.CongestionControl = int64(info.Snd_mss), sockets.CongestionControl(conn)
	}
	w.watched = watch(infosOf(w.conns))
	return w, opened, nil
}

// dial must be called in the namespace in which the sockets are to be made.
func (w *sender) dial(ctx context.Context, token string, remote netip.Addr) error {
	dialer := net.Dialer{KeepAlive: -1, LocalAddr: net.TCPAddrFromAddrPort(netip.AddrPortFrom(w.local, 0)),
		Control: w.control()}
	dialer.SetMultipathTCP(false)
	for range w.shape.Connections {
		conn, err := dialer.DialContext(ctx, w.network(), netip.AddrPortFrom(remote, DataPort).String())
		if err != nil {
			return fmt.Errorf("connect from %s: %w", w.local, err)
		}
		w.conns = append(w.conns, conn.(*net.TCPConn))
		if _, err := conn.Write([]byte(token)); err != nil {
			return fmt.Errorf("connect from %s: %w", w.local, err)
		}
	}
	return nil
}

// send begins to write to all connections, for the given time. It is called once.
func (w *sender) send(lasts time.Duration) error {
	return w.begin(func() {
		deadline := time.Now().Add(lasts)
		message := make([]byte, w.shape.MessageBytes)
		random := rand.NewChaCha8([32]byte{}) // a device that compresses gains nothing
		_, _ = random.Read(message)
		for _, conn := range w.conns {
			_ = conn.SetWriteDeadline(deadline)
			w.working.Go(func() { w.breakWith(w.write(conn, message, lasts)) })
		}
	})
}

// write writes the message again and again, until the connection ends or its time is over, and returns which.
func (w *sender) write(conn *net.TCPConn, message []byte, lasts time.Duration) error {
	for {
		n, err := conn.Write(message)
		w.written.Add(int64(n))
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return errOver(lasts)
		case err != nil:
			return err
		}
	}
}

// read is what has been sent by now.
func (w *sender) read(clock func() time.Duration) *measure.Sending {
	r := w.watched.read(clock)
	r.Connections, r.WrittenBytes, r.Broken = len(w.conns), w.written.Load(), cmp.Or(w.brokenBy(), r.Broken)
	return &r
}

// close drops all connections and waits until their writers have ended.
func (w *sender) close() {
	if !w.finish() {
		return
	}
	if w.watched != nil {
		w.watched.close()
	}
	for _, conn := range w.conns {
		_ = conn.Close()
	}
	w.working.Wait()
}
