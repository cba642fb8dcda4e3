package datapath

import (
	"encoding/binary"
	"fmt"

	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/engine/softgen/fieldengine"
)

// Frames of a stream with flow_stats carry their flow id in a place that a forwarder leaves alone, the way TRex
// marks them. The place is the IPv4 identification or the low 16 bits of the IPv6 flow label, with values from
// markBase on, together with the lowest bit of the TOS or traffic class. Every frame of a latency stream has
// markLatency there, and its flow id stands in the stamp at the frame's end.
const (
	markBase    = uint16(countSharedMARK_BASE)
	markLatency = uint16(countSharedMARK_LATENCY)
	maxFlowID   = uint32(countSharedLAST_FLOW)
)

// flowMark says how the receiver counts a track's frames.
type flowMark struct {
	id      uint32
	latency bool
	stamped bool // each frame ends with a stamp, as a latency stream's always do
	network int  // where the IP header starts
}

// mark writes a flow's mark into the template. It moves an unmarked IPv4 template's id out of the range of marks.
func mark(template []byte, f stream.Flow) (*flowMark, error) {
	network, version := networkHeader(template)
	if !f.Enabled {
		if version == 4 && binary.BigEndian.Uint16(template[network+4:]) >= markBase {
			rewriteID(template, network, binary.BigEndian.Uint16(template[network+4:])&0xefff)
		}
		return nil, nil
	}
	m := &flowMark{id: f.StreamID, latency: f.RuleType == "latency", network: network}
	m.stamped = m.latency || f.Stamped
	switch {
	case f.RuleType != "latency" && f.RuleType != "stats":
		return nil, fmt.Errorf("flow_stats rule_type '%s' is not one of stats, latency", f.RuleType)
	case f.StreamID > maxFlowID:
		return nil, fmt.Errorf("flow id %d: the software engine counts ids up to %d", f.StreamID, maxFlowID)
	case version == 0:
		return nil, fmt.Errorf("flow id %d: only IPv4 and IPv6 packets can be counted by flow", f.StreamID)
	case f.Stamped && !hasFixableChecksum(template, network, version):
		return nil, fmt.Errorf("flow id %d: a stamp in each frame needs UDP, TCP or ICMPv6 right behind the IP "+
			"header: only their checksums can be corrected", f.StreamID)
	case m.stamped && len(template)-payloadStart(template, network) < stampSize:
		return nil, fmt.Errorf("need at least %d payload bytes for payload rules. Packet only has %d bytes", stampSize,
			len(template)-payloadStart(template, network))
	}
	value := markBase + uint16(f.StreamID)
	if m.latency {
		value = markLatency
	}
	m.write(template, version, value)
	return m, nil
}

// hasFixableChecksum says whether the checksum over a frame's payload can be corrected for each stamp.
func hasFixableChecksum(template []byte, network, version int) bool {
	protocol := template[network+6]
	if version == 4 {
		protocol = template[network+9]
	}
	return protocol == protocolUDP || protocol == protocolTCP || version == 6 && protocol == 58 // ICMPv6
}

func (m *flowMark) write(template []byte, version int, value uint16) {
	if version == 6 {
		template[m.network+1] |= 0x10
		binary.BigEndian.PutUint16(template[m.network+2:], value)
		return
	}
	template[m.network+1] |= 1
	rewriteID(template, m.network, value)
}

func rewriteID(template []byte, network int, value uint16) {
	binary.BigEndian.PutUint16(template[network+4:], value)
	fieldengine.FixIPv4Header(template, network)
}

// Ether types.
const (
	etherIPv4 = 0x0800
	etherARP  = 0x0806
	etherVLAN = 0x8100
	etherQinQ = 0x88a8
	etherIPv6 = 0x86dd
)

// networkHeader finds the IP header behind up to two VLAN tags. The version is 0 without an IP header.
func networkHeader(frame []byte) (start, version int) {
	offset := 12
	for range 3 {
		if offset+2 > len(frame) {
			return 0, 0
		}
		switch kind := binary.BigEndian.Uint16(frame[offset:]); {
		case kind == etherIPv4 && offset+22 <= len(frame):
			return offset + 2, 4
		case kind == etherIPv6 && offset+42 <= len(frame):
			return offset + 2, 6
		case kind != etherVLAN && kind != etherQinQ:
			return 0, 0
		}
		offset += 4
	}
	return 0, 0
}

// payloadStart is where the payload of UDP or TCP begins, or else the payload of IP.
func payloadStart(frame []byte, network int) int {
	start, protocol := network+40, frame[network+6]
	if frame[network]>>4 == 4 {
		start, protocol = network+int(frame[network]&15)*4, frame[network+9]
	}
	switch protocol {
	case 6:
		return start + 20
	case 17:
		return start + 8
	}
	return start
}
