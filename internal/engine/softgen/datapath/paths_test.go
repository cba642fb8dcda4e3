package datapath

import (
	"errors"
	"os"
	"strings"
	"testing"
)

// initialUser says whether user ids here are the machine's own. Nobody may load eBPF in another user namespace.
func initialUser(t *testing.T) bool {
	t.Helper()
	ids, err := os.ReadFile("/proc/self/uid_map")
	noError(t, err)
	return strings.Join(strings.Fields(string(ids)), " ") == "0 0 4294967295"
}

func TestPaths(t *testing.T) {
	fast, plain := cable(t, Options{Path: PathXDP}, Options{Plain: true})
	t.Run("root sends by AF_XDP and has the kernel count", func(t *testing.T) {
		if !initialUser(t) {
			needKernel(t, errors.New("this is a user namespace"), "eBPF")
		}
		if got, want := fast.Info().Path, "sends by AF_XDP, receives by eBPF"; got != want {
			t.Errorf("path %q, want %q", got, want)
		}
	})
	t.Run("plain sockets are used if the options ask for them", func(t *testing.T) {
		if got, want := plain.Info().Path, "sends by AF_PACKET, receives by AF_PACKET"; got != want {
			t.Errorf("path %q, want %q", got, want)
		}
	})
	t.Run("a port says what it is", func(t *testing.T) {
		if got := fast.Info(); got.Driver != "veth" || got.MTU != 1500 || got.MAC == plain.Info().MAC {
			t.Errorf("info %+v", got)
		}
	})
}

func TestADriverThatCanCountsByXDPWhereAskedTo(t *testing.T) {
	_, express := cable(t, Options{}, Options{Path: PathXDP, Receive: ReceiveXDP})
	second := open(t, Options{Interface: "east", Receive: ReceiveXDP})
	if got, want := express.Info().Path, "sends by AF_XDP, receives by XDP"; got != want {
		t.Errorf("path %q, want %q", got, want)
	}
	if got, want := second.Info().Path, "receives by eBPF (no XDP: device or resource busy)"; !strings.Contains(got,
		want) {
		t.Errorf("one more falls back, path %q, want %q in it", got, want)
	}
}

// TestNoGarbage keeps the sending loop free of allocations, because the collector would delay it.
func TestNoGarbage(t *testing.T) {
	a, b := cable(t, Options{}, Options{})
	noError(t, a.Start(runTo(b, 1, continuous(50_000, frame(60)))))
	eventually(t, "traffic flows", func() bool { return a.Counters().Sent.Packets > 1000 })
	start := a.Counters().Sent.Packets
	allocated := testing.AllocsPerRun(1, func() { sleep(100e6) })
	if sent := a.Counters().Sent.Packets - start; sent < 2000 || allocated > 200 {
		t.Errorf("%v allocations while %d frames were sent", allocated, sent)
	}
	noError(t, a.Stop())
}
