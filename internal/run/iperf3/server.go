package iperf3

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/linerate-dev/linerate/internal/host/bounded"
	"github.com/linerate-dev/linerate/internal/host/sockets"
)

// Server runs the tests that clients ask for, several at once.
type Server struct {
	// MaxTests is how many tests may run at once, which is 8 where 0. Further clients are told that the server is
	// busy.
	MaxTests int
	// Longest is how long a test may last, omitted time included, which is an hour where 0.
	Longest time.Duration
	// Interval is how often counters are read, which is 1 s where 0.
	Interval time.Duration
	// Began is called for each test once its streams are open, before any payload counts. It may be nil. Several
	// goroutines call it.
	Began func(client netip.AddrPort, l *Live)
	// Ended is called with the result of each test, or with its error. It may be nil. Several goroutines call it.
	Ended func(client netip.AddrPort, r *Result, err error)
	Log   *slog.Logger // nil is silent

	patience time.Duration // for tests. It is 10 s where 0
}

const (
	defaultTests = 8
	// maxStrangers is how many connections may be open that have not shown a cookie.
	maxStrangers = 64
	// maxUnheard is how long the server pauses reading UDP after the kernel had no memory for it.
	maxUnheard = 100 * time.Millisecond
	// maxMemory is how much the messages of one test's streams may take together.
	maxMemory = 64 << 20
	// grace is how much longer than the test's duration a client may take to end it, until everything that it sent is
	// acknowledged.
	grace = maxUnacked + answerTimeout
)

// serving is a running server.
type serving struct {
	Server
	listener *Listener
	// holds a value while no test sets up UDP streams, because hellos don't say which test they belong to
	setup chan struct{}

	mu      sync.Mutex
	tests   int
	waiting map[string]chan<- numbered // by cookie, tests that wait for TCP streams
	hellos  chan<- greeting            // the test that waits for UDP streams, or nil if none does
}

// greeting is a client's first datagram. It has the source, and the remaining time to live, which is 0 if unknown.
type greeting struct {
	source netip.AddrPort
	hops   int
}

// numbered is a connection, and how many were accepted before it, which is the order of streams.
type numbered struct {
	order int
	conn  *net.TCPConn
}

// Serve runs tests until ctx ends. Then all tests have ended, and the port is free. It returns an error only if it
// can't accept connections any more.
func (s Server) Serve(ctx context.Context, l *Listener) error {
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	w := &serving{Server: s, listener: l, setup: make(chan struct{}, 1), waiting: map[string]chan<- numbered{}}
	w.setup <- struct{}{}
	ctx, cancel := context.WithCancel(ctx)
	var working sync.WaitGroup
	defer working.Wait()
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = l.Close() })()
	working.Go(func() { w.readHellos(ctx) })
	strangers := make(chan struct{}, maxStrangers)
	for order := 0; ; order++ {
		conn, err := sockets.Accept(ctx, l.tcp)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return errors.Join(fmt.Errorf("wait for clients: %w", err), l.Close())
		}
		select {
		case strangers <- struct{}{}:
		default:
			_ = conn.Close()
			continue
		}
		working.Go(func() { w.meet(ctx, numbered{order, conn.(*net.TCPConn)}, func() { <-strangers }) })
	}
}

// readHellos reads datagrams on the port that belong to no stream yet, until the listener closes.
func (w *serving) readHellos(ctx context.Context) {
	datagram, ancillary := make([]byte, helloLength+1), make([]byte, 128)
	for {
		n, ancillaryBytes, _, source, err := w.listener.udp.ReadMsgUDPAddrPort(datagram, ancillary)
		switch {
		case errors.Is(err, net.ErrClosed), err != nil && bounded.Pause(ctx, maxUnheard) != nil:
			return
		case err != nil || !isHello(datagram[:n]):
			continue
		}
		w.mu.Lock()
		select {
		// A nil channel is never ready.
		case w.hellos <- greeting{source, sockets.ReceivedHops(ancillary[:ancillaryBytes])}:
		default:
		}
		w.mu.Unlock()
	}
}

// meet reads a connection's cookie, and passes the connection to its test, or begins a new test.
func (w *serving) meet(ctx context.Context, n numbered, identified func()) {
	c := &control{Conn: n.conn, peer: "the client at " + n.conn.RemoteAddr().String(), patience: cmp.Or(w.patience,
		answerTimeout)}
	stop := context.AfterFunc(ctx, func() { _ = n.conn.Close() })
	cookie := make([]byte, cookieBytes)
	err := c.read(cookie, min(c.patience, maxIdleControl))
	_ = n.conn.SetReadDeadline(time.Time{}) // a stream has none
	identified()
	if !stop() || err != nil || !isCookie(cookie) {
		w.Log.Debug("a connection of another program than an iperf3 client", "from", n.conn.RemoteAddr())
		_ = n.conn.Close()
		return
	}
	w.mu.Lock()
	streams, ok := w.waiting[string(cookie)]
	busy := !ok && w.tests >= cmp.Or(w.MaxTests, defaultTests)
	if !ok && !busy {
		w.tests++
	}
	w.mu.Unlock()
	switch {
	case ok:
		select {
		case streams <- n:
		default: // there are enough
			_ = n.conn.Close()
		}
	case busy:
		_ = c.say(accessDenied)
		_ = n.conn.Close()
	default:
		w.serveTest(ctx, c, string(cookie))
	}
}
