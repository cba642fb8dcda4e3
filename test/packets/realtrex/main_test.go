//go:build trex

package realtrex

import (
	"context"
	"errors"
	"flag"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"testing"

	"github.com/linerate-dev/linerate/internal/engine/trex"
	"github.com/linerate-dev/linerate/internal/engine/trex/neighbor"
	"github.com/linerate-dev/linerate/test/rigs/built"
	"github.com/linerate-dev/linerate/test/rigs/impaired"
)

var (
	server   = flag.String("server", "", "address of the TRex to ask, as host:port")
	record   = flag.String("record", "", "file to record what is said on the wire in")
	linkDown = flag.String("link-down", "", "shell command that takes port 0's link down")
	program  = flag.String("linerate", "", "the program under test; empty: it is built")
	linkUp   = flag.String("link-up", "", "shell command that brings it up again")
)

var recording = &recorder{out: io.Discard}

func TestMain(m *testing.M) {
	impaired.Main()
	flag.Parse()
	if *program == "" {
		var err error
		if *program, err = built.Program("linerate"); err != nil {
			slog.Error("build linerate", "error", err)
			os.Exit(1)
		}
	}
	os.Exit(recordAndRun(m))
}

func recordAndRun(m *testing.M) int {
	if *record == "" {
		return m.Run()
	}
	file, err := os.Create(*record)
	if err != nil {
		slog.Error("record", "error", err)
		return 1
	}
	recording.out = file
	code := m.Run()
	if err := file.Close(); err != nil {
		slog.Error("record", "error", err)
		return 1
	}
	return code
}

// dial greets the server under a user's name.
func dial(t *testing.T, user string) *trex.Client {
	t.Helper()
	recording.head(t.Name())
	c, err := benchOf(t).dial(t.Context(), trex.Options{User: user, Logger: slog.New(recording)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// benches are those of the tests that run, by name.
var benches = map[string]*bench{}

// benchOf is the TRex that the flags name; one that has to be started is started once for each test.
func benchOf(t *testing.T) *bench {
	t.Helper()
	b, known := benches[t.Name()]
	switch {
	case known:
		return b
	case *root != "":
		b = ownBench(t, 0)
	case *server != "":
		b = &bench{server: *server}
	default:
		t.Fatal("-server is missing, the address of a TRex that runs; or -trex-root, the folder of one to start")
	}
	benches[t.Name()] = b
	t.Cleanup(func() { delete(benches, t.Name()) })
	return b
}

// locals and nextHops are the ports' addresses and the device's.
var (
	locals   = [ports]netip.Addr{netip.MustParseAddr("198.18.0.2"), netip.MustParseAddr("198.18.1.2")}
	nextHops = [ports]netip.Addr{netip.MustParseAddr("198.18.0.1"), netip.MustParseAddr("198.18.1.1")}
)

// point directs both ports to their next hops.
func point(t *testing.T, c *trex.Client) {
	t.Helper()
	for port := range ports {
		must(t, c.SetL3(t.Context(), port, locals[port], nextHops[port], nil))
		status, err := c.PortStatus(t.Context(), port)
		must(t, err)
		own, err := net.ParseMAC(status.Attributes.Layer.Ether.Source)
		must(t, err)
		mac, err := c.Resolve(t.Context(), port, neighbor.Query{SourceMAC: own, Source: locals[port], Target: nextHops[port]})
		must(t, err)
		must(t, c.SetL3(t.Context(), port, locals[port], nextHops[port], mac))
	}
}

// claim takes both ports, cleared, and gives them back.
func claim(t *testing.T) *trex.Client {
	t.Helper()
	c := dial(t, "realtrex")
	for port := range ports {
		must(t, c.Acquire(t.Context(), port, true))
		must(t, c.Reset(t.Context(), port))
		must(t, c.RemoveCaptures(t.Context(), port))
		must(t, c.SetService(t.Context(), port, false))
	}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		for port := range ports {
			if err := errors.Join(c.Reset(ctx, port), c.Release(ctx, port)); err != nil {
				t.Errorf("give back port %d: %v", port, err)
			}
		}
	})
	return c
}

// ports is how many of the server's ports are used: 0 and 1.
const ports = 2

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
