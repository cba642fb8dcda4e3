package zmtp

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"
)

const (
	// maxRequest bounds a request's bytes, well above TRex's own limit of 999 999.
	maxRequest = 16 << 20
	// greetingTimeout is how long a new connection may take to greet: probes that only connect must not pile up.
	greetingTimeout = 5 * time.Second
	// replyTimeout is how long a client may take to accept its reply.
	replyTimeout = 30 * time.Second
)

// Handler answers one request. It is called from one goroutine per client connection: one request at a time for each client, several
// clients at once. Its ctx ends when Serve's does. A nil reply closes that client's connection.
type Handler func(ctx context.Context, request []byte) []byte

// Serve is a REP socket on l, a stream listener of any kind, until ctx ends; then it closes l and every connection, waits for all
// handlers and returns nil. It returns an error when accepting fails. Heartbeats are answered, also while a handler works.
func Serve(ctx context.Context, l net.Listener, handle Handler) error {
	ctx, cancel := context.WithCancel(ctx)
	var clients sync.WaitGroup
	defer clients.Wait()
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
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
		clients.Go(func() { serveClient(ctx, conn, handle) })
	}
}

func serveClient(ctx context.Context, conn net.Conn, handle Handler) {
	greeting, cancel := context.WithTimeout(ctx, greetingTimeout)
	defer cancel()
	p, err := newPeer(greeting, conn, socketREP, []string{socketREQ, socketDEALER}, maxRequest)
	if err != nil {
		return
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	defer func() { _ = p.close() }()
	for message := range p.messages {
		envelope, request := split(message)
		reply := handle(ctx, request)
		if reply == nil || answer(ctx, p, append(envelope, reply)) != nil {
			return
		}
	}
}

// split takes a message apart into what the reply has to begin with (all up to the empty delimiter) and the request.
func split(message [][]byte) (envelope [][]byte, request []byte) {
	last := len(message) - 1
	return message[:last:last], message[last]
}

func answer(ctx context.Context, p *peer, message [][]byte) error {
	patience, cancel := context.WithTimeout(ctx, replyTimeout)
	defer cancel()
	stop := context.AfterFunc(patience, func() { _ = p.conn.Close() })
	defer stop()
	return p.send(message...)
}
