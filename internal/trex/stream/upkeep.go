package stream

import "encoding/binary"

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
	protocolIGMP     = 2
	protocolICMPv6   = 58
)

// KeepsLinkUp says whether a frame, without FCS, is link upkeep and not traffic: ARP, LLDP, spanning tree, IGMP, and the messages of ICMPv6 that stay on a link (RFC 4861, RFC 2710, RFC 3810:
// routers, neighbours, redirects, multicast listeners). No router forwards such frames, and a device sends them by itself, now and then.
func KeepsLinkUp(frame []byte) bool {
	kind, at := etherType(frame)
	switch {
	case kind == typeARP || kind == typeLLDP || kind < leastType:
		return true
	case kind == typeIPv4 && len(frame) >= at+20:
		return frame[at+9] == protocolIGMP
	case kind == typeIPv6 && len(frame) > at+40:
		next, first := frame[at+6], frame[at+40]
		return next == protocolHopByHop && first == protocolICMPv6 || next == protocolICMPv6 && (first >= 130 && first <= 137 || first == 143)
	}
	return false
}

// etherType is the type behind VLAN tags, and where its payload begins; for a frame that ends before it, the largest type.
func etherType(frame []byte) (kind uint16, at int) {
	for at = 12; at+2 <= len(frame); at += 4 {
		if kind = binary.BigEndian.Uint16(frame[at:]); kind != typeVLAN && kind != typeQinQ {
			return kind, at + 2
		}
	}
	return 0xffff, len(frame)
}
