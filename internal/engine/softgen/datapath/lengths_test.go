package datapath

import (
	"strings"
	"testing"

	"github.com/vishvananda/netlink"

	"github.com/linerate-dev/linerate/internal/units"
)

// TestFramesOfAllLengths: a frame that the interface doesn't let pass is refused, and would else be told of the device; any other one is sent, by a way that has room for it.
func TestFramesOfAllLengths(t *testing.T) {
	for _, path := range []Path{PathLive, PathXDP} {
		t.Run(string(path), func(t *testing.T) {
			a, b := liveCable(t, Options{})
			a.(*port).options.Path = path
			way := map[Path]string{PathLive: "live frames", PathXDP: "AF_XDP"}[path]
			sends := func(length int, by string) {
				t.Helper()
				there := b.Counters()
				must(t, a.Start(Run{Streams: streams(addressed(burst(100, 10_000, frame(length)))), Factor: 1, NextHop: macOf(b)}))
				if got := a.Info().Path; !strings.HasPrefix(got, "sends by "+by) {
					t.Errorf("frames of %d bytes: it %s, want it to send by %s", length, got, by)
				}
				finish(t, a)
				must(t, a.Stop())
				arrived(t, b, there, units.Traffic{Packets: 100, Bytes: 100 * int64(length+4)})
			}
			refuses := func(length int, says string) {
				t.Helper()
				run := Run{Streams: streams(burst(100, 10_000, frame(length))), Factor: 1}
				for what, err := range map[string]error{"checked": a.Check(run.Streams), "started": a.Start(run)} {
					if err == nil || !strings.Contains(err.Error(), says) {
						t.Errorf("frames of %d bytes, %s: %v, want %q", length, what, err, says)
					}
				}
			}
			sends(1518, way)
			refuses(1519, "stream 1 has frames of 1519 bytes, and the MTU of west, 1500, lets 1518 pass at most, a VLAN tag included: send shorter ones, or raise it (ip link set west mtu 1505)")
			for _, name := range []string{"west", "east"} {
				l, err := netlink.LinkByName(name)
				must(t, err)
				must(t, netlink.LinkSetMTU(l, 3286))
			}
			sends(1519, way)
			sends(3300, way)
			refuses(3305, "stream 1 has frames of 3305 bytes")
		})
	}
}

// TestThePathOfLongFrames: frames above a page have a way of their own.
func TestThePathOfLongFrames(t *testing.T) {
	a, b := cable(t, Options{Path: PathXDP}, Options{})
	for _, name := range []string{"west", "east"} {
		l, err := netlink.LinkByName(name)
		must(t, err)
		must(t, netlink.LinkSetMTU(l, 9300))
	}
	must(t, a.Start(Run{Streams: streams(addressed(burst(10, 1000, frame(9000)))), Factor: 1, NextHop: macOf(b)}))
	if got, want := a.Info().Path, "sends by AF_PACKET, "; !strings.HasPrefix(got, want) {
		t.Errorf("it %s, want it %s", got, want)
	}
	finish(t, a)
	must(t, a.Stop())
}
