package profile

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"github.com/linerate-dev/linerate/internal/document/capture"
	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/units"
)

// PCAP sends the frames of a capture, with the sizes, flows and protocols that they have there.
const PCAP Kind = "PCAP"

// MostTraced is how many frames a capture may have, which is how many values a variable takes from a list.
const MostTraced = maxValueList

// Trace is a capture's traffic, in two directions. Hosts are numbered in each IP version, by the side that they are
// on: who sent the first frame between two hosts is on the first side of this conversation, and the other one on the
// second. So the same host may be on both.
type Trace struct {
	forward, back []traced
}

// traced is a frame of a trace.
type traced struct {
	number              int // in the capture
	kind                tracedKind
	source, destination uint32 // hosts' numbers, from 0
	ports               uint32 // source and destination
}

// tracedKind is what frames of a stream have in common.
type tracedKind struct {
	ipv6     bool
	protocol uint8
	size     units.FrameSize
}

// side numbers the hosts of one side.
type side struct {
	numbers map[netip.Addr]uint32
	next    map[bool]uint32 // by whether it is IPv6's
}

func newSide() side { return side{map[netip.Addr]uint32{}, map[bool]uint32{}} }

func (s side) number(a netip.Addr) uint32 {
	n, known := s.numbers[a]
	if !known {
		n = s.next[a.Is6()]
		s.numbers[a], s.next[a.Is6()] = n, n+1
	}
	return n
}

// ReadTrace reads a capture, packed with gzip or not. With oneWay all its frames go in one direction. A frame that
// can't be sent anew is refused with its number.
func ReadTrace(data []byte, oneWay bool) (Trace, error) {
	var t Trace
	near, far := newSide(), newSide()
	initiators := map[[2]netip.Addr]netip.Addr{}
	err := capture.ReadPacked(data, func(f capture.Frame) error {
		switch {
		case f.NotIP != "":
			return fmt.Errorf("frame %d can't be sent anew: %s: %s", f.Number, f.NotIP, capture.WayOut)
		case f.Number > MostTraced:
			return fmt.Errorf("it has more than %d frames: take a part (tcpdump -r FILE -w NEW -c %d), or the sizes alone "+
				"(linerate mix FILE)", MostTraced, MostTraced)
		}
		if err := f.Size.Check(); err != nil {
			return fmt.Errorf("frame %d: %w: where a card joined packets, capture after \"ethtool -K INTERFACE tso off gso "+
				"off gro off lro off\"", f.Number, err)
		}
		pair := [2]netip.Addr{f.Flow.Source, f.Flow.Destination}
		if pair[1].Less(pair[0]) {
			pair[0], pair[1] = pair[1], pair[0]
		}
		if _, known := initiators[pair]; !known || oneWay {
			initiators[pair] = f.Flow.Source
		}
		frame := traced{number: f.Number, ports: uint32(f.Flow.SourcePort)<<16 | uint32(f.Flow.DestinationPort),
			kind: tracedKind{f.Flow.Source.Is6(), f.Flow.Protocol, f.Size}}
		if initiators[pair] == f.Flow.Source {
			frame.source, frame.destination = near.number(f.Flow.Source), far.number(f.Flow.Destination)
			t.forward = append(t.forward, frame)
		} else {
			frame.source, frame.destination = far.number(f.Flow.Source), near.number(f.Flow.Destination)
			t.back = append(t.back, frame)
		}
		return nil
	})
	if err == nil && len(t.forward) == 0 {
		err = fmt.Errorf("it has no frames")
	}
	return t, err
}

// Families says which IP versions the trace has.
func (t Trace) Families() (ipv4, ipv6 bool) {
	for _, f := range slices.Concat(t.forward, t.back) {
		ipv4, ipv6 = ipv4 || !f.kind.ipv6, ipv6 || f.kind.ipv6
	}
	return ipv4, ipv6
}

// HasBack says that frames went both ways.
func (t Trace) HasBack() bool { return len(t.back) > 0 }

// TraceSpec says which part of a trace is sent, and between which networks.
type TraceSpec struct {
	Back bool // the way of those who answered
	VLAN uint16
	// Stamped says that each frame's last bytes are to be a stamp, which TCP's checksum and IPv6's cover.
	Stamped bool
	// Sources and Destinations are networks of one or both IP versions.
	Sources, Destinations []netip.Prefix
}

