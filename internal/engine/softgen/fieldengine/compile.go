package fieldengine

import (
	"errors"
	"fmt"
	"slices"

	"github.com/linerate-dev/linerate/internal/document/stream"
)

// TRex's bounds on a program.
const (
	maxVariableBytes = 64
	maxWriteOffset   = 512
	maxCache         = 10_000
	maxList          = 65_535
)

// compiler compiles a program instruction by instruction.
type compiler struct {
	program      *Program
	seed         uint64
	variables    map[string]*variable
	bytes        int
	nextVariable string // the next_var of the previous variable
	driver       *variable
	fixes        []stream.Instruction // checksum fixes, compiled when all writes are known
}

func (c *compiler) add(instruction stream.Instruction) error {
	if c.nextVariable != "" && (instruction.Type != "flow_var" || instruction.Name != c.nextVariable) {
		return fmt.Errorf("next_var '%s' must be the next instruction", c.nextVariable)
	}
	if err := Check(instruction); err != nil {
		return err
	}
	switch instruction.Type {
	case "flow_var", "flow_var_rand_limit":
		return c.addVariable(instruction)
	case "tuple_flow_var":
		return c.addTuple(instruction)
	case "write_flow_var", "write_mask_flow_var":
		return c.addWrite(instruction)
	case "trim_pkt_size":
		return c.addTrim(instruction)
	case "fix_checksum_ipv4", "fix_checksum_hw", "fix_checksum_icmpv6":
		c.fixes = append(c.fixes, instruction)
		return nil
	default:
		return fmt.Errorf("unknown instruction type '%s'", instruction.Type)
	}
}

func (c *compiler) addVariable(instruction stream.Instruction) error {
	v := c.variable(instruction)
	v.driver, c.driver, c.nextVariable = c.driver, nil, ""
	if instruction.NextVar != nil && *instruction.NextVar != "" {
		c.driver, c.nextVariable = v, *instruction.NextVar
	}
	return c.define(instruction.Name, v)
}

func (c *compiler) define(name string, v *variable) error {
	if _, defined := c.variables[name]; defined || name == "" {
		return fmt.Errorf("variable name '%s' already exists or is empty", name)
	}
	if c.bytes += v.size; c.bytes > maxVariableBytes {
		return fmt.Errorf("variables take more than %d bytes", maxVariableBytes)
	}
	c.variables[name] = v
	return nil
}

func (c *compiler) variable(instruction stream.Instruction) *variable {
	v := &variable{size: instruction.Size, step: max(instruction.Step, 1), op: operations[instruction.Op],
		seed: scramble(c.seed + uint64(len(c.variables)) + instruction.Seed<<20)}
	switch {
	case instruction.Type == "flow_var_rand_limit":
		v.op, v.limit = random, instruction.Limit
		v.rangeOf(instruction.MinValue, instruction.MinValue, instruction.MaxValue)
	case instruction.ValueList != nil:
		v.listOf(instruction.ValueList)
	default:
		v.rangeOf(instruction.InitValue, instruction.MinValue, instruction.MaxValue)
	}
	return v
}

var operations = map[string]operation{"inc": increment, "dec": decrement, "random": random}

func (v *variable) rangeOf(init, low, high uint64) {
	v.min, v.span, v.offset = low, high-low+1, init-low
	if v.op == decrement {
		v.offset = high - init
	}
	if v.op != random {
		v.pad(maxValue(v.size))
	}
}

// pad widens the range so that the step divides it, as TRex does silently. inc widens it upwards, and dec downwards.
func (v *variable) pad(top uint64) {
	missing := (v.step - v.span%v.step) % v.step
	switch {
	case missing == 0:
	case v.op == decrement:
		grown := min(missing, v.min)
		v.min, v.span = v.min-grown, v.span+grown
	default:
		v.span += min(missing, top-(v.min+v.span-1))
	}
}

func (v *variable) listOf(values []uint64) {
	v.list = slices.Clone(values)
	switch v.op {
	case decrement:
		v.list, v.op = strided(reversed(v.list), v.step), increment
	case increment:
		v.list = strided(v.list, v.step)
	case random:
	}
	v.span, v.step = uint64(len(v.list)), 1
}

