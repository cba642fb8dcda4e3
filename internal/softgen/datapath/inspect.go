package datapath

import "encoding/binary"

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
	icmpv6                = 58
	neighbourSolicitation = 135
	neighbourAdvertised   = 136
)

func isSolicitation(frame []byte, network int) bool {
	return len(frame) > network+40 && frame[network+6] == icmpv6 && frame[network+40] == neighbourSolicitation
}
