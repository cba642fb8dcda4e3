package stream_test

import (
	"bytes"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/stream"
)

func TestKeepsLinkUp(t *testing.T) {
	ethernet := func(behind ...byte) []byte {
		return append(bytes.Repeat([]byte{2}, 12), append(behind, make([]byte, 60)...)...)
	}
	v4 := func(protocol byte) []byte { return []byte{8, 0, 0x45, 0, 0, 46, 0, 1, 0, 0, 64, protocol} }
	v6 := func(next, first byte) []byte {
		return append(append([]byte{0x86, 0xdd, 0x60, 0, 0, 0, 0, 8, next, 255}, make([]byte, 32)...), first)
	}
	udp := func(ttl byte, port uint16) []byte {
		f := append([]byte{8, 0, 0x45, 0, 0, 46, 0, 1, 0, 0, ttl, 17}, make([]byte, 10)...)
		return append(append(f, 0xc0, 1), byte(port>>8), byte(port))
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
		"LACP to a bridge's own address":   {[]byte{0x88, 0x09}, true},
		"802.1X":                           {[]byte{0x88, 0x8e}, true},
		"OSPF to one neighbour":            {v4(89), true},
		"VRRP to one neighbour":            {v4(112), true},
		"OSPF of IPv6":                     {v6(89, 3), true},
		"BFD":                              {udp(255, 3784), true},
		"BFD of several hops":              {udp(255, 4784), true},
		"BFD's port, routed":               {udp(254, 3784), false},
		"another port":                     {udp(255, 3783), false},
		"BFD of IPv6":                      {append(v6(17, 0xc0)[:2+7], append(append([]byte{255}, make([]byte, 32)...), 0xc0, 1, 0x0e, 0xc8)...), true},
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

// TestWhatGoesToAGroupIsNoTraffic: whatever it is, unless a stream sends there.
func TestWhatGoesToAGroupIsNoTraffic(t *testing.T) {
	for name, c := range map[string]struct {
		to   byte
		want bool
	}{"a group": {1, true}, "everybody": {255, true}, "a neighbour": {2, false}} {
		frame := append([]byte{c.to}, bytes.Repeat([]byte{2}, 59)...)
		copy(frame[12:], []byte{8, 0, 0x45, 0, 0, 46, 0, 1, 0, 0, 64, 17})
		if got := stream.KeepsLinkUp(frame); got != c.want {
			t.Errorf("to %s: %v", name, got)
		}
	}
}

// TestStreamsThatLookLikeUpkeep: a stream's own frames aren't taken for a device's, by what its template or its
// program writes.
func TestStreamsThatLookLikeUpkeep(t *testing.T) {
	of := func(flags int, to byte, ttl byte, writes ...int) stream.Stream {
		frame := append([]byte{to}, bytes.Repeat([]byte{2}, 59)...)
		copy(frame[12:], []byte{8, 0, 0x45, 0, 0, 46, 0, 1, 0, 0, ttl, 17})
		s := stream.Stream{Flags: flags, Packet: stream.Packet{Binary: frame}}
		for _, offset := range writes {
			s.VM.Instructions = append(s.VM.Instructions, stream.Instruction{Type: "flow_var", Name: "v", Size: 2}, stream.Instruction{Type: "write_flow_var", Name: "v", PacketOffset: offset})
		}
		return s
	}
	for name, c := range map[string]struct {
		stream stream.Stream
		want   bool
	}{
		"addresses and ports vary":           {of(0, 2, 64, 26, 28, 30, 32, 34, 36), false},
		"a template's group, which is unset": {of(0, 1, 64), false},
		"its own group":                      {of(2, 1, 64), true},
		"a program that writes destinations": {of(2, 2, 64, 0), true},
		"a program that writes the protocol": {of(0, 2, 64, 22), true},
		"a program that writes the TTL":      {of(0, 2, 64, 21), true},
		"ports vary at the largest TTL":      {of(0, 2, 255, 36), true},
		"source ports at the largest TTL":    {of(0, 2, 255, 34), false},
	} {
		if got := stream.MayKeepLinkUp(c.stream); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
