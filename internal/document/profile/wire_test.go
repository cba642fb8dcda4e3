package profile

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/stream"
)

// flow is what tells flows apart.
type flow struct {
	vlan                        uint16
	source, destination         netip.Addr
	sourcePort, destinationPort uint16
}

func (f flow) String() string {
	return fmt.Sprintf("%s:%d → %s:%d (VLAN %d)", f.source, f.sourcePort, f.destination, f.destinationPort, f.vlan)
}

// dissect reads a UDP frame from the outside in, and fails the test where a length or a checksum is wrong. It
// shares nothing with the code that built the frame.
func dissect(t *testing.T, frame []byte) flow {
	t.Helper()
	var f flow
	rest := frame[12:]
	kind := binary.BigEndian.Uint16(rest)
	if kind == 0x8100 {
		f.vlan = uint16(rest[2])<<8 | uint16(rest[3])
		rest = rest[4:]
		kind = binary.BigEndian.Uint16(rest)
	}
	packet := rest[2:]
	var pseudo, udp []byte
	switch kind {
	case 0x0800:
		length := int(binary.BigEndian.Uint16(packet[2:]))
		if packet[0] != 0x45 || packet[9] != 17 || length > len(packet) {
			t.Fatalf("not an IPv4 packet with UDP of %d bytes: % x", len(packet), packet[:20])
		}
		if sum := residue(packet[:20]); sum != 0xffff {
			t.Fatalf("the IPv4 header's checksum is wrong: words add up to %#x in % x", sum, packet[:20])
		}
		f.source, f.destination = netip.AddrFrom4([4]byte(packet[12:16])), netip.AddrFrom4([4]byte(packet[16:20]))
		udp = packet[20:length]
		pseudo = append(pseudo, packet[12:20]...)
	case 0x86dd:
		length := int(binary.BigEndian.Uint16(packet[4:]))
		if packet[0] != 0x60 || packet[6] != 17 || 40+length > len(packet) {
			t.Fatalf("not an IPv6 packet with UDP of %d bytes: % x", len(packet), packet[:40])
		}
		f.source, f.destination = netip.AddrFrom16([16]byte(packet[8:24])), netip.AddrFrom16([16]byte(packet[24:40]))
		udp = packet[40 : 40+length]
		pseudo = append(pseudo, packet[8:40]...)
	default:
		t.Fatalf("EtherType %#x", kind)
	}
	if got := int(binary.BigEndian.Uint16(udp[4:])); got != len(udp) {
		t.Fatalf("UDP says %d bytes, IP %d", got, len(udp))
	}
	stated := binary.BigEndian.Uint16(udp[6:])
	pseudo = append(pseudo, 0, 17, byte(len(udp)>>8), byte(len(udp)))
	switch sum := residue(append(pseudo, udp...)); {
	case stated == 0 && kind == 0x86dd:
		t.Fatal("UDP over IPv6 without a checksum")
	case stated != 0 && sum != 0xffff:
		t.Fatalf("the UDP checksum is wrong: words add up to %#x", sum)
	}
	f.sourcePort, f.destinationPort = binary.BigEndian.Uint16(udp), binary.BigEndian.Uint16(udp[2:])
	return f
}

// residue adds bytes as RFC 1071's 16-bit words, carry by carry; over data with its right checksum that is 0xffff.
func residue(b []byte) uint16 {
	var sum uint16
	for i, v := range b {
		word := uint16(v)
		if i%2 == 0 {
			word <<= 8
		}
		before := sum
		if sum += word; sum < before {
			sum++
		}
	}
	return sum
}

// flowsOf are the flows of the first n frames.
func flowsOf(t *testing.T, s stream.Stream, n int64) []flow {
	t.Helper()
	frames, err := FirstFrames(s, int(n))
	if err != nil {
		t.Fatal(err)
	}
	flows := make([]flow, len(frames))
	for i, frame := range frames {
		flows[i] = dissect(t, frame)
	}
	return flows
}

func mustBuild(t *testing.T, spec Spec) Profile {
	t.Helper()
	p, err := Build(spec)
	if err != nil {
		t.Fatalf("%+v: %v", spec, err)
	}
	if err := CheckStreams(p.Streams); err != nil {
		t.Fatalf("%+v builds what a server would refuse: %v", spec, err)
	}
	return p
}

func netV6() netip.Prefix { return netip.MustParsePrefix("2001:2::/64") }
