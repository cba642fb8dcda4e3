package fieldengine

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/linerate-dev/linerate/internal/document/stream"
)

// fix sets one ones' complement checksum (RFC 1071). If the covered bytes are known beforehand, the sum of the
// constant ones is taken once, and a frame costs only the words that its writes touch. Otherwise each frame's
// covered bytes are summed.
type fix struct {
	checksum int    // the checksum's offset
	base     uint64 // sum of the constant words
	words    []int  // offsets of the words that change
	tail     int    // offset of an odd last byte that changes; 0 without one
	isUDP    bool   // a zero UDP checksum means none, and is sent as 0xffff (RFC 768)
	general  func(frame []byte)
}

func (f *fix) apply(frame []byte) {
	if f.general != nil {
		f.general(frame)
		return
	}
	sum := f.base
	for _, offset := range f.words {
		sum += uint64(frame[offset])<<8 | uint64(frame[offset+1])
	}
	if f.tail > 0 {
		sum += uint64(frame[f.tail]) << 8
	}
	putChecksum(frame[f.checksum:], sum, f.isUDP)
}

func putChecksum(field []byte, sum uint64, isUDP bool) {
	value := ^stream.FoldChecksum(sum)
	if isUDP && value == 0 {
		value = 0xffff
	}
	binary.BigEndian.PutUint16(field, value)
}

// Kinds of fix_checksum_hw.
const (
	kindUDP = 11
	kindTCP = 13
	kindIP  = 17
)

// IP protocol numbers.
const (
	protocolTCP    = 6
	protocolUDP    = 17
	protocolICMPv6 = 58
)

func compileFix(instruction stream.Instruction, p *Program) ([]fix, error) {
	switch instruction.Type {
	case "fix_checksum_ipv4":
		f, err := p.headerFix(instruction.PacketOffset)
		return []fix{f}, err
	case "fix_checksum_icmpv6":
		f, err := p.transportFix(instruction.L2Length, instruction.L3Length, protocolICMPv6)
		return []fix{f}, err
	}
	var fixes []fix
	if instruction.L2Length < 14 || instruction.L3Length < 20 || instruction.L2Length >= len(p.template) {
		return nil, fmt.Errorf("fix_checksum_hw: l2_len %d must be at least 14 and l3_len %d at least 20",
			instruction.L2Length, instruction.L3Length)
	}
	if p.template[instruction.L2Length]>>4 == 4 {
		f, err := p.headerFix(instruction.L2Length)
		if err != nil {
			return nil, err
		}
		fixes = append(fixes, f)
	}
	protocol, ok := map[int]byte{kindUDP: protocolUDP, kindTCP: protocolTCP, kindIP: 0}[instruction.L4Type]
	switch {
	case !ok:
		return nil, fmt.Errorf("fix_checksum_hw: l4_type %d is not one of 11 (UDP), 13 (TCP), 17 (IP)",
			instruction.L4Type)
	case protocol == 0:
		return fixes, nil
	case p.template[instruction.L2Length]>>4 == 4:
		protocol = p.template[instruction.L2Length+9] // TRex takes it from an IPv4 packet
	}
	f, err := p.transportFix(instruction.L2Length, instruction.L3Length, protocol)
	return append(fixes, f), err
}

// headerFix is the fix of the IPv4 header that starts at offset.
func (p *Program) headerFix(offset int) (fix, error) {
	if offset < 0 || offset+20 > len(p.template) {
		return fix{}, fmt.Errorf("fix_checksum_ipv4: no IPv4 header fits at offset %d in a packet of %d bytes", offset,
			len(p.template))
	}
	end := offset + max(int(p.template[offset]&15)*4, 20)
	if end > len(p.template) {
		return fix{}, fmt.Errorf("fix_checksum_ipv4: the IPv4 header at offset %d ends beyond the packet", offset)
	}
	f := fix{checksum: offset + 10}
	f.cover(p, offset, end)
	return f, nil
}

// transportFix is the fix of a UDP, TCP or ICMPv6 checksum with the pseudo header (RFC 768, RFC 9293, RFC 8200 §8.1).
func (p *Program) transportFix(l2, l3 int, protocol byte) (fix, error) {
	field, ok := checksumOffset[protocol]
	if !ok {
		return fix{}, fmt.Errorf("fix_checksum_hw: protocol %d in the packet is neither UDP nor TCP", protocol)
	}
	start := l2 + l3
	if l3 < 20 || l2 < 14 || start+field+2 > len(p.template) {
		return fix{}, fmt.Errorf("fix_checksum_hw: l2_len %d and l3_len %d leave no transport header in a packet "+
			"of %d bytes", l2, l3, len(p.template))
	}
	f := fix{checksum: start + field, isUDP: protocol == protocolUDP}
	end := payloadEnd(p.template, l2)
	if p.trim != nil || p.touchesLength(l2) {
		f.general = func(frame []byte) { sumTransport(frame, l2, start, start+field, protocol) }
		return f, nil
	}
	f.coverTransport(p, l2, start, end, protocol)
	return f, nil
}

// coverTransport adds the pseudo header and the bytes between start and end.
func (f *fix) coverTransport(p *Program, l2, start, end int, protocol byte) {
	low, high := addresses(p.template, l2)
	f.cover(p, low, high)
	f.cover(p, start, end)
	switch odd := (end-start)%2 == 1; {
	case odd && p.touches(end-1, end):
		f.tail = end - 1
	case odd:
		f.base += uint64(p.template[end-1]) << 8
	}
	f.base += uint64(protocol) + uint64(end-start)
}

var checksumOffset = map[byte]int{protocolTCP: 16, protocolUDP: 6, protocolICMPv6: 2}

// cover adds the words of an even-sized stretch, except for the checksum itself.
func (f *fix) cover(p *Program, start, end int) {
	for offset := start; offset+1 < end; offset += 2 {
		switch {
		case offset == f.checksum:
		case p.touches(offset, offset+2):
			f.words = append(f.words, offset)
		default:
			f.base += uint64(binary.BigEndian.Uint16(p.template[offset:]))
		}
	}
}

func (p *Program) touches(start, end int) bool {
	return slices.ContainsFunc(p.writes, func(w write) bool { return w.offset < end && w.offset+w.width > start })
}

func (p *Program) touchesLength(l2 int) bool {
	if p.template[l2]>>4 == 4 {
		return p.touches(l2+2, l2+4)
	}
	return p.touches(l2+4, l2+6)
}
