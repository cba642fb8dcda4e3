package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"

	"github.com/linerate-dev/linerate/internal/host/bounded"
)

// counting is for how long those are counted that leave together.
const counting = time.Second

// measureTogether is how many frames a program in the kernel has leave in one go, on average, while this
// process sends: the kernel hands frames that XDP sent to a driver at the end of a batch (its tracepoint
// xdp_devmap_xmit). 0: none left so.
func measureTogether(ctx context.Context) (float64, error) {
	counts, err := ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: 16, MaxEntries: 1})
	if err != nil {
		return 0, err
	}
	defer counts.Close() //nolint:errcheck // read by then
	program, err := ebpf.NewProgram(&ebpf.ProgramSpec{Name: "bench_together", Type: ebpf.RawTracepoint, License: "GPL",
		Instructions: countBatches(counts)})
	if err != nil {
		return 0, fmt.Errorf("count the frames that leave together: %w", err)
	}
	defer program.Close() //nolint:errcheck // the link has it
	attached, err := link.AttachRawTracepoint(link.RawTracepointOptions{Name: "xdp_devmap_xmit", Program: program})
	if err != nil {
		return 0, fmt.Errorf("count the frames that leave together: %w", err)
	}
	if err := errors.Join(bounded.Pause(ctx, counting), attached.Close()); err != nil {
		return 0, err
	}
	var c struct{ Batches, Frames uint64 }
	if err := counts.Lookup(uint32(0), &c); err != nil {
		return 0, err
	}
	return float64(c.Frames) / float64(max(c.Batches, 1)), nil
}

// countBatches counts batches and their frames of this process, of which one thread sends.
func countBatches(counts *ebpf.Map) asm.Instructions {
	const sent = 2 * 8 // the tracepoint's third argument
	return asm.Instructions{
		asm.Mov.Reg(asm.R6, asm.R1),
		asm.FnGetCurrentPidTgid.Call(),
		asm.RSh.Imm(asm.R0, 32),
		asm.JNE.Imm(asm.R0, int32(os.Getpid()), "other"),
		asm.LoadMapValue(asm.R1, counts.FD(), 0),
		asm.LoadMem(asm.R2, asm.R1, 0, asm.DWord),
		asm.Add.Imm(asm.R2, 1),
		asm.StoreMem(asm.R1, 0, asm.R2, asm.DWord),
		asm.LoadMem(asm.R3, asm.R6, sent, asm.DWord),
		asm.LoadMem(asm.R2, asm.R1, 8, asm.DWord),
		asm.Add.Reg(asm.R2, asm.R3),
		asm.StoreMem(asm.R1, 8, asm.R2, asm.DWord),
		asm.Mov.Imm(asm.R0, 0).WithSymbol("other"),
		asm.Return(),
	}
}
