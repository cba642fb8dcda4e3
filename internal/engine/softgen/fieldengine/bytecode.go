package fieldengine

// This file writes eBPF programs for the kernel with cilium's assembler. It adds labels that mark the next
// instruction, and constants of any width.

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/cilium/ebpf/asm"
)

// Code is a program that is being written. The zero value is empty.
type Code struct {
	instructions asm.Instructions
	pending      string // the label of the next instruction
	labels       int
}

// Add appends instructions.
func (c *Code) Add(instructions ...asm.Instruction) {
	for _, instruction := range instructions {
		if c.pending != "" {
			instruction, c.pending = instruction.WithSymbol(c.pending), ""
		}
		c.instructions = append(c.instructions, instruction)
	}
}

// Mark makes a label mark the next instruction. An instruction has one label. For a second one in a row, Mark
// adds an instruction that does nothing.
func (c *Code) Mark(label string) {
	if c.pending != "" {
		c.Add(asm.Mov.Reg(asm.R0, asm.R0))
	}
	c.pending = label
}

// Label returns a label that this code doesn't have yet.
func (c *Code) Label(stem string) string {
	c.labels++
	return fmt.Sprintf("%s-%d", stem, c.labels)
}

// Instructions returns the added instructions.
func (c *Code) Instructions() asm.Instructions { return c.instructions }

// Len is the number of instructions.
func (c *Code) Len() int { return len(c.instructions) }

// Load puts a constant into a register.
func (c *Code) Load(register asm.Register, value uint64) {
	if fitsImmediate(value) {
		c.Add(asm.Mov.Imm(register, int32(value)))
		return
	}
	c.Add(asm.LoadImm(register, int64(value), asm.DWord))
}

// Apply applies an operation with a constant to a register. A wide constant overwrites scratch.
func (c *Code) Apply(op asm.ALUOp, register asm.Register, value uint64, scratch asm.Register) {
	if fitsImmediate(value) {
		c.Add(op.Imm(register, int32(value)))
		return
	}
	c.Add(asm.LoadImm(scratch, int64(value), asm.DWord), op.Reg(register, scratch))
}

// JumpIf jumps to a label if the comparison of a register with a constant holds. A wide constant overwrites scratch.
func (c *Code) JumpIf(op asm.JumpOp, register asm.Register, value uint64, scratch asm.Register, label string) {
	if fitsImmediate(value) {
		c.Add(op.Imm(register, int32(value), label))
		return
	}
	c.Add(asm.LoadImm(scratch, int64(value), asm.DWord), op.Reg(register, scratch, label))
}

// Modulo leaves the rest of a division by a constant that isn't zero. A power of two costs no division.
func (c *Code) Modulo(register asm.Register, divisor uint64, scratch asm.Register) {
	if bits.OnesCount64(divisor) == 1 {
		c.Apply(asm.And, register, divisor-1, scratch)
		return
	}
	c.Apply(asm.Mod, register, divisor, scratch)
}

// Divide divides by a constant that isn't zero.
func (c *Code) Divide(register asm.Register, divisor uint64, scratch asm.Register) {
	if bits.OnesCount64(divisor) == 1 {
		c.Add(asm.RSh.Imm(register, int32(bits.TrailingZeros64(divisor))))
		return
	}
	c.Apply(asm.Div, register, divisor, scratch)
}

// fitsImmediate says whether an instruction can hold a constant. The kernel extends the sign of 32 bits.
func fitsImmediate(value uint64) bool { return value <= math.MaxInt32 }
