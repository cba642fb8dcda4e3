package profile

import (
	"encoding/binary"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/stream"
)

// played are the values of a program's only variable v, of 2 bytes, in the first n frames.
func played(t *testing.T, n int, variable stream.Instruction) []uint16 {
	t.Helper()
	variable.Name, variable.Size = "v", 2
	frames, err := FirstFrames(stream.Stream{
		CoreID: -1,
		Packet: stream.Packet{Binary: make([]byte, 60)},
		VM:     stream.VM{Instructions: []stream.Instruction{variable, {Type: "write_flow_var", Name: "v", PacketOffset: 20, BigEndian: true}}},
	}, n)
	if err != nil {
		t.Fatal(err)
	}
	values := make([]uint16, n)
	for i, frame := range frames {
		values[i] = binary.BigEndian.Uint16(frame[20:])
	}
	return values
}

func TestVariablesStep(t *testing.T) {
	for _, tt := range []struct {
		name     string
		variable stream.Instruction
		want     []uint16
	}{
		{"up, and starts again", stream.Instruction{Op: "inc", InitValue: 2, MinValue: 1, MaxValue: 3, Step: 1}, []uint16{2, 3, 1, 2, 3}},
		{"down, and starts again", stream.Instruction{Op: "dec", InitValue: 2, MinValue: 1, MaxValue: 3, Step: 1}, []uint16{2, 1, 3, 2, 1}},
		{"up by 3 in a range widened from 1–10 to 1–12", stream.Instruction{Op: "inc", InitValue: 1, MinValue: 1, MaxValue: 10, Step: 3}, []uint16{1, 4, 7, 10, 1}},
		{"up by 3 from the middle", stream.Instruction{Op: "inc", InitValue: 3, MinValue: 1, MaxValue: 12, Step: 3}, []uint16{3, 6, 9, 12, 3}},
		{"down by 3 in a range widened from 5–12 to 4–12", stream.Instruction{Op: "dec", InitValue: 12, MinValue: 5, MaxValue: 12, Step: 3}, []uint16{12, 9, 6, 12, 9}},
		{"over all there is", stream.Instruction{Op: "inc", InitValue: 65535, MinValue: 0, MaxValue: 65535, Step: 1}, []uint16{65535, 0, 1, 2, 3}},
		{"along a list", stream.Instruction{Op: "inc", ValueList: []uint64{7, 1, 9}, Step: 2}, []uint16{7, 9, 1, 7, 9}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.variable.Type = "flow_var"
			if got := played(t, 5, tt.variable); !slices.Equal(got, tt.want) {
				t.Errorf("%v, want %v", got, tt.want)
			}
		})
	}
}

