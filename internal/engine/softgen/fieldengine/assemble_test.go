package fieldengine

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/document/stream"
)

// translated is a program of this package in the kernel. Each run takes a template followed by an index.
type translated struct {
	program *ebpf.Program
	length  int
}

// needKernel skips a test that this machine can't run. In CI it fails instead, so that every test runs there.
func needKernel(t *testing.T, err error) {
	t.Helper()
	switch {
	case err == nil:
	case os.Getenv("CI") == "true":
		t.Fatalf("programs in the kernel need CAP_BPF and CAP_NET_ADMIN: %v", err)
	default:
		t.Skipf("programs in the kernel need CAP_BPF and CAP_NET_ADMIN: %v", err)
	}
}

// translate loads a program that makes a frame in place and returns its length. A stamp that isn't 0
// is an IP header's offset. Then the last 16 bytes become the index twice, and the checksum follows.
func translate(t *testing.T, p *Program, stamp int) translated {
	t.Helper()
	table := p.Table()
	m, err := ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: uint32(8*len(table) + 8),
		MaxEntries: 1, Flags: unix.BPF_F_MMAPABLE})
	needKernel(t, err)
	t.Cleanup(func() { _ = m.Close() })
	if err := m.Put(uint32(0), append(binary.NativeEndian.AppendUint64(nil, 0), listed(table)...)); err != nil {
		t.Fatal(err)
	}
	var c Code
	length := p.MaxLength()
	c.Add(
		asm.LoadMem(asm.R8, asm.R1, 0, asm.Word), // xdp_md's data and data_end
		asm.LoadMem(asm.R2, asm.R1, 4, asm.Word),
		asm.Mov.Reg(asm.R3, asm.R8),
		asm.Add.Imm(asm.R3, int32(length+8)),
		asm.JGT.Reg(asm.R3, asm.R2, "short"),
		asm.LoadMem(asm.R9, asm.R8, int16(length), asm.DWord),
	)
	a := Assembler{Code: &c, Frame: asm.R8, Index: asm.R9, TableFD: m.FD(), TableOffset: 8}
	if _, err := p.Assemble(a); err != nil {
		t.Fatal(err)
	}
	if stamp > 0 {
		c.Add(asm.StoreMem(asm.R8, int16(length-16), asm.R9, asm.DWord), asm.StoreMem(asm.R8, int16(length-8), asm.R9,
			asm.DWord))
		if err := p.AssembleTransport(a, stamp, length-16, length); err != nil {
			t.Fatal(err)
		}
	}
	p.AssembleLength(a)
	c.Add(asm.Return())
	c.Mark("short")
	c.Add(asm.Mov.Imm(asm.R0, 0), asm.Return())
	program, err := ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.XDP, License: "Apache-2.0",
		Instructions: c.Instructions()})
	needKernel(t, err)
	t.Cleanup(func() { _ = program.Close() })
	return translated{program, length}
}

func listed(table []uint64) (encoded []byte) {
	for _, v := range table {
		encoded = binary.NativeEndian.AppendUint64(encoded, v)
	}
	return encoded
}

func (k translated) frame(t *testing.T, p *Program, index uint64) []byte {
	t.Helper()
	output := make([]byte, k.length+8)
	n, err := k.program.Run(&ebpf.RunOptions{Data: binary.NativeEndian.AppendUint64(p.Template(), index),
		DataOut: output})
	if err != nil {
		t.Fatal(err)
	}
	return output[:n]
}

