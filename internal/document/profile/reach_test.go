package profile

import (
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/stream"
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
	masked := func(mask uint32, shift int) stream.Instruction {
		return stream.Instruction{Type: "write_mask_flow_var", Name: "v", PacketOffset: 30, CastSize: 4, Mask: mask, Shift: shift, BigEndian: true}
	}
	lowIPv6 := func() stream.Stream {
		s := build(Spec{Kind: FixedSize, FrameSize: 99, Source: netip.MustParsePrefix("2001:2:0:1::2/128"), Destination: netip.MustParsePrefix("2001:2:0:2::2/128")})
		s.VM.Instructions = []stream.Instruction{variable(8, 2, 254), {Type: "write_flow_var", Name: "v", PacketOffset: 30, BigEndian: true}}
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
		{"the wrong byte order", with(variable(4, 1, 2), little), []string{"16.0.0.1/32", "0.0.0.0/6"}},
		{"an address's last byte", with(variable(1, 1, 254), write(29)), []string{"16.0.0.0/24", "48.0.0.1/32"}},
		{"an address's first byte", with(variable(1, 16, 17), write(26)), []string{"16.0.0.0/7", "48.0.0.1/32"}},
		{"two bytes of an address", with(variable(2, 1, 2), write(32)), []string{"16.0.0.1/32", "48.0.0.0/30"}},
		{"two bytes in the middle", with(variable(2, 0x0100, 0x0203), write(31)), []string{"16.0.0.1/32", "48.0.0.0/14"}},
		{"two variables, a byte each", with(variable(1, 1, 2), write(29), stream.Instruction{Type: "write_flow_var", Name: "v", PacketOffset: 33, BigEndian: true}), []string{"16.0.0.0/30", "48.0.0.0/30"}},
		{"a random byte", with(stream.Instruction{Type: "flow_var", Name: "v", Size: 1, Op: "random", MinValue: 4, MaxValue: 7, Step: 1}, write(33)), []string{"16.0.0.1/32", "48.0.0.4/30"}},
		{"a byte that goes over its end", with(variable(1, 200, 255), func() stream.Instruction { w := write(33); w.AddValue = 1; return w }()), []string{"16.0.0.1/32", "48.0.0.0/24"}},
		{"one that falls below zero", with(variable(1, 0, 10), func() stream.Instruction { w := write(33); w.AddValue = -1; return w }()), []string{"16.0.0.1/32", "48.0.0.0/24"}},
		{"across two addresses", with(variable(8, 1, 2), write(26)), []string{"0.0.0.0/32", "0.0.0.0/30"}},
		{"the low bytes of IPv6", lowIPv6(), []string{"2001:2:0:1::/120", "2001:2:0:2::2/128"}},
		{"a checksum over an address", with(stream.Instruction{Type: "fix_checksum_hw", L2Length: 16, L3Length: 20, L4Type: 17}), []string{"0.0.0.0/0", "48.0.0.1/32"}},
		{"under a mask", with(variable(4, 1, 2), stream.Instruction{Type: "write_mask_flow_var", Name: "v", PacketOffset: 30, CastSize: 4, BigEndian: true}),
			[]string{"16.0.0.1/32", "48.0.0.1/32"}},
		{"under a mask of some bits", with(variable(4, 0, 0xff), masked(0x0f, 0)), []string{"16.0.0.1/32", "48.0.0.0/28"}},
		{"shifted under a mask", with(variable(1, 0, 3), masked(0xff00, 8)), []string{"16.0.0.1/32", "48.0.0.0/22"}},
		{"shifted beyond", with(variable(4, 0, 0xffff), masked(0xff0000, 24)), []string{"16.0.0.1/32", "48.0.0.0/8"}},
		{"shifted to the right", with(variable(2, 0x100, 0x3ff), masked(0xff, -8)), []string{"16.0.0.1/32", "48.0.0.0/30"}},
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

// TestReachHoldsEveryAddress: what the field engine writes, played, is within what is said to be reached.
func TestReachHoldsEveryAddress(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		s := mustBuild(t, Spec{Kind: FixedSize, FrameSize: 64}).Streams[0]
		for n := range 1 + r.IntN(3) {
			size, name := []int{1, 2, 4}[r.IntN(3)], string(rune('a'+n))
			most := uint64(1)<<(8*size) - 1
			low := r.Uint64() & most
			high := low + r.Uint64N(most-low+1)
			s.VM.Instructions = append(s.VM.Instructions, stream.Instruction{Type: "flow_var", Name: name, Size: size, Op: []string{"inc", "dec"}[r.IntN(2)], InitValue: low, MinValue: low, MaxValue: high, Step: 1})
			write := stream.Instruction{Type: "write_flow_var", Name: name, PacketOffset: 24 + r.IntN(11), BigEndian: r.IntN(2) == 0, AddValue: int64(r.IntN(3) - 1)}
			if r.IntN(2) == 0 {
				write.Type, write.CastSize, write.Mask, write.Shift = "write_mask_flow_var", []int{1, 2, 4}[r.IntN(3)], r.Uint32(), r.IntN(33)-16
			}
			s.VM.Instructions = append(s.VM.Instructions, write)
		}
		frames, err := FirstFrames(s, 40)
		if err != nil {
			t.Fatal(err)
		}
		reached := Reach(s)
		for _, f := range frames {
			source, destination := addressOf(f[26:30]), addressOf(f[30:34])
			if !reached[0].Contains(source) || !reached[1].Contains(destination) {
				t.Fatalf("%s to %s of %v: %+v", source, destination, reached, s.VM.Instructions)
			}
		}
	}
}

// TestWhatDecidesWhereFramesGoIsNotWritten: a path is proven for one of each.
func TestWhatDecidesWhereFramesGoIsNotWritten(t *testing.T) {
	s := mustBuild(t, Spec{Kind: FixedSize, FrameSize: 64, VLAN: 7}).Streams[0]
	for offset, want := range map[int]string{5: "the destination MAC", 6: "", 14: "a VLAN tag or the type", 26: "the TTL", 27: "", 30: "", 38: ""} {
		s.VM.Instructions = []stream.Instruction{{Type: "flow_var", Name: "v", Size: 1, Op: "inc", MaxValue: 9, Step: 1}, {Type: "write_flow_var", Name: "v", PacketOffset: offset}}
		if at, what := WritesHeader(s); what != want || (at >= 0) != (want != "") {
			t.Errorf("at %d: %d, %q, want %q", offset, at, what, want)
		}
	}
}
