package sessions

import (
	"context"
	"crypto/subtle"
	"fmt"
	"io"
	"maps"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/host/netif"
	"github.com/linerate-dev/linerate/internal/host/sockets"
	"github.com/linerate-dev/linerate/internal/measure"
)

// socket is where an end's sockets are made, and with which options.
type socket struct {
	program   *program
	namespace *netif.Namespace
	iface     string
	local     netip.Addr
	shape     Shape
}

// control binds a socket to the interface before it connects or listens, and sets its options.
func (s socket) control() func(string, string, syscall.RawConn) error {
	return s.place().Control(func(fd int, _ bool) error { return s.shape.configure(fd) })
}

func (s socket) network() string {
	if s.local.Is6() {
		return "tcp6"
	}
	return "tcp4"
}

// receiver accepts one direction's connections, and reads what arrives. It is safe for concurrent use.
type receiver struct {
	socket
	token    string
	faults   faults
	listener net.Listener
	working  sync.WaitGroup
	admitted chan struct{} // gets one for each connection that showed the token

	course

	mu      sync.Mutex
	unknown map[*net.TCPConn]bool // have not shown the token yet
	conns   []*net.TCPConn
	counted []*atomic.Int64
}

// listen begins to accept connections.
func listen(s socket, token string, f faults) (*receiver, error) {
	r := &receiver{socket: s, token: token, faults: f, admitted: make(chan struct{}, s.shape.Connections),
		unknown: map[*net.TCPConn]bool{}}
	config := net.ListenConfig{KeepAlive: -1, Control: s.control()}
	config.SetMultipathTCP(false)
	err := s.namespace.Do(func() (err error) {
		r.listener, err = config.Listen(context.Background(), s.network(), netip.AddrPortFrom(s.local,
			DataPort).String())
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", s.local, err)
	}
	r.working.Go(r.accept)
	return r, nil
}

// maxStrangers is how many connections that have not shown the token may be open besides the test's own.
const maxStrangers = 64

func (r *receiver) accept() {
	for {
		accepted, err := sockets.Accept(context.Background(), r.listener) // close ends it
		if err != nil {
			return
		}
		conn := accepted.(*net.TCPConn)
		r.mu.Lock()
		full := len(r.unknown) >= r.shape.Connections+maxStrangers
		if r.isFinished() || full {
			_ = conn.Close()
		}
		if !full {
			r.unknown[conn] = true
		}
		r.mu.Unlock()
		if full {
			continue
		}
		r.working.Go(func() { r.serve(conn) })
	}
}

// serve reads a connection until it ends if it shows the token, and closes it otherwise.
func (r *receiver) serve(conn *net.TCPConn) {
	defer func() { _ = conn.Close() }()
	shown := make([]byte, tokenBytes)
	_ = conn.SetReadDeadline(time.Now().Add(connectTimeout))
	_, err := io.ReadFull(conn, shown)
	counted := &atomic.Int64{}
	if !r.admit(conn, counted, err == nil && subtle.ConstantTimeCompare(shown, []byte(r.token)) == 1) {
		return
	}
	_ = conn.SetReadDeadline(time.Time{})
	r.admitted <- struct{}{}
	r.breakWith(drain(conn, counted, r.shape.MessageBytes, r.faults))
}

// admit adds a connection to the test. It returns false if the connection isn't the test's, if there are enough, or if
// the receiver is closed.
func (r *receiver) admit(conn *net.TCPConn, counted *atomic.Int64, authentic bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.unknown, conn)
	if !authentic || r.isFinished() || len(r.conns) >= r.shape.Connections {
		return false
	}
	r.conns, r.counted = append(r.conns, conn), append(r.counted, counted)
	return true
}

// drain reads and counts until the connection ends, and returns why it ended. Senders never end it.
func drain(conn *net.TCPConn, counted *atomic.Int64, message int64, f faults) error {
	if f.slow > 0 {
		message = max(1, min(message, f.slow/50))
	}
	buffer := make([]byte, message)
	for forgot := time.Now(); ; {
		n, err := conn.Read(buffer)
		counted.Add(int64(n))
		if err != nil {
			return err
		}
		if f.slow > 0 {
			time.Sleep(time.Duration(n) * time.Second / time.Duration(f.slow))
		}
		if f.forgetful > 0 && time.Since(forgot) > f.forgetful {
			forget(conn)
			forgot = time.Now()
		}
	}
}

// faults are faults for tests.
type faults struct {
	slow      int64         // bytes per second that each connection reads at most, or 0 for everything that arrives
	forgetful time.Duration // how often a connection's receive buffer has no room for a moment, or 0 for never
}

// forget shrinks the connection's receive buffer for a moment, below the window that it has advertised. The kernel
// drops segments that arrive meanwhile.
func forget(conn *net.TCPConn) {
	const smallest, roomy, moment = 1, 4 << 20, 10 * time.Millisecond // the kernel has a least size of its own
	_ = conn.SetReadBuffer(smallest)
	time.Sleep(moment)
	_ = sockets.WithDescriptor(conn, func(fd int) error {
		return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, roomy)
	})
}

// awaitAll waits until all connections have come.
func (r *receiver) awaitAll(ctx context.Context) (*Opened, error) {
	for n := range r.shape.Connections {
		select {
		case <-r.admitted:
		case <-ctx.Done():
			return nil, fmt.Errorf("%d of %d connections came to %s, and %w: %w", n, r.shape.Connections, r.local,
				errMissing, context.Cause(ctx))
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	o := &Opened{Connections: len(r.conns), Local: r.local, Interface: r.iface}
	for _, conn := range r.conns {
		if ttl := sockets.SavedHops(conn); ttl > 0 {
			o.TTLs = append(o.TTLs, ttl)
		}
		o.Remote = addressOf(conn.RemoteAddr())
	}
	return o, nil
}

// read is what has been read by now.
func (r *receiver) read(clock func() time.Duration) *measure.Receiving {
	r.mu.Lock()
	defer r.mu.Unlock()
	reading := &measure.Receiving{At: clock(), Connections: len(r.conns), Broken: r.brokenBy()}
	for _, c := range r.counted {
		reading.Bytes += c.Load()
	}
	return reading
}

// close drops all connections and waits until their readers have ended.
func (r *receiver) close() {
	r.finish()
	r.mu.Lock()
	conns := slices.AppendSeq(slices.Clone(r.conns), maps.Keys(r.unknown))
	r.mu.Unlock()
	_ = r.listener.Close()
	for _, conn := range conns {
		_ = conn.Close()
	}
	r.working.Wait()
}

func addressOf(a net.Addr) netip.Addr {
	if tcp, ok := a.(*net.TCPAddr); ok {
		return tcp.AddrPort().Addr().Unmap()
	}
	return netip.Addr{}
}
