package datapath

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"github.com/cilium/ebpf/asm"

	"github.com/linerate-dev/linerate/internal/engine/softgen/fieldengine"
	"github.com/linerate-dev/linerate/internal/units"
)

// frameComposer composes make_frame of kernel/send.c for a run's streams. The function isn't C, because
// its instructions are the run's. A stream's template, fields and checksums are constants in a line of
// instructions without loops. A C function would interpret a description of each field for each frame.
//
//	R1 frame's context   R2 words of the stream   R3 its number   R4 index   R5 verdict   ──▶   R0 verdict
type frameComposer struct {
	tracks     []*track
	generation uint8
	table      *liveTable
	templates  []uint32 // offset in the table of each track's template, if the table has it
	lists      []uint32 // offset in the table of each track's lists
	code       fieldengine.Code
}

const (
	// inlineTemplate is the longest template in the program's instructions.
	// A longer template is copied from the table.
	inlineTemplate = 256
	// longestFrameProgram is how many instructions a jump may span, beside those of send.c.
	longestFrameProgram = 31_000
)

// Registers that keep their meaning in the function.
const (
	frameContext = asm.R6
	frameVerdict = asm.R7
	frameData    = asm.R8
	frameIndex   = asm.R9
)

// streamWords is the place on the stack of the address of the stream's
// words. The C program needs none of its stack any more.
const streamWords = -8

// composeFrames composes the function for a run's streams, and puts long templates and lists into the table.
func composeFrames(tracks []*track, generation uint8, table *liveTable) (asm.Instructions, error) {
	f := frameComposer{tracks: tracks, generation: generation, table: table}
	for _, t := range tracks {
		f.lists = append(f.lists, table.addList(t.program.Table()))
		f.templates = append(f.templates, table.add(t.program.Bytes()))
	}
	if err := table.load(); err != nil {
		return nil, err
	}
	return f.compose()
}

func (f *frameComposer) compose() (asm.Instructions, error) {
	c := &f.code
	c.Add(
		asm.Mov.Reg(frameContext, asm.R1),
		asm.StoreMem(asm.RFP, streamWords, asm.R2, asm.DWord),
		asm.Mov.Reg(frameIndex, asm.R4),
		asm.Mov.Reg(frameVerdict, asm.R5),
	)
	for k := range f.tracks {
		c.Add(asm.JEq.Imm(asm.R3, int32(k), fmt.Sprintf("stream-%d", k)))
	}
	c.Mark("not-made")
	c.Add(asm.Mov.Imm(asm.R0, xdpDrop), asm.Ja.Label(frameMade))
	for k, t := range f.tracks {
		if err := f.stream(k, t); err != nil {
			return nil, fmt.Errorf("stream %d: %w", t.id, err)
		}
	}
	if c.Len() > longestFrameProgram {
		return nil, fmt.Errorf("its program would have %d instructions, of %d at most", c.Len(), longestFrameProgram)
	}
	return c.Instructions(), nil
}

// stream writes the code that makes a stream's frame. The code writes the whole frame each time, because the
// memory holds an earlier frame of any stream. On a virtual cable the device has also written to that memory.
func (f *frameComposer) stream(k int, t *track) error {
	c := &f.code
	c.Mark(fmt.Sprintf("stream-%d", k))
	c.Add(
		asm.LoadMem(frameData, frameContext, 0, asm.Word), // xdp_md's data and data_end
		asm.LoadMem(asm.R1, frameContext, 4, asm.Word),
		asm.Mov.Reg(asm.R2, frameData),
		asm.Add.Imm(asm.R2, int32(t.program.MaxLength())),
		asm.JGT.Reg(asm.R2, asm.R1, "not-made"),
	)
	f.template(k, t.program.Bytes())
	a := fieldengine.Assembler{
		Code:        c,
		Frame:       frameData,
		Index:       frameIndex,
		TableFD:     f.table.values.FD(),
		TableOffset: f.lists[k],
	}
	if _, err := t.program.Assemble(a); err != nil {
		return err
	}
	if t.flow != nil && t.flow.stamped {
		if err := f.stamp(t, a); err != nil {
			return err
		}
	}
	if t.program.Trims() {
		f.trim(t, a)
	}
	c.Add(asm.Mov.Reg(asm.R0, frameVerdict), asm.Ja.Label(frameMade))
	return nil
}

// trim shortens the frame, and counts its bytes.
func (f *frameComposer) trim(t *track, a fieldengine.Assembler) {
	bytes := int16(unsafe.Offsetof(sendPart{}.Streams[0].Bytes))
	t.program.AssembleLength(a)
	f.code.Add(
		asm.LoadMem(asm.R2, asm.RFP, streamWords, asm.DWord),
		asm.LoadMem(asm.R1, asm.R2, bytes, asm.DWord),
		asm.Add.Reg(asm.R1, asm.R0),
		asm.Add.Imm(asm.R1, units.FCSBytes),
		asm.StoreMem(asm.R2, bytes, asm.R1, asm.DWord),
		asm.Mov.Reg(asm.R2, asm.R0),
		asm.Sub.Imm(asm.R2, int32(t.program.MaxLength())),
		asm.Mov.Reg(asm.R1, frameContext),
		asm.FnXdpAdjustTail.Call(),
	)
}

