package datapath

import (
	"fmt"

	"github.com/cilium/ebpf/asm"

	"github.com/linerate-dev/linerate/internal/units/transit"
)

// Where the members of a followed are.
const (
	followedLock       = 0
	followedRun        = 4
	followedNext       = 8
	followedTimed      = 12
	followedReceived   = 16
	followedBytes      = 24
	followedLost       = 32
	followedDuplicates = 40
	followedReordered  = 48
	followedStale      = 56
	followedTooHigh    = 64
	followedTooLow     = 72
	followedSum        = 80
	followedShortest   = 88
	followedLongest    = 96
	followedLast       = 104
	followedJitter     = 112
	followedMerged     = 120
	followedUncounted  = 128
	followedVaried     = 136
	followedChanges    = 144
	followedRecent     = 152
	followedSize       = followedRecent + 8*recentWords
)

// Stack slots of the part that follows stamps.
const (
	stackTook  = -64
	stackStamp = -80
)

// state is the register that has the followed's address while it is locked.
const state = asm.R8

// follow takes in frames with a stamp: latency streams' ("latency"), and marked ones that have a stamp of their own id and of a time that can be ("stamped", with the id at stackIndex).
//
//	latency ──▶ stamp? id? ─────────────┐
//	stamped ──▶ stamp? same id? time? ──┴─▶ lock ─▶ order ─▶ time ─▶ unlock ─▶ bucket + 1, or ring where there are no buckets yet, or Uncounted + 1 where that is full
func (h hook) follow(m kernelMaps) asm.Instructions {
	return joined(h.readStamps(m), labelled("follow", lookup(m.followed, stackIndex)), asm.Instructions{
		asm.Mov.Reg(state, asm.R0),
		asm.LoadMem(asm.R1, asm.RFP, stackCount, asm.DWord),
		asm.JEq.Imm(asm.R1, 1, "alone"),
		asm.AddAtomic.Mem(asm.R0, asm.R1, asm.DWord, followedMerged),
		asm.Ja.Label("rest"),
		asm.Mov.Reg(asm.R1, state).WithSymbol("alone"),
		asm.FnSpinLock.Call(),
	}, beginRun(), judgeOrder(), takeTime(), asm.Instructions{
		asm.Mov.Reg(asm.R1, state),
		asm.FnSpinUnlock.Call(),
	}, bucketOf(), h.countTransit(m))
}

// readStamps leaves the stamp, its id and the transit time on the stack. A latency stream's frame is counted by its flow here: its id stands nowhere else.
func (h hook) readStamps(m kernelMaps) asm.Instructions {
	read := func(label string) asm.Instructions {
		return labelled(label, joined(asm.Instructions{asm.LoadMem(asm.R2, asm.RFP, stackBuffer, asm.Word)}, h.load(asm.Sub.Imm(asm.R2, stampSize), stackStamp, stampSize, "rest"), asm.Instructions{
			asm.LoadMem(asm.R1, asm.RFP, stackStamp, asm.Byte),
			asm.JNE.Imm(asm.R1, stampMagic, "rest"),
			asm.FnKtimeGetNs.Call(),
			asm.LoadMem(asm.R2, asm.RFP, stackStamp+8, asm.DWord),
			asm.HostTo(asm.LE, asm.R2, asm.DWord),
			asm.Sub.Reg(asm.R0, asm.R2),
			asm.LoadMem(asm.R1, asm.RFP, stackStamp+2, asm.Half),
			asm.HostTo(asm.LE, asm.R1, asm.Half),
		}))
	}
	return joined(read("latency"), asm.Instructions{
		asm.JGT.Imm(asm.R1, maxFlowID, "rest"),
		asm.StoreMem(asm.RFP, stackIndex, asm.R1, asm.Word),
		asm.JSGE.Imm(asm.R0, 0, "plausible"),
		asm.Mov.Imm(asm.R0, 0), // clocks that disagree
		asm.StoreMem(asm.RFP, stackTook, asm.R0, asm.DWord).WithSymbol("plausible"),
	}, m.addToFlow(), asm.Instructions{
		asm.Ja.Label("follow"),
	}, read("stamped"), asm.Instructions{
		asm.LoadMem(asm.R2, asm.RFP, stackIndex, asm.Word),
		asm.JNE.Reg(asm.R1, asm.R2, "rest"),
		asm.Mov.Reg(asm.R2, asm.R0),
		asm.RSh.Imm(asm.R2, transit.LimitBits),
		asm.JNE.Imm(asm.R2, 0, "rest"),
		asm.StoreMem(asm.RFP, stackTook, asm.R0, asm.DWord),
	})
}

