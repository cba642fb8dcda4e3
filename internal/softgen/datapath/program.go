package datapath

import (
	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
)

// The counting program runs in the kernel at the interface's ingress (TCX), before the network stack, and takes every frame: it counts
// it, as a whole and by its flow's mark, passes on what the port wants to see through a ring, and drops it.
//
//	frame ─▶ not ours? ─▶ merged? ─▶ count ─▶ mark? ─┬─ flow ────▶ count by id
//	           │                                       ├─ latency ─▶ ring: time, stamp
//	           ▼                                       └─ ARP, NS, or all wanted ─▶ ring: time, frame
//	          drop
//
// It is assembled here, instruction by instruction, so that nobody needs a compiler for it or has to trust a binary.

// Bits of the settings map's only entry.
const (
	settingPromiscuous = 1 << iota
	settingAll
	settingNeighbours
)

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

// Offsets in struct __sk_buff.
const (
	skbLength      = 0
	skbPacketType  = 4
	skbVLANPresent = 20
	skbVLANTCI     = 24
	skbSegments    = 164 // gso_segs
	skbSegmentSize = 176 // gso_size
)

// Stack slots of the program.
const (
	stackKey   = -4
	stackIndex = -8
	stackCount = -16 // how many frames the buffer stands for
	// stackTransport is where in the frame the byte behind an IPv6 header stands.
	stackTransport = -20
	stackHead      = -48 // 24 bytes of the frame
	headLength     = 24
)

const (
	verdictDrop      = 2 // TCX_DROP
	packetOtherHost  = 3 // PACKET_OTHERHOST
	smallestFrame    = 60
	transportTypeAt  = 54 // the byte behind the IPv6 header, an ICMPv6 type mostly, in an untagged frame
	flowMapEntries   = 1024
	ringBytes        = 2 << 20
	countersOfPacket = 16 // a pair of 64-bit counters
)

// tcMaps are what the program and its reader share.
type tcMaps struct {
	settings, totals, flows, ring *ebpf.Map
}

// Registers that keep their meaning throughout: the frame, the settings, what the header says, and its length on the wire.
const (
	skb      = asm.R6
	settings = asm.R7
	kind     = asm.R8
	length   = asm.R9
)

// countingProgram assembles the program over its maps.
func countingProgram(m tcMaps) asm.Instructions {
	var p asm.Instructions
	for _, part := range []asm.Instructions{m.begin(), merged(), m.count(allFrames), readHead(), m.countFlow(), m.passStamp(), m.passFrame(), {
		asm.Mov.Imm(asm.R0, verdictDrop).WithSymbol("drop"),
		asm.Return(),
	}} {
		p = append(p, part...)
	}
	return p
}

// lookup leaves the address of an entry in R0; a missing one ends the program.
func lookup(m *ebpf.Map, keyAt int32) asm.Instructions {
	return asm.Instructions{
		asm.LoadMapPtr(asm.R1, m.FD()),
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, keyAt),
		asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, "drop"),
	}
}

// begin reads the settings and leaves frames for others alone.
func (m tcMaps) begin() asm.Instructions {
	p := asm.Instructions{
		asm.Mov.Reg(skb, asm.R1),
		asm.StoreImm(asm.RFP, stackKey, 0, asm.Word),
	}
	p = append(p, lookup(m.settings, stackKey)...)
	return append(p,
		asm.LoadMem(settings, asm.R0, 0, asm.Word),
		asm.Mov.Reg(asm.R1, settings),
		asm.And.Imm(asm.R1, settingPromiscuous),
		asm.JNE.Imm(asm.R1, 0, "ours"),
		asm.LoadMem(asm.R1, skb, skbPacketType, asm.Word),
		asm.JEq.Imm(asm.R1, packetOtherHost, "drop"),
		asm.LoadMem(length, skb, skbLength, asm.Word).WithSymbol("ours"),
		asm.LoadMem(asm.R1, skb, skbVLANPresent, asm.Word),
		asm.JEq.Imm(asm.R1, 0, "untagged"),
		asm.Add.Imm(length, 4),
		asm.Mov.Imm(asm.R1, 1).WithSymbol("untagged"),
		asm.StoreMem(asm.RFP, stackCount, asm.R1, asm.DWord),
		asm.LoadMem(asm.R1, skb, skbSegmentSize, asm.Word),
		asm.JEq.Imm(asm.R1, 0, "single"),
	)
}

