package fieldengine

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/stream"
)

// udp is an Ethernet frame of UDP over IPv4 with right checksums.
func udp(length int) []byte {
	f := make([]byte, length)
	for i := range f {
		f[i] = byte(i * 7)
	}
	copy(f[12:], []byte{8, 0, 0x45, 0, byte((length - 14) >> 8), byte(length - 14), 0, 1, 0, 0, 64, 17, 0, 0, 16, 0, 0,
		1, 48, 0, 0, 1, 4, 1, 0, 12})
	binary.BigEndian.PutUint16(f[38:], uint16(length-34))
	f[40], f[41] = 0xff, 0xff
	FixIPv4Header(f, 14)
	FixTransport(f, 14)
	return f
}

// udp6 is the same over IPv6.
func udp6(length int) []byte {
	f := make([]byte, length)
	for i := range f {
		f[i] = byte(i * 5)
	}
	copy(f[12:], []byte{0x86, 0xdd, 0x60, 0, 0, 0, byte((length - 54) >> 8), byte(length - 54), 17, 64})
	binary.BigEndian.PutUint16(f[58:], uint16(length-54))
	FixTransport(f, 14)
	return f
}

func program(t *testing.T, template []byte, instructions ...stream.Instruction) *Program {
	t.Helper()
	p, err := Compile(template, stream.VM{Instructions: instructions}, 1)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// play returns the values of the 4 bytes at offset in the first frames.
func play(p *Program, offset, n int) []uint64 {
	buffer := p.Template()
	var values []uint64
	for i := range n {
		p.Frame(uint64(i), buffer)
		values = append(values, uint64(binary.BigEndian.Uint32(buffer[offset:])))
	}
	return values
}

func variableOf(op string, init, low, high, step uint64) stream.Instruction {
	return stream.Instruction{Type: "flow_var", Name: "v", Size: 4, Op: op, InitValue: init, MinValue: low,
		MaxValue: high, Step: step}
}

func writeOf(name string, offset int) stream.Instruction {
	return stream.Instruction{Type: "write_flow_var", Name: name, PacketOffset: offset, BigEndian: true}
}

func TestVariables(t *testing.T) {
	listed := variableOf("inc", 0, 0, 0, 1)
	listed.ValueList = []uint64{1, 5, 9}
	backwards := listed
	backwards.Op = "dec"
	striding := listed
	striding.ValueList, striding.Step = []uint64{1, 2, 3, 4, 5}, 2
	for _, c := range []struct {
		name        string
		instruction stream.Instruction
		want        []uint64
		period      uint64
	}{
		{"inc goes up and starts over at the lowest", variableOf("inc", 3, 2, 4, 1), []uint64{3, 4, 2, 3, 4, 2}, 3},
		{"dec goes down and starts over at the highest", variableOf("dec", 3, 2, 4, 1), []uint64{3, 2, 4, 3, 2, 4}, 3},
		{"inc's range is widened upwards to a multiple of the step", variableOf("inc", 0, 0, 3, 3),
			[]uint64{0, 3, 0, 3}, 2},
		{"dec's range is widened downwards", variableOf("dec", 13, 10, 13, 3), []uint64{13, 10, 13, 10}, 2},
		{"a range of one stays", variableOf("inc", 7, 7, 7, 1), []uint64{7, 7, 7}, 1},
		{"a list is walked in order", listed, []uint64{1, 5, 9, 1, 5}, 3},
		{"dec walks a list from its first to its last", backwards, []uint64{1, 9, 5, 1, 9}, 3},
		{"a list is walked by its step", striding, []uint64{1, 3, 5, 2, 4, 1}, 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := program(t, udp(60), c.instruction, writeOf("v", 26))
			if got := play(p, 26, len(c.want)); fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("values %v, want %v", got, c.want)
			}
			if p.Period() != c.period {
				t.Errorf("period %d, want %d", p.Period(), c.period)
			}
		})
	}
}