// beginRun forgets what belongs to an earlier run of the sender.
func beginRun() asm.Instructions {
	return joined(asm.Instructions{
		asm.LoadMem(asm.R1, asm.RFP, stackStamp+1, asm.Byte),
		asm.Or.Imm(asm.R1, runKnown),
		asm.LoadMem(asm.R2, state, followedRun, asm.Word),
		asm.JEq.Reg(asm.R1, asm.R2, "same-run"),
		asm.StoreMem(state, followedRun, asm.R1, asm.Word),
		asm.StoreImm(state, followedNext, 0, asm.Word),
		asm.StoreImm(state, followedTimed, 0, asm.Word),
	}, emptyRecent())
}

func emptyRecent() asm.Instructions {
	p := asm.Instructions{asm.Mov.Imm(asm.R0, 0)}
	for word := range int16(recentWords) {
		p = append(p, asm.StoreMem(state, followedRecent+8*word, asm.R0, asm.DWord))
	}
	return p
}

// judgeOrder compares the sequence (R1) with the one expected (R2).
func judgeOrder() asm.Instructions {
	return joined(asm.Instructions{
		asm.LoadMem(asm.R1, asm.RFP, stackStamp+4, asm.Word).WithSymbol("same-run"),
		asm.HostTo(asm.LE, asm.R1, asm.Word),
		asm.LoadMem(asm.R2, state, followedNext, asm.Word),
		asm.Mov.Reg32(asm.R3, asm.R1),
		asm.Sub.Reg32(asm.R3, asm.R2),
		asm.Sub.Imm32(asm.R2, 1), // the highest so far
		asm.JSLT.Imm32(asm.R3, 0, "behind"),
		asm.JSGT.Imm32(asm.R3, farOff, "too-high"),
		asm.LoadMem(asm.R4, state, followedLost, asm.DWord),
		asm.Add.Reg(asm.R4, asm.R3),
		asm.StoreMem(state, followedLost, asm.R4, asm.DWord),
	}, advance(), sequenceAnew(), sequenceBehind(), see())
}

// advance empties the words that the window enters: R4 is the highest sequence's word, R3 how many follow it up to the new one.
func advance() asm.Instructions {
	p := asm.Instructions{
		asm.Mov.Reg32(asm.R4, asm.R2),
		asm.And.Imm32(asm.R4, -64),
		asm.Mov.Reg32(asm.R3, asm.R1),
		asm.Sub.Reg32(asm.R3, asm.R4),
		asm.RSh.Imm32(asm.R3, 6),
		asm.RSh.Imm32(asm.R4, 6),
		asm.Mov.Imm(asm.R2, 0),
	}
	for i := range int32(recentWords) {
		p = append(p,
			asm.JLE.Imm32(asm.R3, i, "advanced"),
			asm.Mov.Reg32(asm.R5, asm.R4),
			asm.Add.Imm32(asm.R5, i+1),
			asm.And.Imm32(asm.R5, recentWords-1),
			asm.LSh.Imm32(asm.R5, 3),
			asm.Mov.Reg(asm.R0, state),
			asm.Add.Imm(asm.R0, followedRecent),
			asm.Add.Reg(asm.R0, asm.R5),
			asm.StoreMem(asm.R0, 0, asm.R2, asm.DWord),
		)
	}
	return append(p, asm.Ja.Label("advanced"))
}

// sequenceAnew begins the window anew.
func sequenceAnew() asm.Instructions {
	return joined(labelled("too-high", bump(followedTooHigh)), asm.Instructions{asm.Ja.Label("anew")}, labelled("too-low", bump(followedTooLow)), labelled("anew", emptyRecent()), asm.Instructions{
		asm.Mov.Reg32(asm.R2, asm.R1).WithSymbol("advanced"),
		asm.Add.Imm32(asm.R2, 1),
		asm.StoreMem(state, followedNext, asm.R2, asm.Word),
		asm.Ja.Label("see"),
	})
}

