package datapath

import "github.com/cilium/ebpf/asm"

// A record of the ring: a header, then the stamp or the frame.
//
//	0        8         12       14      16         20         24
//	│ time   │ length  │ VLAN TCI│ kind  │ buffer   │ size     │ bytes …
//
// length is on the wire, of all frames that the buffer stands for; buffer is its own, and size the payload of each frame in it, 0 where nothing was merged.
const (
	recordHeader = 24
	recordStamp  = 1
	recordFrame  = 2
	recordTagged = 4 // the frame had a VLAN tag, which the kernel has taken out

	smallRecord = recordHeader + 256
	largeRecord = recordHeader + 9248
	hugeRecord  = recordHeader + 1<<16 // a merged buffer
)

// reserve takes room in the ring, its address to R8, and begins a record; where the ring is full, the program goes on at that label.
func (m kernelMaps) reserve(size, mask int32, full string) asm.Instructions {
	return asm.Instructions{
		asm.LoadMapPtr(asm.R1, m.ring.FD()),
		asm.Mov.Imm(asm.R2, size),
		asm.Mov.Imm(asm.R3, 0),
		asm.FnRingbufReserve.Call(),
		asm.JEq.Imm(asm.R0, 0, full),
		asm.Mov.Reg(kind, asm.R0),
		asm.FnKtimeGetNs.Call(),
		asm.StoreMem(kind, 0, asm.R0, asm.DWord),
		asm.StoreMem(kind, 8, length, asm.Word),
		asm.LoadMem(asm.R1, asm.RFP, stackTag, asm.Half),
		asm.StoreMem(kind, 12, asm.R1, asm.Half),
		asm.LoadMem(asm.R1, asm.RFP, stackTag+2, asm.Half),
		asm.LSh.Imm(asm.R1, 2), // recordTagged
		asm.Or.Imm(asm.R1, mask),
		asm.StoreMem(kind, 14, asm.R1, asm.Half),
		asm.LoadMem(asm.R1, asm.RFP, stackBuffer, asm.Word),
		asm.StoreMem(kind, 16, asm.R1, asm.Word),
		asm.LoadMem(asm.R1, asm.RFP, stackSegment, asm.Word),
		asm.StoreMem(kind, 20, asm.R1, asm.Word),
	}
}

// copyTo copies the frame from R2 on, R4 bytes of it, behind the record's header, and hands the record over.
func (h hook) copyTo() asm.Instructions {
	return asm.Instructions{
		asm.Mov.Reg(asm.R1, frameContext),
		asm.Mov.Reg(asm.R3, kind),
		asm.Add.Imm(asm.R3, recordHeader),
		h.bytes.Call(),
		asm.Mov.Reg(asm.R1, kind),
		asm.Mov.Imm(asm.R2, 0),
		asm.FnRingbufSubmit.Call(),
	}
}

// passStamp passes on the last bytes of a latency stream's frame.
func (h hook) passStamp(m kernelMaps) asm.Instructions {
	return joined(labelled("latency", m.reserve(recordHeader+stampSize, recordStamp, "drop")), asm.Instructions{
		asm.LoadMem(asm.R2, asm.RFP, stackBuffer, asm.Word),
		asm.Sub.Imm(asm.R2, stampSize),
		asm.Mov.Imm(asm.R4, stampSize),
	}, h.copyTo(), asm.Instructions{asm.Ja.Label("rest")})
}

// passFrame counts strays, and passes on whole frames: ARP and neighbour solicitations where the port answers them, and all where all are wanted.
func (h hook) passFrame(m kernelMaps) asm.Instructions {
	return joined(asm.Instructions{
		asm.Mov.Imm(kind, 0).WithSymbol("stray"),
		asm.Ja.Label("count-stray"),
		asm.Mov.Imm(kind, 1).WithSymbol("neighbour"),
	}, labelled("count-stray", m.count(strays)), asm.Instructions{
		asm.JEq.Imm(kind, 0, "rest"),
		asm.Mov.Reg(asm.R1, settings),
		asm.And.Imm(asm.R1, settingAll|settingNeighbours),
		asm.JNE.Imm(asm.R1, 0, "frame"),
		asm.Ja.Label("drop"),
		asm.Mov.Reg(asm.R1, settings).WithSymbol("rest"),
		asm.And.Imm(asm.R1, settingAll),
		asm.JEq.Imm(asm.R1, 0, "drop"),
		asm.LoadMem(asm.R1, asm.RFP, stackBuffer, asm.Word).WithSymbol("frame"),
		asm.JGT.Imm(asm.R1, smallRecord-recordHeader, "large"),
	}, h.wholeFrame(m, smallRecord), asm.Instructions{
		asm.Ja.Label("drop"),
		asm.LoadMem(asm.R1, asm.RFP, stackBuffer, asm.Word).WithSymbol("large"),
		asm.JGT.Imm(asm.R1, largeRecord-recordHeader, "huge"),
	}, h.wholeFrame(m, largeRecord), asm.Instructions{
		asm.Ja.Label("drop"),
	}, labelled("huge", h.wholeFrame(m, hugeRecord)))
}

// wholeFrame passes on as much of the frame as a record of this size holds.
func (h hook) wholeFrame(m kernelMaps, size int32) asm.Instructions {
	label := map[int32]string{smallRecord: "small-enough", largeRecord: "large-enough", hugeRecord: "huge-enough"}[size]
	return joined(m.reserve(size, recordFrame, "drop"), asm.Instructions{
		asm.LoadMem(asm.R4, asm.RFP, stackBuffer, asm.Word),
		asm.JLE.Imm(asm.R4, size-recordHeader, label),
		asm.Mov.Imm(asm.R4, size-recordHeader),
		asm.JNE.Imm(asm.R4, 0, label+"-copy").WithSymbol(label),
		asm.Mov.Imm(asm.R4, 1),
		asm.Mov.Imm(asm.R2, 0).WithSymbol(label + "-copy"),
	}, h.copyTo())
}