// Build makes a stream for each frame size and protocol. Its program has each frame's addresses, ports and checksum
// in lists, in the capture's order, so that the distribution is the capture's to the frame.
func (t Trace) Build(spec TraceSpec) (Profile, error) {
	frames := t.forward
	if spec.Back {
		frames = t.back
	}
	kinds := map[tracedKind][]traced{}
	for _, f := range frames {
		kinds[f.kind] = append(kinds[f.kind], f)
	}
	if len(kinds) > maxStreams {
		return Profile{}, fmt.Errorf("it has frames of %d sizes and protocols, of %d at most", len(kinds), maxStreams)
	}
	var p Profile
	for _, kind := range slices.SortedFunc(maps.Keys(kinds), tracedKind.compare) {
		s, err := kind.stream(spec, kinds[kind])
		if err != nil {
			return Profile{}, err
		}
		s.ISG = float64(len(p.Streams)) / 10
		p.Streams = append(p.Streams, s)
		n := int64(len(kinds[kind]))
		p.Mix = p.Mix.Add(units.Traffic{Packets: n, Bytes: n * int64(kind.size)})
	}
	return p, nil
}

func (k tracedKind) compare(o tracedKind) int {
	if k.ipv6 != o.ipv6 {
		return map[bool]int{false: -1, true: 1}[k.ipv6]
	}
	return cmp.Or(cmp.Compare(k.protocol, o.protocol), cmp.Compare(k.size, o.size))
}

// stream sends the frames, all of this kind.
func (k tracedKind) stream(spec TraceSpec, frames []traced) (stream.Stream, error) {
	source, destination := networkOfVersion(spec.Sources, k.ipv6), networkOfVersion(spec.Destinations, k.ipv6)
	if !source.IsValid() || !destination.IsValid() {
		version, member := "IPv4", "an IPv4 address"
		if k.ipv6 {
			version, member = "IPv6", "generator.ipv6Address, or an IPv6 address"
		}
		return stream.Stream{}, fmt.Errorf("frame %d is %s, and the links have no such addresses: give both %s, or leave "+
			"such frames out", frames[0].number, version, member)
	}
	f := form{ipv6: k.ipv6, vlan: spec.VLAN, source: source.Masked().Addr(), destination: destination.Masked().Addr()}
	size := k.size
	if spec.VLAN != 0 {
		size += tagBytes
	}
	if smallest := units.FrameSize(f.udp() + transportBytes(k.protocol) + units.FCSBytes); size < smallest {
		return stream.Stream{}, fmt.Errorf("frame %d has %d bytes, and its headers take %d: its length in the capture is wrong",
			frames[0].number, size, smallest)
	}
	if err := k.stampable(f, size); spec.Stamped && err != nil {
		return stream.Stream{}, fmt.Errorf("frame %d: %w", frames[0].number, err)
	}
	b := f.transported(size, k.protocol)
	values := []tracedValue{
		{name: "src", offset: f.offset(SourceAddress), size: 4}, {name: "dst", offset: f.offset(DestinationAddress), size: 4},
		{name: "ports", offset: f.udp(), size: 4}, {name: "sum", offset: f.udp() + checksumOffset(k.protocol), size: 2},
	}
	hosts := [2]room{addressRoom(SourceAddress, source), addressRoom(DestinationAddress, destination)}
	for _, frame := range frames {
		for i, number := range []uint32{frame.source, frame.destination} {
			if int64(number) >= hosts[i].capacity {
				return stream.Stream{}, fmt.Errorf("frame %d: its %s is the %dth host on its side, and %s has %d addresses for "+
					"hosts: use a wider network (links[].generator.networks)", frame.number,
					[]string{"source", "destination"}[i], number+1, hosts[i].place, hosts[i].capacity)
			}
			values[i].add(b, uint32(hosts[i].first)+number)
		}
		if k.hasPorts() {
			values[2].add(b, frame.ports)
		}
		if k.summed() {
			fixTransport(b, f.ip(), f.udp(), k.protocol)
			values[3].add(b, uint32(binary.BigEndian.Uint16(b[values[3].offset:])))
		}
	}
	return stream.Stream{Enabled: true, SelfStart: true, CoreID: -1, NextStreamID: unlinkedStreamID,
		Mode:   stream.Mode{Type: modeContinuous, Rate: stream.Rate{Type: "pps", Value: float64(len(frames))}},
		Packet: stream.Packet{Binary: f.first(b, values)}, VM: f.traceProgram(values)}, nil
}

