package stream

import (
	"encoding/binary"
	"slices"
)

// Ethernet types, and what stands behind an IP header.
const (
	typeIPv4  = 0x0800
	typeARP   = 0x0806
	typeVLAN  = 0x8100
	typeIPv6  = 0x86dd
	typeQinQ  = 0x88a8
	typeLLDP  = 0x88cc
	leastType = 0x600 // smaller values are a length, as in spanning tree

	protocolHopByHop = 0 // IPv6 options that each router looks at
	protocolUDP      = 17
	protocolICMPv6   = 58

	group = 1 // in a MAC's first byte, for a group or everybody
)

// LinkTypes are the Ethernet types of protocols that speak across one link, which are ARP, RARP, slow protocols
// (LACP, OAM), authentication (802.1X), LLDP, connectivity faults (CFM), and loopback tests of switches.
func LinkTypes() []uint16 { return []uint16{typeARP, 0x8035, 0x8809, 0x888e, typeLLDP, 0x8902, 0x9000} }

// RouterProtocols are the IP protocols by which routers speak to each other, which are IGMP, EIGRP, OSPF, PIM and
// VRRP.
func RouterProtocols() []byte { return []byte{2, 88, 89, 103, 112} }

// BFDPorts are the UDP ports of bidirectional forwarding detection for control, echo, several hops, and members of
// a link (RFC 5881, 5883, 7130). Its frames leave with the largest TTL, which no frame has that a router forwarded.
func BFDPorts() []uint16 { return []uint16{3784, 3785, 4784, 6784} }

// BFDTTL is the TTL, or hop limit, of BFD's frames (RFC 5881, section 5).
const BFDTTL = 255

// KeepsLinkUp says whether a frame, without FCS, is link upkeep and not traffic. Upkeep is a frame to a group or to
// everybody, as no stream sends there. It is a frame that stays on a link, such as ARP, spanning tree, LACP and the
// messages of ICMPv6 for neighbours and groups (RFC 4861, RFC 2710, RFC 3810). And it is a frame between routers,
// as of OSPF, VRRP and BFD, to one as well as to all. A device sends such frames by itself, now and then.
func KeepsLinkUp(frame []byte) bool {
	if len(frame) > 0 && frame[0]&group != 0 {
		return true
	}
	kind, offset := etherType(frame)
	switch {
	case kind < leastType || slices.Contains(LinkTypes(), kind):
		return true
	case kind == typeIPv4:
		return routersSpeak4(frame, offset)
	case kind == typeIPv6:
		return routersSpeak6(frame, offset)
	}
	return false
}

// routersSpeak4 says that the IPv4 packet that begins there is of a router to its neighbours.
func routersSpeak4(frame []byte, offset int) bool {
	if len(frame) < offset+20 {
		return false
	}
	protocol, plain := frame[offset+9], frame[offset] == 0x45
	return slices.Contains(RouterProtocols(), protocol) || protocol == protocolUDP && plain &&
		frame[offset+8] == BFDTTL &&
		isBFD(frame, offset+22)
}

// routersSpeak6 is the same of IPv6, with the messages of ICMPv6 that stay on a link.
func routersSpeak6(frame []byte, offset int) bool {
	if len(frame) <= offset+40 {
		return false
	}
	switch next, first := frame[offset+6], frame[offset+40]; next {
	case protocolHopByHop:
		return first == protocolICMPv6
	case protocolICMPv6:
		return first >= 130 && first <= 137 || first == 143
	case protocolUDP:
		return frame[offset+7] == BFDTTL && isBFD(frame, offset+42)
	default:
		return slices.Contains(RouterProtocols(), next)
	}
}

// isBFD says that the UDP destination port that stands there is one of BFD's.
func isBFD(frame []byte, offset int) bool {
	return len(frame) >= offset+2 && slices.Contains(BFDPorts(), binary.BigEndian.Uint16(frame[offset:]))
}

// decides says whether KeepsLinkUp looks at the byte of a frame that stands there.
func decides(frame []byte, offset int) bool {
	_, at := etherType(frame)
	return offset == 0 || offset >= 12 && offset < at+10 || offset >= at+22 && offset < at+24 || offset >= at+40 &&
		offset < at+44
}

// MayKeepLinkUp says whether frames of the stream are link upkeep, or may be as its program writes what says so.
func MayKeepLinkUp(s Stream) bool {
	frame := slices.Clone(s.Packet.Binary)
	if s.Flags&2 == 0 && len(frame) > 0 {
		frame[0] &^= group // the port's own next hop
	}
	if KeepsLinkUp(frame) {
		return true
	}
	_, at := etherType(frame)
	for _, i := range s.VM.Instructions {
		if i.Type != "write_flow_var" && i.Type != "write_mask_flow_var" {
			continue
		}
		for offset := i.PacketOffset; offset < i.PacketOffset+s.VM.width(i); offset++ {
			port := offset >= at+22 && offset < at+24 || offset >= at+42 && offset < at+44
			ttl := len(frame) > at+8 && (frame[at+8] == BFDTTL || frame[at+7] == BFDTTL)
			if decides(frame, offset) && (!port || ttl) {
				return true
			}
		}
	}
	return false
}

// width is how many bytes an instruction writes.
func (vm VM) width(i Instruction) int {
	if i.Type == "write_mask_flow_var" {
		return i.CastSize
	}
	for _, v := range vm.Instructions {
		switch {
		case v.Type == "tuple_flow_var" && i.Name == v.Name+".ip":
			return 4
		case v.Type == "tuple_flow_var" && i.Name == v.Name+".port":
			return 2
		case v.Name == i.Name && v.Size > 0:
			return v.Size
		}
	}
	return 0
}

// etherType is the type behind VLAN tags, and where its payload begins. For a frame that ends before it, it is the
// largest type.
func etherType(frame []byte) (kind uint16, offset int) {
	for offset = 12; offset+2 <= len(frame); offset += 4 {
		if kind = binary.BigEndian.Uint16(frame[offset:]); kind != typeVLAN && kind != typeQinQ {
			return kind, offset + 2
		}
	}
	return 0xffff, len(frame)
}
