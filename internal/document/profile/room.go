package profile

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// room is the values that a field can take, which are capacity of them from first on.
type room struct {
	field    Field
	first    uint64
	capacity int64
	place    string
}

// rooms are all fields in their order, with the values they can take.
func (s Spec) rooms() []room {
	return []room{
		addressRoom(SourceAddress, s.Source), addressRoom(DestinationAddress, s.Destination),
		s.portRoom(SourcePort, s.SourcePort), s.portRoom(DestinationPort, s.DestinationPort),
	}
}

// addressRoom is a network's host addresses by their last four bytes. It leaves out the first and the last address
// of IPv4 networks (network and broadcast) but for /31 (RFC 3021) and /32, the first of IPv6 networks (the routers'
// anycast address, RFC 4291) but for /127 and /128, and what is beyond the last four bytes.
func addressRoom(field Field, network netip.Prefix) room {
	network = network.Masked()
	bytes := network.Addr().AsSlice()
	base := uint64(binary.BigEndian.Uint32(bytes[len(bytes)-4:]))
	hostBits := min(len(bytes)*8-network.Bits(), 32)
	r := room{field: field, first: base, capacity: 1 << hostBits, place: network.String()}
	if hostBits < 2 {
		return r
	}
	r.first++
	r.capacity--
	if network.Addr().Is4() {
		r.capacity--
	}
	return r
}

// portRoom is the ports from the first flow's on.
func (s Spec) portRoom(field Field, first uint16) room {
	if first == 0 {
		first = 53
		if slices.Contains(s.Flows.Vary, field) {
			first = 1024
		}
	}
	return room{field: field, first: uint64(first), capacity: 1<<16 - int64(first), place: fmt.Sprintf("%d-65535",
		first)}
}

func fields() []Field { return []Field{SourceAddress, DestinationAddress, SourcePort, DestinationPort} }

func isAddress(f Field) bool { return f == SourceAddress || f == DestinationAddress }

func fieldSize(f Field) int {
	if isAddress(f) {
		return 4
	}
	return 2
}

// variableName is the field's name in the field engine.
func variableName(f Field) string {
	switch f {
	case SourceAddress:
		return "src"
	case DestinationAddress:
		return "dst"
	case SourcePort:
		return "sport"
	case DestinationPort:
	}
	return "dport"
}

func join(fields []Field) string {
	words := make([]string, len(fields))
	for i, f := range fields {
		words[i] = string(f)
	}
	return strings.Join(words, ", ")
}
