package fieldengine

import (
	"errors"
	"slices"

	"github.com/cilium/ebpf/asm"

	"github.com/linerate-dev/linerate/internal/document/stream"
)

// Assembler translates programs into the kernel's instructions. A frame made there is, byte for byte, the one
// that Frame makes. The code is one line without loops, and every value known beforehand is a constant in it.
//
//	Frame ─▶ the template, as long as it is, fresh: a device may have written to the one before
//	Index ─▶ the frame's index, kept
//	R0 to R5 are lost; there are no calls
type Assembler struct {
	Code         *Code
	Frame, Index asm.Register
	// TableFD is an array map of one value, which holds Table's lists from TableOffset on. Programs without lists
	// don't need it.
	TableFD     int
	TableOffset uint32
}

// ErrNotCarried is why a program can't be translated.
var ErrNotCarried = errors.New("its checksum covers a length that varies")

// Table returns the lists of values, one after another, in the order in which the translation looks for them.
func (p *Program) Table() []uint64 {
	var table []uint64
	for _, w := range p.writes {
		table = append(table, w.variable.list...)
	}
	return table
}

// Assemble adds the code that makes a template the frame with the index. If it reports trimmed, AssembleLength
// computes the frame's length. Otherwise the frame is as long as the template.
func (p *Program) Assemble(a Assembler) (trimmed bool, err error) {
	if slices.ContainsFunc(p.fixes, func(f fix) bool { return f.general != nil }) {
		return false, ErrNotCarried
	}
	if p.cache > 0 {
		a.Code.Modulo(a.Index, p.cache, asm.R1)
	}
	table := a.TableOffset
	for _, w := range p.writes {
		a.value(w.variable, table)
		table += uint32(8 * len(w.variable.list))
		a.write(w)
	}
	for _, f := range p.fixes {
		a.fix(f)
	}
	return p.trim != nil, nil
}

// AssembleLength adds the code that leaves the frame's length in R0. The index must be as Assemble left it.
func (p *Program) AssembleLength(a Assembler) {
	if p.trim == nil {
		a.Code.Load(asm.R0, uint64(len(p.template)))
		return
	}
	a.value(p.trim, 0)
	long, short := a.Code.Label("long-enough"), a.Code.Label("short-enough")
	a.Code.JumpIf(asm.JGE, asm.R0, MinFrame, asm.R1, long)
	a.Code.Load(asm.R0, MinFrame)
	a.Code.Mark(long)
	a.Code.JumpIf(asm.JLE, asm.R0, uint64(len(p.template)), asm.R1, short)
	a.Code.Load(asm.R0, uint64(len(p.template)))
	a.Code.Mark(short)
}

// value leaves a variable's value in R0. The variable's list begins at this offset of the table.
func (a Assembler) value(v *variable, table uint32) {
	a.position(v)
	switch {
	case v.list != nil:
		inside := a.Code.Label("inside")
		// always true, but the kernel's verifier doesn't know that
		a.Code.JumpIf(asm.JLT, asm.R1, uint64(len(v.list)), asm.R2, inside)
		a.Code.Add(asm.Mov.Imm(asm.R1, 0))
		a.Code.Mark(inside)
		a.Code.Add(
			asm.LSh.Imm(asm.R1, 3),
			asm.LoadMapValue(asm.R2, a.TableFD, table),
			asm.Add.Reg(asm.R2, asm.R1),
			asm.LoadMem(asm.R0, asm.R2, 0, asm.DWord),
		)
	case v.op == decrement:
		a.Code.Load(asm.R0, v.min+v.span-1)
		a.Code.Add(asm.Sub.Reg(asm.R0, asm.R1))
	default:
		a.Code.Add(asm.Mov.Reg(asm.R0, asm.R1))
		a.Code.Apply(asm.Add, asm.R0, v.min, asm.R2)
	}
}

// tick adds the code that leaves in R1 how often the variable has advanced.
func (a Assembler) tick(v *variable) {
	if v.driver != nil {
		a.wraps(v.driver)
	} else {
		a.Code.Add(asm.Mov.Reg(asm.R1, a.Index))
	}
	if v.limit > 0 {
		a.Code.Modulo(asm.R1, v.limit, asm.R2)
	}
}

