package path_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure/path"
	"github.com/linerate-dev/linerate/internal/units"
)

const (
	westMAC    = "02:00:00:00:00:00"
	eastMAC    = "02:00:00:00:00:01"
	deviceWest = "02:00:00:00:dd:00"
	deviceEast = "02:00:00:00:dd:01"
)

func lane(forwarding plan.Forwarding) path.Lane {
	l := path.Lane{Generator: "g0", Receiver: "g0", Send: 0, Receive: 1, SenderMAC: westMAC, NextHopMAC: deviceWest, ReceiverMAC: eastMAC, DeviceMACAtEnd: deviceEast}
	if forwarding == plan.L2 {
		l.NextHopMAC, l.DeviceMACAtEnd = eastMAC, westMAC
	}
	return l
}

// udp4 is a template of n bytes without FCS: UDP over IPv4 behind as many VLAN tags.
func udp4(n, tags int) []byte {
	f := make([]byte, 12)
	for range tags {
		f = append(f, 0x81, 0x00, 0x00, 0x64)
	}
	f = append(f, 0x08, 0x00, 0x45, 0, 0, 0, 0, 1, 0, 0, 64, 17, 0, 0, 16, 0, 0, 1, 48, 0, 0, 1, 4, 1, 0, 12, 0, 0, 0xde, 0xad)
	f = append(f, make([]byte, max(0, n-len(f)))...)
	ip := 14 + 4*tags
	binary.BigEndian.PutUint16(f[ip+2:], uint16(len(f)-ip))
	binary.BigEndian.PutUint16(f[ip+24:], uint16(len(f)-ip-20))
	return summed(f)
}

// summed is a frame with the right checksums of its IP, UDP and TCP headers.
func summed(f []byte) []byte {
	at := 12
	for binary.BigEndian.Uint16(f[at:]) == 0x8100 {
		at += 4
	}
	ip, be := f[at+2:], binary.BigEndian
	var protocol byte
	var addresses, transport []byte
	if ip[0]>>4 == 4 {
		copy(ip[10:], []byte{0, 0})
		be.PutUint16(ip[10:], ^fold(ip[:20]))
		protocol, addresses, transport = ip[9], ip[12:20], ip[20:]
	} else {
		protocol, addresses, transport = ip[6], ip[8:40], ip[40:]
	}
	field := map[byte]int{6: 16, 17: 6}[protocol]
	if field == 0 {
		return f
	}
	copy(transport[field:], []byte{0, 0})
	be.PutUint16(transport[field:], ^fold(slices.Concat(addresses, []byte{0, protocol}, be.AppendUint16(nil, uint16(len(transport))), transport)))
	return f
}

// ipv6 is a template with this next header.
func ipv6(protocol byte, payload int) []byte {
	f := append(make([]byte, 12), 0x86, 0xdd, 0x60, 0, 0, 0, 0, byte(payload), protocol, 64)
	f = append(f, bytes.Repeat([]byte{0x20, 1, 0, 2}, 8)...)
	f = append(f, make([]byte, payload)...)
	if protocol == 17 {
		f[54+5] = byte(payload)
	}
	return summed(f)
}

func tcp4() []byte {
	f := udp4(60, 0)
	f[14+9] = 6
	f[14+20+12] = 0x50
	return summed(f)
}

// sentBy are templates as a lane's port sends them, with its MACs.
func sentBy(t *testing.T, l path.Lane, templates ...[]byte) (all [][]byte) {
	t.Helper()
	for _, template := range templates {
		frame, err := l.Addressed(template, false, false)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, frame)
	}
	return all
}

func TestMarkedFramesAreWhole(t *testing.T) {
	tests := map[string]struct {
		template []byte
		length   int
	}{
		"a 64-byte frame":        {udp4(60, 0), 60},
		"a tagged 64-byte frame": {udp4(60, 1), 62},
		"two tags":               {udp4(200, 2), 200},
		"a large frame":          {udp4(1514, 0), 1514},
		"TCP has little room":    {tcp4(), 70},
		"IPv6 and UDP":           {ipv6(17, 8), 78},
		"IPv6 and something":     {ipv6(59, 30), 84},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			original := slices.Clone(test.template)
			probes, err := path.Probes(lane(plan.L3), sentBy(t, lane(plan.L3), test.template), 7, 3)
			if err != nil {
				t.Fatal(err)
			}
			frame := probes[0].Frame
			if len(frame) != test.length || !bytes.Contains(frame, probes[0].Token[:]) {
				t.Errorf("%d bytes, want %d with the token: %x", len(frame), test.length, frame)
			}
			if !bytes.Equal(test.template, original) {
				t.Error("the template was changed")
			}
			if got := frame[:12]; !bytes.Equal(got, []byte{2, 0, 0, 0, 0xdd, 0, 2, 0, 0, 0, 0, 0}) {
				t.Errorf("addresses %x", got)
			}
			checkSums(t, frame)
		})
	}
}