func TestRandomVariables(t *testing.T) {
	t.Run("random stays in its range, reaches all of it and has no period", func(t *testing.T) {
		p := program(t, udp(60), variableOf("random", 5, 5, 8, 1), writeOf("v", 26))
		drawn := map[uint64]int{}
		for _, v := range play(p, 26, 4000) {
			drawn[v]++
		}
		for v := uint64(5); v <= 8; v++ {
			if drawn[v] < 800 || drawn[v] > 1200 {
				t.Errorf("value %d came %d times of 4000", v, drawn[v])
			}
		}
		if len(drawn) != 4 || p.Period() != 0 {
			t.Errorf("%d values, period %d", len(drawn), p.Period())
		}
	})
	t.Run("rand_limit repeats its first values", func(t *testing.T) {
		instruction := stream.Instruction{Type: "flow_var_rand_limit", Name: "v", Size: 4, Seed: 1, Limit: 10,
			MinValue: 0, MaxValue: 1 << 30}
		p := program(t, udp(60), instruction, writeOf("v", 26))
		got := play(p, 26, 20)
		if fmt.Sprint(got[:10]) != fmt.Sprint(got[10:]) || got[0] == got[1] || p.Period() != 10 {
			t.Errorf("values %v, period %d", got, p.Period())
		}
	})
	t.Run("the seed determines the sequence", func(t *testing.T) {
		vm := stream.VM{Instructions: []stream.Instruction{variableOf("random", 0, 0, 1<<31, 1), writeOf("v", 26)}}
		first, _ := Compile(udp(60), vm, 1)
		second, _ := Compile(udp(60), vm, 1)
		otherSeed, _ := Compile(udp(60), vm, 2)
		if fmt.Sprint(play(first, 26, 5)) != fmt.Sprint(play(second, 26, 5)) ||
			fmt.Sprint(play(first, 26, 5)) == fmt.Sprint(play(otherSeed, 26, 5)) {
			t.Error("same seed, other sequence, or the other way round")
		}
	})
}

