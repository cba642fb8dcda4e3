package fieldengine

import (
	"testing"

	"github.com/cilium/ebpf/asm"
)

func TestLabels(t *testing.T) {
	var c Code
	c.Add(asm.Ja.Label("first"))
	c.Mark("first")
	c.Mark("second")
	c.Add(asm.Return())
	marked := map[string]int{}
	for i, instruction := range c.Instructions() {
		if instruction.Symbol() != "" {
			marked[instruction.Symbol()] = i
		}
	}
	if marked["first"] != 1 || marked["second"] != 2 || c.Len() != 3 {
		t.Errorf("labels at %v in %d instructions", marked, c.Len())
	}
	if a, b := c.Label("x"), c.Label("x"); a == b {
		t.Errorf("two labels are both %s", a)
	}
}

func TestConstants(t *testing.T) {
	for _, test := range []struct {
		name  string
		write func(*Code)
		want  int
	}{
		{"31 bits fit an instruction", func(c *Code) { c.Apply(asm.Add, asm.R1, 0x7fffffff, asm.R2) }, 1},
		{"32 bits would be taken for a negative number", func(c *Code) { c.Apply(asm.Add, asm.R1, 0x80000000, asm.R2) },
			2},
		{"a power of two is no division", func(c *Code) { c.Modulo(asm.R1, 256, asm.R2) }, 1},
		{"a wide comparison loads its constant", func(c *Code) { c.JumpIf(asm.JGE, asm.R1, 1<<40, asm.R2, "x") }, 2},
	} {
		var c Code
		if test.write(&c); c.Len() != test.want {
			t.Errorf("%s: %d instructions, want %d", test.name, c.Len(), test.want)
		}
	}
}