// checkSums verifies lengths, TTL and checksums the way a receiver does: they add up to zero.
func checkSums(t *testing.T, frame []byte) {
	t.Helper()
	at := 12
	for binary.BigEndian.Uint16(frame[at:]) == 0x8100 {
		at += 4
	}
	ip := frame[at+2:]
	var pseudo, transport []byte
	protocol := ip[6]
	if ip[0]>>4 == 4 {
		protocol = ip[9]
		if ip[8] != 64 || fold(ip[:20]) != 0xffff {
			t.Errorf("IPv4 header: TTL %d, sum %x", ip[8], fold(ip[:20]))
		}
		pseudo, transport = ip[12:20], ip[20:binary.BigEndian.Uint16(ip[2:])]
	} else {
		if ip[7] != 64 {
			t.Errorf("hop limit %d", ip[7])
		}
		pseudo, transport = ip[8:40], ip[40:40+binary.BigEndian.Uint16(ip[4:])]
	}
	if protocol != 6 && protocol != 17 {
		return
	}
	whole := slices.Concat(pseudo, []byte{0, protocol}, binary.BigEndian.AppendUint16(nil, uint16(len(transport))), transport)
	if fold(whole) != 0xffff {
		t.Errorf("transport sum %x", fold(whole))
	}
	if protocol == 17 && int(binary.BigEndian.Uint16(transport[4:])) != len(transport) {
		t.Errorf("UDP length %d of %d", binary.BigEndian.Uint16(transport[4:]), len(transport))
	}
}

func fold(b []byte) uint16 {
	var s uint32
	for i, octet := range b {
		if i%2 == 0 {
			s += uint32(octet) << 8
		} else {
			s += uint32(octet)
		}
	}
	for s > 0xffff {
		s = s>>16 + s&0xffff
	}
	return uint16(s)
}

func TestWhatCannotBeMarkedIsRefused(t *testing.T) {
	for name, template := range map[string][]byte{"ARP": append(make([]byte, 12), 0x08, 0x06, 0, 1), "cut short": udp4(60, 0)[:20], "empty": nil, "TCP cut short": tcp4()[:40]} {
		if _, err := path.Probes(lane(plan.L3), [][]byte{template}, 1, 1); err == nil {
			t.Errorf("%s: marked", name)
		}
	}
	if _, err := (path.Lane{Generator: "g0"}).Addressed(udp4(60, 0), false, false); err == nil || !strings.Contains(err.Error(), "no Ethernet address") {
		t.Errorf("without addresses: %v", err)
	}
}

func TestNoMoreFramesThanAreWorthSending(t *testing.T) {
	probes, err := path.Probes(lane(plan.L3), path.Kinds(slices.Repeat([][]byte{udp4(60, 0)}, 20)), 1, 1)
	if err != nil || len(probes) != path.MostProbes {
		t.Errorf("%d probes, %v", len(probes), err)
	}
	tokens := map[path.Token]bool{}
	for _, p := range probes {
		tokens[p.Token] = true
	}
	if len(tokens) != len(probes) {
		t.Errorf("%d tokens of %d probes", len(tokens), len(probes))
	}
}

// routed is what an honest router makes of a frame.
func routed(f []byte) []byte {
	f = slices.Clone(f)
	copy(f, []byte{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0xdd, 1})
	f[22]--
	return mendedHeader(f)
}

// mendedHeader has the right IPv4 header checksum.
func mendedHeader(f []byte) []byte {
	copy(f[24:], []byte{0, 0})
	binary.BigEndian.PutUint16(f[24:], ^fold(f[14:34]))
	return f
}

// spoiled is what a router makes of a frame that does something to it, too, and does not mend the header.
func spoiled(change func([]byte) []byte) func([]byte) []byte {
	return func(f []byte) []byte { return change(routed(f)) }
}

func same(f []byte) []byte { return f }

func with(change func([]byte)) func([]byte) []byte {
	return func(f []byte) []byte {
		f = routed(f)
		change(f)
		return mendedHeader(f)
	}
}

