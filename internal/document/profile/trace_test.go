package profile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/units"
)

// conversation is a frame of a capture to be made.
type conversation struct {
	source, destination         netip.Addr
	protocol                    byte
	sourcePort, destinationPort uint16
	length                      int // without FCS
}

func captureOf(frames ...conversation) []byte {
	order := binary.LittleEndian
	file := append(order.AppendUint32(nil, 0xa1b2c3d4), 2, 0, 4, 0)
	file = append(file, make([]byte, 8)...)
	file = order.AppendUint32(order.AppendUint32(file, 128), 1)
	for _, f := range frames {
		b := make([]byte, 38, 58)
		binary.BigEndian.PutUint16(b[12:], 0x0800)
		b[14], b[23] = 0x45, f.protocol
		copy(b[26:], f.source.AsSlice())
		copy(b[30:], f.destination.AsSlice())
		if f.source.Is6() {
			b = make([]byte, 58)
			binary.BigEndian.PutUint16(b[12:], 0x86dd)
			b[14], b[20] = 0x60, f.protocol
			copy(b[22:], f.source.AsSlice())
			copy(b[38:], f.destination.AsSlice())
		}
		binary.BigEndian.PutUint16(b[len(b)-4:], f.sourcePort)
		binary.BigEndian.PutUint16(b[len(b)-2:], f.destinationPort)
		file = order.AppendUint32(append(file, make([]byte, 8)...), uint32(len(b)))
		file = append(order.AppendUint32(file, uint32(max(f.length, len(b)))), b...)
	}
	return file
}

func networks(texts ...string) (prefixes []netip.Prefix) {
	for _, text := range texts {
		prefixes = append(prefixes, netip.MustParsePrefix(text))
	}
	return prefixes
}

// seen is what the test reads from a frame by itself: what the capture had, with addresses mapped.
func seen(t *testing.T, frame []byte) string {
	t.Helper()
	packet := frame[14:]
	var source, destination netip.Addr
	var protocol byte
	var segment, pseudo []byte
	switch packet[0] >> 4 {
	case 4:
		if residue(packet[:20]) != 0xffff {
			t.Fatalf("the IPv4 header's checksum is wrong: % x", packet[:20])
		}
		source, destination = netip.AddrFrom4([4]byte(packet[12:])), netip.AddrFrom4([4]byte(packet[16:]))
		protocol, segment, pseudo = packet[9], packet[20:binary.BigEndian.Uint16(packet[2:])], packet[12:20]
	case 6:
		source, destination = netip.AddrFrom16([16]byte(packet[8:])), netip.AddrFrom16([16]byte(packet[24:]))
		protocol, segment, pseudo = packet[6], packet[40:40+int(binary.BigEndian.Uint16(packet[4:]))], packet[8:40]
	}
	whole := append(bytes.Clone(pseudo), 0, protocol, byte(len(segment)>>8), byte(len(segment)))
	if protocol == protocolICMP {
		whole = nil
	}
	whole = append(whole, segment...)
	if protocol == protocolUDP && segment[6] == 0 && segment[7] == 0 && packet[0]>>4 == 4 {
		whole = nil // it has no checksum
	}
	if whole != nil && residue(whole) != 0xffff {
		t.Fatalf("the checksum of protocol %d is wrong: % x", protocol, frame)
	}
	ports := ""
	if protocol == protocolTCP || protocol == protocolUDP {
		ports = fmt.Sprintf(" %d %d", binary.BigEndian.Uint16(segment), binary.BigEndian.Uint16(segment[2:]))
	}
	return fmt.Sprintf("%d bytes %s %s %d%s", len(frame)+4, source, destination, protocol, ports)
}

// play counts what a profile's streams send in one round of the capture.
func play(t *testing.T, p Profile) map[string]int {
	t.Helper()
	counts := map[string]int{}
	for _, s := range p.Streams {
		frames, err := FirstFrames(s, int(s.Mode.Rate.Value))
		if err != nil {
			t.Fatal(err)
		}
		for _, frame := range frames {
			counts[seen(t, frame)]++
		}
		if again, err := FirstFrames(s, int(s.Mode.Rate.Value)+1); err != nil || !bytes.Equal(again[0], again[len(again)-1]) {
			t.Errorf("the next round begins with another frame: %v", err)
		}
	}
	return counts
}

