package zmtp_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/linerate-dev/linerate/internal/engine/trex/zmtp"
)

// inMemory runs a server in simulated time, and calls it from hosts.
func inMemory(t *testing.T, handle zmtp.Handler, fn func(t *testing.T, call func(host string) net.Conn)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		l, ended := newPipeListener(), make(chan error, 1)
		go func() { ended <- zmtp.Serve(ctx, l, handle) }()
		fn(t, func(host string) net.Conn {
			ours, theirs := net.Pipe()
			l.conns <- fromHost{theirs, host}
			t.Cleanup(func() { _ = ours.Close() })
			return ours
		})
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// fromHost is a connection from a host.
type fromHost struct {
	net.Conn
	host string
}

func (c fromHost) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.ParseIP(c.host), Port: 40000} }

// greet greets as a client, by hand.
func greet(conn net.Conn) net.Conn {
	go func() { _, _ = io.WriteString(conn, opening("NULL", "REQ")) }()
	swallow(conn, 64+2+len("\x05READY\x0bSocket-Type1234REP"))
	return conn
}

// hungUp is how long after the last bytes the server closed the connection. It is more than an hour for a connection
// that stays open.
func hungUp(conn net.Conn) time.Duration {
	began := time.Now()
	_ = conn.SetReadDeadline(began.Add(time.Hour + 1))
	_, _ = io.Copy(io.Discard, conn)
	return time.Since(began)
}

func TestOneHostHasSixteenConnectionsAndOthersHaveTheirs(t *testing.T) {
	inMemory(t, echo, func(t *testing.T, call func(string) net.Conn) {
		var crowd []net.Conn
		for range 16 {
			crowd = append(crowd, greet(call("198.51.100.7")))
		}
		if waited := hungUp(call("198.51.100.7")); waited != 0 {
			t.Errorf("the 17th connection of a host was closed after %s", waited)
		}
		for host := range 3 {
			for range 16 {
				greet(call("192.0.2." + string(rune('1'+host))))
			}
		}
		if waited := hungUp(call("192.0.2.9")); waited != 0 {
			t.Errorf("the server's 65th connection was closed after %s", waited)
		}
		_ = crowd[0].Close()
		synctest.Wait()
		c, err := zmtp.NewClient(t.Context(), call("192.0.2.9"))
		if err != nil {
			t.Fatalf("after one has left: %v", err)
		}
		if _, err := c.Do(t.Context(), []byte("?")); err != nil {
			t.Error(err)
		}
		_ = c.Close()
	})
}

func TestAClientThatIsSilentForTwoMinutesIsLetGo(t *testing.T) {
	slow := func(_ context.Context, request []byte) []byte {
		time.Sleep(10 * time.Minute)
		return request
	}
	inMemory(t, slow, func(t *testing.T, call func(string) net.Conn) {
		if waited := hungUp(greet(call("192.0.2.1"))); waited != 2*time.Minute {
			t.Errorf("a silent client was let go after %s", waited)
		}
		alive := greet(call("192.0.2.1"))
		for range 10 {
			time.Sleep(time.Minute)
			_, _ = io.WriteString(alive, "\x04\x07\x04PING\x00\x00")
			expect(t, alive, "\x04\x05\x04PONG")
		}
		c, err := zmtp.NewClient(t.Context(), call("192.0.2.1"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Do(t.Context(), []byte("?")); err != nil {
			t.Errorf("a client that waited ten minutes for its answer: %v", err)
		}
		_ = c.Close()
	})
}

func TestARequestThatTricklesIsNotWaitedFor(t *testing.T) {
	for name, trickle := range map[string]string{
		"a frame a byte at a time":        "\x02\x00\x00\x00\x00\x00\x00\x10\x00" + strings.Repeat("x", 4096),
		"a message a frame at a time":     strings.Repeat("\x01\x00", 15),
		"a message with heartbeats in it": "\x01\x00" + strings.Repeat("\x04\x07\x04PING\x00\x00", 1000),
	} {
		t.Run(name, func(t *testing.T) {
			inMemory(t, echo, func(t *testing.T, call func(string) net.Conn) {
				conn, began := greet(call("192.0.2.1")), time.Now()
				go func() { _, _ = io.Copy(io.Discard, conn) }()
				for i := range len(trickle) {
					if _, err := io.WriteString(conn, trickle[i:i+1]); err != nil {
						break
					}
					time.Sleep(3 * time.Second)
				}
				if waited := time.Since(began); waited > 33*time.Second {
					t.Errorf("it was waited for during %s", waited)
				}
			})
		})
	}
}

func TestAMessageBeyondTheLimitIsNotRead(t *testing.T) {
	quarter := "\x03\x00\x00\x00\x00\x00\x04\x00\x00" + strings.Repeat("x", 256<<10)
	for name, says := range map[string]string{
		"a frame above a MiB":          "\x02\x00\x00\x00\x00\x00\x10\x00\x01",
		"frames above a MiB together":  strings.Repeat(quarter, 4) + "\x00\x01x",
		"a heartbeat of half a MiB":    "\x06\x00\x00\x00\x00\x00\x08\x00\x00",
		"a command that is no command": "\x05\x03\x04abc",
	} {
		t.Run(name, func(t *testing.T) {
			inMemory(t, echo, func(t *testing.T, call func(string) net.Conn) {
				conn := greet(call("192.0.2.1"))
				go func() { _, _ = io.WriteString(conn, says) }()
				if waited := hungUp(conn); waited != 0 {
					t.Errorf("the connection was closed after %s", waited)
				}
			})
		})
	}
}

// A client that takes nothing must not keep the server's goroutines and buffers.
func TestAClientThatTakesNoReplyIsLetGo(t *testing.T) {
	for name, says := range map[string]string{
		"of a request":   "\x01\x00\x00\x01?",
		"of a heartbeat": "\x04\x07\x04PING\x00\x00",
	} {
		t.Run(name, func(t *testing.T) {
			inMemory(t, echo, func(t *testing.T, call func(string) net.Conn) {
				conn := greet(call("192.0.2.1"))
				_, _ = io.WriteString(conn, says)
				time.Sleep(30*time.Second + 1)
				_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
				if _, err := io.WriteString(conn, says); !errors.Is(err, io.ErrClosedPipe) {
					t.Errorf("half a minute after a reply that wasn't taken: %v", err)
				}
			})
		})
	}
}

// Replies may be as large as TRex's.
func TestALargeReply(t *testing.T) {
	reply := bytes.Repeat([]byte("x"), 5<<20)
	c := dial(t, serve(t, func(context.Context, []byte) []byte { return reply }))
	if got, err := c.Do(t.Context(), []byte("?")); err != nil || !bytes.Equal(got, reply) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}