func TestWhatFramesProve(t *testing.T) {
	type arrival struct {
		port int
		how  func([]byte) []byte
	}
	right := func(how func([]byte) []byte) []arrival { return []arrival{{1, how}} }
	tests := map[string]struct {
		forwarding plan.Forwarding
		arrivals   []arrival // of each frame
		lost       int       // so many of four frames don't arrive anywhere
		proven     bool
		again      bool
		says       string
	}{
		"an honest router":            {plan.L3, right(routed), 0, true, false, "4 of 4 frames on east, source MAC 02:00:00:00:dd:01, TTL 63"},
		"an honest bridge":            {plan.L2, right(same), 0, true, false, "4 of 4 frames on east, source MAC 02:00:00:00:00:00, TTL 64"},
		"an honest MAC rewriter":      {plan.MACRewrite, right(with(func(f []byte) { f[22]++ })), 0, true, false, "TTL 64"},
		"a router, not asked":         {plan.AsConfigured, right(routed), 0, true, false, "4 of 4 frames on east, source MAC 02:00:00:00:dd:01, TTL 63"},
		"a cable, not asked":          {plan.AsConfigured, right(same), 0, true, false, "source MAC 02:00:00:00:00:00, TTL 64"},
		"a looped cable, not asked":   {plan.AsConfigured, []arrival{{0, same}}, 0, false, false, "4 of 4 frames came back on west, the port that sent them"},
		"nothing arrives":             {plan.L3, nil, 0, false, true, "none of 4 frames sent on west arrived on east or anywhere else"},
		"some are missing":            {plan.L3, right(routed), 1, false, true, "3 of 4 frames sent on west arrived on east"},
		"a looped cable":              {plan.L3, []arrival{{0, same}}, 0, false, false, "4 of 4 frames came back on west, the port that sent them"},
		"a looped cable, and more":    {plan.L3, []arrival{{0, same}, {1, routed}}, 0, false, false, "came back on west"},
		"a router that sends back":    {plan.L3, []arrival{{0, with(func(f []byte) { copy(f, []byte{2, 0, 0, 0, 0, 0}) })}}, 0, false, false, "If the generator's ports are swapped"},
		"a cable past the device":     {plan.L3, right(same), 0, false, false, "they bypassed the device"},
		"past a MAC rewriter":         {plan.MACRewrite, right(same), 0, false, false, "they bypassed the device"},
		"another port":                {plan.L3, []arrival{{2, routed}}, 0, false, false, "came out at port 2 of generator g0 instead of east"},
		"twice":                       {plan.L3, []arrival{{1, routed}, {1, routed}}, 0, false, false, "more than once"},
		"two routers in the path":     {plan.L3, right(with(func(f []byte) { f[22]-- })), 0, false, false, "TTL 62 instead of 63 (L3 forwarding); check the device's mode, and what else stands in the path: if 2 routers are under test, write dut.hops: 2"},
		"a router that keeps the TTL": {plan.L3, right(with(func(f []byte) { f[22]++ })), 0, false, false, "TTL 64 instead of 63 (L3 forwarding); check the device's mode: if it replaces MACs and leaves the TTL, write dut.forwarding: MACRewrite"},
		"a router instead of bridge":  {plan.L2, right(routed), 0, false, false, "TTL 63 instead of 64 (L2 forwarding); check the device's mode: if it routes, write dut.forwarding: L3"},
		"a TTL that grows":            {plan.L3, right(with(func(f []byte) { f[22] += 2 })), 0, false, false, "TTL 65 instead of 63 (L3 forwarding); check the device's mode, and that nothing else stands in the path"},
		"another router":              {plan.L3, right(with(func(f []byte) { f[11] = 9 })), 0, false, false, "source MAC 02:00:00:00:dd:09 instead of the device's 02:00:00:00:dd:01; check which device forwards them: if it has both, as a VRRP router has, write dut.sourceMACs: [02:00:00:00:dd:09] of link east"},
		"not for us":                  {plan.L3, right(with(func(f []byte) { f[5] = 9 })), 0, false, false, "destination MAC 02:00:00:00:00:09 instead of the port's own"},
		"a padded frame, not trimmed": {plan.L3, right(spoiled(func(f []byte) []byte { return f })), 0, true, false, "TTL 63"},
		"a router that tags":          {plan.L3, right(spoiled(func(f []byte) []byte { return slices.Insert(f, 12, 0x81, 0, 0, 200) })), 0, false, false, "with VLAN 200 instead of 0 (0: untagged), which is not declared: if the device is to do so, write dut.changes: [VLAN]"},
		"a router that keeps the header's checksum": {plan.L3, right(spoiled(func(f []byte) []byte { f[24] ^= 1; return f })), 0, false, false,
			"4 of 4 frames arrived on east with a wrong IPv4 header checksum; check what the device makes of them"},
		"a flipped bit of the payload": {plan.L3, right(spoiled(func(f []byte) []byte { f[99] ^= 4; return f })), 0, false, false, "with another payload than was sent, from its byte 58 on"},
		"a flipped bit of a port":      {plan.L3, right(spoiled(func(f []byte) []byte { f[35] ^= 4; return f })), 0, false, false, "with a wrong UDP checksum"},
		"a UDP checksum left out":      {plan.L3, right(spoiled(func(f []byte) []byte { f[40], f[41] = 0, 0; return f })), 0, true, false, "TTL 63"},
		"frames cut short":             {plan.L3, right(spoiled(func(f []byte) []byte { return f[:80] })), 0, false, false, "with 66 bytes from the IP header on, instead of 106"},
		"frames grown":                 {plan.L3, right(spoiled(func(f []byte) []byte { return append(f, 1, 2, 3, 4) })), 0, false, false, "with 110 bytes from the IP header on, instead of 106"},
		"another length in the header": {plan.L3, right(spoiled(func(f []byte) []byte { f[17]--; return mendedHeader(f) })), 0, false, false, "with an IP packet of 105 bytes instead of 106"},
		"a tunnel, as it is there for": {plan.AsConfigured, right(spoiled(func(f []byte) []byte { return append(f, 1, 2, 3, 4) })), 0, true, false, "TTL 63"},
		"a bridge that spoils":         {plan.L2, right(func(f []byte) []byte { f = slices.Clone(f); f[99]++; return f }), 0, false, false, "another payload"},
		"a bridge that rewrites":       {plan.L2, right(with(func(f []byte) { f[22]++ })), 0, false, false, "instead of 02:00:00:00:00:00"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			probes, err := path.Probes(lane(test.forwarding), sentBy(t, lane(test.forwarding), slices.Repeat([][]byte{udp4(120, 0)}, 4)...), 9, 1)
			if err != nil {
				t.Fatal(err)
			}
			seen := []path.Arrival{{Generator: "g0", Port: 1, Bytes: udp4(60, 0)}} // somebody else's
			for _, p := range probes[test.lost:] {
				for _, a := range test.arrivals {
					seen = append(seen, path.Arrival{Generator: "g0", Port: a.port, Bytes: a.how(p.Frame)})
				}
			}
			check, again := path.Judge(plan.Direction{From: "west", To: "east"}, plan.DUT{Forwarding: test.forwarding}, probes, seen)
			if check.Proven != test.proven || again != test.again || !strings.Contains(check.Message, test.says) {
				t.Errorf("proven %v, again %v: %s\nwant %v, %v: …%s…", check.Proven, again, check.Message, test.proven, test.again, test.says)
			}
			if (check.Fault == nil) != check.Proven {
				t.Errorf("proven %v, for the reason %+v", check.Proven, check.Fault)
			}
			if want := len(seen) - 1; path.Marked(seen) != want {
				t.Errorf("%d marked frames, want %d", path.Marked(seen), want)
			}
		})
	}
}

