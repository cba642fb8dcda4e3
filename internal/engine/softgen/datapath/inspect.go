package datapath

import (
	"encoding/binary"

	"github.com/linerate-dev/linerate/internal/document/stream"
)

// class is the class of a received frame.
type class int

const (
	ordinary     class = iota
	flowFrame          // carries a flow's mark
	latencyFrame       // carries a latency stream's mark
	neighbour          // ARP, or an IPv6 neighbour solicitation
)

// inspected is the result of inspect. id is a flowFrame's flow id.
type inspected struct {
	class
	id uint32
	// stray marks link upkeep such as ARP, which no stream sent. A frame with a mark belongs to a stream, whatever
	// it looks like.
	stray bool
}

// inspect classifies a frame by its headers. The counting program (kernel/count.c) must give the same result.
func inspect(frame []byte) inspected {
	if value := markOf(frame); value == markLatency {
		return inspected{class: latencyFrame}
	} else if value >= markBase {
		return inspected{class: flowFrame, id: uint32(value - markBase)}
	}
	i := inspected{stray: stream.KeepsLinkUp(frame)}
	if i.stray && isNeighbourRequest(frame) {
		i.class = neighbour
	}
	return i
}

// markOf is the value at the place of a mark, or 0 where a frame can't have one.
func markOf(frame []byte) uint16 {
	switch network, version := networkHeader(frame); {
	case version == 4 && frame[network+1]&1 != 0:
		return binary.BigEndian.Uint16(frame[network+4:])
	case version == 6 && frame[network+1]&0x10 != 0:
		return binary.BigEndian.Uint16(frame[network+2:])
	}
	return 0
}

// isNeighbourRequest says whether a frame of link upkeep is ARP or a neighbour solicitation.
func isNeighbourRequest(frame []byte) bool {
	if network, version := networkHeader(frame); version == 6 {
		return frame[network+6] == icmpv6 && len(frame) > network+40 && frame[network+40] == neighbourSolicitation
	}
	offset := 12
	for offset+4 < len(frame) && (binary.BigEndian.Uint16(frame[offset:]) == etherVLAN ||
		binary.BigEndian.Uint16(frame[offset:]) == etherQinQ) {
		offset += tagLength
	}
	return offset+2 <= len(frame) && binary.BigEndian.Uint16(frame[offset:]) == etherARP
}

const (
	icmpv6                = 58
	neighbourSolicitation = 135
	neighbourAdvertised   = 136
	tagLength             = 4 // of a VLAN tag
)
