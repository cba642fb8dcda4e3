package trex_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/linerate-dev/linerate/internal/engine/trex"
	"github.com/linerate-dev/linerate/internal/engine/trex/wire"
	"github.com/linerate-dev/linerate/test/rigs/trextest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// simulatedServer is a simulated server and a client of it.
type simulatedServer struct {
	*trextest.Server
	generator *trextest.Generator
	client    *trex.Client
}

func newSimulatedServer(t *testing.T, change ...func(*trex.Options)) simulatedServer {
	t.Helper()
	g := trextest.NewGenerator(trextest.TwoPorts()...)
	s := trextest.Serve(t, g)
	return simulatedServer{s, g, connect(t, s, change...)}
}

func connect(t *testing.T, s *trextest.Server, change ...func(*trex.Options)) *trex.Client {
	t.Helper()
	options := trex.Options{User: "us", Session: 4711, Poll: time.Millisecond, Dial: s.Dial}
	for _, c := range change {
		c(&options)
	}
	client, err := trex.Dial(t.Context(), s.Address(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func (l simulatedServer) claim(t *testing.T, ports ...int) {
	t.Helper()
	for _, port := range ports {
		noError(t, l.client.Acquire(t.Context(), port, false))
	}
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// errorOf returns the error of the wanted type in err's chain.
func errorOf[E error](t *testing.T, err error) E {
	t.Helper()
	e, ok := errors.AsType[E](err)
	if !ok {
		t.Fatalf("error %v (%T) is no %T", err, err, e)
	}
	return e
}

func refusal(specific string) trextest.AnswerFunc {
	return func(trextest.Call) (any, error) {
		return nil, &wire.Error{Code: wire.CodeRefused, Message: "Failed To Execute Method", Specific: specific}
	}
}

func fail(err error) trextest.AnswerFunc {
	return func(trextest.Call) (any, error) { return nil, err }
}

func TestGreeting(t *testing.T) {
	t.Run("learns who is there", func(t *testing.T) {
		l := newSimulatedServer(t)
		if got := l.client.Version().String(); got != "TRex v3.08" {
			t.Errorf("the server is %q", got)
		}
	})
	t.Run("a default port is added to a bare host", func(t *testing.T) {
		l := newSimulatedServer(t)
		var asked string
		client, err := trex.Dial(t.Context(), "lab1",
			trex.Options{Dial: func(ctx context.Context, address string) (net.Conn, error) {
				asked = address
				return l.Dial(ctx, address)
			}})
		noError(t, err)
		defer func() { _ = client.Close() }()
		if asked != "lab1:4501" {
			t.Errorf("dialed %q", asked)
		}
	})
	t.Run("a session is never 0", func(t *testing.T) {
		l := newSimulatedServer(t, func(o *trex.Options) { o.Session = 0 })
		if l.client.Options().Session == 0 {
			t.Error("it is")
		}
	})
	t.Run("everything works compressed", func(t *testing.T) {
		l := newSimulatedServer(t, func(o *trex.Options) { o.Compress = true })
		if info, err := l.client.SystemInfo(t.Context()); err != nil || len(info.Ports) != 2 {
			t.Errorf("got %+v, %v", info, err)
		}
	})
}

func TestServersThatCannotBeDriven(t *testing.T) {
	cases := map[string]struct {
		method string
		answer trextest.AnswerFunc
		want   string
	}{
		"stateful mode": {"get_version", func(trextest.Call) (any,
			error) {
			return map[string]string{"version": "v3.08", "mode": "ASTF"}, nil
		}, "--astf"},
		"a newer API": {"api_sync_v2", refusal("RPC version mismatch: a newer client version is required\n(API " +
			"type 'STL':  - server: '6.0', client: '5.1')"),
			"a newer client version is required"},
		"an older API": {"api_sync_v2", refusal("Version mismatch: your client version is too new to be supported " +
			"by the server\n(API…)"), "too new"},
		"another kind": {"api_sync_v2", refusal("RPC configuration mismatch - server RPC configuration: 'ASTF', " +
			"client RPC configuration: 'STL'"), "'ASTF'"},
		"something else": {"get_version", fail(&wire.Error{Code: wire.CodeUnknownMethod,
			Message: "Method get_version not registered"}),
			"isn't TRex v3"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := trextest.Serve(t, trextest.NewGenerator(trextest.TwoPorts()...))
			s.Script(c.method, c.answer)
			_, err := trex.Dial(t.Context(), s.Address(), trex.Options{})
			if mismatch := errorOf[*trex.IncompatibleError](t, err); !strings.Contains(mismatch.Error(), c.want) {
				t.Errorf("%q says nothing of %q", mismatch, c.want)
			}
		})
	}
}

func TestAServerThatIsNotThere(t *testing.T) {
	t.Run("a closed port is told apart from a lost answer", func(t *testing.T) {
		s := trextest.Serve(t, trextest.NewGenerator())
		s.Die()
		_, err := trex.Dial(t.Context(), s.Address(), trex.Options{})
		lost := errorOf[*trex.LostError](t, err)
		if lost.Unknown || !strings.Contains(lost.Error(), "connection refused") {
			t.Errorf("got %q, unknown %v", lost, lost.Unknown)
		}
	})
	t.Run("a web server says so", func(t *testing.T) {
		web, err := net.Listen("tcp", "127.0.0.1:0")
		noError(t, err)
		defer func() { _ = web.Close() }()
		go func() {
			conn, err := web.Accept()
			if err == nil {
				_, _ = conn.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
				_ = conn.Close()
			}
		}()
		_, err = trex.Dial(t.Context(), web.Addr().String(), trex.Options{})
		if lost := errorOf[*trex.LostError](t, err); !strings.Contains(lost.Error(), "doesn't speak ZeroMQ") {
			t.Errorf("got %q", lost)
		}
	})
}

// inBubble runs a test under simulated time with a client of an in-memory server.
func inBubble(t *testing.T, test func(t *testing.T, l simulatedServer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		g := trextest.NewGenerator(trextest.TwoPorts()...)
		s := trextest.ServeInMemory(t, g)
		test(t, simulatedServer{s, g, connect(t, s, func(o *trex.Options) { o.Poll = 0 })})
	})
}

func TestDeadlines(t *testing.T) {
	t.Run("a stalled server is given up after the timeout, and the outcome is unknown", func(t *testing.T) {
		inBubble(t, func(t *testing.T, l simulatedServer) {
			l.claim(t, 0)
			l.Script("stop_traffic", fail(trextest.ErrStall))
			began := time.Now()
			err := l.client.StopTraffic(t.Context(), 0)
			lost := errorOf[*trex.LostError](t, err)
			if !lost.Unknown || time.Since(began) != trex.DefaultTimeout || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("after %v: %q, unknown %v", time.Since(began), lost, lost.Unknown)
			}
			if !strings.Contains(lost.Error(), "nothing within 15s") {
				t.Errorf("%q doesn't say how long it waited", lost)
			}
		})
	})
	t.Run("the connection is made anew after that", func(t *testing.T) {
		inBubble(t, func(t *testing.T, l simulatedServer) {
			l.claim(t, 0)
			l.Script("stop_traffic", fail(trextest.ErrStall))
			_ = l.client.StopTraffic(t.Context(), 0)
			l.Script("stop_traffic", nil)
			noError(t, l.client.StopTraffic(t.Context(), 0))
		})
	})
	t.Run("a caller's earlier deadline counts", func(t *testing.T) {
		inBubble(t, func(t *testing.T, l simulatedServer) {
			l.Script("ping", fail(trextest.ErrStall))
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			began := time.Now()
			if _, err := l.client.Ping(ctx); !errors.Is(err, context.DeadlineExceeded) ||
				time.Since(began) != time.Second {
				t.Errorf("after %v: %v", time.Since(began), err)
			}
		})
	})
	t.Run("a call waiting for its turn can be cancelled without harm to the one under way", func(t *testing.T) {
		inBubble(t, func(t *testing.T, l simulatedServer) {
			release := make(chan struct{})
			l.Script("get_supported_cmds", func(trextest.Call) (any, error) { <-release; return []string{}, nil })
			first := make(chan error, 1)
			go func() { _, err := l.client.SupportedCommands(t.Context()); first <- err }()
			synctest.Wait()
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			_, err := l.client.Ping(ctx)
			if lost := errorOf[*trex.LostError](t, err); lost.Unknown {
				t.Error("a call that was never sent is said to have an unknown outcome")
			}
			close(release)
			noError(t, <-first)
		})
	})
}

func TestABusyServer(t *testing.T) {
	t.Run("that wants to be asked again is", func(t *testing.T) {
		l := newSimulatedServer(t)
		asked := 0
		l.Script("get_port_status", func(c trextest.Call) (any, error) {
			if asked++; asked < 4 {
				return nil, &wire.Error{Code: wire.CodeTryAgain, Message: "Try again later"}
			}
			return l.generator.Answer(c)
		})
		if status, err := l.client.PortStatus(t.Context(), 0); err != nil || status.State != "IDLE" || asked != 4 {
			t.Errorf("asked %d times: %+v, %v", asked, status, err)
		}
	})
	t.Run("that gives a ticket is asked for the result", func(t *testing.T) {
		l := newSimulatedServer(t)
		l.claim(t, 0)
		l.Script("service", fail(&wire.Error{Code: wire.CodeWorkInProgress, Message: "Work in progress",
			Specific: "4294967297"}))
		var tickets []string
		l.Script("get_async_results", func(c trextest.Call) (any, error) {
			tickets = append(tickets, string(c.Params))
			if len(tickets) < 3 {
				return nil, &wire.Error{Code: wire.CodeWorkInProgress, Message: "Work in progress",
					Specific: "4294967297"}
			}
			return map[string]any{}, nil
		})
		noError(t, l.client.SetService(t.Context(), 0, true))
		if len(tickets) != 3 || !strings.Contains(tickets[0], `"ticket_id":4294967297`) {
			t.Errorf("asked with %q", tickets)
		}
	})
	t.Run("for ever is given up when patience ends", func(t *testing.T) {
		inBubble(t, func(t *testing.T, l simulatedServer) {
			l.Script("get_port_status", fail(&wire.Error{Code: wire.CodeTryAgain, Message: "Try again later"}))
			began := time.Now()
			_, err := l.client.PortStatus(t.Context(), 0)
			if errorOf[*trex.RPCError](t, err).Code != wire.CodeTryAgain || time.Since(began) != trex.DefaultPatience {
				t.Errorf("after %v: %v", time.Since(began), err)
			}
		})
	})
}

func TestAServerThatDies(t *testing.T) {
	l := newSimulatedServer(t)
	l.Script("get_port_stats", fail(trextest.ErrDie))
	_, err := l.client.Snapshot(t.Context(), []int{0}, trex.Detail{})
	if lost := errorOf[*trex.LostError](t, err); !lost.Unknown ||
		!strings.Contains(lost.Error(), "closed the connection") {
		t.Errorf("got %q, unknown %v", lost, lost.Unknown)
	}
	_, err = l.client.Snapshot(t.Context(), []int{0}, trex.Detail{})
	if lost := errorOf[*trex.LostError](t, err); lost.Unknown {
		t.Errorf("with nobody there, %q claims an unknown outcome", lost)
	}
}

func TestAHangUpWhileIdleIsHealed(t *testing.T) {
	l := newSimulatedServer(t)
	l.Script("ping", fail(trextest.ErrHangUp))
	if _, err := l.client.Ping(t.Context()); err == nil {
		t.Fatal("the hang-up went unnoticed")
	}
	l.Script("ping", nil)
	if clock, err := l.client.Ping(t.Context()); err != nil || clock < 1000*time.Second {
		t.Errorf("clock %v, %v", clock, err)
	}
}

func TestAnswersThatDoNotMatchTheRequest(t *testing.T) {
	l := newSimulatedServer(t)
	l.Script("get_supported_cmds", func(trextest.Call) (any, error) { return map[string]int{"not": 1}, nil })
	if _, err := l.client.SupportedCommands(t.Context()); err == nil ||
		!strings.Contains(err.Error(), "get_supported_cmds: answer can't be read") {
		t.Errorf("got %v", err)
	}
}

func TestTheDefaultDialerConnects(t *testing.T) {
	s := trextest.Serve(t, trextest.NewGenerator(trextest.TwoPorts()...))
	c, err := trex.Dial(t.Context(), s.Address(), trex.Options{})
	noError(t, err)
	noError(t, c.Close())
	if _, err := c.Ping(t.Context()); err == nil {
		t.Error("a closed client still talks")
	}
}
