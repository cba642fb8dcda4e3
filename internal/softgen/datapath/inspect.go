package datapath

import (
	"encoding/binary"

	"github.com/linerate-dev/linerate/internal/trex/stream"
)

// class is what a received frame is to us.
type class int

const (
	ordinary  class = iota
	flowFrame       // carries a flow's mark
	lateFrame       // carries a latency stream's mark
	neighbour       // ARP, or an IPv6 neighbour solicitation
)

// classify looks at a frame's headers; id is a flowFrame's.
func classify(frame []byte) (c class, id uint32) {
	if len(frame) >= 14 && binary.BigEndian.Uint16(frame[12:]) == etherARP {
		return neighbour, 0
	}
	network, version := networkHeader(frame)
	var value uint16
	switch {
	case version == 4 && frame[network+1]&1 != 0:
		value = binary.BigEndian.Uint16(frame[network+4:])
	case version == 6 && frame[network+1]&0x10 != 0:
		value = binary.BigEndian.Uint16(frame[network+2:])
	case version == 6 && isSolicitation(frame, network):
		return neighbour, 0
	}
	switch {
	case value == markLatency:
		return lateFrame, 0
	case value >= markBase:
		return flowFrame, uint32(value - markBase)
	}
	return ordinary, 0
}

const (
	igmp                  = 2
	icmpv6                = 58
	hopByHop              = 0 // IPv6 options that each router looks at
	neighbourSolicitation = 135
	neighbourAdvertised   = 136
)

// What stream.KeepsLinkUp looks for, for the program: the types of ICMPv6 that stay on a link, and the least Ethernet type, below which stands a length.
const (
	leastType      = 0x600
	firstOfLink    = 130
	lastOfLink     = 137
	listenerReport = 143
)

// isStray says whether a frame keeps the link up, and no stream sent it: what bears a mark is a stream's, whatever it looks like. The counting program of tcprogram.go says the same.
func isStray(frame []byte) bool {
	c, _ := classify(frame)
	return c != flowFrame && c != lateFrame && stream.KeepsLinkUp(frame)
}

func isSolicitation(frame []byte, network int) bool {
	return len(frame) > network+40 && frame[network+6] == icmpv6 && frame[network+40] == neighbourSolicitation
}
