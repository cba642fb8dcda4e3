package profile

import (
	"encoding/binary"
	"fmt"
	"net/netip"

	"github.com/linerate-dev/linerate/internal/units"
)

// What headers are made of.
const (
	maxVLAN = 4094 // 4095 is reserved (IEEE 802.1Q)

	ethernetBytes = 14
	tagBytes      = 4
	ipv4Bytes     = 20
	ipv6Bytes     = 40
	udpBytes      = 8

	etherIPv4 = 0x0800
	etherIPv6 = 0x86dd
	etherVLAN = 0x8100
	etherQinQ = 0x88a8

	protocolICMP   = 1
	protocolTCP    = 6
	protocolUDP    = 17
	protocolICMPv6 = 58

	fill = 'x' // of the payload, as TRex fills it
)

// form is the form of a profile's frames, which is Ethernet, perhaps a VLAN tag, IPv4 or IPv6, UDP, payload.
// Offsets count from the frame's first byte.
type form struct {
	ipv6        bool
	vlan        uint16
	source      netip.Addr // any address of the network, as flows bring the last four bytes
	destination netip.Addr
}

func (s Spec) form() form {
	return form{ipv6: s.Source.Addr().Is6(), vlan: s.VLAN, source: s.Source.Masked().Addr(),
		destination: s.Destination.Masked().Addr()}
}

// ip is the offset of the IP header.
func (f form) ip() int {
	if f.vlan != 0 {
		return ethernetBytes + tagBytes
	}
	return ethernetBytes
}

// udp is the offset of the UDP header.
func (f form) udp() int {
	if f.ipv6 {
		return f.ip() + ipv6Bytes
	}
	return f.ip() + ipv4Bytes
}

// payload is the offset of the payload.
func (f form) payload() int { return f.udp() + udpBytes }

// offset is where a field stands. Addresses vary in their last four bytes.
func (f form) offset(field Field) int {
	switch field {
	case SourceAddress:
		if f.ipv6 {
			return f.ip() + 20
		}
		return f.ip() + 12
	case DestinationAddress:
		if f.ipv6 {
			return f.ip() + 36
		}
		return f.ip() + 16
	case SourcePort:
		return f.udp()
	case DestinationPort:
	}
	return f.udp() + 2
}

// holds refuses a size too small for the headers and so many bytes of payload. The smallest IPv4 frame of 64 bytes
// leaves 18 bytes of payload (14 with a tag). In IPv6 the headers alone are 66 bytes with FCS (70 with a tag).
func (f form) holds(size units.FrameSize, payload int) error {
	smallest := units.FrameSize(f.payload() + payload + units.FCSBytes)
	if size >= smallest {
		return nil
	}
	version, tag, balance := "IPv4", "", ""
	if f.ipv6 {
		version = "IPv6"
	}
	if f.vlan != 0 {
		tag = " with a VLAN tag"
	}
	if payload > 0 {
		balance = fmt.Sprintf(" and %d bytes that keep its checksum right while fields vary", payload)
	}
	return fmt.Errorf("frame size %d can't hold UDP over %s%s%s: use at least %d", size, version, tag, balance,
		smallest)
}

// stampBytes is how much payload a stamp takes.
const stampBytes = 16

// stampable refuses a size that leaves no room for a stamp.
func (f form) stampable(size units.FrameSize) error {
	if smallest := units.FrameSize(f.payload() + stampBytes + units.FCSBytes); size < smallest {
		return fmt.Errorf("frames of %d bytes have %d bytes of payload, and a stamp takes %d (traffic.stamps): use at least %d bytes, or stamps: None",
			size, max(int(size)-units.FCSBytes-f.payload(), 0), stampBytes, smallest)
	}
	return nil
}

// frame makes the template without FCS, which is the first flow's frame, complete with checksums.
func (f form) frame(size units.FrameSize, flows flowSet) []byte {
	b := make([]byte, int(size)-units.FCSBytes)
	copy(b, []byte{0, 0, 0, 1, 0, 0, 0, 0, 0, 2, 0, 0}) // overwritten by the port's own addresses
	binary.BigEndian.PutUint16(b[f.ip()-2:], f.etherType())
	if f.vlan != 0 {
		binary.BigEndian.PutUint16(b[12:], etherVLAN)
		binary.BigEndian.PutUint16(b[14:], f.vlan)
	}
	for i := f.payload(); i < len(b); i++ {
		b[i] = fill
	}
	f.putIP(b[f.ip():])
	binary.BigEndian.PutUint16(b[f.udp()+4:], uint16(len(b)-f.udp()))
	flows.putFirst(b)
	if f.ipv6 {
		fixTransport(b, f.ip(), f.udp(), protocolUDP)
	} else {
		fixIPv4Header(b[f.ip():])
	}
	return b
}

func (f form) etherType() uint16 {
	if f.ipv6 {
		return etherIPv6
	}
	return etherIPv4
}

// putIP writes an IP header whose packet fills b, without its checksum.
func (f form) putIP(b []byte) {
	if f.ipv6 {
		b[0] = 6 << 4
		binary.BigEndian.PutUint16(b[4:], uint16(len(b)-ipv6Bytes))
		b[6], b[7] = protocolUDP, 64
		copy(b[8:], f.source.AsSlice())
		copy(b[24:], f.destination.AsSlice())
		return
	}
	b[0] = 4<<4 | ipv4Bytes/4
	binary.BigEndian.PutUint16(b[2:], uint16(len(b)))
	b[5] = 1 // identification 1
	b[8], b[9] = 64, protocolUDP
	copy(b[12:], f.source.AsSlice())
	copy(b[16:], f.destination.AsSlice())
}

// vlanOf is the frame's VLAN id, or 0 for untagged.
func vlanOf(frame []byte) uint16 {
	if len(frame) < ethernetBytes+tagBytes || binary.BigEndian.Uint16(frame[12:]) != etherVLAN {
		return 0
	}
	return binary.BigEndian.Uint16(frame[14:]) & 0x0fff
}
