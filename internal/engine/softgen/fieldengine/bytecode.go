package fieldengine

// This file writes eBPF programs for the kernel with cilium's assembler. It adds labels that mark the next instruction, and constants of any width.

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
	for _, in := range instructions {
		if c.pending != "" {
			in, c.pending = in.WithSymbol(c.pending), ""
		}
		c.instructions = append(c.instructions, in)
	}
}

// Here makes a label mark the next instruction. An instruction has one label; for a second one in a row, Here adds an instruction that does nothing.
func (c *Code) Here(label string) {
	if c.pending != "" {
		c.Add(asm.Mov.Reg(asm.R0, asm.R0))
	}
	c.pending = label
}

// Label is a label that this code doesn't have yet.
func (c *Code) Label(stem string) string {
	c.labels++
	return fmt.Sprintf("%s-%d", stem, c.labels)
}

// Instructions are what was added.
func (c *Code) Instructions() asm.Instructions { return c.instructions }

// Len is how many instructions there are.
func (c *Code) Len() int { return len(c.instructions) }

// Load puts a constant into a register.
func (c *Code) Load(to asm.Register, value uint64) {
	if fitsImmediate(value) {
		c.Add(asm.Mov.Imm(to, int32(value)))
		return
	}
	c.Add(asm.LoadImm(to, int64(value), asm.DWord))
}

// Do applies an operation with a constant to a register; scratch is lost where the constant is a wide one.
func (c *Code) Do(op asm.ALUOp, to asm.Register, value uint64, scratch asm.Register) {
	if fitsImmediate(value) {
		c.Add(op.Imm(to, int32(value)))
		return
	}
	c.Add(asm.LoadImm(scratch, int64(value), asm.DWord), op.Reg(to, scratch))
}

// If jumps to a label where a register compares so with a constant; scratch is lost where the constant is a wide one.
func (c *Code) If(op asm.JumpOp, register asm.Register, value uint64, scratch asm.Register, label string) {
	if fitsImmediate(value) {
		c.Add(op.Imm(register, int32(value), label))
		return
	}
	c.Add(asm.LoadImm(scratch, int64(value), asm.DWord), op.Reg(register, scratch, label))
}

// Modulo leaves the rest of a division by a constant that isn't zero; a power of two costs no division.
func (c *Code) Modulo(to asm.Register, by uint64, scratch asm.Register) {
	if bits.OnesCount64(by) == 1 {
		c.Do(asm.And, to, by-1, scratch)
		return
	}
	c.Do(asm.Mod, to, by, scratch)
}

// Divide divides by a constant that isn't zero.
func (c *Code) Divide(to asm.Register, by uint64, scratch asm.Register) {
	if bits.OnesCount64(by) == 1 {
		c.Add(asm.RSh.Imm(to, int32(bits.TrailingZeros64(by))))
		return
	}
	c.Do(asm.Div, to, by, scratch)
}

// fitsImmediate says whether an instruction can bear a constant: the kernel extends the sign of 32 bits.
func fitsImmediate(value uint64) bool { return value <= math.MaxInt32 }
