package fieldengine

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/stream"
)

// valid says whether the checksums of an untagged frame are right, by RFC 1071's check. The sum with the
// checksum is all ones.
func valid(frame []byte) bool {
	const l2 = 14
	protocol, start := uint64(frame[20]), 54
	if frame[l2]>>4 == 4 {
		if stream.FoldChecksum(stream.SumWords(frame[14:34])) != 0xffff {
			return false
		}
		protocol, start = uint64(frame[23]), 34
	}
	end := payloadEnd(frame, l2)
	low, high := addresses(frame, l2)
	return stream.FoldChecksum(stream.SumWords(frame[low:high])+stream.SumWords(frame[start:end])+protocol+
		uint64(end-start)) == 0xffff
}

func TestChecksums(t *testing.T) {
	source := stream.Instruction{Type: "flow_var", Name: "v", Size: 4, Op: "random", MinValue: 0, MaxValue: 1<<32 - 1,
		Step: 1}
	port := stream.Instruction{Type: "flow_var", Name: "p", Size: 2, Op: "random", MinValue: 0, MaxValue: 65535,
		Step: 1}
	odd := stream.Instruction{Type: "flow_var", Name: "o", Size: 1, Op: "random", MinValue: 0, MaxValue: 255, Step: 1}
	tcp := udp(80)
	tcp[23] = protocolTCP
	icmp := udp6(80)
	icmp[20] = protocolICMPv6
	hw4 := stream.Instruction{Type: "fix_checksum_hw", L2Length: 14, L3Length: 20, L4Type: kindUDP}
	hw6 := stream.Instruction{Type: "fix_checksum_hw", L2Length: 14, L3Length: 40, L4Type: kindUDP}
	for _, c := range []struct {
		name     string
		template []byte
		offsets  [3]int // the variables' offsets
		fix      stream.Instruction
	}{
		{"UDP over IPv4", udp(60), [3]int{26, 34, 51}, hw4},
		{"UDP over IPv4, an odd length", udp(63), [3]int{30, 36, 62}, hw4},
		{"TCP over IPv4", tcp, [3]int{26, 34, 71}, stream.Instruction{Type: "fix_checksum_hw", L2Length: 14,
			L3Length: 20, L4Type: kindTCP}},
		{"UDP over IPv6", udp6(100), [3]int{22, 54, 91}, hw6},
		{"ICMPv6", icmp, [3]int{22, 60, 71}, stream.Instruction{Type: "fix_checksum_icmpv6", L2Length: 14,
			L3Length: 40}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := program(t, c.template, source, port, odd, writeOf("v", c.offsets[0]), writeOf("p", c.offsets[1]),
				writeOf("o", c.offsets[2]), c.fix)
			buffer := p.Template()
			for i := range 1000 {
				n := p.Frame(uint64(i), buffer)
				if !valid(buffer[:n]) {
					t.Fatalf("frame %d has a wrong checksum: % x", i, buffer[:n])
				}
			}
		})
	}
	t.Run("frames of varying length have right checksums", func(t *testing.T) {
		size := stream.Instruction{Type: "flow_var", Name: "v", Size: 2, Op: "inc", InitValue: 60, MinValue: 60,
			MaxValue: 200, Step: 1}
		total := stream.Instruction{Type: "write_flow_var", Name: "v", PacketOffset: 16, AddValue: -14, BigEndian: true}
		datagram := stream.Instruction{Type: "write_flow_var", Name: "v", PacketOffset: 38, AddValue: -34,
			BigEndian: true}
		p := program(t, udp(200), size, stream.Instruction{Type: "trim_pkt_size", Name: "v"}, total, datagram, hw4)
		buffer := p.Template()
		for i := range 300 {
			n := p.Frame(uint64(i), buffer)
			if n != 60+i%141 || !valid(buffer[:n]) {
				t.Fatalf("frame %d is %d bytes long, checksums right: %v", i, n, valid(buffer[:n]))
			}
		}
		if p.MeanLength() != 130 || p.MaxLength() != 200 || p.Period() != 141 {
			t.Errorf("mean %v, longest %d, period %d", p.MeanLength(), p.MaxLength(), p.Period())
		}
	})
	t.Run("a UDP checksum of zero over IPv4 stays none", func(t *testing.T) {
		f := udp(60)
		f[40], f[41] = 0, 0
		FixTransport(f, 14)
		if f[40] != 0 || f[41] != 0 {
			t.Errorf("checksum became %x", f[40:42])
		}
	})
}