func TestATupleStepsItsAddressFirst(t *testing.T) {
	s := trexStreams(t, "udp_1pkt_tuple_gen.json")[0]
	var got []string
	for _, f := range flowsOf(t, withoutUDPChecksum(s), 5) {
		got = append(got, f.String())
	}
	want := []string{
		"16.0.0.1:1025 → 48.0.0.1:12 (VLAN 0)", "16.0.0.2:1025 → 48.0.0.1:12 (VLAN 0)", "16.0.0.1:1026 → 48.0.0.1:12 (VLAN 0)",
		"16.0.0.2:1026 → 48.0.0.1:12 (VLAN 0)", "16.0.0.1:1027 → 48.0.0.1:12 (VLAN 0)",
	}
	if !slices.Equal(got, want) {
		t.Errorf("flows are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	s.VM.Instructions[0].LimitFlows = 3
	if flows := flowsOf(t, withoutUDPChecksum(s), 5); flows[3] != flows[0] || flows[4] != flows[1] {
		t.Errorf("limited to three flows, it sends %v", flows)
	}
	s.VM.Instructions[0].LimitFlows, s.VM.Instructions[0].PortMax = 0, 1026
	if flows := flowsOf(t, withoutUDPChecksum(s), 5); flows[4] != flows[0] {
		t.Errorf("after the last port it starts again: %v", flows)
	}
}

func withoutUDPChecksum(s stream.Stream) stream.Stream {
	s.Packet.Binary = slices.Clone(s.Packet.Binary)
	clear(s.Packet.Binary[40:42])
	return s
}

// hardware is a stream of frames that the port completes.
func hardware(t *testing.T, spec Spec, l3, l4 int) stream.Stream {
	t.Helper()
	s := mustBuild(t, spec).Streams[0]
	l2 := spec.withDefaults().form().ip()
	s.VM.Instructions = []stream.Instruction{
		{Type: "flow_var", Name: "v", Size: 2, Op: "inc", InitValue: 1, MinValue: 1, MaxValue: 9, Step: 1},
		{Type: "write_flow_var", Name: "v", PacketOffset: l2 + 14, BigEndian: true},
		{Type: "fix_checksum_hw", L2Length: l2, L3Length: l3, L4Type: l4},
	}
	return s
}

func TestThePortCompletesUDPChecksums(t *testing.T) {
	v6 := netV6()
	for name, s := range map[string]stream.Stream{
		"IPv4":        hardware(t, Spec{Kind: FixedSize, FrameSize: 64}, 20, checksumUDP),
		"IPv4 tagged": hardware(t, Spec{Kind: FixedSize, FrameSize: 65, VLAN: 5}, 20, checksumUDP),
		"IPv6":        hardware(t, Spec{Kind: FixedSize, FrameSize: 67, Source: v6, Destination: v6}, 40, checksumUDP),
	} {
		t.Run(name, func(t *testing.T) {
			frames, err := FirstFrames(s, 9)
			if err != nil {
				t.Fatal(err)
			}
			for _, frame := range frames {
				dissect(t, frame)
				if udp := s.VM.Instructions[2].L2Length + s.VM.Instructions[2].L3Length; frame[udp+6] == 0 && frame[udp+7] == 0 {
					t.Error("the UDP checksum is left out")
				}
			}
		})
	}
}

func TestThePortCompletesTCPChecksums(t *testing.T) {
	s := trexStreams(t, "syn_attack_fix_cs_hw.json")[0]
	for i := range s.VM.Instructions {
		if s.VM.Instructions[i].Op == "random" {
			s.VM.Instructions[i].Op = "inc"
		}
	}
	frames, err := FirstFrames(s, 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, frame := range frames {
		if len(frame) != 60 || residue(frame[14:34]) != 0xffff {
			t.Errorf("%d bytes, IPv4 header adds up to %#x", len(frame), residue(frame[14:34]))
		}
		pseudo := append(slices.Clone(frame[26:34]), 0, 6, 0, 20)
		if sum := residue(append(pseudo, frame[34:54]...)); sum != 0xffff {
			t.Errorf("the TCP segment adds up to %#x", sum)
		}
	}
}

func TestAnIPOnlyFixLeavesTransportAlone(t *testing.T) {
	s := hardware(t, Spec{Kind: FixedSize, FrameSize: 64}, 20, checksumIP)
	for _, f := range flowsOf(t, s, 3) {
		if f.sourcePort != 53 {
			t.Errorf("sends %s", f)
		}
	}
}

func TestATrimmedFrameHasItsOwnLength(t *testing.T) {
	s := trexStreams(t, "bench_size.json")[0]
	s.VM.Instructions[0].Op = "inc"
	frames, err := FirstFrames(s, 9153)
	if err != nil {
		t.Fatal(err)
	}
	for i, frame := range frames {
		if len(frame) != 60+i {
			t.Fatalf("frame %d has %d bytes", i, len(frame))
		}
		dissect(t, frame)
	}
}

func TestMaskedWritesKeepOtherBits(t *testing.T) {
	for _, tt := range []struct {
		name        string
		instruction stream.Instruction
		want        []byte
	}{
		{"to the left", stream.Instruction{CastSize: 1, Mask: 0xf0, Shift: 4, BigEndian: true}, []byte{0x5f, 0xff}},
		{"to the right", stream.Instruction{CastSize: 2, Mask: 0x0003, Shift: -1, BigEndian: true}, []byte{0xff, 0xfe}},
		{"little-endian", stream.Instruction{CastSize: 2, Mask: 0x00ff, Shift: 0}, []byte{0x05, 0xff}},
		{"with something added", stream.Instruction{CastSize: 2, Mask: 0xffff, AddValue: -4, BigEndian: true}, []byte{0x00, 0x01}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			write := tt.instruction
			write.Type, write.Name, write.PacketOffset = "write_mask_flow_var", "v", 20
			s := stream.Stream{CoreID: -1, Packet: stream.Packet{Binary: slices.Repeat([]byte{0xff}, 60)}, VM: stream.VM{Instructions: []stream.Instruction{
				{Type: "flow_var", Name: "v", Size: 1, Op: "inc", InitValue: 5, MinValue: 5, MaxValue: 9, Step: 1}, write,
			}}}
			frames, err := FirstFrames(s, 1)
			if err != nil || !slices.Equal(frames[0][20:22], tt.want) {
				t.Errorf("writes % x, %v; want % x", frames[0][20:22], err, tt.want)
			}
		})
	}
}

func TestICMPv6Checksums(t *testing.T) {
	s := hardware(t, Spec{Kind: FixedSize, FrameSize: 80, Source: netV6(), Destination: netV6()}, 40, checksumUDP)
	s.Packet.Binary[20] = 58
	s.VM.Instructions[2] = stream.Instruction{Type: "fix_checksum_icmpv6", L2Length: 14, L3Length: 40}
	frames, err := FirstFrames(s, 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, frame := range frames {
		pseudo := append(slices.Clone(frame[22:54]), 0, 0, 0, byte(len(frame)-54), 0, 0, 0, 58)
		if sum := residue(append(pseudo, frame[54:]...)); sum != 0xffff {
			t.Errorf("the message adds up to %#x", sum)
		}
	}
}

func TestEveryStreamOfTRexPlaysOrSaysWhyNot(t *testing.T) {
	random := map[string]string{
		"bench_random.json": `variable "src" is random`, "bench_size.json": `variable "fv_rand" is random`, "syn_attack_fix_cs_hw.json": `variable "ip_src" is random`,
	}
	files, err := filepath.Glob("testdata/trex/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		for i, s := range trexStreams(t, filepath.Base(file)) {
			frames, err := FirstFrames(s, 300)
			if why, ok := random[filepath.Base(file)]; ok {
				if err == nil || !strings.Contains(err.Error(), why) {
					t.Errorf("%s, stream %d: %v, want %q", file, i, err, why)
				}
				continue
			}
			if err != nil || len(frames) != 300 {
				t.Errorf("%s, stream %d: %d frames, %v", file, i, len(frames), err)
			}
			if last := frames[299]; len(last) < 60 || residue(last[14:34]) != 0xffff {
				t.Errorf("%s, stream %d: the last IPv4 header is % x", file, i, last[14:34])
			}
		}
	}
}

func TestFirstFramesRefuses(t *testing.T) {
	next, name := "w", "v"
	variable := stream.Instruction{Type: "flow_var", Name: name, Size: 2, Op: "inc", MaxValue: 9, Step: 1}
	chained, list := variable, variable
	chained.NextVar = &next
	list.Op, list.MaxValue, list.ValueList = "dec", 0, []uint64{1, 2}
	other := variable
	other.Name = next
	for want, instructions := range map[string][]stream.Instruction{
		`vm.instructions[0]: variable "v" has a next_var`:      {chained, other},
		`vm.instructions[0]: variable "v" counts a list down`:  {list},
		`vm.instructions[0]: variable "v" is random`:           {{Type: "flow_var_rand_limit", Name: name, Size: 2, Limit: 1, MaxValue: 2}},
		`vm.instructions[1].pkt_offset: 2 bytes at 60 are not`: {variable, {Type: "write_flow_var", Name: name, PacketOffset: 60}},
	} {
		_, err := FirstFrames(stream.Stream{CoreID: -1, Packet: stream.Packet{Binary: make([]byte, 60)}, VM: stream.VM{Instructions: instructions}}, 1)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
	if frames, err := FirstFrames(stream.Stream{CoreID: -1, Packet: stream.Packet{Binary: make([]byte, 14)}}, 0); err != nil || len(frames) != 0 {
		t.Errorf("no frames asked for: %d, %v", len(frames), err)
	}
	if _, err := FirstFrames(stream.Stream{CoreID: -1}, 1); err == nil || !strings.Contains(err.Error(), "packet.binary") {
		t.Errorf("an empty frame: %v", err)
	}
}

func TestTheTemplateStaysAsItIs(t *testing.T) {
	s := mustBuild(t, Spec{Kind: IMIX, Flows: addresses254()}).Streams[0]
	before := slices.Clone(s.Packet.Binary)
	if _, err := FirstFrames(s, 10); err != nil || !slices.Equal(before, s.Packet.Binary) {
		t.Errorf("playing changes the template: %v", err)
	}
}

func TestHeadersBeyondATrimmedFrameAreLeftAlone(t *testing.T) {
	trimmed := func(fix stream.Instruction) stream.Stream {
		packet := make([]byte, 300)
		packet[200], packet[50] = 0x60, 0x60
		return stream.Stream{CoreID: -1, Packet: stream.Packet{Binary: packet}, VM: stream.VM{Instructions: []stream.Instruction{
			{Type: "flow_var", Name: "v", Size: 2, Op: "inc", InitValue: 60, MinValue: 60, MaxValue: 99, Step: 1}, {Type: "trim_pkt_size", Name: "v"}, fix,
		}}}
	}
	for name, fix := range map[string]stream.Instruction{
		"UDP, all beyond":         {Type: "fix_checksum_hw", L2Length: 200, L3Length: 20, L4Type: checksumUDP},
		"UDP, IPv6 header cut":    {Type: "fix_checksum_hw", L2Length: 50, L3Length: 40, L4Type: checksumUDP},
		"ICMPv6, all beyond":      {Type: "fix_checksum_icmpv6", L2Length: 200, L3Length: 40},
		"ICMPv6, IPv6 header cut": {Type: "fix_checksum_icmpv6", L2Length: 50, L3Length: 40},
	} {
		frames, err := FirstFrames(trimmed(fix), 40)
		if err != nil || len(frames[39]) != 99 {
			t.Errorf("%s: %d frames, %v", name, len(frames), err)
		}
	}
}
