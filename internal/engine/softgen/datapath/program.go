package datapath

import (
	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
)

// The counting program runs in the kernel at the interface's ingress, before the network stack, and takes every frame: it counts it, as a whole and by its flow's mark, passes on what the port wants to see
// through a ring, and drops it.
//
//	frame ─▶ not ours? ─▶ merged? ─▶ count ─▶ mark? ─┬─ flow ────▶ count by id
//	           │                                       ├─ latency ─▶ ring: time, stamp
//	           ▼                                       └─ ARP, NS, or all wanted ─▶ ring: time, frame
//	          drop
//
// Where it is told to, it follows stamped frames by itself (programfollow.go).
//
// It runs at one of two hooks, which give it a frame in different clothes; what it makes of a frame is the same (inspect.go says it in Go). It is assembled here, instruction by instruction, so that nobody needs
// a compiler for it or has to trust a binary.

// hook is a place in the kernel where the program can run.
type hook struct {
	// begin is handed the settings' address in R8, lets frames for others go, and says on the stack and in the length's register what the kernel knows of the frame.
	begin func() asm.Instructions
	// merges: the kernel may have merged frames before they get here.
	merges bool
	// bytes is the helper that copies bytes of the frame, drop the verdict that ends it.
	bytes asm.BuiltinFunc
	drop  int32
	// dropsShow are the drivers whose receive drops have what the program drops among them.
	dropsShow []string
	// spec is what the kernel has to know to load it.
	spec ebpf.ProgramSpec
}

// Stack slots of the program.
const (
	stackKey   = -4
	stackIndex = -8
	stackCount = -16 // how many frames the buffer stands for
	// stackTransport is where in the frame the byte behind an IPv6 header stands.
	stackTransport = -20
	stackBuffer    = -24 // how many bytes the buffer has
	stackSegment   = -28 // of a merged buffer, how many bytes of payload each frame has at most; else 0
	stackTag       = -32 // the VLAN tag that the kernel has taken out: its TCI, and whether there is one
	stackHead      = -56 // 24 bytes of the frame
	headLength     = 24
)

const (
	smallestFrame = 60
	tagLength     = 4
	mostTags      = 2 // that stand in front of an IP header
)

// Registers that keep their meaning throughout: the frame as the hook has it, the settings, what the header says, and its length on the wire.
const (
	frameContext = asm.R6
	settings     = asm.R7
	kind         = asm.R8
	length       = asm.R9
)

// countingProgram assembles the program for a hook over its maps.
func countingProgram(h hook, m kernelMaps) asm.Instructions {
	stamps := h.passStamp
	if m.follow() {
		stamps = h.follow
	}
	return joined(m.readSettings(), h.begin(), h.merged(), m.count(allFrames), h.readHead(), m.countFlow(), stamps(m), h.passFrame(m), asm.Instructions{
		asm.Mov.Imm(asm.R0, h.drop).WithSymbol("drop"),
		asm.Return(),
	})
}

// assemble loads the program into the kernel.
func (h hook) assemble(m kernelMaps) (*ebpf.Program, error) {
	spec := h.spec
	spec.Instructions = countingProgram(h, m)
	return ebpf.NewProgram(&spec)
}

func joined(parts ...asm.Instructions) (p asm.Instructions) {
	for _, part := range parts {
		p = append(p, part...)
	}
	return p
}

// labelled gives the first instruction of a part a name to jump to.
func labelled(label string, p asm.Instructions) asm.Instructions {
	p[0] = p[0].WithSymbol(label)
	return p
}

// readSettings leaves the settings' address in R8, and their bits in R7.
func (m kernelMaps) readSettings() asm.Instructions {
	return joined(asm.Instructions{
		asm.Mov.Reg(frameContext, asm.R1),
		asm.StoreImm(asm.RFP, stackKey, 0, asm.Word),
	}, lookup(m.settings, stackKey), asm.Instructions{
		asm.Mov.Reg(kind, asm.R0),
		asm.LoadMem(settings, kind, settingBits, asm.Word),
		asm.Mov.Imm(asm.R1, 1),
		asm.StoreMem(asm.RFP, stackCount, asm.R1, asm.DWord),
	})
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

// load copies n bytes of the frame to the stack, from the place that R2 is given on; with a frame that has fewer the program goes on elsewhere.
func (h hook) load(from asm.Instruction, to, n int32, otherwise string) asm.Instructions {
	return asm.Instructions{
		from,
		asm.Mov.Reg(asm.R1, frameContext),
		asm.Mov.Reg(asm.R3, asm.RFP),
		asm.Add.Imm(asm.R3, to),
		asm.Mov.Imm(asm.R4, n),
		h.bytes.Call(),
		asm.JNE.Imm(asm.R0, 0, otherwise),
	}
}

// head is where a byte of the frame's head stands on the stack.
func head(offset int16) int16 { return stackHead + offset }

// big is a big-endian 16-bit constant as a load from memory sees it.
func big(v uint16) int32 { return int32(networkOrder(v)) }
