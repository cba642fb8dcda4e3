package datapath

import (
	"strings"
	"testing"

	"github.com/vishvananda/netlink"

	"github.com/linerate-dev/linerate/internal/units"
)

// TestFramesOfAllLengths: a frame that the interface drops would count as the device's loss, so it is refused.
// Any other frame is sent by a path that has room for it.
func TestFramesOfAllLengths(t *testing.T) {
	for _, path := range []Path{PathLive, PathXDP} {
		t.Run(string(path), func(t *testing.T) {
			a, b := liveCable(t, Options{})
			a.(*port).options.Path = path
			sending := map[Path]string{PathLive: "live frames", PathXDP: "AF_XDP"}[path]
			sends := func(length int, sending string) {
				t.Helper()
				farEnd := b.Counters()
				noError(t, a.Start(runTo(b, 1, burst(100, 10_000, frame(length)))))
				if got := a.Info().Path; !strings.HasPrefix(got, "sends by "+sending) {
					t.Errorf("frames of %d bytes: it %s, want it to send by %s", length, got, sending)
				}
				finish(t, a)
				noError(t, a.Stop())
				arrived(t, b, farEnd, units.Traffic{Packets: 100, Bytes: 100 * int64(length+4)})
			}
			refuses := func(length int, want string) {
				t.Helper()
				run := Run{Streams: streams(burst(100, 10_000, frame(length))), Factor: 1}
				for action, err := range map[string]error{"checked": a.Check(run.Streams), "started": a.Start(run)} {
					if err == nil || !strings.Contains(err.Error(), want) {
						t.Errorf("frames of %d bytes, %s: %v, want %q", length, action, err, want)
					}
				}
			}
			sends(1518, sending)
			refuses(1519, "stream 1 has frames of 1519 bytes, and the MTU of west, 1500, lets 1518 pass at most, "+
				"a VLAN tag included: send shorter ones, or raise it (ip link set west mtu 1505)")
			for _, name := range []string{"west", "east"} {
				l, err := netlink.LinkByName(name)
				noError(t, err)
				noError(t, netlink.LinkSetMTU(l, 3286))
			}
			sends(1519, sending)
			sends(3300, sending)
			refuses(3305, "stream 1 has frames of 3305 bytes")
		})
	}
}

// TestThePathOfLongFrames: frames above a page have a path of their own.
func TestThePathOfLongFrames(t *testing.T) {
	a, b := cable(t, Options{Path: PathXDP}, Options{})
	for _, name := range []string{"west", "east"} {
		l, err := netlink.LinkByName(name)
		noError(t, err)
		noError(t, netlink.LinkSetMTU(l, 9300))
	}
	noError(t, a.Start(runTo(b, 1, burst(10, 1000, frame(9000)))))
	if got, want := a.Info().Path, "sends by AF_PACKET, "; !strings.HasPrefix(got, want) {
		t.Errorf("it %s, want it %s", got, want)
	}
	finish(t, a)
	noError(t, a.Stop())
}