// randomProgram draws a program of some variables, their writes and fixes.
func randomProgram(r *rand.Rand) (*Program, error) {
	template := udp(60 + r.IntN(80))
	if r.IntN(2) == 0 {
		template = udp6(62 + r.IntN(80))
	}
	length := len(template)
	var vm stream.VM
	names := []string{"a", "b", "c", "d"}[:1+r.IntN(4)]
	for i, name := range names {
		instruction := stream.Instruction{Type: "flow_var", Name: name, Size: 1 << r.IntN(4), Op: []string{"inc", "dec",
			"random"}[r.IntN(3)], Seed: r.Uint64() >> 40, Step: 1 + r.Uint64N(4)}
		top := ^uint64(0) >> (64 - 8*instruction.Size)
		instruction.MinValue = r.Uint64N(top) >> r.IntN(8*instruction.Size)
		instruction.MaxValue = instruction.MinValue + r.Uint64N(top-instruction.MinValue)>>r.IntN(8*instruction.Size)
		instruction.InitValue = instruction.MinValue + r.Uint64N(instruction.MaxValue-instruction.MinValue+1)
		if r.IntN(4) == 0 {
			for range 1 + r.IntN(9) {
				instruction.ValueList = append(instruction.ValueList, r.Uint64N(top))
			}
			instruction.Step = 1 + r.Uint64N(uint64(len(instruction.ValueList)))
		} else if r.IntN(4) == 0 {
			instruction.Type, instruction.Limit = "flow_var_rand_limit", 1+r.Uint64N(50)
		}
		if next := i + 1; next < len(names) && r.IntN(2) == 0 {
			instruction.NextVar = &names[next]
		}
		vm.Instructions = append(vm.Instructions, instruction)
	}
	if r.IntN(3) == 0 {
		vm.Instructions = append(vm.Instructions, stream.Instruction{Type: "tuple_flow_var", Name: "t", IPMin: 7,
			IPMax: 7 + r.Uint32N(300), PortMin: 9, PortMax: uint16(9 + r.IntN(300)), LimitFlows: r.Uint32N(2000)})
		names = append(names, "t.ip", "t.port")
	}
	for _, name := range names {
		instruction := stream.Instruction{Type: "write_flow_var", Name: name, BigEndian: r.IntN(3) > 0,
			AddValue: r.Int64N(100) - 50, PacketOffset: []int{0, 20, 22, 24, 26, 30, 34, 36, 42}[r.IntN(9)]}
		if r.IntN(3) == 0 {
			instruction.Type, instruction.CastSize, instruction.Mask, instruction.Shift = "write_mask_flow_var",
				1<<r.IntN(3), r.Uint32(), r.IntN(20)-10
		}
		vm.Instructions = append(vm.Instructions, instruction)
	}
	if r.IntN(2) == 0 {
		l3 := 20
		if template[14]>>4 == 6 {
			l3 = 40
		}
		vm.Instructions = append(vm.Instructions, stream.Instruction{Type: "fix_checksum_hw", L2Length: 14,
			L3Length: l3, L4Type: kindUDP})
	} else if r.IntN(2) == 0 {
		vm.Instructions = append(vm.Instructions, stream.Instruction{Type: "flow_var", Name: "trim", Size: 2,
			Op: "random", MinValue: 50, MaxValue: uint64(length) + 9, InitValue: 50, Step: 1},
			stream.Instruction{Type: "trim_pkt_size", Name: "trim"})
	}
	vm.Cache = uint16(r.IntN(2) * r.IntN(500))
	return Compile(template, vm, r.Uint64())
}

func TestFramesMadeInTheKernelAreTheSame(t *testing.T) {
	const wanted = 150
	r := rand.New(rand.NewPCG(20, 26))
	refused := 0
	for compared := 0; compared < wanted; {
		p, err := randomProgram(r)
		if err != nil {
			if refused++; refused > 20*wanted {
				t.Fatalf("hardly a program that is drawn compiles: %v", err)
			}
			continue
		}
		a := Assembler{Code: &Code{}, Frame: asm.R8, Index: asm.R9}
		if _, err := p.Assemble(a); errors.Is(err, ErrNotCarried) {
			continue
		}
		compared++
		k, buffer := translate(t, p, 0), p.Template()
		for _, index := range []uint64{0, 1, 2, 3, 100, 255, 256, 65_535, 65_536, r.Uint64() >> 30, r.Uint64() >> 8} {
			want := buffer[:p.Frame(index, buffer)]
			if got := k.frame(t, p, index)[:len(want)]; !bytes.Equal(got, want) {
				t.Fatalf("program %d, frame %d:\n got % x\nwant % x\n%+v", compared, index, got, want, p)
			}
		}
	}
}

func TestStampedFramesMadeInTheKernelAreTheSame(t *testing.T) {
	unchecked := udp(80)
	unchecked[40], unchecked[41] = 0, 0
	for name, template := range map[string][]byte{"UDP over IPv4": udp(80), "an odd length": udp(81),
		"UDP over IPv6": udp6(90), "no checksum": unchecked} {
		t.Run(name, func(t *testing.T) {
			p := program(t, template, variableOf("inc", 0, 0, 1000, 1), writeOf("v", 26))
			k, buffer := translate(t, p, 14), p.Template()
			for _, index := range []uint64{0, 1, 77, 1 << 40} {
				want := buffer[:p.Frame(index, buffer)]
				binary.NativeEndian.PutUint64(want[len(want)-16:], index)
				binary.NativeEndian.PutUint64(want[len(want)-8:], index)
				FixTransport(want, 14)
				if got := k.frame(t, p, index)[:len(want)]; !bytes.Equal(got, want) {
					t.Errorf("frame %d:\n got % x\nwant % x", index, got, want)
				}
			}
		})
	}
}
