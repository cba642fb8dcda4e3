package datapath

import (
	"slices"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"
)

// The traffic control hook (TCX) gets what the kernel's stack would get: any interface has it, the kernel has taken one VLAN tag out and has merged what it could, and says so.
func trafficControl() hook {
	return hook{begin: beginBuffer, merges: true, bytes: asm.FnSkbLoadBytes, drop: verdictDropTC,
		spec: ebpf.ProgramSpec{Name: "linerate_count", Type: ebpf.SchedCLS, License: "Apache-2.0"}}
}

// The express data path (XDP) gets what the network card's driver got, frame by frame, before anything is merged. Frames may be longer than a page.
func expressPath() hook {
	return hook{begin: beginFrame, bytes: asm.FnXdpLoadBytes, drop: verdictDropXDP, dropsShow: []string{"virtio_net"},
		spec: ebpf.ProgramSpec{Name: "linerate_count", Type: ebpf.XDP, License: "Apache-2.0", Flags: unix.BPF_F_XDP_HAS_FRAGS}}
}

// countedAsDropped says whether this driver counts the frames that the program has taken as dropped.
func (h hook) countedAsDropped(driver string) bool { return slices.Contains(h.dropsShow, driver) }

const (
	verdictDropTC   = 2 // TCX_DROP
	verdictDropXDP  = 1 // XDP_DROP
	packetOtherHost = 3 // PACKET_OTHERHOST
)

// Offsets in struct __sk_buff.
const (
	skbLength      = 0
	skbPacketType  = 4
	skbVLANPresent = 20
	skbVLANTCI     = 24
	skbSegmentSize = 176 // gso_size
)

// beginBuffer knows from the kernel whom the frame is for.
func beginBuffer() asm.Instructions {
	return asm.Instructions{
		asm.Mov.Reg(asm.R1, settings),
		asm.And.Imm(asm.R1, settingPromiscuous),
		asm.JNE.Imm(asm.R1, 0, "ours"),
		asm.LoadMem(asm.R1, frameContext, skbPacketType, asm.Word),
		asm.JEq.Imm(asm.R1, packetOtherHost, "drop"),
		asm.LoadMem(length, frameContext, skbLength, asm.Word).WithSymbol("ours"),
		asm.StoreMem(asm.RFP, stackBuffer, length, asm.Word),
		asm.LoadMem(asm.R1, frameContext, skbSegmentSize, asm.Word),
		asm.StoreMem(asm.RFP, stackSegment, asm.R1, asm.Word),
		asm.LoadMem(asm.R1, frameContext, skbVLANTCI, asm.Word),
		asm.StoreMem(asm.RFP, stackTag, asm.R1, asm.Half),
		asm.LoadMem(asm.R1, frameContext, skbVLANPresent, asm.Word),
		asm.StoreMem(asm.RFP, stackTag+2, asm.R1, asm.Half),
		asm.JEq.Imm(asm.R1, 0, "untagged"),
		asm.Add.Imm(length, tagLength),
		asm.Mov.Imm(asm.R0, 0).WithSymbol("untagged"),
	}
}

// Offsets in struct xdp_md.
const (
	xdpData    = 0
	xdpDataEnd = 4
)

// beginFrame looks at the frame's destination itself: groups' and our own are ours.
func beginFrame() asm.Instructions {
	return asm.Instructions{
		asm.Mov.Reg(asm.R1, settings),
		asm.And.Imm(asm.R1, settingPromiscuous),
		asm.JNE.Imm(asm.R1, 0, "ours"),
		asm.LoadMem(asm.R2, frameContext, xdpData, asm.Word),
		asm.LoadMem(asm.R3, frameContext, xdpDataEnd, asm.Word),
		asm.Mov.Reg(asm.R4, asm.R2),
		asm.Add.Imm(asm.R4, 6),
		asm.JGT.Reg(asm.R4, asm.R3, "drop"),
		asm.LoadMem(asm.R1, asm.R2, 0, asm.Byte),
		asm.And.Imm(asm.R1, 1),
		asm.JNE.Imm(asm.R1, 0, "ours"),
		asm.LoadMem(asm.R1, asm.R2, 0, asm.Word),
		asm.LoadMem(asm.R4, kind, settingMAC, asm.Word),
		asm.JNE.Reg(asm.R1, asm.R4, "drop"),
		asm.LoadMem(asm.R1, asm.R2, 4, asm.Half),
		asm.LoadMem(asm.R4, kind, settingMAC+4, asm.Half),
		asm.JNE.Reg(asm.R1, asm.R4, "drop"),
		asm.Mov.Reg(asm.R1, frameContext).WithSymbol("ours"),
		asm.FnXdpGetBuffLen.Call(),
		asm.Mov.Reg(length, asm.R0),
		asm.StoreMem(asm.RFP, stackBuffer, length, asm.Word),
		asm.StoreImm(asm.RFP, stackSegment, 0, asm.Word),
		asm.StoreImm(asm.RFP, stackTag, 0, asm.Word),
	}
}