// template copies a stream's template into the frame.
func (f *frameComposer) template(k int, template []byte) {
	c := &f.code
	if len(template) > inlineTemplate {
		c.Add(
			asm.Mov.Reg(asm.R1, frameContext),
			asm.Mov.Imm(asm.R2, 0),
			asm.LoadMapValue(asm.R3, f.table.values.FD(), f.templates[k]),
			asm.Mov.Imm(asm.R4, int32(len(template))),
			asm.FnXdpStoreBytes.Call(),
		)
		return
	}
	offset := 0
	for ; offset+8 <= len(template); offset += 8 {
		if word := binary.NativeEndian.Uint64(template[offset:]); word == 0 {
			c.Add(storeZero(frameData, int16(offset)))
		} else {
			c.Add(
				asm.LoadImm(asm.R1, int64(word), asm.DWord),
				asm.StoreMem(frameData, int16(offset), asm.R1, asm.DWord),
			)
		}
	}
	for ; offset < len(template); offset++ {
		c.Add(asm.StoreImm(frameData, int16(offset), int64(template[offset]), asm.Byte))
	}
}

// storeZero stores 64 zero bits. The kernel has the instruction, and the assembler's StoreImm refuses it.
func storeZero(base asm.Register, offset int16) asm.Instruction {
	return asm.Instruction{OpCode: asm.StoreImmOp(asm.DWord), Dst: base, Offset: offset}
}

// stamp does the work of stamp.write. It reads the clock last.
func (f *frameComposer) stamp(t *track, a fieldengine.Assembler) error {
	if t.program.Trims() {
		return fieldengine.ErrNotCarried // the stamp's offset varies
	}
	c, offset := &f.code, int16(t.program.MaxLength()-stampSize)
	head := [4]byte{stampMagic, f.generation}
	binary.LittleEndian.PutUint16(head[2:], uint16(t.flow.id))
	c.Load(asm.R1, uint64(binary.NativeEndian.Uint32(head[:])))
	c.Add(
		asm.StoreMem(frameData, offset, asm.R1, asm.Word),
		asm.LoadMem(asm.R1, asm.RFP, streamWords, asm.DWord),
		asm.LoadMem(asm.R1, asm.R1, int16(unsafe.Offsetof(sendPart{}.Streams[0].Packets)), asm.DWord),
		asm.Sub.Imm(asm.R1, 1), // Packets counts this frame already
		asm.HostTo(asm.LE, asm.R1, asm.Word),
		asm.StoreMem(frameData, offset+4, asm.R1, asm.Word),
		asm.FnKtimeGetNs.Call(),
		asm.HostTo(asm.LE, asm.R0, asm.DWord),
		asm.StoreMem(frameData, offset+8, asm.R0, asm.DWord),
	)
	return t.program.AssembleTransport(a, t.flow.network, int(offset), int(offset)+stampSize)
}

// frameMade is the label where the program continues after the frame is made.
const frameMade = "make_frame-return"

// composeSearch composes find_next of kernel/send.c for this many streams of the part
// that R1 points to. The due time is left in R0. All labels begin with the prefix.
func composeSearch(streams int, prefix string) asm.Instructions {
	var part sendPart
	due := func(k int) int16 {
		stream := unsafe.Offsetof(part.Streams) + uintptr(k)*unsafe.Sizeof(part.Streams[0])
		return int16(stream + unsafe.Offsetof(part.Streams[0].Due))
	}
	var c fieldengine.Code
	c.Add(asm.LoadMem(asm.R0, asm.R1, due(0), asm.DWord), asm.Mov.Imm(asm.R2, 0))
	for k := 1; k < streams; k++ {
		later := fmt.Sprintf("%s-later-%d", prefix, k)
		c.Add(
			asm.LoadMem(asm.R3, asm.R1, due(k), asm.DWord),
			asm.JGE.Reg(asm.R3, asm.R0, later),
			asm.Mov.Reg(asm.R0, asm.R3),
			asm.Mov.Imm(asm.R2, int32(k)),
		)
		c.Mark(later)
	}
	c.Add(
		asm.StoreMem(asm.R1, int16(unsafe.Offsetof(part.NextStream)), asm.R2, asm.DWord),
		asm.Ja.Label(prefix+"-return"),
	)
	return c.Instructions()
}

// composeFunction composes code that begins at a label and ends with a jump to the same label with "-return".
type composeFunction func(label string) asm.Instructions

// inlineCalls replaces each call of a function of the program by a jump to composed code at the
// program's end, and a jump back. A call would have the kernel save registers, which costs some
// ns a frame. All instructions of the program stay where they are, so its own jumps hold.
func inlineCalls(program asm.Instructions, name string, compose composeFunction) (asm.Instructions, error) {
	begin := slices.IndexFunc(program, func(instruction asm.Instruction) bool { return instruction.Symbol() == name })
	if begin < 0 {
		return nil, errors.New("the program has no function " + name)
	}
	end := begin + 1
	for end < len(program) && program[end].Symbol() == "" {
		end++
	}
	program = slices.Concat(program[:begin], program[end:])
	calls := 0
	for i, instruction := range program {
		if !instruction.IsFunctionCall() || instruction.Reference() != name {
			continue
		}
		label := name
		if calls++; calls > 1 {
			label = fmt.Sprintf("%s-%d", name, calls)
		}
		code := slices.Clone(compose(label))
		code[0] = code[0].WithSymbol(label)
		program[i] = asm.Ja.Label(label).WithSource(instruction.Source())
		program[i+1] = program[i+1].WithSymbol(label + "-return")
		program = append(program, code...)
	}
	return program, nil
}