// 10 000 frames of five sizes in 300 flows, TCP, UDP and ICMP, both ways: what is sent is the capture's to the frame, in
// the links' networks, with right checksums.
func TestATraceIsSentToTheFrame(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	sizes := []int{60, 124, 590, 1278, 1514}
	var frames []conversation
	want := [2]map[string]int{{}, {}}
	near, far := map[netip.Addr]int{}, map[netip.Addr]int{}
	number := func(hosts map[netip.Addr]int, a netip.Addr) int {
		if _, known := hosts[a]; !known {
			hosts[a] = len(hosts)
		}
		return hosts[a]
	}
	spoken := map[int]bool{}
	for range 10_000 {
		flow := random.IntN(150)
		f := conversation{netip.AddrFrom4([4]byte{10, 7, 0, byte(flow)}), netip.AddrFrom4([4]byte{203, 0, 113, byte(flow % 20)}),
			[]byte{protocolTCP, protocolUDP, protocolICMP}[flow%3], uint16(30_000 + flow), 443, sizes[random.IntN(len(sizes))]}
		ports := fmt.Sprintf(" %d %d", f.sourcePort, f.destinationPort)
		source, destination := number(near, f.source), number(far, f.destination)
		back := spoken[flow] && random.IntN(3) == 0
		spoken[flow] = true
		from, to := netip.AddrFrom4([4]byte{16, 0, 0, byte(source + 1)}), netip.AddrFrom4([4]byte{48, 0, 0, byte(destination + 1)})
		way := 0
		if back {
			f.source, f.destination, f.sourcePort, f.destinationPort = f.destination, f.source, f.destinationPort, f.sourcePort
			from, to, way = to, from, 1
			ports = fmt.Sprintf(" %d %d", f.sourcePort, f.destinationPort)
		}
		if f.protocol == protocolICMP {
			ports = ""
		}
		want[way][fmt.Sprintf("%d bytes %s %s %d%s", f.length+4, from, to, f.protocol, ports)]++
		frames = append(frames, f)
	}
	trace, err := ReadTrace(captureOf(frames...), false)
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for way, ends := range [][2][]netip.Prefix{{networks("16.0.0.0/24"), networks("48.0.0.0/24")},
		{networks("48.0.0.0/24"), networks("16.0.0.0/24")}} {
		p, err := trace.Build(TraceSpec{Back: way == 1, Sources: ends[0], Destinations: ends[1]})
		if err != nil {
			t.Fatal(err)
		}
		if err := CheckStreams(p.Streams); err != nil {
			t.Errorf("no server takes it: %v", err)
		}
		if mix, err := MixOf(p.Streams); err != nil || mix != p.Mix {
			t.Errorf("the mix is %v, by the streams %v, %v", p.Mix, mix, err)
		}
		if len(p.Streams) != 15 {
			t.Errorf("%d streams, want one for each of 5 sizes and 3 protocols", len(p.Streams))
		}
		for _, s := range p.Streams {
			for i, reached := range Reach(s) {
				if !ends[i][0].Overlaps(reached) || reached.Bits() < 24 {
					t.Errorf("reaches %s, outside %s", reached, ends[i][0])
				}
			}
		}
		got := play(t, p)
		for frame, n := range want[way] {
			if got[frame] != n {
				t.Fatalf("way %d: %d of %q, want %d", way, got[frame], frame, n)
			}
		}
		for _, n := range got {
			total += n
		}
	}
	if total != len(frames) {
		t.Errorf("%d frames, want %d", total, len(frames))
	}
}

