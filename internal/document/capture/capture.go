// Package capture reads captures of frames (pcap and pcapng) and histograms of their sizes, and makes mixes of them.
// It reads one frame after the other, and keeps no more than sizes and flows, each up to a bound.
package capture

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net/netip"

	"github.com/linerate-dev/linerate/internal/document/intake"
	"github.com/linerate-dev/linerate/internal/units"
)

// Frame is a frame of a capture, as far as traffic like it needs to know.
type Frame struct {
	// Number is the frame's place in the capture, from 1, as tcpdump and Wireshark count.
	Number int
	// Size is the frame's size when it was sent, with FCS and without VLAN tags, at least Ethernet's least.
	Size units.FrameSize
	// Flow is zero where NotIP says why the frame has none.
	Flow Flow
	// NotIP is why the frame can't be sent anew: what it is, if it isn't a whole unicast packet of a known protocol.
	NotIP string
}

// Flow is what tells a frame's flow from others.
type Flow struct {
	Source, Destination         netip.Addr
	Protocol                    uint8 // of IP
	SourcePort, DestinationPort uint16
}

// The protocols of IP that traffic is made of.
const (
	ICMP   = 1
	TCP    = 6
	UDP    = 17
	ICMPv6 = 58
)

// Name is the protocol's, such as TCP.
func (f Flow) Name() string {
	switch f.Protocol {
	case ICMP, ICMPv6:
		return "ICMP"
	case TCP:
		return "TCP"
	case UDP:
		return "UDP"
	}
	return fmt.Sprintf("IP protocol %d", f.Protocol)
}

// Read reads a capture, and calls each for every frame until it returns an error.
func Read(r io.Reader, each func(Frame) error) error {
	return readRecords(r, func(number int, record record) error {
		f, err := frameOf(record.link, record.data, record.length)
		if err != nil {
			return fmt.Errorf("frame %d: %w", number, err)
		}
		f.Number = number
		return each(f)
	})
}

// headers is what stands before the IP packet in a capture of some kind of link.
type headers struct {
	bytes int
	// etherType is the offset of the packet's type, or -1 where each packet is IP.
	etherType int
	// group says that the frame was sent to a group address.
	group func([]byte) bool
}

// cookedGroup reads the type of a packet that Linux captured on any interface: 1 is broadcast, 2 multicast.
func cookedGroup(offset int) func([]byte) bool {
	return func(b []byte) bool { return b[offset] == 1 || b[offset] == 2 }
}

// The kinds of links, as tcpdump numbers them (LINKTYPE_).
const (
	linkEthernet = 1
	linkRawBSD   = 12 // what some systems write for linkRaw
	linkRaw      = 101
	linkCooked   = 113 // any interface of Linux
	linkIPv4     = 228
	linkIPv6     = 229
	linkCooked2  = 276
)

func headersOf(kind uint32) (headers, error) {
	switch kind {
	case linkEthernet:
		return headers{14, 12, func(b []byte) bool { return b[0]&1 == 1 }}, nil
	case linkCooked:
		return headers{16, 14, cookedGroup(1)}, nil
	case linkCooked2:
		return headers{20, 0, cookedGroup(10)}, nil
	case linkRaw, linkRawBSD, linkIPv4, linkIPv6:
		return headers{0, -1, func([]byte) bool { return false }}, nil
	}
	return headers{}, fmt.Errorf("captured on a link of type %d: give a capture of an Ethernet interface", kind)
}

const (
	ethernetBytes = 14
	tagBytes      = 4
)

// frameOf reads a frame of length bytes on the wire, of which data is the captured part.
func frameOf(kind uint32, data []byte, length int) (Frame, error) {
	h, err := headersOf(kind)
	if err != nil {
		return Frame{}, err
	}
	size := max(length-h.bytes, 0) + ethernetBytes + units.FCSBytes
	f := Frame{Size: units.FrameSize(max(size, int(units.MinFrameSize)))}
	if len(data) < h.bytes {
		f.NotIP = "it ends within its headers: capture more of each frame (tcpdump -s 0)"
		return f, nil
	}
	group, rest := h.group(data), data[h.bytes:]
	etherType := uint16(0)
	if h.etherType >= 0 {
		etherType = binary.BigEndian.Uint16(data[h.etherType:])
	}
	for (etherType == 0x8100 || etherType == 0x88a8) && len(rest) >= tagBytes {
		etherType, rest, size = binary.BigEndian.Uint16(rest[2:]), rest[tagBytes:], size-tagBytes
	}
	f.Size = units.FrameSize(max(size, int(units.MinFrameSize)))
	switch {
	case group:
		f.NotIP = "it goes to a group address"
	case h.etherType >= 0 && etherType != 0x0800 && etherType != 0x86dd:
		f.NotIP = fmt.Sprintf("it is neither IPv4 nor IPv6 (type %#04x)", etherType)
	default:
		f.Flow, f.NotIP = flowOf(rest)
	}
	return f, nil
}

// flowOf reads the headers of an IP packet, or says why it is none that can be sent anew.
func flowOf(packet []byte) (f Flow, fault string) {
	const cut = "it ends within its headers: capture more of each frame (tcpdump -s 0)"
	if len(packet) == 0 {
		return f, cut
	}
	var transport []byte
	switch version := packet[0] >> 4; {
	case version == 4 && len(packet) >= 20:
		header := int(packet[0]&0x0f) * 4
		if header < 20 {
			return f, "its IPv4 header is shorter than one can be"
		}
		if binary.BigEndian.Uint16(packet[6:])&0x3fff != 0 {
			return f, "it is a fragment of a packet"
		}
		f.Protocol = packet[9]
		f.Source, f.Destination = netip.AddrFrom4([4]byte(packet[12:])), netip.AddrFrom4([4]byte(packet[16:]))
		transport = packet[min(header, len(packet)):]
	case version == 6 && len(packet) >= 40:
		f.Protocol = packet[6]
		f.Source, f.Destination = netip.AddrFrom16([16]byte(packet[8:])), netip.AddrFrom16([16]byte(packet[24:]))
		transport = packet[40:]
	case version == 4 || version == 6:
		return f, cut
	default:
		return f, fmt.Sprintf("its packet is of IP version %d", version)
	}
	if f.Destination.IsMulticast() || f.Destination == netip.AddrFrom4([4]byte{255, 255, 255, 255}) {
		return Flow{}, "it goes to a group address"
	}
	switch f.Protocol {
	case TCP, UDP:
		if len(transport) < 4 {
			return Flow{}, cut
		}
		f.SourcePort, f.DestinationPort = binary.BigEndian.Uint16(transport), binary.BigEndian.Uint16(transport[2:])
	case ICMP, ICMPv6:
	default:
		return f, fmt.Sprintf("it is of IP protocol %d: TCP, UDP and ICMP are sent anew", f.Protocol)
	}
	return f, ""
}

// mostPacked is how many bytes a capture may unpack to.
const mostPacked = 256 << 20

// ReadPacked is Read of a capture that may be packed with gzip.
func ReadPacked(data []byte, each func(Frame) error) error {
	r, err := intake.Stream(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("not packed with gzip: %w", err)
	}
	return Read(io.LimitReader(r, mostPacked), each)
}
