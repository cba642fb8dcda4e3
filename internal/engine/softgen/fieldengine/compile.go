package fieldengine

import (
	"errors"
	"fmt"
	"math"
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

// compiler gathers a program instruction by instruction.
type compiler struct {
	program   *Program
	seed      uint64
	variables map[string]*variable
	bytes     int
	next      string // the variable that the previous one's next_var promised
	driver    *variable
	wanted    []stream.Instruction // checksum fixes, compiled when all writes are known
}

func (c *compiler) add(in stream.Instruction) error {
	if c.next != "" && (in.Type != "flow_var" || in.Name != c.next) {
		return fmt.Errorf("next_var '%s' must be the next instruction", c.next)
	}
	switch in.Type {
	case "flow_var", "flow_var_rand_limit":
		return c.addVariable(in)
	case "tuple_flow_var":
		return c.addTuple(in)
	case "write_flow_var", "write_mask_flow_var":
		return c.addWrite(in)
	case "trim_pkt_size":
		return c.addTrim(in)
	case "fix_checksum_ipv4", "fix_checksum_hw", "fix_checksum_icmpv6":
		c.wanted = append(c.wanted, in)
		return nil
	default:
		return fmt.Errorf("unknown instruction type '%s'", in.Type)
	}
}

func (c *compiler) addVariable(in stream.Instruction) error {
	v, err := c.variable(in)
	if err != nil {
		return err
	}
	v.driver, c.driver, c.next = c.driver, nil, ""
	if in.NextVar != nil && *in.NextVar != "" {
		c.driver, c.next = v, *in.NextVar
	}
	return c.define(in.Name, v)
}

func (c *compiler) define(name string, v *variable) error {
	if _, taken := c.variables[name]; taken || name == "" {
		return fmt.Errorf("variable name '%s' already exists or is empty", name)
	}
	if c.bytes += v.size; c.bytes > maxVariableBytes {
		return fmt.Errorf("variables take more than %d bytes", maxVariableBytes)
	}
	c.variables[name] = v
	return nil
}

func (c *compiler) variable(in stream.Instruction) (*variable, error) {
	if in.Size != 1 && in.Size != 2 && in.Size != 4 && in.Size != 8 {
		return nil, fmt.Errorf("variable '%s' size %d is not one of 1, 2, 4, 8", in.Name, in.Size)
	}
	v := &variable{size: in.Size, step: max(in.Step, 1), seed: scramble(c.seed + uint64(len(c.variables)) + in.Seed<<20)}
	if in.Type == "flow_var_rand_limit" {
		v.op, v.limit = random, in.Limit
		if in.Limit == 0 {
			return nil, fmt.Errorf("variable '%s' limit must be at least 1", in.Name)
		}
		return v, v.rangeOf(in.Name, in.MinValue, in.MinValue, in.MaxValue)
	}
	var known bool
	if v.op, known = operations[in.Op]; !known {
		return nil, fmt.Errorf("variable '%s' op '%s' is not one of inc, dec, random", in.Name, in.Op)
	}
	if len(in.ValueList) > 0 {
		return v, v.listOf(in)
	}
	return v, v.rangeOf(in.Name, in.InitValue, in.MinValue, in.MaxValue)
}

var operations = map[string]operation{"inc": increment, "dec": decrement, "random": random}

func (v *variable) rangeOf(name string, init, low, high uint64) error {
	top := uint64(math.MaxUint64) >> (64 - 8*v.size)
	switch {
	case high > top:
		return fmt.Errorf("VM: requested value is bigger than %d", top)
	case low > init || init > high:
		return fmt.Errorf("variable '%s' must have min_value ≤ init_value ≤ max_value", name)
	case high-low == math.MaxUint64:
		return fmt.Errorf("variable '%s' may not cover all of 64 bits", name)
	}
	v.min, v.span, v.offset = low, high-low+1, init-low
	if v.op == decrement {
		v.offset = high - init
	}
	if v.op != random {
		v.pad(top)
	}
	return nil
}

// pad widens the range so that the step divides it, as TRex does silently: up for inc, down for dec.
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

func (v *variable) listOf(in stream.Instruction) error {
	if len(in.ValueList) > maxList || v.step > uint64(len(in.ValueList)) {
		return fmt.Errorf("variable '%s' value_list holds at most %d values and at least 'step' of them", in.Name, maxList)
	}
	top := uint64(math.MaxUint64) >> (64 - 8*v.size)
	for _, value := range in.ValueList {
		if value > top {
			return fmt.Errorf("VM: requested value is bigger than %d", top)
		}
	}
	v.list = slices.Clone(in.ValueList)
	switch v.op {
	case decrement:
		v.list, v.op = strided(reversed(v.list), v.step), increment
	case increment:
		v.list = strided(v.list, v.step)
	case random:
	}
	v.span, v.step = uint64(len(v.list)), 1
	return nil
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

// reversed is the order in which dec walks a list: the first value, then from the end.
func reversed(list []uint64) []uint64 {
	out := make([]uint64, len(list))
	for i := range list {
		out[i] = list[(len(list)-i)%len(list)]
	}
	return out
}

// addTuple defines NAME.ip and NAME.port: the port advances when the address wraps.
func (c *compiler) addTuple(in stream.Instruction) error {
	if in.IPMin > in.IPMax || in.PortMin > in.PortMax {
		return fmt.Errorf("tuple '%s' must have ip_min ≤ ip_max and port_min ≤ port_max", in.Name)
	}
	ip := &variable{size: 4, step: 1, min: uint64(in.IPMin), span: uint64(in.IPMax-in.IPMin) + 1, limit: uint64(in.LimitFlows)}
	port := &variable{size: 2, step: 1, min: uint64(in.PortMin), span: uint64(in.PortMax-in.PortMin) + 1, driver: ip}
	return errors.Join(c.define(in.Name+".ip", ip), c.define(in.Name+".port", port))
}

func (c *compiler) addWrite(in stream.Instruction) error {
	v, ok := c.variables[in.Name]
	if !ok {
		return fmt.Errorf("variable '%s' does not exist", in.Name)
	}
	w := write{variable: v, offset: in.PacketOffset, width: v.size, add: uint64(in.AddValue), little: !in.BigEndian}
	if in.Type == "write_mask_flow_var" {
		w.width, w.masked, w.mask, w.shift = in.CastSize, true, uint64(in.Mask), in.Shift
		if w.width != 1 && w.width != 2 && w.width != 4 {
			return fmt.Errorf("pkt_cast_size %d is not one of 1, 2, 4", w.width)
		}
	}
	if w.offset < 0 || w.offset+w.width > len(c.program.template) {
		return fmt.Errorf("packet size is %d bytes, variable '%s' ends at offset %d", len(c.program.template), in.Name, w.offset+w.width)
	}
	if w.offset > maxWriteOffset {
		return fmt.Errorf("packet offset %d is above %d", w.offset, maxWriteOffset)
	}
	c.program.writes = append(c.program.writes, w)
	return nil
}

func (c *compiler) addTrim(in stream.Instruction) error {
	v, ok := c.variables[in.Name]
	if !ok {
		return fmt.Errorf("variable '%s' does not exist", in.Name)
	}
	if v.size != 2 || v.list != nil {
		return fmt.Errorf("trim_pkt_size needs a 2-byte range, variable '%s' is none", in.Name)
	}
	if v.min+v.span-1 < MinFrame || v.min > uint64(len(c.program.template)) {
		return fmt.Errorf("trim_pkt_size '%s' leaves no length between %d and the packet's %d", in.Name, MinFrame, len(c.program.template))
	}
	c.program.trim = v
	return nil
}

func (c *compiler) finish(all []stream.Instruction) (*Program, error) {
	if c.next != "" {
		return nil, fmt.Errorf("*** error: instruction id '%d' next_var '%s' does not follow", len(all)-1, c.next)
	}
	if c.program.cache > maxCache {
		return nil, fmt.Errorf("cache %d is above %d", c.program.cache, maxCache)
	}
	for _, in := range c.wanted {
		fixes, err := compileFix(in, c.program)
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
