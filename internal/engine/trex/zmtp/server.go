package zmtp

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"
)

// The bounds of a server, which are the same for all clients. A client that is closed for one of them connects again.
const (
	// maxRequest bounds a request's bytes, somewhat above TRex's own limit of 999 999, so that a request beyond
	// that one still gets an answer. All clients together hold 64 MiB.
	maxRequest = 1 << 20
	// maxClients and maxClientsPerHost bound the connections at a time. A run has two for each generator, beside its
	// probes and its guard.
	maxClients, maxClientsPerHost = 64, 16
	// greetingTimeout is how long a new connection may take to greet, as probes that only connect must not pile up.
	greetingTimeout = 5 * time.Second
	// requestTimeout is how long a request may take to arrive, from its first byte.
	requestTimeout = 30 * time.Second
	// idleTimeout is how long a client whose requests are answered may be silent.
	idleTimeout = 2 * time.Minute
	// replyTimeout is how long a client may take to accept its reply.
	replyTimeout = 30 * time.Second
)

// clientBounds limit a client's greeted connection.
var clientBounds = bounds{message: maxRequest, idle: idleTimeout, arrive: requestTimeout, accept: replyTimeout}

// Handler answers one request. Each client connection has one goroutine that calls Handler, so a client has one
// request at a time, and several clients are served at once. Handler's ctx ends when Serve's does. A nil reply closes
// that client's connection.
type Handler func(ctx context.Context, request []byte) []byte

// Serve is a REP socket on l, a stream listener of any kind, until ctx ends. Then it closes l and every connection,
// waits for all handlers and returns nil. It returns an error when accepting fails. Heartbeats are answered, also
// while a handler works. Connections beyond the server's bounds are closed.
func Serve(ctx context.Context, l net.Listener, handle Handler) error {
	ctx, cancel := context.WithCancel(ctx)
	var clients sync.WaitGroup
	defer clients.Wait()
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	places := places{byHost: map[netip.Addr]int{}}
	for {
		conn, err := l.Accept()
		if ctx.Err() != nil {
			if err == nil {
				_ = conn.Close()
			}
			return nil
		}
		if err != nil {
			return fmt.Errorf("accept: %w", err)
		}
		leave, free := places.take(conn)
		if !free {
			_ = conn.Close()
			continue
		}
		clients.Go(func() {
			defer leave()
			serveClient(ctx, conn, handle)
		})
	}
}

// places are the connections at a time, by the clients' hosts.
type places struct {
	mu     sync.Mutex
	total  int
	byHost map[netip.Addr]int
}

// take gives a connection its place, until it leaves. free is false where the server, or the client's host, has as
// many connections as it may.
func (p *places) take(conn net.Conn) (leave func(), free bool) {
	address, _ := netip.ParseAddrPort(conn.RemoteAddr().String()) // clients of no IP network are of one host
	host := address.Addr().Unmap()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.total >= maxClients || p.byHost[host] >= maxClientsPerHost {
		return nil, false
	}
	p.total++
	p.byHost[host]++
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.total--
		if p.byHost[host]--; p.byHost[host] == 0 {
			delete(p.byHost, host)
		}
	}, true
}

func serveClient(ctx context.Context, conn net.Conn, handle Handler) {
	greeting, cancel := context.WithTimeout(ctx, greetingTimeout)
	defer cancel()
	p, err := newPeer(greeting, conn, socketREP, []string{socketREQ, socketDEALER}, clientBounds)
	if err != nil {
		return
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	defer func() { _ = p.close() }()
	for message := range p.messages {
		p.working.Store(true)
		envelope, request := split(message)
		reply := handle(ctx, request)
		if reply == nil || p.send(append(envelope, reply)...) != nil {
			return
		}
		p.working.Store(false)
	}
}

// split divides a message into the envelope that the reply has to begin with (all up to the empty delimiter) and the
// request.
func split(message [][]byte) (envelope [][]byte, request []byte) {
	bodyIndex := len(message) - 1
	return message[:bodyIndex:bodyIndex], message[bodyIndex]
}
