package main

import (
	"fmt"
	"net"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	tcx "github.com/cilium/ebpf/link"
)

// burn takes so much more processor time for each frame that comes in on a link, in a function of that name: a slower
// release, for trying whether a measurement finds it, and says where. It lasts until this process ends. It takes
// Linux 6.6, and the capability BPF beside NET_ADMIN.
func burn(links []link, waste time.Duration) error {
	if waste == 0 {
		return nil
	}
	program, err := burner(waste)
	if err != nil {
		return fmt.Errorf("burn: %w", err)
	}
	for _, l := range links {
		i, err := net.InterfaceByName(l.Interface)
		if err != nil {
			return fmt.Errorf("burn: %w", err)
		}
		if _, err := tcx.AttachTCX(tcx.TCXOptions{Interface: i.Index, Program: program,
			Attach: ebpf.AttachTCXIngress}); err != nil {
			return fmt.Errorf("burn at %s: %w", l.Interface, err)
		}
	}
	return nil
}

// burner multiplies as often as this machine does in that time.
func burner(waste time.Duration) (*ebpf.Program, error) {
	const tried, most = 2000, 100_000
	program, err := multiplier(tried)
	if err != nil {
		return nil, err
	}
	took := time.Hour
	for range 5 { // the shortest of several, as others may have had the processor
		_, one, err := program.Benchmark(make([]byte, 64), 10_000, nil)
		if err != nil {
			return nil, err
		}
		took = min(took, one)
	}
	_ = program.Close()
	return multiplier(min(most, int32(tried*waste/max(took, 1))))
}

func multiplier(times int32) (*ebpf.Program, error) {
	return ebpf.NewProgram(&ebpf.ProgramSpec{Name: "burn", Type: ebpf.SchedCLS, License: "MIT",
		Instructions: asm.Instructions{
			asm.Mov.Imm(asm.R1, max(1, times)),
			asm.Mov.Imm(asm.R2, 3),
			asm.Mul.Imm(asm.R2, 5).WithSymbol("again"),
			asm.Sub.Imm(asm.R1, 1),
			asm.JNE.Imm(asm.R1, 0, "again"),
			asm.Mov.Imm(asm.R0, -1), // TCX_NEXT: on as without this program
			asm.Return(),
		}})
}