// wraps adds the code that leaves in R1 how often the variable has started over.
func (a Assembler) wraps(v *variable) {
	a.tick(v)
	if v.op == random {
		a.Code.Divide(asm.R1, v.span, asm.R2)
		return
	}
	noWrap := a.Code.Label("under")
	a.Code.Add(asm.Mov.Reg(asm.R2, asm.R1))
	a.Code.Modulo(asm.R2, v.cycle(), asm.R3)
	a.Code.Apply(asm.Mul, asm.R2, v.step, asm.R3)
	a.Code.Divide(asm.R1, v.cycle(), asm.R3)
	a.Code.JumpIf(asm.JLT, asm.R2, v.span-v.offset, asm.R3, noWrap)
	a.Code.Add(asm.Add.Imm(asm.R1, 1))
	a.Code.Mark(noWrap)
	a.Code.Add(asm.Mov.Reg(asm.R1, asm.R1))
}

// position adds the code that leaves in R1 the variable's position in its range.
func (a Assembler) position(v *variable) {
	a.tick(v)
	if v.op == random {
		a.scramble(v.seed)
		a.reduce(v.span)
		return
	}
	inRange, placed := a.Code.Label("before"), a.Code.Label("placed")
	a.Code.Modulo(asm.R1, v.cycle(), asm.R2)
	a.Code.Apply(asm.Mul, asm.R1, v.step, asm.R2)
	rest := v.span - v.offset
	a.Code.JumpIf(asm.JLT, asm.R1, rest, asm.R2, inRange)
	a.Code.Apply(asm.Sub, asm.R1, rest, asm.R2)
	a.Code.Add(asm.Ja.Label(placed))
	a.Code.Mark(inRange)
	a.Code.Apply(asm.Add, asm.R1, v.offset, asm.R2)
	a.Code.Mark(placed)
	a.Code.Add(asm.Mov.Reg(asm.R1, asm.R1))
}

// scramble adds the code of the function scramble, for R1 and a seed.
func (a Assembler) scramble(seed uint64) {
	a.Code.Apply(asm.Add, asm.R1, seed, asm.R2)
	a.Code.Apply(asm.Mul, asm.R1, 0x9e3779b97f4a7c15, asm.R2)
	for _, round := range []struct {
		shift  int32
		factor uint64
	}{{30, 0xbf58476d1ce4e5b9}, {27, 0x94d049bb133111eb}, {31, 0}} {
		a.Code.Add(asm.Mov.Reg(asm.R2, asm.R1), asm.RSh.Imm(asm.R2, round.shift), asm.Xor.Reg(asm.R1, asm.R2))
		if round.factor != 0 {
			a.Code.Apply(asm.Mul, asm.R1, round.factor, asm.R2)
		}
	}
}

// reduce adds the code of the function reduce. It leaves the upper half of R1 × n in R1, from products of 32 bits each.
func (a Assembler) reduce(n uint64) {
	const low, high = asm.R1, asm.R2 // of x
	a.Code.Add(asm.Mov.Reg(high, asm.R1), asm.RSh.Imm(high, 32), asm.Mov.Reg32(low, low))
	a.Code.Add(asm.Mov.Reg(asm.R3, low), asm.Mov.Reg(asm.R4, high))
	a.Code.Apply(asm.Mul, asm.R3, n&0xffffffff, asm.R5)
	a.Code.Apply(asm.Mul, asm.R4, n&0xffffffff, asm.R5)
	a.Code.Add(asm.RSh.Imm(asm.R3, 32), asm.Add.Reg(asm.R3, asm.R4)) // t = high × n0 + the carry of low × n0
	if n>>32 == 0 {
		a.Code.Add(asm.RSh.Imm(asm.R3, 32), asm.Mov.Reg(asm.R1, asm.R3))
		return
	}
	a.Code.Apply(asm.Mul, low, n>>32, asm.R5)
	a.Code.Apply(asm.Mul, high, n>>32, asm.R5)
	a.Code.Add(
		asm.Mov.Reg32(asm.R4, asm.R3),
		asm.Add.Reg(low, asm.R4),
		asm.RSh.Imm(low, 32),
		asm.RSh.Imm(asm.R3, 32),
		asm.Add.Reg(low, asm.R3),
		asm.Add.Reg(asm.R1, high),
	)
}

var sizes = map[int]asm.Size{1: asm.Byte, 2: asm.Half, 4: asm.Word, 8: asm.DWord}

