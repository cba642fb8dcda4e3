package profile

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/linerate-dev/linerate/internal/trex/stream"
)

func TestReach(t *testing.T) {
	build := func(s Spec) stream.Stream { return mustBuild(t, s).Streams[0] }
	variable := func(size int, low, high uint64) stream.Instruction {
		return stream.Instruction{Type: "flow_var", Name: "v", Size: size, Op: "inc", InitValue: low, MinValue: low, MaxValue: high, Step: 1}
	}
	write := func(offset int) stream.Instruction {
		return stream.Instruction{Type: "write_flow_var", Name: "v", PacketOffset: offset, BigEndian: true}
	}
	with := func(instructions ...stream.Instruction) stream.Stream {
		s := build(Spec{Kind: FixedSize, FrameSize: 64})
		s.VM.Instructions = instructions
		return s
	}
	added, little := write(30), write(30)
	added.AddValue, little.BigEndian = 256, false
	list := stream.Instruction{Type: "flow_var", Name: "v", Size: 4, Op: "inc", ValueList: []uint64{0x30000001, 0x30000101}, Step: 1}
	qinq := build(Spec{Kind: FixedSize, FrameSize: 64, VLAN: 5})
	qinq.Packet.Binary = slices.Insert(slices.Clone(qinq.Packet.Binary), 12, 0x88, 0xa8, 0, 7)
	for _, tt := range []struct {
		name   string
		stream stream.Stream
		want   []string
	}{
		{"one flow", build(Spec{Kind: IMIX}), []string{"16.0.0.1/32", "48.0.0.1/32"}},
		{"254 flows", build(Spec{Kind: IMIX, Flows: addresses254()}), []string{"16.0.0.0/24", "48.0.0.0/24"}},
		{"four flows with a tag", build(Spec{Kind: IMIX, VLAN: 7, Flows: Flows{Count: 3, Vary: []Field{SourceAddress}}}), []string{"16.0.0.0/30", "48.0.0.1/32"}},
		{"two tags", qinq, []string{"16.0.0.1/32", "48.0.0.1/32"}},
		{"IPv6", build(Spec{Kind: FixedSize, FrameSize: 99, Source: netV6(), Destination: netip.MustParsePrefix("2001:2:1::/64"), Flows: addresses254()}),
			[]string{"2001:2::/120", "2001:2:1::/120"}},
		{"TRex's tuples", trexStreams(t, "bench_tuple.json")[0], []string{"16.0.0.0/24", "48.0.0.4/32"}},
		{"TRex's random addresses", trexStreams(t, "syn_attack_fix_cs_hw.json")[0], []string{"16.0.0.0/6", "48.0.0.1/32"}},
		{"a list", with(list, write(30)), []string{"16.0.0.1/32", "48.0.0.0/23"}},
		{"something added", with(variable(4, 0x30000001, 0x30000002), added), []string{"16.0.0.1/32", "48.0.1.0/30"}},
		{"added beyond the last address", with(variable(4, 0, 0xffffffff), added), []string{"16.0.0.1/32", "0.0.0.0/0"}},
		{"the wrong byte order", with(variable(4, 1, 2), little), []string{"16.0.0.1/32", "0.0.0.0/0"}},
		{"two bytes of an address", with(variable(2, 1, 2), write(32)), []string{"16.0.0.1/32", "0.0.0.0/0"}},
		{"across two addresses", with(variable(8, 1, 2), write(26)), []string{"0.0.0.0/0", "0.0.0.0/0"}},
		{"under a mask", with(variable(4, 1, 2), stream.Instruction{Type: "write_mask_flow_var", Name: "v", PacketOffset: 30, CastSize: 4, BigEndian: true}),
			[]string{"16.0.0.1/32", "0.0.0.0/0"}},
		{"ports only", with(variable(2, 1, 2), write(34)), []string{"16.0.0.1/32", "48.0.0.1/32"}},
		{"not IP", sending(64, "pps", 1), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, p := range Reach(tt.stream) {
				got = append(got, p.String())
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("reaches %v, want %v", got, tt.want)
			}
		})
	}
}
