package zmtp_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/linerate-dev/linerate/internal/engine/trex/zmtp"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve runs handle on a loopback port until the test ends.
func serve(t *testing.T, handle zmtp.Handler) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- zmtp.Serve(ctx, l, handle) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return l.Addr().String()
}

func dial(t *testing.T, address string) *zmtp.Client {
	t.Helper()
	c, err := zmtp.Dial(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func echo(_ context.Context, request []byte) []byte { return append([]byte("re:"), request...) }

func TestRequestAndReply(t *testing.T) {
	address := serve(t, echo)
	sizes := []int{0, 1, 252, 253, 255, 256, 64 << 10, 64<<10 + 1, 1 << 20}
	c := dial(t, address)
	for _, size := range sizes {
		request := bytes.Repeat([]byte{'x'}, size)
		reply, err := c.Do(t.Context(), request)
		if err != nil {
			t.Fatalf("%d bytes: %v", size, err)
		}
		if !bytes.Equal(reply, append([]byte("re:"), request...)) {
			t.Errorf("%d bytes came back as %d others", size, len(reply))
		}
	}
}

func TestManyClientsAtOnce(t *testing.T) {
	address := serve(t, echo)
	var clients sync.WaitGroup
	for n := range 16 {
		c := dial(t, address)
		clients.Go(func() {
			for range 20 {
				want := strings.Repeat("y", n)
				if reply, err := c.Do(t.Context(), []byte(want)); err != nil || string(reply) != "re:"+want {
					t.Errorf("client %d got %q, %v", n, reply, err)
				}
			}
		})
	}
	clients.Wait()
}

func TestCallsOfOneClientTakeTurns(t *testing.T) {
	c := dial(t, serve(t, echo))
	var calls sync.WaitGroup
	for n := range 20 {
		calls.Go(func() {
			want := strings.Repeat("z", n)
			if reply, err := c.Do(t.Context(), []byte(want)); err != nil || string(reply) != "re:"+want {
				t.Errorf("call %d got %q, %v", n, reply, err)
			}
		})
	}
	calls.Wait()
}

func TestSilentConnectionsDoNotBlockOthers(t *testing.T) {
	address := serve(t, echo)
	for range 5 {
		probe, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = probe.Close() }()
	}
	if _, err := dial(t, address).Do(t.Context(), []byte("hello")); err != nil {
		t.Error(err)
	}
}

func TestAStalledServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		l := newPipeListener()
		ended := make(chan error, 1)
		go func() {
			ended <- zmtp.Serve(ctx, l, func(ctx context.Context, _ []byte) []byte { <-ctx.Done(); return nil })
		}()
		c, err := zmtp.NewClient(ctx, l.dial())
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		call, done := context.WithTimeout(ctx, 3*time.Second)
		defer done()
		_, err = c.Do(call, []byte("anybody there?"))
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 3*time.Second {
			t.Errorf("the call ended after %v with %v", time.Since(began), err)
		}
		if _, err := c.Do(ctx, nil); !errors.Is(err, zmtp.ErrClosed) {
			t.Errorf("a client whose call timed out could be used again: %v", err)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestAHandlerClosesTheConnection(t *testing.T) {
	c := dial(t, serve(t, func(context.Context, []byte) []byte { return nil }))
	if _, err := c.Do(t.Context(), []byte("die")); !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) {
		t.Errorf("Do returned %v", err)
	}
	if _, err := c.Do(t.Context(), []byte("again")); !errors.Is(err, zmtp.ErrClosed) {
		t.Errorf("Do after that returned %v", err)
	}
}

func TestCloseEndsACallUnderWay(t *testing.T) {
	working := make(chan struct{})
	c := dial(t, serve(t, func(ctx context.Context, _ []byte) []byte { close(working); <-ctx.Done(); return nil }))
	ended := make(chan error, 1)
	go func() { _, err := c.Do(t.Context(), []byte("slow")); ended <- err }()
	<-working
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; err == nil {
		t.Error("the call succeeded")
	}
}

func TestAWaitingCallGivesUpItsTurnOnly(t *testing.T) {
	release, working := make(chan struct{}), make(chan struct{})
	c := dial(t, serve(t, func(_ context.Context, request []byte) []byte {
		close(working)
		<-release
		return request
	}))
	first := make(chan error, 1)
	go func() { _, err := c.Do(t.Context(), []byte("slow")); first <- err }()
	<-working
	impatient, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Do(impatient, []byte("second")); !errors.Is(err, context.Canceled) {
		t.Errorf("the waiting call returned %v", err)
	}
	close(release)
	if err := <-first; err != nil {
		t.Errorf("the call under way was harmed: %v", err)
	}
}

// pipeListener accepts in-memory connections, so that time can be simulated.
type pipeListener struct {
	conns     chan net.Conn
	closed    chan struct{}
	closeOnce sync.Once
}

func newPipeListener() *pipeListener {
	return &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
}

func (l *pipeListener) dial() net.Conn {
	client, server := net.Pipe()
	l.conns <- server
	return client
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	l.closeOnce.Do(func() { close(l.closed) })
	return nil
}

func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }
