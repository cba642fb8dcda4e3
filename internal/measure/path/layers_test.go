package path_test

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/measure/path"
)

// errorOf is an ICMP or ICMPv6 error that a router sends of a frame, with so many bytes of it quoted behind its IP
// header; the router has lowered the quoted TTL.
func errorOf(kind, code byte, rest []byte, quoted int) func([]byte) []byte {
	return func(sent []byte) []byte {
		ip := slices.Clone(sent[14:])
		header, protocol, from := 20, byte(1), netip.MustParseAddr("198.18.0.1")
		if ip[0]>>4 == 6 {
			header, protocol, from = 40, 58, netip.MustParseAddr("2001:2::1")
		}
		message := slices.Concat([]byte{kind, code, 0, 0}, rest, ip[:min(len(ip), header+quoted)])
		f := slices.Clone(sent[:14+header])
		copy(f, slices.Concat(sent[6:12], sent[:6]))
		if header == 20 {
			message[8+8]--
			binary.BigEndian.PutUint16(f[16:], uint16(header+len(message)))
			f[14], f[23] = 0x45, protocol
			copy(f[26:], slices.Concat(from.AsSlice(), ip[12:16]))
		} else {
			message[8+7]--
			binary.BigEndian.PutUint16(f[18:], uint16(len(message)))
			f[20] = protocol
			copy(f[22:], slices.Concat(from.AsSlice(), ip[8:24]))
		}
		return append(f, message...)
	}
}

// TestARouterSaysWhyItDoesNotForward: what comes back on the port that sent are errors that quote the frame, and
// not a looped cable.
func TestARouterSaysWhyItDoesNotForward(t *testing.T) {
	none := []byte{0, 0, 0, 0}
	v6 := ipv6(17, 60)
	for name, c := range map[string]struct {
		template []byte
		answer   func([]byte) []byte
		again    bool // it may mend itself
		says     string
	}{
		"no route":                    {udp4(60, 0), errorOf(3, 0, none, 500), true, `0 of 4 frames sent on west arrived on east; 198.18.0.1 answered 4 with ICMP "network unreachable": it has no route to 48.0.0.1; give it one that leads to link east`},
		"no route, shortest quote":    {udp4(60, 0), errorOf(3, 0, none, 8), true, "it has no route to 48.0.0.1"},
		"no neighbour":                {udp4(60, 0), errorOf(3, 1, none, 28), true, `"host unreachable": it has a route to 48.0.0.1, and nobody answers for the next hop`},
		"a filter":                    {udp4(60, 0), errorOf(3, 13, none, 28), false, `"administratively prohibited": a filter or a route of it forbids frames to 48.0.0.1`},
		"a filter that rejects":       {udp4(60, 0), errorOf(3, 3, none, 28), false, `"port unreachable": 48.0.0.1 is an address of its own, or a filter rejects the frames`},
		"a smaller MTU":               {udp4(1514, 0), errorOf(3, 4, []byte{0, 0, 5, 0}, 500), false, `"fragmentation needed": an IP packet of 1500 bytes doesn't fit, its MTU towards east takes at most 1280 bytes`},
		"an MTU that it doesn't tell": {udp4(1514, 0), errorOf(3, 4, none, 8), false, "its MTU towards east takes less"},
		"a TTL that ends":             {udp4(60, 0), errorOf(11, 0, none, 28), false, `"time exceeded": the frames leave with TTL 64, which ends there`},
		"a route back":                {udp4(60, 0), errorOf(5, 1, []byte{198, 18, 0, 2}, 28), false, "its route to 48.0.0.1 leads by 198.18.0.2, back to link west"},
		"IPv6: no route":              {v6, errorOf(1, 0, none, 500), true, `2001:2::1 answered 4 with ICMPv6 "no route to destination"`},
		"IPv6: a filter":              {v6, errorOf(1, 1, none, 500), false, `"administratively prohibited"`},
		"IPv6: no neighbour":          {v6, errorOf(1, 3, none, 500), true, `"address unreachable"`},
		"IPv6: a smaller MTU":         {v6, errorOf(2, 0, []byte{0, 0, 5, 0}, 500), false, `"packet too big": an IP packet of 100 bytes doesn't fit, its MTU towards east takes at most 1280 bytes`},
		"IPv6: a hop limit that ends": {v6, errorOf(3, 0, none, 500), false, "the frames leave with TTL 64"},
	} {
		t.Run(name, func(t *testing.T) {
			probes, err := path.Probes(lane(plan.L3), sentBy(t, lane(plan.L3), slices.Repeat([][]byte{c.template}, 4)...), 9, 1)
			if err != nil {
				t.Fatal(err)
			}
			var seen []path.Arrival
			for _, p := range probes {
				seen = append(seen, path.Arrival{Generator: "g0", Port: 0, Bytes: c.answer(p.Frame)})
			}
			check, again := path.Judge(plan.Direction{From: "west", To: "east"}, plan.DUT{Forwarding: plan.L3}, probes, seen)
			if check.Proven || again != c.again || !strings.Contains(check.Message, c.says) {
				t.Errorf("again %v: %s\nwant %v: …%s…", again, check.Message, c.again, c.says)
			}
		})
	}
}

// TestErrorsAboutOthersFramesSayNothing: an error that quotes another packet says nothing about this one.
func TestErrorsAboutOthersFramesSayNothing(t *testing.T) {
	probes, err := path.Probes(lane(plan.L3), sentBy(t, lane(plan.L3), udp4(60, 0)), 9, 1)
	if err != nil {
		t.Fatal(err)
	}
	other := slices.Clone(probes[0].Frame)
	other[33] = 77 // the destination's last byte
	check, _ := path.Judge(plan.Direction{From: "west", To: "east"}, plan.DUT{Forwarding: plan.L3}, probes,
		[]path.Arrival{{Generator: "g0", Port: 0, Bytes: errorOf(3, 0, []byte{0, 0, 0, 0}, 8)(other)}, {Generator: "g0", Port: 1, Bytes: routed(probes[0].Frame)}})
	if !check.Proven {
		t.Error(check.Message)
	}
}

// TestThePathIsProvenWithTheStreamsOwnHeaders: what a stream keeps for itself is what is sent, and what explains
// why nothing arrives.
func TestThePathIsProvenWithTheStreamsOwnHeaders(t *testing.T) {
	own := udp4(60, 0)
	copy(own, []byte{2, 0, 0, 0, 0xee, 1, 2, 0, 0, 0, 0xee, 2})
	short, damaged := udp4(60, 0), udp4(60, 0)
	short[22] = 1
	damaged[24] ^= 1
	ttl1 := summed(short)
	for name, c := range map[string]struct {
		template            []byte
		source, destination bool
		arrives             func([]byte) []byte // nil: nothing
		says                string
	}{
		"its own destination":     {own, true, true, nil, "streams[3] sends to its own destination MAC 02:00:00:00:ee:01 (flags 2 or 3), and the next hop on link west is 02:00:00:00:dd:00"},
		"its own source":          {own, true, false, routed, "4 of 4 frames on east, source MAC 02:00:00:00:dd:01, TTL 63"},
		"its own source, a cable": {own, true, false, same, "they bypassed the device"},
		"a TTL of 1":              {ttl1, false, false, nil, "a stream's frames leave with TTL 1, and the device takes 1"},
		"a damaged header":        {damaged, false, false, nil, "a stream's frames have a wrong IPv4 header checksum, which routers drop"},
	} {
		t.Run(name, func(t *testing.T) {
			template, err := lane(plan.L3).Addressed(c.template, c.source, c.destination)
			if err != nil {
				t.Fatal(err)
			}
			own := lane(plan.L3)
			own.OwnDestinations = map[engine.MAC]int{"02:00:00:00:ee:01": 3}
			probes, err := path.Probes(own, slices.Repeat([][]byte{template}, 4), 9, 1)
			if err != nil {
				t.Fatal(err)
			}
			var seen []path.Arrival
			for _, p := range probes {
				if !bytes.Equal(p.Frame[:40], template[:40]) {
					t.Fatalf("%x is sent, and the stream sends %x", p.Frame[:42], template[:42])
				}
				if c.arrives != nil {
					seen = append(seen, path.Arrival{Generator: "g0", Port: 1, Bytes: c.arrives(p.Frame)})
				}
			}
			check, _ := path.Judge(plan.Direction{From: "west", To: "east"}, plan.DUT{Forwarding: plan.L3}, probes, seen)
			if !strings.Contains(check.Message, c.says) {
				t.Errorf("%s\nwant …%s…", check.Message, c.says)
			}
		})
	}
}

// TestChecksumsStayAsRightAsTheyWere: a mark changes the payload, and with it the checksum of a packet that has
// one; no error of a stream's frames is mended by it.
func TestChecksumsStayAsRightAsTheyWere(t *testing.T) {
	left, wrong := udp4(120, 0), udp4(120, 0)
	left[40], left[41] = 0, 0
	wrong[41]++
	grown := slices.Clone(udp4(60, 0)[:42])
	grown[17], grown[39] = 28, 8
	summed(grown)
	for name, c := range map[string]struct {
		template []byte
		off      uint16 // by how much the sum is off
		none     bool
	}{"right": {udp4(120, 0), 0, false}, "left out": {left, 0, true}, "wrong": {wrong, 1, false}, "right, without a payload": {grown, 0, false}} {
		probes, err := path.Probes(lane(plan.L3), [][]byte{c.template}, 9, 1)
		if err != nil {
			t.Fatal(err)
		}
		f := probes[0].Frame
		if fold(f[14:34]) != 0xffff {
			t.Errorf("%s: a wrong header", name)
		}
		if none := f[40] == 0 && f[41] == 0; none != c.none {
			t.Errorf("%s: no checksum: %v", name, none)
		}
		end := 14 + binary.BigEndian.Uint16(f[16:])
		sum := fold(slices.Concat(f[26:34], []byte{0, 17}, binary.BigEndian.AppendUint16(nil, end-34), f[34:end]))
		if want := 0xffff + uint32(c.off); !c.none && uint32(sum) != want%0xffff && uint32(sum) != want {
			t.Errorf("%s: the sum is %x, off by %x wanted", name, sum, c.off)
		}
	}
}

// TestADeviceOfSeveralMACsAndHops: a VRRP router answers with one MAC and sends from another; two routers take two
// from the TTL.
func TestADeviceOfSeveralMACsAndHops(t *testing.T) {
	l := lane(plan.L3)
	l.OtherMACsAtEnd = []engine.MAC{"02:00:00:00:dd:09"}
	probes, err := path.Probes(l, sentBy(t, l, udp4(60, 0)), 9, 1)
	if err != nil {
		t.Fatal(err)
	}
	from := func(mac byte, ttl byte) []path.Arrival {
		return []path.Arrival{{Generator: "g0", Port: 1, Bytes: with(func(f []byte) { f[11], f[22] = mac, ttl })(probes[0].Frame)}}
	}
	for name, c := range map[string]struct {
		seen   []path.Arrival
		hops   int
		proven bool
	}{
		"by the gateway's MAC": {from(1, 63), 0, true}, "by the router's own": {from(9, 63), 0, true}, "by a third": {from(8, 63), 0, false},
		"two hops": {from(1, 62), 2, true}, "one of two": {from(1, 63), 2, false},
	} {
		check, _ := path.Judge(plan.Direction{From: "west", To: "east"}, plan.DUT{Forwarding: plan.L3, Hops: c.hops}, probes, c.seen)
		if check.Proven != c.proven {
			t.Errorf("%s: proven %v: %s", name, check.Proven, check.Message)
		}
	}
}

// TestADeviceThatFragments: the first fragment carries the mark, and tells the MTU.
func TestADeviceThatFragments(t *testing.T) {
	probes, err := path.Probes(lane(plan.L3), sentBy(t, lane(plan.L3), udp4(1514, 0)), 9, 1)
	if err != nil {
		t.Fatal(err)
	}
	piece := with(func(f []byte) { f[20] = 0x20; binary.BigEndian.PutUint16(f[16:], 1276) })(probes[0].Frame)[:14+1276]
	check, _ := path.Judge(plan.Direction{From: "west", To: "east"}, plan.DUT{Forwarding: plan.L3}, probes, []path.Arrival{{Generator: "g0", Port: 1, Bytes: piece}})
	if want := "the device fragments: 1 of 1 frames with IP packets of 1500 bytes arrived on east in pieces of 1276, so its MTU towards east is 1276 to 1283"; check.Proven || !strings.Contains(check.Message, want) {
		t.Error(check.Message)
	}
}

// TestEachKindOfFrameIsProven: one of each MAC and TTL, however many streams have the same before it.
func TestEachKindOfFrameIsProven(t *testing.T) {
	templates := slices.Repeat([][]byte{udp4(60, 0)}, 20)
	last := udp4(60, 0)
	last[22] = 9
	if got := path.Kinds(append(templates, last)); len(got) != path.MostProbes || !slices.ContainsFunc(got, func(f []byte) bool { return f[22] == 9 }) {
		t.Errorf("%d frames", len(got))
	}
}

// TestTheDeviceAsksOnTheWrongPort: a device that asks for one link's generator on another link is wired there.
func TestTheDeviceAsksOnTheWrongPort(t *testing.T) {
	east := netip.MustParseAddr("198.18.1.2")
	ask := func(target netip.Addr, tag bool) []byte {
		f := append([]byte{255, 255, 255, 255, 255, 255, 2, 0, 0, 0, 0xdd, 0}, map[bool][]byte{true: {0x81, 0, 0, 7}}[tag]...)
		if target.Is4() {
			f = append(f, 8, 6, 0, 1, 8, 0, 6, 4, 0, 1, 2, 0, 0, 0, 0xdd, 0, 198, 18, 1, 1, 0, 0, 0, 0, 0, 0)
			return append(f, target.AsSlice()...)
		}
		f = append(f, 0x86, 0xdd, 0x60, 0, 0, 0, 0, 32, 58, 255)
		f = append(f, make([]byte, 32)...)
		f = append(f, 135, 0, 0, 0, 0, 0, 0, 0)
		return append(f, target.AsSlice()...)
	}
	v6 := netip.MustParseAddr("2001:2:0:1::2")
	for name, c := range map[string]struct {
		frame []byte
		want  netip.Addr
	}{
		"ARP": {ask(east, false), east}, "ARP with a tag": {ask(east, true), east}, "a solicitation": {ask(v6, false), v6}, "UDP": {udp4(60, 0), netip.Addr{}}, "cut short": {ask(east, false)[:40], netip.Addr{}},
	} {
		if got := path.AskedFor(c.frame); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
