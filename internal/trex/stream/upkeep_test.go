package stream_test

import (
	"bytes"
	"testing"

	"github.com/linerate-dev/linerate/internal/trex/stream"
)

func TestKeepsLinkUp(t *testing.T) {
	ethernet := func(behind ...byte) []byte {
		return append(bytes.Repeat([]byte{2}, 12), append(behind, make([]byte, 60)...)...)
	}
	v4 := func(protocol byte) []byte { return []byte{8, 0, 0x45, 0, 0, 46, 0, 1, 0, 0, 64, protocol} }
	v6 := func(next, first byte) []byte {
		return append(append([]byte{0x86, 0xdd, 0x60, 0, 0, 0, 0, 8, next, 255}, make([]byte, 32)...), first)
	}
	tagged := func(behind []byte) []byte { return append([]byte{0x81, 0, 0, 7}, behind...) }
	for name, c := range map[string]struct {
		behind []byte
		want   bool
	}{
		"ARP":                              {[]byte{8, 6}, true},
		"ARP behind a VLAN tag":            {tagged([]byte{8, 6}), true},
		"LLDP":                             {[]byte{0x88, 0xcc}, true},
		"spanning tree, by a length":       {[]byte{0, 38}, true},
		"IGMP":                             {v4(2), true},
		"UDP over IPv4":                    {v4(17), false},
		"ICMP":                             {v4(1), false},
		"a neighbour solicitation":         {v6(58, 135), true},
		"a neighbour advertisement":        {v6(58, 136), true},
		"one behind two VLAN tags":         {tagged(tagged(v6(58, 136))), true},
		"a listener report behind options": {v6(0, 58), true},
		"a listener report of version 2":   {v6(58, 143), true},
		"an echo request of IPv6":          {v6(58, 128), false},
		"UDP over IPv6":                    {v6(17, 135), false},
		"UDP behind options of IPv6":       {v6(0, 17), false},
		"a type that nobody here knows":    {[]byte{0x88, 0xb5}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := stream.KeepsLinkUp(ethernet(c.behind...)); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
	t.Run("a frame that ends before its type is nothing of the kind", func(t *testing.T) {
		if stream.KeepsLinkUp(make([]byte, 13)) {
			t.Error("true")
		}
	})
}
