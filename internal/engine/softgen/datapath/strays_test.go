package datapath

import (
	"testing"

	"github.com/linerate-dev/linerate/internal/units"
)

// TestStraysAreCountedApart sends frames of each kind to a receiver of each kind. All receivers must agree with
// inspect.
func TestStraysAreCountedApart(t *testing.T) {
	v6 := func(next, first byte) []byte {
		f := append(make([]byte, 12), 0x86, 0xdd, 0x60, 0, 0, 0, 0, 24, next, 255)
		f = append(f, make([]byte, 32)...)
		return append(f, first, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	}
	v4 := func(protocol byte) []byte {
		f := frame(60)
		f[23] = protocol
		rewriteID(f, 14, 1)
		return f
	}
	kind := func(a, b byte) []byte { f := make([]byte, 60); f[12], f[13] = a, b; return f }
	group := func(f []byte) []byte { f[0] |= 1; return f }
	bfd := func(ttl byte) []byte { f := v4(17); f[22], f[36], f[37] = ttl, 0x0e, 0xc8; return f }
	tagged := func(f []byte) []byte { return append(append(append([]byte{}, f[:12]...), 0x81, 0, 0, 7), f[12:]...) }
	marked := v6(icmpv6, neighbourAdvertised)
	marked[15] |= 0x10
	marked[16], marked[17] = byte(markBase>>8), 3
	for name, o := range receivers {
		t.Run(name, func(t *testing.T) {
			a, b := cable(t, Options{}, o)
			noError(t, b.SetPromiscuous(true))
			for name, f := range map[string][]byte{
				"ARP": kind(8, 6), "LLDP": kind(0x88, 0xcc), "spanning tree": kind(0, 38), "another type": kind(0x88,
					0xb5), "IGMP": v4(igmp), "UDP": v4(17), "ICMP": v4(1),
				"a solicitation": v6(icmpv6, neighbourSolicitation), "an advertisement": v6(icmpv6,
					neighbourAdvertised), "a redirect": v6(icmpv6, lastOfLink), "the next type": v6(icmpv6, lastOfLink+
					1),
				"a listener report": v6(hopByHop, icmpv6), "one of version 2": v6(icmpv6, listenerReport),
				"an echo": v6(icmpv6, 128), "UDP over IPv6": v6(17, 135), "options before UDP": v6(hopByHop, 17),
				"ARP with a tag": tagged(kind(8, 6)), "LACP": kind(0x88, 9), "OSPF to one": v4(89),
				"VRRP to all": group(v4(112)), "VRRP of IPv6": v6(112, 1), "UDP to a group": group(v4(17)),
				"a type to all": group(kind(0x88, 0xb5)),
				"BFD":           bfd(255), "BFD's port, routed": bfd(254), "BFD with a tag": tagged(bfd(255)),
				"UDP to a group with a tag": group(tagged(v4(17))), "UDP with a tag": tagged(v4(17)),
				"an advertisement with a tag": tagged(v6(icmpv6, neighbourAdvertised)),
				"with two":                    tagged(tagged(v6(icmpv6, neighbourAdvertised))),
			} {
				var want units.Traffic
				if inspect(f).stray {
					want = units.Traffic{Packets: 1, Bytes: wireLength(len(f))}
				}
				if got := straysOfOne(t, a, b, name, f); got != want {
					t.Errorf("%s: %+v are strays, want %+v", name, got, want)
				}
			}
			if got := straysOfOne(t, a, b, "what bears a mark", marked); got.Packets != 0 {
				t.Errorf("what bears a mark is a stream's, and %+v are strays", got)
			}
		})
	}
}

// straysOfOne sends a frame until b has received one, and returns what b counted as strays. On a busy machine a ring
// is read too late, and its frame counts as missed: such a frame shows nothing about strays, and the next one is sent.
func straysOfOne(t *testing.T, a, b Port, name string, f []byte) units.Traffic {
	t.Helper()
	initial := b.Counters()
	counted := initial
	eventually(t, name+" is received", func() bool {
		missed := counted.ReceiveErrors
		noError(t, a.Inject([][]byte{f}, 0))
		eventually(t, name+" is counted, as received or as missed", func() bool {
			counted = b.Counters()
			return counted.Received.Packets-initial.Received.Packets+counted.ReceiveErrors-missed == 1
		})
		return counted.Received.Packets > initial.Received.Packets
	})
	return counted.Strays.Sub(initial.Strays)
}
