package zmtp

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// The socket types of this package.
const (
	socketREQ    = "REQ"
	socketREP    = "REP"
	socketDEALER = "DEALER"
	socketROUTER = "ROUTER"
)

// peer is one greeted connection. One goroutine reads it until it ends, so that heartbeats are answered while a
// request is being worked on, or while there is none. close ends the goroutine and waits for it.
type peer struct {
	conn      net.Conn
	reader    *bufio.Reader // conn's
	bounds    bounds
	working   atomic.Bool // the peer waits for an answer, and may be silent
	messages  chan [][]byte
	closing   chan struct{}
	closeOnce sync.Once
	readers   sync.WaitGroup

	writing sync.Mutex
	err     error // why reading ended, set before messages is closed
}

// bounds limit a peer. A time of 0 is unbounded, and then the waiting caller has a context.
type bounds struct {
	message int           // bytes of one message
	idle    time.Duration // between messages, without a heartbeat either
	arrive  time.Duration // for the whole of a message, from its first byte
	accept  time.Duration // to take what is sent to it
}

// newPeer greets as socketType and starts reading. When ctx ends first, or the peer is none of want, conn is closed.
func newPeer(ctx context.Context, conn net.Conn, socketType string, want []string, b bounds) (*peer, error) {
	p := &peer{conn: conn, reader: bufio.NewReader(conn), bounds: b, messages: make(chan [][]byte),
		closing: make(chan struct{})}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	err := p.handshake(socketType, want)
	if !stop() {
		err = context.Cause(ctx)
	}
	if err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("zeromq greeting: %w", err)
	}
	p.readers.Go(p.read)
	return p, nil
}

// handshake writes from a second goroutine, as both sides begin by writing and a synchronous pipe has no buffer.
func (p *peer) handshake(socketType string, want []string) error {
	opening := appendFrame(greeting(), frame{command: true, body: ready(socketType)})
	wrote := make(chan struct{})
	var writeErr error
	go func() {
		defer close(wrote)
		_, writeErr = p.conn.Write(opening)
	}()
	err := p.readHandshake(want)
	if err != nil {
		_ = p.conn.Close() // ends the writing too
	}
	<-wrote
	return cmp.Or(err, writeErr)
}

func (p *peer) readHandshake(want []string) error {
	if err := readGreeting(p.reader); err != nil {
		return err
	}
	f, err := readFrame(p.reader, maxCommand)
	if err != nil {
		return err
	}
	if !f.command {
		return errors.New("the peer sent a message where READY was due")
	}
	return checkReady(f.body, want)
}

// read passes on messages until the connection ends.
func (p *peer) read() {
	defer close(p.messages)
	for {
		message, err := p.readMessage()
		if err != nil {
			p.err = err
			return
		}
		select {
		case p.messages <- message:
		case <-p.closing:
			p.err = net.ErrClosed
			return
		}
	}
}

func (p *peer) readMessage() ([][]byte, error) {
	var message [][]byte
	listed := p.bounds.message
	for {
		if len(message) == 0 { // nothing, or a command, came before
			if err := p.await(); err != nil {
				return nil, err
			}
		}
		f, err := readFrame(p.reader, listed)
		if err != nil {
			if len(message) > 0 {
				err = unexpected(err)
			}
			return nil, err
		}
		if f.command {
			if err := p.handleCommand(f.body); err != nil {
				return nil, err
			}
			continue
		}
		listed -= len(f.body)
		message = append(message, f.body)
		if !f.more {
			return message, nil
		}
		if len(message) == maxFrames {
			return nil, fmt.Errorf("message of more than %d frames", maxFrames)
		}
	}
}

// await waits for the first byte of a frame. From then on the bound of a message runs. A peer that waits for an
// answer of this side may be silent until it comes.
func (p *peer) await() error {
	for {
		bound(p.conn.SetReadDeadline, p.bounds.idle)
		_, err := p.reader.Peek(1)
		switch {
		case err == nil:
			bound(p.conn.SetReadDeadline, p.bounds.arrive)
			return nil
		case !errors.Is(err, os.ErrDeadlineExceeded) || !p.working.Load():
			return err
		}
	}
}

// bound sets a deadline that begins now, or none if d is 0. Where that fails the connection is closed, and the next
// read or write says so.
func bound(set func(time.Time) error, d time.Duration) {
	if d > 0 {
		_ = set(time.Now().Add(d))
	}
}

// handleCommand answers a heartbeat and ignores unknown commands, as the specification asks.
func (p *peer) handleCommand(body []byte) error {
	name, data, err := parseCommand(body)
	if err != nil {
		return err
	}
	switch name {
	case "PING":
		if len(data) < 2 {
			return errors.New("malformed PING")
		}
		return p.write(frame{command: true, body: command("PONG", data[2:])})
	case "ERROR":
		return fmt.Errorf("the peer sent an error: %q", data)
	}
	return nil
}

func (p *peer) write(frames ...frame) error {
	var b []byte
	for _, f := range frames {
		b = appendFrame(b, f)
	}
	p.writing.Lock()
	defer p.writing.Unlock()
	bound(p.conn.SetWriteDeadline, p.bounds.accept)
	_, err := io.Copy(p.conn, bytes.NewReader(b))
	return err
}

// send writes a message of the given frames.
func (p *peer) send(message ...[]byte) error {
	frames := make([]frame, len(message))
	for i, body := range message {
		frames[i] = frame{more: i < len(message)-1, body: body}
	}
	return p.write(frames...)
}

// close ends the connection and returns when its reader has ended.
func (p *peer) close() error {
	var err error
	p.closeOnce.Do(func() {
		close(p.closing)
		err = p.conn.Close()
	})
	p.readers.Wait()
	return err
}
