package zmtp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
)

// maxReply bounds a reply's bytes. TRex doesn't limit its replies, and all streams of a full port are some 30 MB.
const maxReply = 64 << 20

// ErrClosed is what Do returns, without having sent anything, once Close, an earlier error or the peer has closed the
// connection.
var ErrClosed = errors.New("zeromq connection closed")

// Client is a REQ socket with one peer, which strictly sends one request and then awaits its reply. It is safe for
// concurrent use, and calls wait for each other.
//
// A client whose call failed is of no further use, as a late reply would answer the wrong request.
type Client struct {
	peer      *peer
	turn      chan struct{} // holds a token while a call is under way
	closeOnce sync.Once
	closed    chan struct{}
}

// Dial connects to a REP (or ROUTER) socket at "host:port".
func Dial(ctx context.Context, address string) (*Client, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return NewClient(ctx, conn)
}

// NewClient greets the peer over conn, and closes conn after an error.
func NewClient(ctx context.Context, conn net.Conn) (*Client, error) {
	p, err := newPeer(ctx, conn, socketREQ, []string{socketREP, socketROUTER}, bounds{message: maxReply})
	if err != nil {
		return nil, err
	}
	return &Client{peer: p, turn: make(chan struct{}, 1), closed: make(chan struct{})}, nil
}

// Do sends a request and returns its reply. When ctx ends first, Do returns ctx's error and closes the connection. In
// that case nobody knows whether the peer got the request, or carried it out. A ctx that ends while another call has
// its turn costs nothing.
func (c *Client) Do(ctx context.Context, request []byte) ([]byte, error) {
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-c.closed:
		return nil, ErrClosed
	}
	reply, err := c.exchange(ctx, request)
	if err != nil {
		_ = c.Close()
	}
	return reply, err
}

func (c *Client) exchange(ctx context.Context, request []byte) ([]byte, error) {
	if err := c.ready(); err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = c.peer.conn.Close() })
	defer stop()
	if err := c.peer.send(nil, request); err != nil {
		return nil, contextCause(ctx, fmt.Errorf("send request: %w", err))
	}
	message, ok := <-c.peer.messages
	if !ok {
		return nil, contextCause(ctx, fmt.Errorf("await reply: %w", explainEOF(c.peer.err)))
	}
	if len(message) != 2 || len(message[0]) != 0 {
		return nil, fmt.Errorf("reply of %d frames: an empty one and the reply are due", len(message))
	}
	return message[1], nil
}

// ready says whether a request may be sent at all.
func (c *Client) ready() error {
	select {
	case <-c.closed:
		return ErrClosed
	case _, unasked := <-c.peer.messages:
		if unasked {
			return errors.New("the peer sent a reply without a request")
		}
		return ErrClosed
	default:
		return nil
	}
}

// contextCause is the context's error if it has ended, as its end causes the other error.
func contextCause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// explainEOF adds to an end of file that the peer closed the connection.
func explainEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("the peer closed the connection: %w", err)
	}
	return err
}

// Close ends the connection. A call under way returns an error.
func (c *Client) Close() error {
	c.closeOnce.Do(func() { close(c.closed) })
	return c.peer.close()
}