// TestSharing checks that frame i is the same from every thread, after any other frames.
func TestSharing(t *testing.T) {
	next := "w"
	vm := []stream.Instruction{
		{Type: "flow_var", Name: "v", Size: 4, Op: "dec", InitValue: 50, MinValue: 3, MaxValue: 77, Step: 4,
			NextVar: &next},
		{Type: "flow_var", Name: "w", Size: 2, Op: "inc", InitValue: 9, MinValue: 7, MaxValue: 12, Step: 1},
		writeOf("v", 26), writeOf("w", 34), {Type: "fix_checksum_hw", L2Length: 14, L3Length: 20, L4Type: kindUDP},
	}
	p := program(t, udp(60), vm...)
	first := p.Template()
	for _, threads := range []int{2, 3, 4} {
		buffers := make([][]byte, threads)
		for k := range buffers {
			buffers[k] = p.Template()
		}
		for i := range 1000 {
			p.Frame(uint64(i), first)
			buffer := buffers[i%threads]
			p.Frame(uint64(i), buffer)
			if !bytes.Equal(first, buffer) {
				t.Fatalf("frame %d of thread %d of %d differs", i, i%threads, threads)
			}
			if i >= int(p.Period()) {
				second := p.Template()
				p.Frame(uint64(i)%p.Period(), second)
				if !bytes.Equal(first, second) {
					t.Fatalf("frame %d doesn't repeat frame %d", i, uint64(i)%p.Period())
				}
			}
		}
	}
}

func FuzzCompile(f *testing.F) {
	f.Add(uint64(1), uint64(5), uint64(9), uint64(2), 26, byte(0), uint64(12345))
	ops := []string{"inc", "dec", "random"}
	f.Fuzz(func(t *testing.T, low, init, high, step uint64, offset int, op byte, index uint64) {
		v := stream.Instruction{Type: "flow_var", Name: "v", Size: 1 << (op % 4), Op: ops[op%3], InitValue: init,
			MinValue: low, MaxValue: high, Step: step}
		p, err := Compile(udp(60), stream.VM{Instructions: []stream.Instruction{v, writeOf("v", offset)}}, 0)
		if err != nil {
			return
		}
		buffer := p.Template()
		if n := p.Frame(index, buffer); n != 60 {
			t.Fatalf("frame of %d bytes", n)
		}
		got := load(buffer[offset:offset+v.Size], false)
		grown := max(step, 1)
		if got > high && got-high >= grown || got < low && low-got >= grown {
			t.Fatalf("value %d is outside of %d to %d by more than the step %d", got, low, high, step)
		}
	})
}

func BenchmarkFrame(b *testing.B) {
	vm := stream.VM{Instructions: []stream.Instruction{
		{Type: "flow_var", Name: "v", Size: 4, Op: "random", MaxValue: 1 << 31, Step: 1}, writeOf("v", 26),
		{Type: "fix_checksum_hw", L2Length: 14, L3Length: 20, L4Type: kindUDP}}}
	for _, length := range []int{60, 1514} {
		b.Run(fmt.Sprint(length), func(b *testing.B) {
			p, err := Compile(udp(length), vm, 0)
			if err != nil {
				b.Fatal(err)
			}
			buffer := p.Template()
			b.ReportAllocs()
			for i := range b.N {
				p.Frame(uint64(i), buffer)
			}
		})
	}
}