// strided walks a list by its step once, so that the variable steps by one.
func strided(list []uint64, step uint64) []uint64 {
	n := uint64(len(list))
	walk := make([]uint64, leastCommonMultiple(n, step)/step)
	for i := range walk {
		walk[i] = list[uint64(i)*step%n]
	}
	return walk
}

// reversed returns the list in the order of dec, which is the first value and then the others from the end.
func reversed(list []uint64) []uint64 {
	walk := make([]uint64, len(list))
	for i := range list {
		walk[i] = list[(len(list)-i)%len(list)]
	}
	return walk
}

// addTuple defines NAME.ip and NAME.port. The port advances when the address wraps.
func (c *compiler) addTuple(tuple stream.Instruction) error {
	ip := &variable{size: 4, step: 1, min: uint64(tuple.IPMin), span: uint64(tuple.IPMax-tuple.IPMin) + 1,
		limit: uint64(tuple.LimitFlows)}
	port := &variable{size: 2, step: 1, min: uint64(tuple.PortMin), span: uint64(tuple.PortMax-tuple.PortMin) + 1,
		driver: ip}
	return errors.Join(c.define(tuple.Name+".ip", ip), c.define(tuple.Name+".port", port))
}

func (c *compiler) addWrite(instruction stream.Instruction) error {
	v, ok := c.variables[instruction.Name]
	if !ok {
		return fmt.Errorf("variable '%s' does not exist", instruction.Name)
	}
	w := write{variable: v, offset: instruction.PacketOffset, width: v.size, add: uint64(instruction.AddValue),
		little: !instruction.BigEndian}
	if instruction.Type == "write_mask_flow_var" {
		w.width, w.masked, w.mask, w.shift = instruction.CastSize, true, uint64(instruction.Mask), instruction.Shift
		if w.width != 1 && w.width != 2 && w.width != 4 {
			return fmt.Errorf("pkt_cast_size %d is not one of 1, 2, 4", w.width)
		}
	}
	if w.offset < 0 || w.offset+w.width > len(c.program.template) {
		return fmt.Errorf("packet size is %d bytes, variable '%s' ends at offset %d", len(c.program.template),
			instruction.Name, w.offset+w.width)
	}
	if w.offset > maxWriteOffset {
		return fmt.Errorf("packet offset %d is above %d", w.offset, maxWriteOffset)
	}
	c.program.writes = append(c.program.writes, w)
	return nil
}

func (c *compiler) addTrim(instruction stream.Instruction) error {
	v, ok := c.variables[instruction.Name]
	if !ok {
		return fmt.Errorf("variable '%s' does not exist", instruction.Name)
	}
	if v.size != 2 || v.list != nil {
		return fmt.Errorf("trim_pkt_size needs a 2-byte range, variable '%s' is none", instruction.Name)
	}
	if v.min+v.span-1 < MinFrame || v.min > uint64(len(c.program.template)) {
		return fmt.Errorf("trim_pkt_size '%s' leaves no length between %d and the packet's %d", instruction.Name,
			MinFrame, len(c.program.template))
	}
	c.program.trim = v
	return nil
}

func (c *compiler) finish(instructions []stream.Instruction) (*Program, error) {
	if c.nextVariable != "" {
		return nil, fmt.Errorf("*** error: instruction id '%d' next_var '%s' does not follow", len(instructions)-1,
			c.nextVariable)
	}
	if c.program.cache > maxCache {
		return nil, fmt.Errorf("cache %d is above %d", c.program.cache, maxCache)
	}
	for _, instruction := range c.fixes {
		fixes, err := compileFix(instruction, c.program)
		if err != nil {
			return nil, err
		}
		c.program.fixes = append(c.program.fixes, fixes...)
	}
	c.program.period = c.period()
	return c.program, nil
}

func (c *compiler) period() uint64 {
	if c.program.cache > 0 {
		return c.program.cache
	}
	period := uint64(1)
	for _, w := range c.program.writes {
		period = leastCommonMultiple(period, w.variable.period())
	}
	if c.program.trim != nil {
		period = leastCommonMultiple(period, c.program.trim.period())
	}
	return period
}
