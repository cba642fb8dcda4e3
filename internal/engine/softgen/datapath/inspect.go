package datapath

import (
	"encoding/binary"

	"github.com/linerate-dev/linerate/internal/document/stream"
)

// class is the class of a received frame.
type class int

const (
	ordinary  class = iota
	flowFrame       // carries a flow's mark
	lateFrame       // carries a latency stream's mark
	neighbour       // ARP, or an IPv6 neighbour solicitation
)

// inspected is the result of inspect; id is a flowFrame's flow id.
type inspected struct {
	class
	id uint32
	// stray: it is link upkeep such as ARP, and no stream sent it. A frame with a mark belongs to a stream, whatever it looks like.
	stray bool
}

// inspect classifies a frame by its headers. The counting program (kernel/count.c) must give the same result.
func inspect(frame []byte) inspected {
	if value := markOf(frame); value == markLatency {
		return inspected{class: lateFrame}
	} else if value >= markBase {
		return inspected{class: flowFrame, id: uint32(value - markBase)}
	}
	i := inspected{stray: stream.KeepsLinkUp(frame)}
	if i.stray && isQuestion(frame) {
		i.class = neighbour
	}
	return i
}

// markOf is the value at the place of a mark; 0 where there can be none.
func markOf(frame []byte) uint16 {
	switch network, version := networkHeader(frame); {
	case version == 4 && frame[network+1]&1 != 0:
		return binary.BigEndian.Uint16(frame[network+4:])
	case version == 6 && frame[network+1]&0x10 != 0:
		return binary.BigEndian.Uint16(frame[network+2:])
	}
	return 0
}

// isQuestion says whether a frame of link upkeep is ARP or a neighbour solicitation.
func isQuestion(frame []byte) bool {
	if network, version := networkHeader(frame); version == 6 {
		return frame[network+6] == icmpv6 && len(frame) > network+40 && frame[network+40] == neighbourSolicitation
	}
	at := 12
	for at+4 < len(frame) && (binary.BigEndian.Uint16(frame[at:]) == etherVLAN || binary.BigEndian.Uint16(frame[at:]) == etherQinQ) {
		at += tagLength
	}
	return at+2 <= len(frame) && binary.BigEndian.Uint16(frame[at:]) == etherARP
}

const (
	icmpv6                = 58
	neighbourSolicitation = 135
	neighbourAdvertised   = 136
	tagLength             = 4 // of a VLAN tag
)
