package trex

import (
	"context"
	"errors"
	"net"

	"github.com/linerate-dev/linerate/internal/engine/trex/wire"
	"github.com/linerate-dev/linerate/internal/engine/trex/zmtp"
)

// transport is a request socket that is opened when it is needed, and opened again after an exchange failed. So a
// late answer to an earlier request is never taken for the answer to the next.
type transport struct {
	address  string
	dial     func(ctx context.Context, address string) (net.Conn, error)
	compress bool
	turn     chan struct{} // holds a token while an exchange is under way
	socket   *zmtp.Client  // nil if there is none, guarded by turn
	closed   bool          // guarded by turn
}

func newTransport(address string, o Options) *transport {
	return &transport{address: address, dial: o.Dial, compress: o.Compress, turn: make(chan struct{}, 1)}
}

// exchange sends one request and returns its answer, both plain text. sent says whether the request may have
// reached the server.
func (t *transport) exchange(ctx context.Context, request []byte) (answer []byte, sent bool, err error) {
	select {
	case t.turn <- struct{}{}:
		defer func() { <-t.turn }()
	case <-ctx.Done():
		return nil, false, context.Cause(ctx)
	}
	if t.compress {
		request = wire.Compress(request)
	}
	answer, err = t.attempt(ctx, request)
	if errors.Is(err, zmtp.ErrClosed) { // the server closed the connection while it was idle, before anything was sent
		answer, err = t.attempt(ctx, request)
	}
	if err != nil {
		_, unsent := errors.AsType[*unsentError](err)
		return nil, !unsent && !errors.Is(err, zmtp.ErrClosed), err
	}
	answer, _, err = wire.Decompress(answer)
	return answer, true, err
}

// unsentError marks an error that happened before the request left.
type unsentError struct{ error }

func (e *unsentError) Unwrap() error { return e.error }

// attempt makes one exchange. The caller holds turn.
func (t *transport) attempt(ctx context.Context, request []byte) ([]byte, error) {
	if err := t.connect(ctx); err != nil {
		return nil, &unsentError{err}
	}
	answer, err := t.socket.Do(ctx, request)
	if err != nil {
		t.disconnect()
	}
	return answer, err
}

func (t *transport) connect(ctx context.Context) error {
	if t.closed {
		return net.ErrClosed
	}
	if t.socket != nil {
		return nil
	}
	conn, err := t.dial(ctx, t.address)
	if err != nil {
		return err
	}
	t.socket, err = zmtp.NewClient(ctx, conn)
	return err
}

func (t *transport) disconnect() {
	if t.socket != nil {
		_ = t.socket.Close()
		t.socket = nil
	}
}

// reset forgets the connection, so that the next exchange makes a new one.
func (t *transport) reset() {
	t.turn <- struct{}{}
	defer func() { <-t.turn }()
	t.disconnect()
}

// close waits for a running exchange, which its own deadline bounds.
func (t *transport) close() error {
	t.turn <- struct{}{}
	defer func() { <-t.turn }()
	t.disconnect()
	t.closed = true
	return nil
}
