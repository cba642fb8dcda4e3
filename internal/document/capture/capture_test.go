package capture_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/capture"
)

// packet is an Ethernet frame of so many bytes without FCS, of which the first are given.
type packet struct {
	length int
	bytes  []byte
}

// udp is a datagram from port 1000 to 53.
func udp(length int) packet {
	b := append(make([]byte, 12), 0x08, 0x00, 0x45, 0, 0, 0, 0, 1, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 192, 0, 2, 9)
	return packet{length, append(b, 0x03, 0xe8, 0, 53, 0, 0, 0, 0)}
}

// The kinds of links (LINKTYPE_).
const (
	ethernet = 1
	raw      = 101
	cooked   = 113
)

// classic is a capture as pcap has it, big end first or last.
func classic(order binary.AppendByteOrder, link uint32, packets ...packet) []byte {
	b := order.AppendUint32(nil, 0xa1b2c3d4)
	b = order.AppendUint16(order.AppendUint16(b, 2), 4)
	b = append(b, make([]byte, 8)...)
	b = order.AppendUint32(order.AppendUint32(b, 65535), link)
	for _, p := range packets {
		b = order.AppendUint32(order.AppendUint32(b, 1_700_000_000), 5)
		b = order.AppendUint32(b, uint32(len(p.bytes)))
		b = append(order.AppendUint32(b, uint32(max(p.length, len(p.bytes)))), p.bytes...)
	}
	return b
}

func pcap(packets ...packet) []byte { return classic(binary.LittleEndian, ethernet, packets...) }

// block is a block of pcapng.
func block(order binary.AppendByteOrder, kind uint32, body []byte) []byte {
	body = append(body, make([]byte, (4-len(body)%4)%4)...)
	length := uint32(len(body) + 12)
	b := order.AppendUint32(order.AppendUint32(nil, kind), length)
	return order.AppendUint32(append(b, body...), length)
}

// nextGeneration is a capture as pcapng has it, of an interface of another kind before that of the frames, with a block
// of statistics behind.
func nextGeneration(order binary.AppendByteOrder, packets ...packet) []byte {
	body := order.AppendUint16(order.AppendUint16(order.AppendUint32(nil, 0x1a2b3c4d), 1), 0)
	file := block(order, 0x0a0d0d0a, append(body, bytes.Repeat([]byte{0xff}, 8)...))
	for _, link := range []uint16{raw, ethernet} {
		file = append(file, block(order, 1, order.AppendUint32(order.AppendUint16(order.AppendUint16(nil, link), 0), 0))...)
	}
	for _, p := range packets {
		body := order.AppendUint32(nil, 1) // the interface
		body = order.AppendUint32(append(body, make([]byte, 8)...), uint32(len(p.bytes)))
		body = append(order.AppendUint32(body, uint32(max(p.length, len(p.bytes)))), p.bytes...)
		file = append(file, block(order, 6, body)...)
	}
	return append(file, block(order, 5, make([]byte, 12))...)
}