// sequenceBehind tells late frames and duplicates apart.
func sequenceBehind() asm.Instructions {
	return joined(asm.Instructions{
		asm.JSLT.Imm32(asm.R3, -farOff, "too-low").WithSymbol("behind"),
		asm.Or.Imm32(asm.R2, 63),
		asm.Sub.Reg32(asm.R2, asm.R1),
		asm.RSh.Imm32(asm.R2, 6),
		asm.JGE.Imm32(asm.R2, recentWords, "stale"),
	}, placeOf(), asm.Instructions{
		asm.And.Reg(asm.R4, asm.R3),
		asm.JNE.Imm(asm.R4, 0, "duplicate"),
	}, bump(followedReordered), asm.Instructions{
		asm.LoadMem(asm.R4, state, followedLost, asm.DWord),
		asm.JEq.Imm(asm.R4, 0, "see"),
		asm.Sub.Imm(asm.R4, 1),
		asm.StoreMem(state, followedLost, asm.R4, asm.DWord),
		asm.Ja.Label("see"),
	}, labelled("stale", bump(followedStale)), asm.Instructions{asm.Ja.Label("ordered")}, labelled("duplicate", bump(followedDuplicates)), asm.Instructions{asm.Ja.Label("ordered")})
}

// see sets the sequence's bit.
func see() asm.Instructions {
	return joined(labelled("see", placeOf()), asm.Instructions{
		asm.Or.Reg(asm.R4, asm.R3),
		asm.StoreMem(asm.R0, 0, asm.R4, asm.DWord),
	})
}

// placeOf finds the word of the sequence in R1, in two steps, since no address of a user without CAP_PERFMON may come near the lock on its way: its address to R0 and its value to R4, and the sequence's bit in it, to R3.
func placeOf() asm.Instructions {
	return asm.Instructions{
		asm.Mov.Reg32(asm.R5, asm.R1),
		asm.RSh.Imm32(asm.R5, 6),
		asm.And.Imm32(asm.R5, recentWords-1),
		asm.LSh.Imm32(asm.R5, 3),
		asm.Mov.Reg(asm.R0, state),
		asm.Add.Imm(asm.R0, followedRecent),
		asm.Add.Reg(asm.R0, asm.R5),
		asm.LoadMem(asm.R4, asm.R0, 0, asm.DWord),
		asm.Mov.Reg32(asm.R5, asm.R1),
		asm.And.Imm32(asm.R5, 63),
		asm.Mov.Imm(asm.R3, 1),
		asm.LSh.Reg(asm.R3, asm.R5),
	}
}

// bump adds one to a counter.
func bump(counter int16) asm.Instructions {
	return asm.Instructions{
		asm.LoadMem(asm.R4, state, counter, asm.DWord),
		asm.Add.Imm(asm.R4, 1),
		asm.StoreMem(state, counter, asm.R4, asm.DWord),
	}
}

// takeTime adds the transit time (R1).
func takeTime() asm.Instructions {
	return joined(asm.Instructions{
		asm.LoadMem(asm.R1, asm.RFP, stackTook, asm.DWord).WithSymbol("ordered"),
		asm.LoadMem(asm.R2, state, followedReceived, asm.DWord),
		asm.JEq.Imm(asm.R2, 0, "shortest"),
		asm.LoadMem(asm.R3, state, followedShortest, asm.DWord),
		asm.JGE.Reg(asm.R1, asm.R3, "not-shortest"),
		asm.StoreMem(state, followedShortest, asm.R1, asm.DWord).WithSymbol("shortest"),
		asm.Add.Imm(asm.R2, 1).WithSymbol("not-shortest"),
		asm.StoreMem(state, followedReceived, asm.R2, asm.DWord),
		asm.LoadMem(asm.R2, state, followedBytes, asm.DWord),
		asm.Add.Reg(asm.R2, length),
		asm.StoreMem(state, followedBytes, asm.R2, asm.DWord),
		asm.LoadMem(asm.R2, state, followedLongest, asm.DWord),
		asm.JLE.Reg(asm.R1, asm.R2, "not-longest"),
		asm.StoreMem(state, followedLongest, asm.R1, asm.DWord),
		asm.LoadMem(asm.R2, state, followedSum, asm.DWord).WithSymbol("not-longest"),
		asm.Add.Reg(asm.R2, asm.R1),
		asm.StoreMem(state, followedSum, asm.R2, asm.DWord),
		asm.LoadMem(asm.R2, state, followedTimed, asm.Word),
		asm.JEq.Imm(asm.R2, 0, "first-time"),
		asm.LoadMem(asm.R2, state, followedLast, asm.DWord),
		asm.Mov.Reg(asm.R3, asm.R1),
		asm.Sub.Reg(asm.R3, asm.R2),
		asm.JSGE.Imm(asm.R3, 0, "later"),
		asm.Neg.Imm(asm.R3, 0),
		asm.LoadMem(asm.R4, state, followedVaried, asm.DWord).WithSymbol("later"),
		asm.Add.Reg(asm.R4, asm.R3),
		asm.StoreMem(state, followedVaried, asm.R4, asm.DWord),
	}, bump(followedChanges), asm.Instructions{
		asm.LoadMem(asm.R2, state, followedJitter, asm.DWord),
		asm.Add.Reg(asm.R3, asm.R2),
		asm.RSh.Imm(asm.R2, 4),
		asm.Sub.Reg(asm.R3, asm.R2),
		asm.StoreMem(state, followedJitter, asm.R3, asm.DWord),
		asm.StoreImm(state, followedTimed, 1, asm.Word).WithSymbol("first-time"),
		asm.StoreMem(state, followedLast, asm.R1, asm.DWord),
	})
}

