package profile

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/linerate-dev/linerate/internal/document/stream"
)

// FirstFrames returns the first n frames that a stream sends from one core, without FCS, padded to Ethernet's least
// and with their checksums right. The MAC addresses are the template's, which the port replaces unless the stream's
// flags say otherwise. Programs that draw random values, chain variables by next_var or count a list down can't be
// foretold and are refused.
func FirstFrames(s stream.Stream, n int) ([][]byte, error) {
	if err := append(checkTemplate("stream", s), checkProgram(s)...).orNil(); err != nil {
		return nil, fmt.Errorf("first frames of a stream: %w", err)
	}
	m := machine{}
	for index, i := range s.VM.Instructions {
		if err := m.define(i); err != nil {
			return nil, fmt.Errorf("first frames of a stream: vm.instructions[%d]: %w", index, err)
		}
	}
	frames := make([][]byte, 0, max(n, 0))
	for range n {
		frames = append(frames, m.frame(s))
		for _, step := range m.steps {
			step()
		}
	}
	return frames, nil
}

// machine plays a field engine's program. It has values by name, and how each moves on after a frame.
type machine struct {
	values map[string]*uint64
	sizes  map[string]int
	steps  []func()
}

func (m *machine) add(name string, size int, value uint64) *uint64 {
	if m.values == nil {
		m.values, m.sizes = map[string]*uint64{}, map[string]int{}
	}
	m.values[name], m.sizes[name] = &value, size
	return &value
}

// define adds an instruction's variables, if it has any.
func (m *machine) define(i stream.Instruction) error {
	switch {
	case i.Type == "flow_var_rand_limit" || i.Type == "flow_var" && i.Op == "random":
		return fmt.Errorf("variable %q is random", i.Name)
	case i.NextVar != nil:
		return fmt.Errorf("variable %q has a next_var", i.Name)
	case i.Op == "dec" && len(i.ValueList) > 0:
		return fmt.Errorf("variable %q counts a list down", i.Name)
	case i.Type == "tuple_flow_var":
		m.defineTuple(i)
	case i.Type == "flow_var" && len(i.ValueList) > 0:
		m.defineList(i)
	case i.Type == "flow_var":
		m.defineRange(i)
	}
	return nil
}

func (m *machine) defineRange(i stream.Instruction) {
	limit, _ := largest(i.Size) // checked
	low, high, _ := widened(i, limit)
	value := m.add(i.Name, i.Size, i.InitValue)
	m.steps = append(m.steps, func() {
		switch {
		case i.Op == "inc" && high-*value >= i.Step:
			*value += i.Step
		case i.Op == "inc":
			*value = low + (i.Step - (high - *value) - 1)
		case *value-low >= i.Step:
			*value -= i.Step
		default:
			*value = high - (i.Step - (*value - low) - 1)
		}
	})
}

func (m *machine) defineList(i stream.Instruction) {
	n, index := uint64(len(i.ValueList)), uint64(0)
	value := m.add(i.Name, i.Size, i.ValueList[index])
	m.steps = append(m.steps, func() {
		index = (index + i.Step) % n
		*value = i.ValueList[index]
	})
}

// defineTuple steps the address, then the port when the address starts again, and starts over after limit_flows.
func (m *machine) defineTuple(i stream.Instruction) {
	ip, port := m.add(i.Name+".ip", 4, uint64(i.IPMin)), m.add(i.Name+".port", 2, uint64(i.PortMin))
	sent := uint32(0)
	m.steps = append(m.steps, func() {
		sent++
		switch {
		case i.LimitFlows > 0 && sent == i.LimitFlows:
			sent, *ip, *port = 0, uint64(i.IPMin), uint64(i.PortMin)
		case *ip < uint64(i.IPMax):
			*ip++
		case *port < uint64(i.PortMax):
			*ip = uint64(i.IPMin)
			*port++
		default:
			*ip, *port = uint64(i.IPMin), uint64(i.PortMin)
		}
	})
}

// frame is the next frame with the current values.
func (m *machine) frame(s stream.Stream) []byte {
	frame := slices.Clone(s.Packet.Binary)
	length := len(frame)
	for _, i := range s.VM.Instructions {
		switch i.Type {
		case "write_flow_var":
			write(frame[i.PacketOffset:], m.sizes[i.Name], *m.values[i.Name]+uint64(i.AddValue), i.BigEndian)
		case "write_mask_flow_var":
			m.putMasked(frame[i.PacketOffset:], i)
		case "trim_pkt_size":
			length = min(max(int(*m.values[i.Name]), minWireBytes), len(frame))
		case "fix_checksum_ipv4":
			fixIPv4Header(frame[i.PacketOffset:])
		case "fix_checksum_hw":
			fixHardware(frame[:length], i)
		case "fix_checksum_icmpv6":
			fixTransport(frame[:length], i.L2Length, i.L2Length+i.L3Length, protocolICMPv6)
		}
	}
	frame = frame[:length]
	return append(frame, make([]byte, max(minWireBytes-len(frame), 0))...)
}

// putMasked writes the variable's bits under the mask, shifted to the left (to the right where shift is negative).
func (m *machine) putMasked(b []byte, i stream.Instruction) {
	value := uint32(*m.values[i.Name] + uint64(i.AddValue))
	if i.Shift < 0 {
		value >>= -i.Shift
	} else {
		value <<= i.Shift
	}
	old := uint32(get(b, i.CastSize, i.BigEndian))
	write(b, i.CastSize, uint64(old&^i.Mask|value&i.Mask), i.BigEndian)
}

// write writes the last size bytes of the value.
func write(b []byte, size int, value uint64, bigEndian bool) {
	var whole [8]byte
	if bigEndian {
		binary.BigEndian.PutUint64(whole[:], value)
		copy(b[:size], whole[8-size:])
		return
	}
	binary.LittleEndian.PutUint64(whole[:], value)
	copy(b[:size], whole[:size])
}

// get reads what put wrote.
func get(b []byte, size int, bigEndian bool) uint64 {
	var whole [8]byte
	if bigEndian {
		copy(whole[8-size:], b[:size])
		return binary.BigEndian.Uint64(whole[:])
	}
	copy(whole[:], b[:size])
	return binary.LittleEndian.Uint64(whole[:])
}

// fixHardware does what a port does for fix_checksum_hw. It fixes the IPv4 header's checksum, and UDP's or TCP's.
func fixHardware(frame []byte, i stream.Instruction) {
	if len(frame) < i.L2Length+ipv4Bytes {
		return
	}
	if frame[i.L2Length]>>4 == 4 {
		fixIPv4Header(frame[i.L2Length:])
	}
	switch i.L4Type {
	case checksumUDP:
		fixTransport(frame, i.L2Length, i.L2Length+i.L3Length, protocolUDP)
	case checksumTCP:
		fixTransport(frame, i.L2Length, i.L2Length+i.L3Length, protocolTCP)
	}
}
