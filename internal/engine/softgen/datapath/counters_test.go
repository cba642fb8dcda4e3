package datapath

import (
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/host/netif"
	"github.com/linerate-dev/linerate/internal/units"
)

// TestCountersAgreeWithTheInterfaces sends single frames and segments that the kernel may merge. Every counter
// must show exactly the frames that came.
func TestCountersAgreeWithTheInterfaces(t *testing.T) {
	for name, o := range receivers {
		for gro, enabled := range map[string]bool{"GRO on": true, "GRO off": false} {
			t.Run(name+", "+gro, func(t *testing.T) {
				a, b := cable(t, Options{}, o)
				noError(t, b.SetPromiscuous(true))
				// segments leave as frames of their own; a veth in front of XDP has no others
				noError(t, netif.SetOffload("west", netif.TCPSegmentation, false), unix.EOPNOTSUPP)
				noError(t, netif.SetOffload("east", netif.GenericReceive, enabled))
				initial, counted := interfaceReceived(t, "east"), b.Counters()
				noError(t, a.Start(runTo(b, 1, burst(5000, 50_000, frame(124)))))
				finish(t, a)
				const buffers, segments, size = 20, 8, 500
				for range buffers {
					handOn(t, "west", gsoTCP4, size, 54, frameTCP(segments*size))
				}
				want := units.Traffic{Packets: 5000 + buffers*segments, Bytes: 5000*128 + buffers*segments*(54+size+
					units.FCSBytes)}
				arrived(t, b, counted, want)
				if got := interfaceReceived(t, "east") - initial; got != want.Packets {
					t.Errorf("the interface received %d frames, and we %d", got, want.Packets)
				}
				if got := b.Counters().ReceiveErrors; got != 0 {
					t.Errorf("%d frames were missed", got)
				}
			})
		}
	}
}

// interfaceReceived is the interface's own count.
func interfaceReceived(t *testing.T, name string) int64 {
	t.Helper()
	l, err := netlink.LinkByName(name)
	noError(t, err)
	return int64(l.Attrs().Statistics.RxPackets)
}