// bucketOf leaves the bucket of the transit time in R8, as transit.Index has it: a shift by as many bits as the time has above transit.FineBits, found by halves.
func bucketOf() asm.Instructions {
	p := asm.Instructions{
		asm.LoadMem(asm.R1, asm.RFP, stackTook, asm.DWord),
		asm.Mov.Reg(asm.R2, asm.R1),
		asm.RSh.Imm(asm.R2, transit.LimitBits),
		asm.Mov.Imm(kind, transit.Beyond),
		asm.JNE.Imm(asm.R2, 0, "bucket"),
		asm.Mov.Reg(asm.R2, asm.R1),
		asm.RSh.Imm(asm.R2, transit.FineBits),
		asm.Mov.Imm(asm.R3, 0),
	}
	for _, half := range []int32{16, 8, 4, 2, 1, 0} {
		enough := fmt.Sprintf("shift-%d", half)
		bits := max(half, 1) // the last bit of all is as long as the one before it
		p = append(p, asm.JLT.Imm(asm.R2, 1<<half, enough), asm.RSh.Imm(asm.R2, bits), asm.Add.Imm(asm.R3, bits), asm.Mov.Imm(asm.R0, 0).WithSymbol(enough))
	}
	return append(p,
		asm.RSh.Reg(asm.R1, asm.R3),
		asm.LSh.Imm(asm.R3, transit.FineBits-1),
		asm.Add.Reg(asm.R1, asm.R3),
		asm.Mov.Reg(kind, asm.R1),
		asm.JLE.Imm(kind, transit.Beyond, "bucket"),
		asm.Mov.Imm(kind, transit.Beyond),
		asm.LSh.Imm(kind, 3).WithSymbol("bucket"),
	)
}

// countTransit counts into the flow's buckets, this processor's own. While it has none, the stamp goes up the ring: whoever reads it makes some. What finds the ring full is counted as that.
func (h hook) countTransit(m kernelMaps) asm.Instructions {
	find := func(from asm.Instruction, key int32, missing string) asm.Instructions {
		return asm.Instructions{
			from,
			asm.Mov.Reg(asm.R2, asm.RFP),
			asm.Add.Imm(asm.R2, key),
			asm.FnMapLookupElem.Call(),
			asm.JEq.Imm(asm.R0, 0, missing),
		}
	}
	return joined(find(asm.LoadMapPtr(asm.R1, m.transits.FD()), stackIndex, "no-buckets"), find(asm.Mov.Reg(asm.R1, asm.R0), stackKey, "no-buckets"), asm.Instructions{
		asm.Add.Reg(asm.R0, kind),
		asm.LoadMem(asm.R1, asm.R0, 0, asm.DWord),
		asm.Add.Imm(asm.R1, 1),
		asm.StoreMem(asm.R0, 0, asm.R1, asm.DWord),
		asm.Ja.Label("rest"),
	}, labelled("no-buckets", m.reserve(recordHeader+stampSize, recordStamp, "uncounted")), asm.Instructions{
		asm.LoadMem(asm.R1, asm.RFP, stackStamp+8, asm.DWord),
		asm.HostTo(asm.LE, asm.R1, asm.DWord),
		asm.LoadMem(asm.R2, asm.RFP, stackTook, asm.DWord),
		asm.Add.Reg(asm.R1, asm.R2),
		asm.StoreMem(kind, 0, asm.R1, asm.DWord), // when it was followed, not when it is told
		asm.LoadMem(asm.R2, asm.RFP, stackBuffer, asm.Word),
		asm.Sub.Imm(asm.R2, stampSize),
		asm.Mov.Imm(asm.R4, stampSize),
	}, h.copyTo(), asm.Instructions{asm.Ja.Label("rest")}, labelled("uncounted", lookup(m.followed, stackIndex)), asm.Instructions{
		asm.Mov.Imm(asm.R1, 1),
		asm.AddAtomic.Mem(asm.R0, asm.R1, asm.DWord, followedUncounted),
		asm.Ja.Label("rest"),
	})
}
