package main

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
	"github.com/vishvananda/netlink"
)

// drain is the one sink of all contenders: a program at the interfaces where frames arrive counts and drops
// each one before the kernel's network stack sees it (XDP).
type drain struct {
	counts  *ebpf.Map
	program *ebpf.Program
	links   []link.Link
}

// openDrain begins to count on these interfaces of the calling thread's network namespace.
func openDrain(links []netlink.Link) (_ *drain, err error) {
	d := &drain{}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("open the sink: %w", err), d.close())
		}
	}()
	if d.counts, err = ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.PerCPUArray, KeySize: 4, ValueSize: 8,
		MaxEntries: 1}); err != nil {
		return nil, err
	}
	if d.program, err = ebpf.NewProgram(&ebpf.ProgramSpec{Name: "bench_sink", Type: ebpf.XDP, License: "Apache-2.0",
		Instructions: countAndDrop(d.counts)}); err != nil {
		return nil, err
	}
	for _, each := range links {
		attached, err := link.AttachXDP(link.XDPOptions{Program: d.program, Interface: each.Attrs().Index})
		if err != nil {
			return nil, err
		}
		d.links = append(d.links, attached)
	}
	return d, nil
}

func countAndDrop(counts *ebpf.Map) asm.Instructions {
	const key, drop = -4, 1 // XDP_DROP
	return asm.Instructions{
		asm.StoreImm(asm.RFP, key, 0, asm.Word),
		asm.LoadMapPtr(asm.R1, counts.FD()),
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, key),
		asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, "drop"),
		asm.LoadMem(asm.R1, asm.R0, 0, asm.DWord),
		asm.Add.Imm(asm.R1, 1), // each processor has a count of its own
		asm.StoreMem(asm.R0, 0, asm.R1, asm.DWord),
		asm.Mov.Imm(asm.R0, drop).WithSymbol("drop"),
		asm.Return(),
	}
}

// frames are those that arrived since the sink was opened.
func (d *drain) frames() (uint64, error) {
	var perProcessor []uint64
	if err := d.counts.Lookup(uint32(0), &perProcessor); err != nil {
		return 0, fmt.Errorf("read the sink: %w", err)
	}
	sum := uint64(0)
	for _, n := range perProcessor {
		sum += n
	}
	return sum, nil
}

func (d *drain) close() error {
	var errs []error
	for _, l := range d.links {
		errs = append(errs, l.Close())
	}
	if d.program != nil {
		errs = append(errs, d.program.Close())
	}
	if d.counts != nil {
		errs = append(errs, d.counts.Close())
	}
	return errors.Join(errs...)
}