// TestTwoRoutersOfOneDevice: a tunnel is two gateways, and each takes one from the TTL.
func TestTwoRoutersOfOneDevice(t *testing.T) {
	probes, err := path.Probes(lane(plan.L3), sentBy(t, lane(plan.L3), udp4(60, 0)), 9, 1)
	if err != nil {
		t.Fatal(err)
	}
	tunnel := plan.DUT{Forwarding: plan.L3, Reference: &plan.Reference{Mode: &plan.Mode{Tunnel: &plan.TunnelMode{Kind: plan.TunnelWireGuard}}}}
	for how, proven := range map[string]bool{"once": false, "twice": true} {
		frame := routed(probes[0].Frame)
		if how == "twice" {
			frame = routed(frame)
		}
		check, _ := path.Judge(plan.Direction{From: "west", To: "east"}, tunnel, probes, []path.Arrival{{Generator: "g0", Port: 1, Bytes: frame}})
		if check.Proven != proven {
			t.Errorf("routed %s: proven %v: %s", how, check.Proven, check.Message)
		}
	}
}

// TestWhatNATMakesOfFrames: one that forwards without translating, or to another host, isn't proven.
func TestWhatNATMakesOfFrames(t *testing.T) {
	nat := plan.DUT{Forwarding: plan.L3, Reference: &plan.Reference{Mode: &plan.Mode{NAT: &plan.NATMode{Inside: "west", Translations: []plan.Translation{
		{Inside: netip.MustParsePrefix("16.0.0.0/16"), Outside: netip.MustParsePrefix("198.19.0.0/16")},
	}}}}}
	address := func(at int, a string) func([]byte) {
		return func(f []byte) { copy(f[at:], netip.MustParseAddr(a).AsSlice()) }
	}
	const source, destination = 26, 30
	west, east := plan.Direction{From: "west", To: "east"}, plan.Direction{From: "east", To: "west"}
	for name, test := range map[string]struct {
		way     plan.Direction
		sent    func([]byte) // 16.0.0.1 to 48.0.0.1 but for this
		arrives func([]byte)
		says    string // empty: it is proven
	}{
		"out, translated":       {west, func([]byte) {}, address(source, "198.19.0.1"), ""},
		"out, as it was":        {west, func([]byte) {}, func([]byte) {}, "4 of 4 frames arrived on east with source 16.0.0.1 and destination 48.0.0.1 instead of 198.19.0.1 and 48.0.0.1, of a frame sent from 16.0.0.1 to 48.0.0.1"},
		"out, as another":       {west, func([]byte) {}, address(source, "198.19.0.2"), "with source 198.19.0.2"},
		"in, translated":        {east, address(destination, "198.19.3.7"), address(destination, "16.0.3.7"), ""},
		"in, as it was":         {east, address(destination, "198.19.3.7"), func([]byte) {}, "destination 198.19.3.7 instead of 16.0.0.1 and 16.0.3.7"},
		"in, from another host": {east, address(destination, "198.19.3.7"), func(f []byte) { address(destination, "16.0.3.7")(f); address(source, "16.9.9.9")(f) }, "with source 16.9.9.9"},
	} {
		t.Run(name, func(t *testing.T) {
			template := udp4(120, 0)
			test.sent(template)
			probes, err := path.Probes(lane(plan.L3), sentBy(t, lane(plan.L3), slices.Repeat([][]byte{template}, 4)...), 9, 1)
			if err != nil {
				t.Fatal(err)
			}
			var seen []path.Arrival
			for _, p := range probes {
				f := with(test.arrives)(p.Frame)
				f[40], f[41] = 0, 0 // no UDP checksum
				seen = append(seen, path.Arrival{Generator: "g0", Port: 1, Bytes: f})
			}
			check, again := path.Judge(test.way, nat, probes, seen)
			if check.Proven != (test.says == "") || again || !strings.Contains(check.Message, test.says) {
				t.Errorf("proven %v: %s", check.Proven, check.Message)
			}
		})
	}
}

