package path

import (
	"encoding/binary"
	"net/netip"
)

// AskedFor is the address that a captured ARP request (RFC 826) or neighbour solicitation (RFC 4861) asks for. It
// is the zero address where the frame is neither.
func AskedFor(frame []byte) netip.Addr {
	const arp, request, solicitation = 0x0806, 1, 135
	if l, err := layersOf(frame); err == nil {
		if target := l.transport + 8; l.version == 6 && l.protocol == protocolICMPv6 && len(frame) >= target+16 &&
			frame[l.transport] == solicitation {
			a, _ := netip.AddrFromSlice(frame[target : target+16])
			return a
		}
		return netip.Addr{}
	}
	offset := 12
	for len(frame) >= offset+4 && (binary.BigEndian.Uint16(frame[offset:]) == 0x8100 ||
		binary.BigEndian.Uint16(frame[offset:]) == 0x88a8) {
		offset += 4
	}
	const packet = 28 // bytes
	if len(frame) < offset+2+packet || binary.BigEndian.Uint16(frame[offset:]) != arp ||
		binary.BigEndian.Uint16(frame[offset+8:]) != request {
		return netip.Addr{}
	}
	a, _ := netip.AddrFromSlice(frame[offset+2+24 : offset+2+packet])
	return a
}