// merged finds out how many frames a merged buffer stands for, and how long they were together: each had headers of its own. What it can't take apart counts as one frame.
func merged() asm.Instructions {
	p := asm.Instructions{asm.Mov.Imm(kind, 14)} // where the network header begins, then where the payload does
	p = append(p, loadAt(-2, 2)...)
	p = append(p,
		asm.LoadMem(asm.R1, asm.RFP, stackHead, asm.Half),
		asm.JEq.Imm(asm.R1, big(etherVLAN), "merged-inner"),
		asm.JNE.Imm(asm.R1, big(etherQinQ), "merged-protocol"),
		asm.Add.Imm(kind, 4).WithSymbol("merged-inner"),
	)
	p = append(p, loadAt(-2, 2)...)
	p = append(p,
		asm.LoadMem(asm.R1, asm.RFP, stackHead, asm.Half),
		asm.JEq.Imm(asm.R1, big(etherIPv4), "merged-ipv4").WithSymbol("merged-protocol"),
		asm.JNE.Imm(asm.R1, big(etherIPv6), "single"),
	)
	p = append(p, loadAt(6, 1)...)
	p = append(p,
		asm.LoadMem(asm.R1, asm.RFP, stackHead, asm.Byte),
		asm.Add.Imm(kind, 40),
		asm.Ja.Label("merged-transport"),
	)
	ipv4 := loadAt(0, 10)
	ipv4[0] = ipv4[0].WithSymbol("merged-ipv4")
	p = append(p, ipv4...)
	p = append(p,
		asm.LoadMem(asm.R2, asm.RFP, head(0), asm.Byte),
		asm.And.Imm(asm.R2, 0x0f),
		asm.LSh.Imm(asm.R2, 2),
		asm.Add.Reg(kind, asm.R2),
		asm.LoadMem(asm.R1, asm.RFP, head(9), asm.Byte),
		asm.JEq.Imm(asm.R1, protocolTCP, "merged-tcp").WithSymbol("merged-transport"),
		asm.JNE.Imm(asm.R1, protocolUDP, "single"),
		asm.Add.Imm(kind, 8),
		asm.Ja.Label("merged-payload"),
	)
	tcp := loadAt(12, 1)
	tcp[0] = tcp[0].WithSymbol("merged-tcp")
	p = append(p, tcp...)
	return append(p,
		asm.LoadMem(asm.R1, asm.RFP, stackHead, asm.Byte),
		asm.RSh.Imm(asm.R1, 4),
		asm.LSh.Imm(asm.R1, 2),
		asm.Add.Reg(kind, asm.R1),
		// R2: the payload, of which each frame has R1 bytes at most; R3: so many frames.
		asm.LoadMem(asm.R2, skb, skbLength, asm.Word).WithSymbol("merged-payload"),
		asm.JLE.Reg(asm.R2, kind, "single"),
		asm.Sub.Reg(asm.R2, kind),
		asm.LoadMem(asm.R1, skb, skbSegmentSize, asm.Word),
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
		asm.JGE.Imm(length, smallestFrame, "long").WithSymbol("single"),
		asm.Mov.Imm(length, smallestFrame),
		asm.Add.Imm(length, 4).WithSymbol("long"), // the FCS
		asm.Mov.Imm(asm.R0, 0).WithSymbol("measured"),
	)
}

// loadAt copies bytes of the frame to stackHead, from so far behind the place in R8; a frame that has fewer counts as one.
func loadAt(from, n int32) asm.Instructions {
	return asm.Instructions{
		asm.Mov.Reg(asm.R1, skb),
		asm.Mov.Reg(asm.R2, kind),
		asm.Add.Imm(asm.R2, from),
		asm.Mov.Reg(asm.R3, asm.RFP),
		asm.Add.Imm(asm.R3, stackHead),
		asm.Mov.Imm(asm.R4, n),
		asm.FnSkbLoadBytes.Call(),
		asm.JNE.Imm(asm.R0, 0, "single"),
	}
}

// The totals' two pairs of counters: all frames, and the strays among them.
const (
	allFrames = 0
	strays    = countersOfPacket
)