// stampable refuses frames without room for a stamp, and those whose checksum covers it and isn't mended.
func (k tracedKind) stampable(f form, size units.FrameSize) error {
	switch smallest := units.FrameSize(f.udp() + transportBytes(k.protocol) + stampBytes + units.FCSBytes); {
	case k.protocol == protocolICMP:
		return fmt.Errorf("a stamp would make ICMP's checksum wrong: leave ICMP out, or use stamps: None")
	case size < smallest:
		return fmt.Errorf("it has %d bytes, and with a stamp %d (traffic.stamps): leave such frames out, or use stamps: None",
			size, smallest)
	}
	return nil
}

func networkOfVersion(networks []netip.Prefix, ipv6 bool) netip.Prefix {
	for _, n := range networks {
		if n.Addr().Is6() == ipv6 {
			return n
		}
	}
	return netip.Prefix{}
}

func (k tracedKind) hasPorts() bool {
	return k.protocol == protocolTCP || k.protocol == protocolUDP
}

// summed says that a frame's checksum depends on its flow. IPv4's UDP has none, and ICMP's covers itself alone.
func (k tracedKind) summed() bool {
	return k.protocol == protocolTCP || k.ipv6
}

func transportBytes(protocol uint8) int {
	const tcpBytes = 20
	if protocol == protocolTCP {
		return tcpBytes
	}
	return udpBytes // and ICMP's echo
}

// transported makes a frame without FCS of some protocol, whose flow and checksum are to be written: an acknowledgement
// of TCP, a datagram of UDP, or ICMP's echo request.
func (f form) transported(size units.FrameSize, protocol uint8) []byte {
	b := f.frame(size, flowSet{})
	b[f.ip()+map[bool]int{false: 9, true: 6}[f.ipv6]] = protocol
	l4 := b[f.udp():]
	clear(l4[:udpBytes])
	switch protocol {
	case protocolTCP:
		copy(l4[4:], []byte{0, 0, 0, 1, 0, 0, 0, 1, 5 << 4, 0x10, 0xff, 0xff, 0, 0, 0, 0})
	case protocolUDP:
		binary.BigEndian.PutUint16(l4[4:], uint16(len(l4)))
	default:
		copy(l4, []byte{8, 0, 0, 0, 0, 1, 0, 1})
		if protocol == protocolICMPv6 {
			l4[0] = 128
		} else {
			binary.BigEndian.PutUint16(l4[2:], ^stream.FoldChecksum(stream.SumWords(l4)))
		}
	}
	return b
}

// tracedValue is a value of each frame, in order.
type tracedValue struct {
	name         string
	offset, size int
	values       []uint64
}

// add writes the next frame's value into the frame, too.
func (v *tracedValue) add(frame []byte, value uint32) {
	v.values = append(v.values, uint64(value))
	v.write(frame, value)
}

func (v *tracedValue) write(frame []byte, value uint32) {
	variable{offset: v.offset, size: v.size}.write(frame, uint64(value))
}

// varies says that frames differ in the value.
func (v *tracedValue) varies() bool {
	return len(v.values) > 0 && slices.Max(v.values) != slices.Min(v.values)
}

// first is the first of the frames.
func (f form) first(b []byte, values []tracedValue) []byte {
	b = bytes.Clone(b)
	for _, v := range values {
		if len(v.values) > 0 {
			v.write(b, uint32(v.values[0]))
		}
	}
	if !f.ipv6 {
		fixIPv4Header(b[f.ip():])
	}
	return b
}

// traceProgram writes what varies from lists, all of which move on by one for each frame.
func (f form) traceProgram(values []tracedValue) stream.VM {
	vm := stream.VM{Instructions: []stream.Instruction{}}
	split, address := false, false
	var writes []stream.Instruction
	for _, v := range values {
		if !v.varies() {
			continue
		}
		address = address || v.offset < f.udp()
		vm.Instructions = append(vm.Instructions, stream.Instruction{Type: "flow_var", Name: v.name, Size: v.size,
			Op: "inc", ValueList: v.values, Step: 1, SplitToCores: &split})
		writes = append(writes, stream.Instruction{Type: "write_flow_var", Name: v.name, PacketOffset: v.offset,
			BigEndian: true})
	}
	vm.Instructions = append(vm.Instructions, writes...)
	if address && !f.ipv6 {
		vm.Instructions = append(vm.Instructions, stream.Instruction{Type: "fix_checksum_ipv4", PacketOffset: f.ip()})
	}
	return vm
}