func TestAnotherGeneratorsPortIsTheWrongOne(t *testing.T) {
	probes, err := path.Probes(lane(plan.L3), sentBy(t, lane(plan.L3), udp4(60, 0)), 9, 1)
	if err != nil {
		t.Fatal(err)
	}
	check, _ := path.Judge(plan.Direction{From: "west", To: "east"}, plan.DUT{Forwarding: plan.L3}, probes, []path.Arrival{{Generator: "g1", Port: 1, Bytes: routed(probes[0].Frame)}})
	if check.Proven || !strings.Contains(check.Message, "port 1 of generator g1") {
		t.Errorf("%+v", check)
	}
}

func TestALearningFrame(t *testing.T) {
	frame, err := path.Learning(westMAC, 0)
	if want := append([]byte{255, 255, 255, 255, 255, 255, 2, 0, 0, 0, 0, 0, 0x88, 0xb5}, make([]byte, 46)...); err != nil || !bytes.Equal(frame, want) {
		t.Errorf("%x, %v", frame, err)
	}
	frame, err = path.Learning(westMAC, 100)
	if want := append([]byte{255, 255, 255, 255, 255, 255, 2, 0, 0, 0, 0, 0, 0x81, 0, 0, 100, 0x88, 0xb5}, make([]byte, 42)...); err != nil || !bytes.Equal(frame, want) {
		t.Errorf("tagged: %x, %v", frame, err)
	}
}