// count adds the buffer's frames to one of the totals' pairs.
func (m tcMaps) count(which int16) asm.Instructions {
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

// loadBytes copies bytes of the frame to the stack; a frame that has fewer ends the program.
func loadBytes(from, to, n int32) asm.Instructions {
	return asm.Instructions{
		asm.Mov.Reg(asm.R1, skb),
		asm.Mov.Imm(asm.R2, from),
		asm.Mov.Reg(asm.R3, asm.RFP),
		asm.Add.Imm(asm.R3, to),
		asm.Mov.Imm(asm.R4, n),
		asm.FnSkbLoadBytes.Call(),
		asm.JNE.Imm(asm.R0, 0, "rest"),
	}
}

// head is where a byte of the frame's head stands on the stack.
func head(offset int16) int16 { return stackHead + offset }

// big is a big-endian 16-bit constant as a load from memory sees it.
func big(v uint16) int32 { return int32(networkOrder(v)) }

// readHead brings the Ethernet and the start of the IP header to the stack, past an inner VLAN tag, and branches by protocol.
func readHead() asm.Instructions {
	p := loadBytes(0, stackHead, headLength)
	p = append(p,
		asm.StoreImm(asm.RFP, stackTransport, transportTypeAt, asm.Word),
		asm.LoadMem(kind, asm.RFP, head(12), asm.Half),
		asm.JEq.Imm(kind, big(etherVLAN), "inner"),
		asm.JNE.Imm(kind, big(etherQinQ), "protocol"),
		asm.StoreImm(asm.RFP, stackTransport, transportTypeAt+4, asm.Word).WithSymbol("inner"),
	)
	p = append(p, loadBytes(4, stackHead, headLength)...)
	return append(p,
		asm.LoadMem(kind, asm.RFP, head(12), asm.Half),
		asm.JEq.Imm(kind, big(etherIPv4), "ipv4").WithSymbol("protocol"),
		asm.JEq.Imm(kind, big(etherIPv6), "ipv6"),
		asm.JEq.Imm(kind, big(etherARP), "neighbour"),
		asm.JEq.Imm(kind, big(etherLLDP), "stray"),
		asm.HostTo(asm.BE, kind, asm.Half),
		asm.JLT.Imm(kind, leastType, "stray"),
		asm.Ja.Label("rest"),
		asm.LoadMem(asm.R1, asm.RFP, head(15), asm.Byte).WithSymbol("ipv4"),
		asm.And.Imm(asm.R1, 1),
		asm.JNE.Imm(asm.R1, 0, "marked"),
		asm.LoadMem(asm.R1, asm.RFP, head(23), asm.Byte),
		asm.JEq.Imm(asm.R1, igmp, "stray"),
		asm.Ja.Label("rest"),
		asm.LoadMem(asm.R1, asm.RFP, head(18), asm.Half).WithSymbol("marked"),
		asm.Ja.Label("mark"),
		asm.LoadMem(asm.R1, asm.RFP, head(15), asm.Byte).WithSymbol("ipv6"),
		asm.And.Imm(asm.R1, 0x10),
		asm.JEq.Imm(asm.R1, 0, "solicitation"),
		asm.LoadMem(asm.R1, asm.RFP, head(16), asm.Half),
	)
}

// countFlow counts by the mark in R1.
func (m tcMaps) countFlow() asm.Instructions {
	p := asm.Instructions{
		asm.HostTo(asm.BE, asm.R1, asm.Half).WithSymbol("mark"),
		asm.JLT.Imm(asm.R1, markBase, "rest"),
		asm.JEq.Imm(asm.R1, markLatency, "latency"),
		asm.Sub.Imm(asm.R1, markBase),
		asm.StoreMem(asm.RFP, stackIndex, asm.R1, asm.Word),
	}
	p = append(p, lookup(m.flows, stackIndex)...)
	return append(p, // shared by all processors, so atomically
		asm.LoadMem(asm.R1, asm.RFP, stackCount, asm.DWord),
		asm.AddAtomic.Mem(asm.R0, asm.R1, asm.DWord, 0),
		asm.AddAtomic.Mem(asm.R0, length, asm.DWord, 8),
		asm.Ja.Label("rest"),
	)
}

// reserve takes room in the ring, its address to R8, and begins a record: nothing more is done when the ring is full.
func (m tcMaps) reserve(size int32, mask int32) asm.Instructions {
	return asm.Instructions{
		asm.LoadMapPtr(asm.R1, m.ring.FD()),
		asm.Mov.Imm(asm.R2, size),
		asm.Mov.Imm(asm.R3, 0),
		asm.FnRingbufReserve.Call(),
		asm.JEq.Imm(asm.R0, 0, "drop"),
		asm.Mov.Reg(kind, asm.R0),
		asm.FnKtimeGetNs.Call(),
		asm.StoreMem(kind, 0, asm.R0, asm.DWord),
		asm.StoreMem(kind, 8, length, asm.Word),
		asm.LoadMem(asm.R1, skb, skbVLANTCI, asm.Word),
		asm.StoreMem(kind, 12, asm.R1, asm.Half),
		asm.LoadMem(asm.R1, skb, skbVLANPresent, asm.Word),
		asm.LSh.Imm(asm.R1, 2),
		asm.Or.Imm(asm.R1, mask),
		asm.StoreMem(kind, 14, asm.R1, asm.Half),
		asm.LoadMem(asm.R1, skb, skbLength, asm.Word),
		asm.StoreMem(kind, 16, asm.R1, asm.Word),
		asm.LoadMem(asm.R1, skb, skbSegmentSize, asm.Word),
		asm.StoreMem(kind, 20, asm.R1, asm.Word),
	}
}

// copyTo copies the frame from R2 on, R4 bytes of it, behind the record's header, and hands the record over.
func copyTo() asm.Instructions {
	return asm.Instructions{
		asm.Mov.Reg(asm.R1, skb),
		asm.Mov.Reg(asm.R3, kind),
		asm.Add.Imm(asm.R3, recordHeader),
		asm.FnSkbLoadBytes.Call(),
		asm.Mov.Reg(asm.R1, kind),
		asm.Mov.Imm(asm.R2, 0),
		asm.FnRingbufSubmit.Call(),
	}
}

// passStamp passes on the last bytes of a latency stream's frame.
func (m tcMaps) passStamp() asm.Instructions {
	p := m.reserve(recordHeader+stampSize, recordStamp)
	p[0] = p[0].WithSymbol("latency")
	p = append(p,
		asm.LoadMem(asm.R2, skb, skbLength, asm.Word),
		asm.Sub.Imm(asm.R2, stampSize),
		asm.Mov.Imm(asm.R4, stampSize),
	)
	return append(append(p, copyTo()...), asm.Ja.Label("rest"))
}

// passFrame counts strays, as isStray has them, and passes on whole frames: ARP and neighbour solicitations where the port answers them, and all where all are wanted.
func (m tcMaps) passFrame() asm.Instructions {
	p := asm.Instructions{asm.Mov.Imm(asm.R0, 0).WithSymbol("solicitation")}
	behind := loadBytes(0, stackIndex, 1)
	behind[1] = asm.LoadMem(asm.R2, asm.RFP, stackTransport, asm.Word) // from there on
	p = append(append(p, behind...),
		asm.LoadMem(asm.R1, asm.RFP, head(20), asm.Byte),
		asm.LoadMem(asm.R2, asm.RFP, stackIndex, asm.Byte),
		asm.JEq.Imm(asm.R1, icmpv6, "of-link"),
		asm.JNE.Imm(asm.R1, hopByHop, "rest"),
		asm.JEq.Imm(asm.R2, icmpv6, "stray"),
		asm.Ja.Label("rest"),
		asm.JEq.Imm(asm.R2, neighbourSolicitation, "neighbour").WithSymbol("of-link"),
		asm.JEq.Imm(asm.R2, listenerReport, "stray"),
		asm.JLT.Imm(asm.R2, firstOfLink, "rest"),
		asm.JGT.Imm(asm.R2, lastOfLink, "rest"),
		asm.Mov.Imm(kind, 0).WithSymbol("stray"),
		asm.Ja.Label("count-stray"),
		asm.Mov.Imm(kind, 1).WithSymbol("neighbour"),
		asm.Mov.Imm(asm.R0, 0).WithSymbol("count-stray"),
	)
	p = append(p, m.count(strays)...)
	p = append(p,
		asm.JEq.Imm(kind, 0, "rest"),
		asm.Mov.Reg(asm.R1, settings),
		asm.And.Imm(asm.R1, settingAll|settingNeighbours),
		asm.JNE.Imm(asm.R1, 0, "frame"),
		asm.Ja.Label("drop"),
		asm.Mov.Reg(asm.R1, settings).WithSymbol("rest"),
		asm.And.Imm(asm.R1, settingAll),
		asm.JEq.Imm(asm.R1, 0, "drop"),
		asm.LoadMem(asm.R1, skb, skbLength, asm.Word).WithSymbol("frame"),
		asm.JGT.Imm(asm.R1, smallRecord-recordHeader, "large"),
	)
	p = append(p, m.wholeFrame(smallRecord)...)
	p = append(p, asm.Ja.Label("drop"))
	p = append(p,
		asm.LoadMem(asm.R1, skb, skbLength, asm.Word).WithSymbol("large"),
		asm.JGT.Imm(asm.R1, largeRecord-recordHeader, "huge"),
	)
	p = append(p, m.wholeFrame(largeRecord)...)
	p = append(p, asm.Ja.Label("drop"))
	huge := m.wholeFrame(hugeRecord)
	huge[0] = huge[0].WithSymbol("huge")
	return append(p, huge...)
}

// wholeFrame passes on as much of the frame as a record of this size holds.
func (m tcMaps) wholeFrame(size int32) asm.Instructions {
	label := map[int32]string{smallRecord: "small-enough", largeRecord: "large-enough", hugeRecord: "huge-enough"}[size]
	p := m.reserve(size, recordFrame)
	p = append(p,
		asm.LoadMem(asm.R4, skb, skbLength, asm.Word),
		asm.JLE.Imm(asm.R4, size-recordHeader, label),
		asm.Mov.Imm(asm.R4, size-recordHeader),
		asm.JNE.Imm(asm.R4, 0, label+"-copy").WithSymbol(label),
		asm.Mov.Imm(asm.R4, 1),
		asm.Mov.Imm(asm.R2, 0).WithSymbol(label+"-copy"),
	)
	return append(p, copyTo()...)
}
