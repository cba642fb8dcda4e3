package datapath

import "github.com/cilium/ebpf/asm"

// merged finds out how many frames a merged buffer stands for, and how long they were together: each had headers of its own. What it can't take apart counts as one frame. R8 is where the network header begins,
// then where the payload does.
func (h hook) merged() asm.Instructions {
	single := asm.Instructions{
		asm.JGE.Imm(length, smallestFrame, "long").WithSymbol("single"),
		asm.Mov.Imm(length, smallestFrame),
		asm.Add.Imm(length, 4).WithSymbol("long"), // the FCS
		asm.Mov.Imm(asm.R0, 0).WithSymbol("measured"),
	}
	if !h.merges {
		return single
	}
	return joined(h.mergedNetwork(), h.mergedTransport(), mergedFrames(), single)
}

// mergedNetwork passes the Ethernet header and an inner VLAN tag.
func (h hook) mergedNetwork() asm.Instructions {
	return joined(asm.Instructions{
		asm.LoadMem(asm.R1, asm.RFP, stackSegment, asm.Word),
		asm.JEq.Imm(asm.R1, 0, "single"),
		asm.Mov.Imm(kind, 14),
	}, h.loadBehind(-2, 2), asm.Instructions{
		asm.LoadMem(asm.R1, asm.RFP, stackHead, asm.Half),
		asm.JEq.Imm(asm.R1, big(etherVLAN), "merged-inner"),
		asm.JNE.Imm(asm.R1, big(etherQinQ), "merged-protocol"),
		asm.Add.Imm(kind, tagLength).WithSymbol("merged-inner"),
	}, h.loadBehind(-2, 2), asm.Instructions{
		asm.LoadMem(asm.R1, asm.RFP, stackHead, asm.Half),
		asm.JEq.Imm(asm.R1, big(etherIPv4), "merged-ipv4").WithSymbol("merged-protocol"),
		asm.JNE.Imm(asm.R1, big(etherIPv6), "single"),
	})
}

// mergedTransport passes the headers of IP, and of UDP or TCP.
func (h hook) mergedTransport() asm.Instructions {
	return joined(h.loadBehind(6, 1), asm.Instructions{
		asm.LoadMem(asm.R1, asm.RFP, stackHead, asm.Byte),
		asm.Add.Imm(kind, 40),
		asm.Ja.Label("merged-transport"),
	}, labelled("merged-ipv4", h.loadBehind(0, 10)), asm.Instructions{
		asm.LoadMem(asm.R2, asm.RFP, head(0), asm.Byte),
		asm.And.Imm(asm.R2, 0x0f),
		asm.LSh.Imm(asm.R2, 2),
		asm.Add.Reg(kind, asm.R2),
		asm.LoadMem(asm.R1, asm.RFP, head(9), asm.Byte),
		asm.JEq.Imm(asm.R1, protocolTCP, "merged-tcp").WithSymbol("merged-transport"),
		asm.JNE.Imm(asm.R1, protocolUDP, "single"),
		asm.Add.Imm(kind, 8),
		asm.Ja.Label("merged-payload"),
	}, labelled("merged-tcp", h.loadBehind(12, 1)), asm.Instructions{
		asm.LoadMem(asm.R1, asm.RFP, stackHead, asm.Byte),
		asm.RSh.Imm(asm.R1, 4),
		asm.LSh.Imm(asm.R1, 2),
		asm.Add.Reg(kind, asm.R1),
	})
}

// mergedFrames divides the payload (R2), of which each frame has R1 bytes at most, into frames (R3).
func mergedFrames() asm.Instructions {
	return asm.Instructions{
		asm.LoadMem(asm.R2, asm.RFP, stackBuffer, asm.Word).WithSymbol("merged-payload"),
		asm.JLE.Reg(asm.R2, kind, "single"),
		asm.Sub.Reg(asm.R2, kind),
		asm.LoadMem(asm.R1, asm.RFP, stackSegment, asm.Word),
		asm.Mov.Reg(asm.R3, asm.R2),
		asm.Add.Reg(asm.R3, asm.R1),
		asm.Sub.Imm(asm.R3, 1),
		asm.Div.Reg(asm.R3, asm.R1),
		asm.JLE.Imm(asm.R3, 1, "single"),
		asm.StoreMem(asm.RFP, stackCount, asm.R3, asm.DWord),
		// The length so far has the headers once, and the VLAN tag if there is one: the header of each frame is length − payload.
		asm.Mov.Reg(kind, length),
		asm.Sub.Reg(kind, asm.R2),
		asm.Mov.Reg(asm.R1, asm.R3),
		asm.Sub.Imm(asm.R1, 1),
		asm.Mul.Reg(kind, asm.R1),
		asm.Add.Reg(length, kind),
		asm.Mov.Reg(asm.R1, asm.R3),
		asm.Mul.Imm(asm.R1, smallestFrame),
		asm.JGE.Reg(length, asm.R1, "merged-long"),
		asm.Mov.Reg(length, asm.R1),
		asm.LSh.Imm(asm.R3, 2).WithSymbol("merged-long"),
		asm.Add.Reg(length, asm.R3), // an FCS each
		asm.Ja.Label("measured"),
	}
}

// loadBehind copies bytes of the frame to stackHead, from so far behind the place in R8; a frame that has fewer counts as one.
func (h hook) loadBehind(offset, n int32) asm.Instructions {
	return joined(asm.Instructions{asm.Mov.Reg(asm.R2, kind)}, h.load(asm.Add.Imm(asm.R2, offset), stackHead, n, "single"))
}
