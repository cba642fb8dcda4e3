package softgen

import (
	"context"
	"encoding/json"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate-dev/linerate/internal/engine/trex/wire"
	"github.com/linerate-dev/linerate/internal/engine/trex/zmtp"
	"github.com/linerate-dev/linerate/test/rigs/fakeport"
)

// running makes a server whose port 0 sends 1000 packets a second for an hour.
func running(t *testing.T, clock fakeport.Clock, change ...func(*Config)) *rig {
	t.Helper()
	west, east := fakeport.NewPair(clock, fakeport.Options{}, fakeport.Options{MAC: [6]byte{2}}, fakeport.Cable{})
	change = append(change, func(c *Config) { c.Ports[0].NextHop = [6]byte{2} })
	r := &rig{west: west, east: east, handlers: map[int]string{}, server: newServer(t, west, east, clock, change...)}
	r.acquire(t, 0)
	succeed[object](t, r, "add_stream", streamOf(0, 1))
	succeed[object](t, r, "start_traffic", start(0, mul("pps", 1000), 3600))
	return r
}

// withHeartbeat runs a test in virtual time, of a server that stops its traffic after 10 s of silence.
func withHeartbeat(t *testing.T, test func(t *testing.T, r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := running(t, fakeport.System(), func(c *Config) { c.Heartbeat = 10 * time.Second })
		var watch sync.WaitGroup
		ctx, cancel := context.WithCancel(t.Context())
		watch.Go(func() { r.server.watchHeartbeat(ctx) })
		test(t, r)
		cancel()
		watch.Wait()
	})
}

func TestHeartbeat(t *testing.T) {
	withHeartbeat(t, func(t *testing.T, r *rig) {
		for range 5 {
			time.Sleep(9 * time.Second)
			synctest.Wait()
			if got := r.stateOf(t, 0); got != "TX" {
				t.Fatalf("with a request every 9 s the state is %s", got)
			}
		}
		r.events(t, 7)
		time.Sleep(11 * time.Second)
		synctest.Wait()
		if r.west.Done() != nil {
			t.Error("after 11 s of silence it still sends")
		}
		const cause = "heartbeat lost: no request for 10s"
		if diff := cmp.Diff([]string{"11:0 " + cause, "1:0 " + cause}, r.events(t, 7)); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
		succeed[object](t, r, "start_traffic", start(0, mul("pps", 1000), 3600))
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if got := r.stateOf(t, 0); got != "TX" {
			t.Errorf("a client that came back finds state %s", got)
		}
	})
}

// TestOnlyValidRequestsAreHeartbeats: a probe that pings keeps no traffic alive.
func TestOnlyValidRequestsAreHeartbeats(t *testing.T) {
	withHeartbeat(t, func(t *testing.T, r *rig) {
		for range 4 {
			time.Sleep(3 * time.Second)
			r.server.Handle([]byte(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{}}`))
			r.server.Handle([]byte(`{"jsonrpc":"2.0","id":1,"method":"get_global_stats","params":{"api_h":"wrong"}}`))
		}
		synctest.Wait()
		if r.west.Done() != nil {
			t.Error("it still sends")
		}
	})
}

func TestServeEnds(t *testing.T) {
	run := func(t *testing.T, ctx context.Context, r *rig) (*zmtp.Client, <-chan error) {
		t.Helper()
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		served := make(chan error, 1)
		go func() { served <- r.server.Serve(ctx, listener) }()
		client, err := zmtp.Dial(t.Context(), listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = client.Close() })
		return client, served
	}
	t.Run("the server ends with its context, and stops its traffic", func(t *testing.T) {
		r := running(t, fakeport.System())
		ctx, cancel := context.WithCancel(t.Context())
		client, served := run(t, ctx, r)
		if _, err := client.Do(t.Context(), []byte(`{}`)); err != nil {
			t.Fatal(err)
		}
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
		if r.west.Done() != nil {
			t.Error("it still sends")
		}
	})
	t.Run("a client shuts the server down, if that is allowed", func(t *testing.T) {
		r := running(t, fakeport.System(), func(c *Config) { c.AllowShutdown = true })
		client, served := run(t, t.Context(), r)
		r.refuses(t, "shutdown", object{"user": "b", "force": false}, wire.CodeRefused,
			"port 0 is owned by 'tester' - specify 'force' for override")
		request, err := json.Marshal(object{"jsonrpc": "2.0", "id": 1, "method": "shutdown",
			"params": object{"user": "b", "force": true, "api_h": r.server.apiH}})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = client.Do(t.Context(), request) // the answer may or may not make it
		if err := <-served; err != nil {
			t.Error(err)
		}
		if r.west.Done() != nil {
			t.Error("it still sends")
		}
	})
	t.Run("a client's shutdown is refused if that isn't allowed", func(t *testing.T) {
		newRig(t).refuses(t, "shutdown", object{"user": "b", "force": true}, wire.CodeRefused, "not enabled")
	})
}

func TestManyClientsAtOnce(t *testing.T) {
	r := running(t, fakeport.System())
	address := serve(t, r.server)
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			client, err := zmtp.Dial(t.Context(), address)
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = client.Close() }()
			for range 50 {
				request := `{"jsonrpc":"2.0","id":1,"method":"get_port_stats","params":{"port_id":0,"api_h":"` +
					r.server.apiH + `"}}`
				if answer, err := client.Do(t.Context(), []byte(request)); err != nil || !json.Valid(answer) {
					t.Errorf("%q, %v", answer, err)
					return
				}
			}
		})
	}
	clients.Wait()
}

func TestNewRefuses(t *testing.T) {
	if _, err := New(Config{}); err == nil {
		t.Error("a server without ports")
	}
	if _, err := New(Config{Ports: []PortConfig{{}}}); err == nil {
		t.Error("a port that is nil")
	}
}
