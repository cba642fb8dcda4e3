package profile

import (
	"fmt"
	"math"
	"slices"

	"github.com/linerate-dev/linerate/internal/document/stream"
)

// The field engine's limits.
const (
	maxVariableBytes = 64
	maxWriteOffset   = 512
	maxValueList     = 65_535
)

// programCheck walks a program as the server compiles it. The variables that it writes must have been defined, and
// the writes must lie within the frame.
type programCheck struct {
	frame     []byte
	variables map[string]int // size in bytes
	ranges    map[string]stream.Instruction
	bytes     int
	trims     int
}

func checkProgram(s stream.Stream) (found Faults) {
	if s.VM.Cache > maxCache {
		found = append(found, fmt.Errorf("vm.cache: %d is more than %d", s.VM.Cache, maxCache))
	}
	check := programCheck{frame: s.Packet.Binary, variables: map[string]int{}, ranges: map[string]stream.Instruction{}}
	for i, instruction := range s.VM.Instructions {
		wrong := len(found)
		for _, err := range []error{check.instruction(instruction), checkNextVar(s.VM.Instructions, i)} {
			if err != nil {
				found = append(found, fmt.Errorf("vm.instructions[%d].%w", i, err))
			}
		}
		if len(found) > wrong && defines(instruction) {
			return found // what follows may name the variable
		}
	}
	return found
}

// defines says that an instruction makes a variable.
func defines(i stream.Instruction) bool {
	return slices.Contains([]string{"flow_var", "flow_var_rand_limit", "tuple_flow_var"}, i.Type)
}

func (c *programCheck) instruction(i stream.Instruction) error {
	switch i.Type {
	case "flow_var":
		return c.flowVar(i)
	case "flow_var_rand_limit":
		return c.randLimit(i)
	case "tuple_flow_var":
		return c.tuple(i)
	case "write_flow_var", "write_mask_flow_var":
		return c.write(i)
	case "fix_checksum_ipv4":
		return c.ipv4Header(i)
	case "fix_checksum_hw", "fix_checksum_icmpv6":
		return c.transport(i)
	case "trim_pkt_size":
		return c.trim(i)
	}
	return fmt.Errorf("type: %q is not known: use %s", i.Type, quoted(instructionTypes()))
}

// define adds a variable.
func (c *programCheck) define(name string, size int) error {
	if name == "" {
		return fmt.Errorf("name: a variable needs one")
	}
	if _, ok := c.variables[name]; ok {
		return fmt.Errorf("name: %q is there twice", name)
	}
	c.variables[name] = size
	if c.bytes += size; c.bytes > maxVariableBytes {
		return fmt.Errorf("name: with %q the variables take %d bytes, and there is room for %d", name, c.bytes,
			maxVariableBytes)
	}
	return nil
}

func (c *programCheck) flowVar(i stream.Instruction) error {
	limit, err := largest(i.Size)
	if err != nil {
		return err
	}
	if i.Op != "inc" && i.Op != "dec" && i.Op != "random" {
		return fmt.Errorf("op: %q is not known: use inc, dec or random", i.Op)
	}
	if i.Step < 1 {
		return fmt.Errorf("step: 0: must be at least 1")
	}
	if len(i.ValueList) > 0 {
		err = checkList(i, limit)
	} else {
		err = checkRange(i, limit)
	}
	if err != nil {
		return err
	}
	c.ranges[i.Name] = i
	return c.define(i.Name, i.Size)
}

func (c *programCheck) randLimit(i stream.Instruction) error {
	limit, err := largest(i.Size)
	switch {
	case err != nil:
		return err
	case i.Limit < 1 || i.Limit > limit:
		return fmt.Errorf("limit: %d is outside 1 to %d", i.Limit, limit)
	case i.MinValue > i.MaxValue || i.MaxValue > limit:
		return fmt.Errorf("max_value: %d to %d is no range of %d-byte values", i.MinValue, i.MaxValue, i.Size)
	case i.MinValue == 0 && i.MaxValue == math.MaxUint64:
		return fullRange()
	}
	c.ranges[i.Name] = i
	return c.define(i.Name, i.Size)
}

