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

	"github.com/linerate-dev/linerate/internal/pause"
	"github.com/linerate-dev/linerate/internal/sockets"
)

// Server makes the tests that clients ask for, several at once.
type Server struct {
	// Most is how many tests may run at once; 8 where 0. Who comes then is told that the server is busy.
	Most int
	// Longest is how long a test may last, omitted time included; an hour where 0.
	Longest time.Duration
	// Interval is how often counters are read; 1 s where 0.
	Interval time.Duration
	// Began gets each test whose streams stand, before anything of its payload counts; nil: nobody wants it. It is called by several goroutines.
	Began func(client netip.AddrPort, l *Live)
	// Ended gets the result of each test, or why there is none; nil: nobody wants it. It is called by several goroutines.
	Ended func(client netip.AddrPort, r *Result, err error)
	Log   *slog.Logger // nil is silent

	patience time.Duration // for tests; 10 s where 0
}

const (
	defaultTests = 8
	// mostStrangers is how many connections may be open that have not shown a cookie.
	mostStrangers = 64
	// mostUnheard is how long the server hears nothing with UDP after the kernel had no memory for it.
	mostUnheard = 100 * time.Millisecond
	// mostMemory is how much the messages of one test's streams may take together.
	mostMemory = 64 << 20
	// grace is how much longer than it says a client may take until it ends a test: until all that it sent is acknowledged.
	grace = mostUnacked + answerTimeout
)

// serving is a server at work.
type serving struct {
	Server
	listener *Listener
	setup    chan struct{} // has one where no test's UDP streams are set up: their hellos don't say whose they are

	mu      sync.Mutex
	tests   int
	waiting map[string]chan<- numbered // by cookie: tests that wait for TCP streams
	hellos  chan<- greeting            // the test that waits for UDP streams; nil: none does
}

// greeting is a client's first datagram: whence it came, and what was left of its time to live; 0: unknown.
type greeting struct {
	from netip.AddrPort
	hops int
}

// numbered is a connection, and how many were accepted before it: streams have numbers in that order.
type numbered struct {
	order int
	conn  *net.TCPConn
}

// Serve makes tests until ctx ends; then none goes on, and the port is free. It returns an error only where it can't take connections any more.
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
	working.Go(func() { w.hear(ctx) })
	strangers := make(chan struct{}, mostStrangers)
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

// hear reads what comes to the port with UDP and belongs to no stream yet, until the listener closes.
func (w *serving) hear(ctx context.Context) {
	heard, beside := make([]byte, helloLength+1), make([]byte, 128)
	for {
		n, more, _, from, err := w.listener.udp.ReadMsgUDPAddrPort(heard, beside)
		switch {
		case errors.Is(err, net.ErrClosed), err != nil && pause.For(ctx, mostUnheard) != nil:
			return
		case err != nil || !isHello(heard[:n]):
			continue
		}
		w.mu.Lock()
		select {
		case w.hellos <- greeting{from, sockets.ReceivedHops(beside[:more])}: // nobody waits on nil
		default:
		}
		w.mu.Unlock()
	}
}

// meet reads a connection's cookie, and gives the connection to the test that it is of, or begins one.
func (w *serving) meet(ctx context.Context, n numbered, known func()) {
	c := &control{Conn: n.conn, with: "the client at " + n.conn.RemoteAddr().String(), patience: cmp.Or(w.patience, answerTimeout)}
	stop := context.AfterFunc(ctx, func() { _ = n.conn.Close() })
	cookie := make([]byte, cookieBytes)
	err := c.read(cookie, min(c.patience, mostIdleControl))
	_ = n.conn.SetReadDeadline(time.Time{}) // a stream has none
	known()
	if !stop() || err != nil || !isCookie(cookie) {
		w.Log.Debug("somebody connected who is no iperf3 client", "from", n.conn.RemoteAddr())
		_ = n.conn.Close()
		return
	}
	w.mu.Lock()
	streams, is := w.waiting[string(cookie)]
	busy := !is && w.tests >= cmp.Or(w.Most, defaultTests)
	if !is && !busy {
		w.tests++
	}
	w.mu.Unlock()
	switch {
	case is:
		select {
		case streams <- n:
		default: // there are enough
			_ = n.conn.Close()
		}
	case busy:
		_ = c.say(accessDenied)
		_ = n.conn.Close()
	default:
		w.make(ctx, c, string(cookie))
	}
}