// A router learns from who asks for its address, in each family that both have.
func TestLearningFramesOfARouter(t *testing.T) {
	prefixes := func(all ...string) (out []netip.Prefix) {
		for _, p := range all {
			out = append(out, netip.MustParsePrefix(p))
		}
		return out
	}
	for name, c := range map[string]struct {
		own, routers []netip.Prefix
		want         []string // what begins the frames after the source's address, in hexadecimal
	}{
		"IPv4":            {prefixes("198.18.0.2/24"), prefixes("198.18.0.1/24"), []string{"08060001080006040001020000000000c6120002000000000000c6120001"}},
		"both":            {prefixes("198.18.0.2/24", "2001:2::2/64"), prefixes("2001:2::1/64", "198.18.0.1/24"), []string{"08060001", "86dd6000"}},
		"another family":  {prefixes("198.18.0.2/24"), prefixes("2001:2::1/64"), nil},
		"of no addresses": {nil, prefixes("198.18.0.1/24"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			frames, err := path.LearningOfRouter(westMAC, 0, c.own, c.routers)
			if err != nil || len(frames) != len(c.want) {
				t.Fatalf("%x, %v", frames, err)
			}
			for i, frame := range frames {
				if got := hex.EncodeToString(frame[12:]); !strings.HasPrefix(got, c.want[i]) || len(frame) < 60 {
					t.Errorf("%s, want %s…", got, c.want[i])
				}
			}
		})
	}
}

// FuzzMark: any template is refused or marked so that a receiver finds the token, whatever is captured is judged
// without a fault.
func FuzzMark(f *testing.F) {
	f.Add(udp4(60, 0), udp4(60, 1))
	f.Add(ipv6(17, 8), tcp4())
	f.Fuzz(func(t *testing.T, template, captured []byte) {
		probes, err := path.Probes(lane(plan.L3), [][]byte{template}, 1, 1)
		if err != nil {
			return
		}
		if !bytes.Contains(probes[0].Frame, probes[0].Token[:]) || len(probes[0].Frame) < 60 {
			t.Errorf("%x", probes[0].Frame)
		}
		seen := []path.Arrival{{Generator: "g0", Port: 1, Bytes: append(captured, probes[0].Token[:]...)}}
		if check, _ := path.Judge(plan.Direction{}, plan.DUT{Forwarding: plan.L3}, probes, seen); check.Message == "" || check.Received != 1 {
			t.Errorf("%+v", check)
		}
	})
}

// Numbered frames are whole ones, each with a number of its own, and what is counted of them is what came on the
// right port.
func TestFramesThatComeTwice(t *testing.T) {
	for name, templates := range map[string][][]byte{"UDP": {udp4(60, 0)}, "a mix": {udp4(60, 0), udp4(1514, 1), tcp4(), ipv6(17, 8)}} {
		t.Run(name, func(t *testing.T) {
			probes, err := path.Numbered(lane(plan.L3), sentBy(t, lane(plan.L3), templates...), 1000, 9, 1)
			if err != nil || len(probes) != 1000 {
				t.Fatalf("%d frames, %v", len(probes), err)
			}
			var seen []path.Arrival
			for i, p := range probes {
				checkSums(t, p.Frame)
				if len(p.Frame) > 90 {
					t.Fatalf("frame %d has %d bytes", i, len(p.Frame))
				}
				copies := map[int]int{99: 0, 100: 2, 700: 3}
				n, special := copies[i]
				if !special {
					n = 1
				}
				for range n {
					seen = append(seen, path.Arrival{Generator: "g0", Port: 1, Bytes: routed(p.Frame)})
				}
			}
			seen = append(seen, path.Arrival{Generator: "g0", Port: 1, Bytes: udp4(60, 0)}, path.Arrival{Generator: "g0", Port: 0, Bytes: probes[5].Frame})
			if got, want := path.Repeats(probes, seen), (report.Repeats{Sent: 1000, Received: 999, Twice: 2}); got != want {
				t.Errorf("%+v, want %+v", got, want)
			}
		})
	}
	if _, err := path.Numbered(lane(plan.L3), [][]byte{{1, 2, 3}}, 1, 1, 1); err == nil || !strings.Contains(err.Error(), "like frame 1 of its streams") {
		t.Errorf("a frame that can't be numbered: %v", err)
	}
}

// A share of frames that come twice as large as the loss that is allowed shows in 95 of 100 cases.
func TestHowManyFramesAreNumbered(t *testing.T) {
	for allowed, want := range map[units.Ratio]int{0: 3000, units.One / 1_000_000: 3000, units.One / 1000: 3000, units.One / 500: 1500, units.One / 100: 600, units.One: 600} {
		if got := path.NumberedFor(allowed); got != want {
			t.Errorf("%s: %d, want %d", allowed, got, want)
		}
	}
}