// write puts R0 into the frame.
func (a Assembler) write(w write) {
	a.Code.Apply(asm.Add, asm.R0, w.add, asm.R1)
	size := sizes[w.width]
	if w.masked {
		a.Code.Add(asm.LoadMem(asm.R2, a.Frame, int16(w.offset), size))
		a.ordered(asm.R2, w)
		a.Code.Apply(asm.And, asm.R2, ^w.mask, asm.R1)
		a.shift(w.shift)
		a.Code.Apply(asm.And, asm.R0, w.mask, asm.R1)
		a.Code.Add(asm.Or.Reg(asm.R0, asm.R2))
	}
	a.ordered(asm.R0, w)
	a.Code.Add(asm.StoreMem(a.Frame, int16(w.offset), asm.R0, size))
}

// ordered converts a value between the field's byte order and the machine's.
func (a Assembler) ordered(register asm.Register, w write) {
	order := asm.BE
	if w.little {
		order = asm.LE
	}
	if w.width > 1 {
		a.Code.Add(asm.HostTo(order, register, sizes[w.width]))
	}
}

func (a Assembler) shift(bits int) {
	switch {
	case bits <= -64 || bits >= 64:
		a.Code.Add(asm.Mov.Imm(asm.R0, 0))
	case bits < 0:
		a.Code.Add(asm.RSh.Imm(asm.R0, int32(-bits)))
	default:
		a.Code.Add(asm.LSh.Imm(asm.R0, int32(bits)))
	}
}

// fix sets a checksum. A sum of words taken in the machine's byte order is the sum in that order (RFC 1071,
// 2(B)), so words are taken as they stand.
func (a Assembler) fix(f fix) {
	a.Code.Load(asm.R0, uint64(stream.FoldChecksum(f.base)))
	a.Code.Add(asm.HostTo(asm.BE, asm.R0, asm.Half))
	for _, offset := range f.words {
		a.Code.Add(asm.LoadMem(asm.R1, a.Frame, int16(offset), asm.Half), asm.Add.Reg(asm.R0, asm.R1))
	}
	if f.tail > 0 {
		a.Code.Add(asm.LoadMem(asm.R1, a.Frame, int16(f.tail), asm.Byte), asm.LSh.Imm(asm.R1, 8),
			asm.HostTo(asm.BE, asm.R1, asm.Half), asm.Add.Reg(asm.R0, asm.R1))
	}
	for range 2 {
		a.Code.Add(asm.Mov.Reg(asm.R1, asm.R0), asm.RSh.Imm(asm.R1, 16), asm.And.Imm(asm.R0, 0xffff),
			asm.Add.Reg(asm.R0, asm.R1))
	}
	a.Code.Add(asm.Xor.Imm(asm.R0, 0xffff))
	if f.isUDP {
		nonzero := a.Code.Label("some")
		a.Code.Add(asm.JNE.Imm(asm.R0, 0, nonzero), asm.Mov.Imm(asm.R0, 0xffff))
		a.Code.Mark(nonzero)
	}
	a.Code.Add(asm.StoreMem(a.Frame, int16(f.checksum), asm.R0, asm.Half))
}

// AssembleTransport adds the code that does the work of FixTransport for the packet at offset. The bytes
// between start and stop vary besides those that the program writes.
func (p *Program) AssembleTransport(a Assembler, offset, begin, stop int) error {
	start, kind := transport(p.template, offset)
	protocol := p.template[kind]
	field, ok := checksumOffset[protocol]
	checksum, end := start+field, max(payloadEnd(p.template, offset), start)
	// a frame may have a checksum where the template has none
	if p.touches(offset, offset+1) || p.touches(kind, kind+1) {
		return errors.New("its fields change the transport protocol of a stamped frame")
	}
	if !ok || checksum+2 > end {
		return nil
	}
	fixed := slices.ContainsFunc(p.fixes, func(f fix) bool { return f.checksum == checksum })
	switch {
	case p.trim != nil || p.touchesLength(offset):
		return ErrNotCarried
	case !fixed && p.touches(checksum, checksum+2):
		return errors.New("its fields move the transport checksum of a stamped frame")
	case protocol == protocolUDP && p.template[offset]>>4 == 4 && p.template[checksum] == 0 &&
		p.template[checksum+1] == 0 && !fixed:
		return nil
	}
	varied := *p
	varied.writes = append(slices.Clone(p.writes), write{offset: begin, width: stop - begin})
	for _, f := range p.fixes {
		varied.writes = append(varied.writes, write{offset: f.checksum, width: 2})
	}
	f := fix{checksum: checksum, isUDP: protocol == protocolUDP}
	f.coverTransport(&varied, offset, start, end, protocol)
	a.fix(f)
	return nil
}