// largest is the largest value of so many bytes.
func largest(size int) (uint64, error) {
	switch size {
	case 1, 2, 4, 8:
		return math.MaxUint64 >> (64 - 8*size), nil
	}
	return 0, fmt.Errorf("size: %d: a variable has 1, 2, 4 or 8 bytes", size)
}

func checkList(i stream.Instruction, limit uint64) error {
	if i.InitValue != 0 || i.MinValue != 0 || i.MaxValue != 0 {
		return fmt.Errorf("value_list: it takes the place of init_value, min_value and max_value: leave them out")
	}
	if len(i.ValueList) > maxValueList {
		return fmt.Errorf("value_list: %d values, where %d are allowed", len(i.ValueList), maxValueList)
	}
	if i.Step > uint64(len(i.ValueList)) {
		return fmt.Errorf("step: %d is more than the %d values", i.Step, len(i.ValueList))
	}
	for index, v := range i.ValueList {
		if v > limit {
			return fmt.Errorf("value_list[%d]: %d doesn't fit in %d bytes", index, v, i.Size)
		}
	}
	return nil
}

// checkRange checks min ≤ init ≤ max within the size, also after the server has widened the range to a multiple of
// the step (inc upwards, dec downwards), and that it can be counted, because a range of 2⁶⁴ values divides the
// server by zero.
func checkRange(i stream.Instruction, limit uint64) error {
	switch {
	case i.MinValue > i.InitValue || i.InitValue > i.MaxValue:
		return fmt.Errorf("init_value: %d is outside min_value %d to max_value %d", i.InitValue, i.MinValue, i.MaxValue)
	case i.MaxValue > limit:
		return fmt.Errorf("max_value: %d doesn't fit in %d bytes", i.MaxValue, i.Size)
	case i.MinValue == 0 && i.MaxValue == math.MaxUint64:
		return fullRange()
	case i.Op == "random":
		return nil
	}
	low, high, ok := widened(i, limit)
	if !ok {
		return fmt.Errorf("step: %d: the range %d to %d can't be widened to a multiple of it within %d bytes: choose min_value and max_value so that it is one",
			i.Step, i.MinValue, i.MaxValue, i.Size)
	}
	if low == 0 && high == math.MaxUint64 {
		return fullRange()
	}
	return nil
}

// widened is the variable's range as the server uses it, a multiple of the step, inc upwards, dec downwards. ok is
// false where that would leave 0 to limit.
func widened(i stream.Instruction, limit uint64) (low, high uint64, ok bool) {
	low, high = i.MinValue, i.MaxValue
	rest := (high - low + 1) % i.Step
	switch {
	case rest == 0:
		return low, high, true
	case i.Op == "dec":
		return low - (i.Step - rest), high, low >= i.Step-rest
	}
	return low, high + (i.Step - rest), limit-high >= i.Step-rest
}

func fullRange() error {
	return fmt.Errorf("max_value: all values of 8 bytes can't be counted and stop the server: raise min_value to 1")
}

func (c *programCheck) tuple(i stream.Instruction) error {
	switch {
	case i.IPMin > i.IPMax:
		return fmt.Errorf("ip_min: %d is above ip_max %d, which stops the server", i.IPMin, i.IPMax)
	case i.IPMin == 0 && i.IPMax == math.MaxUint32:
		return fmt.Errorf("ip_max: all addresses there are can't be counted: raise ip_min to 1")
	case i.PortMin > i.PortMax:
		return fmt.Errorf("port_min: %d is above port_max %d, which stops the server", i.PortMin, i.PortMax)
	case i.Flags&^1 != 0:
		return fmt.Errorf("flags: %d: use 0, or 1 (addresses without ports)", i.Flags)
	case i.Name == "":
		return fmt.Errorf("name: a variable needs one")
	}
	if err := c.define(i.Name+".ip", 4); err != nil {
		return err
	}
	return c.define(i.Name+".port", 2)
}