func TestATraceOfBothFamilies(t *testing.T) {
	four := conversation{netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2"), protocolUDP, 1000, 53, 60}
	six := conversation{netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8::2"), protocolTCP, 1000, 443, 90}
	echo := conversation{netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8::3"), protocolICMPv6, 0, 0, 86}
	datagram := conversation{netip.MustParseAddr("2001:db8::4"), netip.MustParseAddr("2001:db8::3"), protocolUDP, 7, 8, 86}
	trace, err := ReadTrace(captureOf(four, six, six, echo, datagram), true)
	if err != nil {
		t.Fatal(err)
	}
	both := TraceSpec{Sources: networks("16.0.0.0/24", "2001:2:0:1::/64"), Destinations: networks("48.0.0.0/24", "2001:2:0:2::/64")}
	p, err := trace.Build(both)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(play(t, p)), "map["+
		"64 bytes 16.0.0.1 48.0.0.1 17 1000 53:1 "+
		"90 bytes 2001:2:0:1::1 2001:2:0:2::2 58:1 "+
		"90 bytes 2001:2:0:1::2 2001:2:0:2::2 17 7 8:1 "+
		"94 bytes 2001:2:0:1::1 2001:2:0:2::1 6 1000 443:2]"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if _, err := trace.Build(TraceSpec{Sources: networks("16.0.0.0/24"), Destinations: networks("48.0.0.0/24")}); err == nil ||
		!strings.Contains(err.Error(), "is IPv6, and the links have no such addresses") {
		t.Error(err)
	}
	both.Stamped = true
	if _, err := trace.Build(both); err != nil {
		t.Errorf("64, 90 and 94 bytes hold a stamp: %v", err)
	}
}

func TestTracesThatAreRefused(t *testing.T) {
	plain := conversation{netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2"), protocolUDP, 1000, 53, 60}
	var crowd []conversation
	for i := range 300 {
		crowd = append(crowd, conversation{netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}), plain.destination, protocolUDP, 1, 2, 60})
	}
	huge, group, gre := plain, plain, plain
	huge.length, group.destination, gre.protocol = 9_300, netip.MustParseAddr("224.0.0.1"), 47
	icmp := plain
	icmp.protocol = protocolICMP
	for name, c := range map[string]struct {
		frames []conversation
		want   string
	}{
		"a frame of a group":        {[]conversation{plain, group}, "frame 2 can't be sent anew: it goes to a group address"},
		"another protocol":          {[]conversation{plain, plain, gre}, "frame 3 can't be sent anew: it is of IP protocol 47"},
		"a joined packet":           {[]conversation{huge}, "frame 1: frame size 9304 is outside 64 to 9216"},
		"more hosts than addresses": {crowd, "frame 255: its source is the 255th host on its side, and 16.0.0.0/24 has 254 addresses"},
		"a stamp in ICMP":           {[]conversation{plain, icmp}, "frame 2: a stamp would make ICMP's checksum wrong"},
		"nothing":                   {nil, "it has no frames"},
	} {
		trace, err := ReadTrace(captureOf(c.frames...), true)
		if err == nil {
			_, err = trace.Build(TraceSpec{Sources: networks("16.0.0.0/24"), Destinations: networks("48.0.0.0/24"), Stamped: true})
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestGenomes(t *testing.T) {
	if got := fmt.Sprint(ReadGenome("aagifa")); got != "[{64 3} {1280 1} {1518 1} {9000 1}]" {
		t.Error(got)
	}
	genome, sizes := WriteGenome([]MixEntry{{64, 3}, {594, 2}, {1518, 1}, {1400, 1}}, 10)
	if got := fmt.Sprint(genome, sizes); got != "aaaAAgB[A: 594 B: 1400]" {
		t.Error(got)
	}
	if genome, _ := WriteGenome([]MixEntry{{64, 11}}, 10); genome != "" {
		t.Error(genome)
	}
}

// Families keep their proportion to the frame, beside each other.
func TestProfilesBesideEachOther(t *testing.T) {
	four, err := Build(Spec{Kind: IMIX, Flows: Flows{Count: 2, Vary: []Field{SourceAddress}}})
	if err != nil {
		t.Fatal(err)
	}
	six, err := Build(Spec{Kind: IMIX, Source: netip.MustParsePrefix("2001:2:0:1::/64"), Destination: netip.MustParsePrefix("2001:2:0:2::/64"),
		Flows: Flows{Count: 1}})
	if err != nil {
		t.Fatal(err)
	}
	p := Profile{}.Beside(four, 22).Beside(six, 3)
	mix, err := MixOf(p.Streams)
	if want := (units.Traffic{Packets: 48 * 25, Bytes: 22*17368 + 3*(17368+28*14)}); err != nil || p.Mix != want || mix.Packets*want.Bytes != mix.Bytes*want.Packets {
		t.Errorf("%v and %v, %v, want %v", p.Mix, mix, err, want)
	}
	if len(p.Streams) != 6 || p.Streams[5].ISG != 0.5 || p.Flows != 3 || p.FlowsOf != 3 {
		t.Errorf("%d streams, the last after %v µs, %d of %d flows", len(p.Streams), p.Streams[5].ISG, p.Flows, p.FlowsOf)
	}
}