func packed(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(data); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func frames(t *testing.T, data []byte) (found []capture.Frame) {
	t.Helper()
	if err := capture.ReadPacked(data, func(f capture.Frame) error {
		found = append(found, f)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return found
}

// Size and flow of a frame are the same in each format, and on each kind of link.
func TestAFrameIsReadInEachFormat(t *testing.T) {
	want := capture.Frame{Number: 1, Size: 594, Flow: capture.Flow{Source: netip.MustParseAddr("10.0.0.1"),
		Destination: netip.MustParseAddr("192.0.2.9"), Protocol: capture.UDP, SourcePort: 1000, DestinationPort: 53}}
	whole := udp(590)
	tagged := packet{594, slices.Concat(whole.bytes[:12], []byte{0x81, 0, 0, 100}, whole.bytes[12:])}
	anywhere := packet{592, slices.Concat([]byte{0, 0, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0}, whole.bytes[14:])}
	for name, data := range map[string][]byte{
		"pcap":          pcap(whole),
		"pcapng":        nextGeneration(binary.LittleEndian, whole),
		"big pcap":      classic(binary.BigEndian, ethernet, whole),
		"big pcapng":    nextGeneration(binary.BigEndian, whole),
		"packed":        packed(t, pcap(whole)),
		"with a tag":    pcap(tagged),
		"of any link":   classic(binary.LittleEndian, cooked, anywhere),
		"of a raw link": classic(binary.LittleEndian, raw, packet{576, whole.bytes[14:]}),
		"headers alone": pcap(packet{590, whole.bytes[:38]}),
	} {
		if got := frames(t, data); len(got) != 1 || got[0] != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	var stripped bytes.Buffer
	if err := capture.Strip(&stripped, bytes.NewReader(nextGeneration(binary.LittleEndian, whole))); err != nil {
		t.Fatal(err)
	}
	if got := frames(t, stripped.Bytes()); len(got) != 1 || got[0] != want {
		t.Errorf("stripped: %+v, want %+v", got, want)
	}
}

func TestFramesThatCantBeSentAnewSayWhy(t *testing.T) {
	change := func(index int, values ...byte) packet {
		p := udp(60)
		copy(p.bytes[index:], values)
		return p
	}
	for want, p := range map[string]packet{
		"it is neither IPv4 nor IPv6 (type 0x0806)":                             change(12, 0x08, 0x06),
		"it goes to a group address":                                            change(0, 1),
		"it is a fragment of a packet":                                          change(20, 0x20),
		"it is of IP protocol 47: TCP, UDP and ICMP are sent anew":              change(23, 47),
		"its IPv4 header is shorter than one can be":                            change(14, 0x44),
		"its packet is of IP version 3":                                         change(14, 0x35),
		"it ends within its headers: capture more of each frame (tcpdump -s 0)": {60, udp(60).bytes[:30]},
	} {
		if got := frames(t, pcap(p)); got[0].NotIP != want || got[0].Size != 64 {
			t.Errorf("%+v, want %q", got[0], want)
		}
	}
	if got := frames(t, pcap(change(30, 224, 0, 0, 5))); got[0].NotIP != "it goes to a group address" {
		t.Errorf("to 224.0.0.5: %+v", got[0])
	}
}

func TestASummaryOfACapture(t *testing.T) {
	other := udp(1514)
	other.bytes[29] = 2
	s, err := capture.Summarize(bytes.NewReader(pcap(udp(60), udp(60), udp(60), other,
		packet{42, append(make([]byte, 12), 0x08, 0x06)})))
	if err != nil {
		t.Fatal(err)
	}
	mix, exact := s.Mix()
	if fmt.Sprint(mix, exact, s.Flows, s.Names, s.Mean()) != "[{64 4} {1518 1}] true 2 map[UDP:4 other:1] 354.8" {
		t.Error(mix, exact, s.Flows, s.Names, s.Mean())
	}
	huge := udp(60)
	huge.length = 30_000
	if _, err := capture.Summarize(bytes.NewReader(pcap(huge))); err == nil ||
		!strings.Contains(err.Error(), "frame 1: it has 30004 bytes, of 9216 at most") {
		t.Error(err)
	}
}

func TestHistograms(t *testing.T) {
	for text, want := range map[string]string{
		"size,count\n64,36\n80-160,3\n594,5\n1400,56\n": "[{64 36} {120 3} {594 5} {1400 56}] true",
		"64 28 # small\n594;16\n\n1518\t4\n":            "[{64 7} {594 4} {1518 1}] true",
		"64,36.5%\n1518,63.5%":                          "[{64 575} {1518 1000}] false",
		"64,1000000\n1518,1":                            "[{64 1000} {1518 1}] false",
	} {
		s, err := capture.ReadHistogram(strings.NewReader(text))
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got := fmt.Sprint(s.Mix()); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"":                         "it has no frames",
		"64,1\n20,5":               "line 2: frame size 20 is outside 64 to 9216",
		"64,1\nsixty,5":            "line 2: \"sixty\" is no size in bytes",
		"64,1\n160-80,5":           "\"160-80\" is no size",
		"64,-1":                    "\"-1\" is no count",
		"64,NaN":                   "\"NaN\" is no count",
		"64":                       "\"64\" isn't a size and a count",
		strings.Repeat("x", 1<<12): "neither a capture nor a histogram",
	} {
		if _, err := capture.ReadHistogram(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %q", text, err, want)
		}
	}
}

// A mix of many sizes keeps their mean, and says that it isn't exact.
func TestManySizesBecomeSixteen(t *testing.T) {
	var lines strings.Builder
	for size := 64; size <= 1518; size++ {
		fmt.Fprintf(&lines, "%d,%d\n", size, 1+size%7)
	}
	s, err := capture.ReadHistogram(strings.NewReader(lines.String()))
	if err != nil {
		t.Fatal(err)
	}
	mix, exact := s.Mix()
	var weights, total float64
	for _, e := range mix {
		weights, total = weights+float64(e.Weight), total+float64(e.Weight)*float64(e.Size)
	}
	if off := total/weights/s.Mean() - 1; len(mix) != capture.MostEntries || exact || max(off, -off) > 0.005 {
		t.Errorf("%d sizes, exact: %v, mean %.1f of %.1f", len(mix), exact, total/weights, s.Mean())
	}
}

// Whatever a file holds, reading it ends, and takes no more memory than the file has bytes.
func FuzzRead(f *testing.F) {
	f.Add(pcap(udp(60), udp(1514)))
	f.Add(nextGeneration(binary.LittleEndian, udp(60)))
	f.Add(packed(f, classic(binary.LittleEndian, raw, udp(60))))
	boast := pcap(udp(60))
	binary.LittleEndian.PutUint32(boast[32:], 0xfffffff0) // a frame of 4 GB
	f.Add(boast)
	f.Add([]byte("64,36\n594,5\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		last := 0
		_ = capture.ReadPacked(data, func(frame capture.Frame) error {
			if frame.Number != last+1 || frame.Size < 64 || frame.NotIP == "" && !frame.Flow.Destination.IsValid() {
				t.Fatalf("frame %+v after %d", frame, last)
			}
			last = frame.Number
			return nil
		})
		if s, err := capture.ReadHistogram(bytes.NewReader(data)); err == nil {
			if mix, _ := s.Mix(); len(mix) == 0 || len(mix) > capture.MostEntries {
				t.Fatalf("a mix of %d sizes", len(mix))
			}
		}
	})
}
