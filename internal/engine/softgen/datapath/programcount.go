package datapath

import "github.com/cilium/ebpf/asm"

// The totals' two pairs of counters: all frames, and the strays among them.
const (
	allFrames = 0
	strays    = countersOfPacket
)

// count adds the buffer's frames to one of the totals' pairs.
func (m kernelMaps) count(which int16) asm.Instructions {
	return append(lookup(m.totals, stackKey),
		asm.LoadMem(asm.R1, asm.R0, which, asm.DWord),
		asm.LoadMem(asm.R2, asm.RFP, stackCount, asm.DWord),
		asm.Add.Reg(asm.R1, asm.R2),
		asm.StoreMem(asm.R0, which, asm.R1, asm.DWord),
		asm.LoadMem(asm.R1, asm.R0, which+8, asm.DWord),
		asm.Add.Reg(asm.R1, length),
		asm.StoreMem(asm.R0, which+8, asm.R1, asm.DWord),
	)
}

// countFlow counts by the mark in R1.
func (m kernelMaps) countFlow() asm.Instructions {
	next := "rest"
	if m.follow() {
		next = "stamped"
	}
	return joined(asm.Instructions{
		asm.JEq.Imm(asm.R1, markLatency, "latency").WithSymbol("mark"),
		asm.Sub.Imm(asm.R1, markBase),
		asm.StoreMem(asm.RFP, stackIndex, asm.R1, asm.Word),
	}, m.addToFlow(), asm.Instructions{asm.Ja.Label(next)})
}

// addToFlow adds the buffer's frames to the flow at stackIndex: all processors share its counters, so atomically.
func (m kernelMaps) addToFlow() asm.Instructions {
	return append(lookup(m.flows, stackIndex),
		asm.LoadMem(asm.R1, asm.RFP, stackCount, asm.DWord),
		asm.AddAtomic.Mem(asm.R0, asm.R1, asm.DWord, 0),
		asm.AddAtomic.Mem(asm.R0, length, asm.DWord, 8),
	)
}