func TestTupleAndNextVar(t *testing.T) {
	tuple := stream.Instruction{Type: "tuple_flow_var", Name: "t", IPMin: 1, IPMax: 2, PortMin: 10, PortMax: 12}
	limited := tuple
	limited.LimitFlows = 3
	for name, c := range map[string]struct {
		tuple  stream.Instruction
		frames int
		want   string
		period uint64
	}{
		"the port advances when the address wraps": {tuple, 7, "1:10 2:10 1:11 2:11 1:12 2:12 1:10 ", 6},
		"limit_flows starts both over":             {limited, 5, "1:10 2:10 1:11 1:10 2:10 ", 3},
	} {
		t.Run(name, func(t *testing.T) {
			p := program(t, udp(60), c.tuple, writeOf("t.ip", 26), writeOf("t.port", 34))
			buffer, got := p.Template(), ""
			for i := range c.frames {
				p.Frame(uint64(i), buffer)
				got += fmt.Sprint(buffer[29], ":", buffer[35], " ")
			}
			if got != c.want || p.Period() != c.period {
				t.Errorf("got %s, want %s; period %d", got, c.want, p.Period())
			}
		})
	}
	t.Run("next_var steps when its driver wraps, like an odometer", func(t *testing.T) {
		next := "tens"
		units := stream.Instruction{Type: "flow_var", Name: "units", Size: 1, Op: "inc", InitValue: 8, MaxValue: 9,
			Step: 1, NextVar: &next}
		tens := stream.Instruction{Type: "flow_var", Name: "tens", Size: 1, Op: "inc", MaxValue: 4, Step: 1}
		p := program(t, udp(60), units, tens, writeOf("units", 50), writeOf("tens", 51))
		buffer := p.Template()
		for i := range 100 {
			p.Frame(uint64(i), buffer)
			if got, want := int(buffer[51])*10+int(buffer[50]), (i+8)%50; got != want {
				t.Fatalf("frame %d says %d, want %d", i, got, want)
			}
		}
		if p.Period() != 50 {
			t.Errorf("period %d, want 50", p.Period())
		}
	})
	t.Run("cache repeats its first frames", func(t *testing.T) {
		vm := stream.VM{Cache: 3, Instructions: []stream.Instruction{variableOf("inc", 0, 0, 99, 1), writeOf("v", 26)}}
		p, err := Compile(udp(60), vm, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := play(p, 26, 5); fmt.Sprint(got) != "[0 1 2 0 1]" || p.Period() != 3 {
			t.Errorf("values %v, period %d", got, p.Period())
		}
	})
}

func TestWrites(t *testing.T) {
	value := variableOf("inc", 0x01020304, 0x01020304, 0x01020304, 1)
	for _, c := range []struct {
		name        string
		instruction stream.Instruction
		want        []byte
	}{
		{"big endian", stream.Instruction{Type: "write_flow_var", Name: "v", BigEndian: true}, []byte{1, 2, 3, 4}},
		{"little endian", stream.Instruction{Type: "write_flow_var", Name: "v"}, []byte{4, 3, 2, 1}},
		{"a negative add_value", stream.Instruction{Type: "write_flow_var", Name: "v", BigEndian: true, AddValue: -4},
			[]byte{1, 2, 3, 0}},
		{"a mask keeps the bits outside of it", stream.Instruction{Type: "write_mask_flow_var", Name: "v",
			BigEndian: true, CastSize: 1, Mask: 0x0f}, []byte{0xf4, 0xff, 0xff, 0xff}},
		{"a positive shift goes left", stream.Instruction{Type: "write_mask_flow_var", Name: "v", BigEndian: true,
			CastSize: 2, Mask: 0xffff, Shift: 4}, []byte{0x30, 0x40, 0xff, 0xff}},
		{"a negative shift goes right", stream.Instruction{Type: "write_mask_flow_var", Name: "v", BigEndian: true,
			CastSize: 2, Mask: 0xffff, Shift: -16}, []byte{1, 2, 0xff, 0xff}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.instruction.PacketOffset = 50
			template := udp(60)
			copy(template[50:], []byte{0xff, 0xff, 0xff, 0xff})
			p := program(t, template, value, c.instruction)
			buffer := p.Template()
			p.Frame(0, buffer)
			p.Frame(1, buffer)
			if !bytes.Equal(buffer[50:54], c.want) {
				t.Errorf("wrote % x, want % x", buffer[50:54], c.want)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	next := "w"
	for _, c := range []struct {
		name         string
		instructions []stream.Instruction
		want         string
	}{
		{"a write beyond the packet", []stream.Instruction{variableOf("inc", 0, 0, 9, 1), writeOf("v", 58)},
			"instruction id '1'"},
		{"an unknown variable", []stream.Instruction{variableOf("inc", 0, 0, 9, 1), writeOf("x", 26)},
			"'x' does not exist"},
		{"a range upside down", []stream.Instruction{variableOf("inc", 0, 9, 0, 1)},
			"min_value 9 of variable 'v' is bigger"},
		{"a value too large for its variable", []stream.Instruction{{Type: "flow_var", Name: "v", Size: 2, Op: "inc",
			MaxValue: 70000, Step: 1}}, "bigger than 65535"},
		{"the whole of 64 bits", []stream.Instruction{{Type: "flow_var", Name: "v", Size: 8, Op: "inc",
			MaxValue: 1<<64 - 1, Step: 1}}, "the whole range of 8 bytes"},
		{"a tuple upside down", []stream.Instruction{{Type: "tuple_flow_var", Name: "t", IPMin: 2, IPMax: 1}},
			"ip_min of variable 't' is bigger"},
		{"a next_var that doesn't follow", []stream.Instruction{{Type: "flow_var", Name: "v", Size: 1, Op: "inc",
			MaxValue: 1, Step: 1, NextVar: &next}, writeOf("v", 50)}, "next_var 'w'"},
		{"an unknown instruction", []stream.Instruction{{Type: "dance"}}, "unknown instruction type 'dance'"},
		{"a size of three", []stream.Instruction{{Type: "flow_var", Name: "v", Size: 3, Op: "inc",
			Step: 1}}, "field 'size'"},
		{"a trim by a list", []stream.Instruction{{Type: "flow_var", Name: "v", Size: 2, Op: "inc", Step: 1,
			ValueList: []uint64{60}}, {Type: "trim_pkt_size", Name: "v"}}, "2-byte range"},
		{"an IPv4 header beyond the packet", []stream.Instruction{variableOf("inc", 0, 0, 9, 1),
			{Type: "fix_checksum_ipv4", PacketOffset: 50}}, "offset 50"},
		{"an unknown kind of checksum", []stream.Instruction{variableOf("inc", 0, 0, 9, 1),
			{Type: "fix_checksum_hw", L2Length: 14, L3Length: 20, L4Type: 6}}, "l4_type 6"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := Compile(udp(60), stream.VM{Instructions: c.instructions}, 0); err == nil ||
				!strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
	if _, err := Compile(make([]byte, 13), stream.VM{}, 0); err == nil ||
		!strings.Contains(err.Error(), "between 14 and 9238") {
		t.Errorf("13 bytes: %v", err)
	}
}
