package profile

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"github.com/linerate-dev/linerate/internal/document/stream"
)

// write checks that a defined variable is written within the frame and within the field engine's reach.
func (c *programCheck) write(i stream.Instruction) error {
	size, err := c.sizeOf(i.Name)
	if err != nil {
		return err
	}
	if i.Type == "write_mask_flow_var" {
		switch {
		case i.CastSize != 1 && i.CastSize != 2 && i.CastSize != 4:
			return fmt.Errorf("pkt_cast_size: %d: use 1, 2 or 4 bytes", i.CastSize)
		case i.Shift < -31 || i.Shift > 31:
			return fmt.Errorf("shift: %d is outside -31 to 31", i.Shift)
		}
		size = i.CastSize
	}
	switch end := i.PacketOffset + size; {
	case i.PacketOffset < 0 || i.PacketOffset > maxWriteOffset || end > len(c.frame):
		return fmt.Errorf("pkt_offset: %d bytes at %d are not within the frame's %d bytes (and the first %d)", size,
			i.PacketOffset, len(c.frame), maxWriteOffset)
	}
	return nil
}

func (c *programCheck) sizeOf(name string) (int, error) {
	size, ok := c.variables[name]
	if !ok {
		if len(c.variables) == 0 {
			return 0, fmt.Errorf("name: no variable %q is defined before this, nor any other", name)
		}
		return 0, fmt.Errorf("name: no variable %q is defined before this (there are: %s)", name,
			quoted(slices.Sorted(maps.Keys(c.variables))))
	}
	return size, nil
}

// ipv4Header checks that an IPv4 header stands where its checksum is to be fixed. The offset is the header's, not
// the checksum's.
func (c *programCheck) ipv4Header(i stream.Instruction) error {
	offset := i.PacketOffset
	if offset < ethernetBytes || offset+ipv4Bytes > len(c.frame) || c.frame[offset]>>4 != 4 {
		return fmt.Errorf("pkt_offset: no IPv4 header begins at %d: give the header's first byte (14 without a VLAN tag)", offset)
	}
	return nil
}

// These are TRex's own numbers for fix_checksum_hw's l4_type.
const (
	checksumUDP = 11
	checksumTCP = 13
	checksumIP  = 17
)

func (c *programCheck) transport(i stream.Instruction) error {
	ipLeast := ipv4Bytes
	if i.Type == "fix_checksum_icmpv6" {
		ipLeast = ipv6Bytes
	}
	switch {
	case i.L2Length < ethernetBytes || i.L2Length > len(c.frame):
		return fmt.Errorf("l2_len: %d: must be at least %d and within the frame", i.L2Length, ethernetBytes)
	case i.L3Length < ipLeast || i.L3Length > len(c.frame):
		return fmt.Errorf("l3_len: %d: must be at least %d and within the frame", i.L3Length, ipLeast)
	}
	header, ok := map[int]int{checksumUDP: udpBytes, checksumTCP: 20, checksumIP: 0}[i.L4Type]
	if i.Type == "fix_checksum_icmpv6" {
		header, ok = 4, true
	}
	if !ok {
		return fmt.Errorf("l4_type: %d is not known: use %d (UDP), %d (TCP) or %d (IP only)", i.L4Type, checksumUDP,
			checksumTCP, checksumIP)
	}
	if i.L2Length+i.L3Length+header > len(c.frame) {
		return fmt.Errorf("l3_len: the headers end beyond the frame's %d bytes", len(c.frame))
	}
	return nil
}

func (c *programCheck) trim(i stream.Instruction) error {
	size, err := c.sizeOf(i.Name)
	if err != nil {
		return err
	}
	v, ok := c.ranges[i.Name]
	low, high := trimRange(v)
	if c.trims++; c.trims > 1 {
		return fmt.Errorf("name: a frame is trimmed once")
	}
	if !ok || size != 2 || max(low, minWireBytes) >= min(high, int64(len(c.frame))) {
		return fmt.Errorf("name: %q must be a flow_var of 2 bytes with different lengths from %d to the frame's %d",
			i.Name, minWireBytes, len(c.frame))
	}
	return nil
}

// checkNextVar checks that a variable's next_var is the variable that the next instruction defines.
func checkNextVar(instructions []stream.Instruction, index int) error {
	next := instructions[index].NextVar
	if next == nil {
		return nil
	}
	if index+1 < len(instructions) && instructions[index+1].Name == *next &&
		(instructions[index+1].Type == "flow_var" || instructions[index+1].Type == "flow_var_rand_limit") {
		return nil
	}
	return fmt.Errorf("next_var: %q must be the variable that the next instruction defines", *next)
}

// payloadOf is how many bytes of the frame (padded to Ethernet's least) come after its headers.
func payloadOf(frame []byte) int {
	l4, protocol := transportOf(frame)
	header := udpBytes
	if protocol == protocolTCP {
		header = 20
		if l4+12 < len(frame) {
			header = int(frame[l4+12]>>4) * 4
		}
	}
	return max(len(frame), minWireBytes) - l4 - header
}

// transportOf is where the frame's transport header begins, and its protocol. Of a frame that is not IP it is the
// end of its Ethernet header.
func transportOf(frame []byte) (offset int, protocol byte) {
	ip, kind := networkOf(frame)
	switch {
	case kind == etherIPv4 && len(frame) >= ip+ipv4Bytes:
		return ip + int(frame[ip]&0x0f)*4, frame[ip+9]
	case kind == etherIPv6 && len(frame) >= ip+ipv6Bytes:
		return ip + ipv6Bytes, frame[ip+6]
	}
	return ip, 0
}

// networkOf is where the frame's network header begins, behind up to two VLAN tags, and its EtherType.
func networkOf(frame []byte) (offset int, etherType uint16) {
	for offset = ethernetBytes; offset <= len(frame) && offset <= ethernetBytes+2*tagBytes; offset += tagBytes {
		etherType = binary.BigEndian.Uint16(frame[offset-2:])
		if etherType != etherVLAN && etherType != etherQinQ {
			return offset, etherType
		}
	}
	return ethernetBytes, 0
}
