package softgen

import (
	"encoding/json"
	"math"

	"github.com/linerate-dev/linerate/internal/document/stream"
)

// The field engine's limits.
const (
	maxCache     = 10000
	maxValueList = 65535
)

// readProgram reads a field engine program and checks each instruction by itself. Checks
// that need other instructions or the frame come when the profile is compiled.
func readProgram(p *params) stream.VM {
	vm := stream.VM{Instructions: []stream.Instruction{}}
	if p.has("cache") {
		cache := p.unsigned("cache", "uint16", math.MaxUint16)
		if cache > maxCache {
			p.fail("vm cache size %d is bigger than %d", cache, maxCache)
		}
		vm.Cache = uint16(cache)
	}
	for _, text := range p.list("instructions") {
		inner, err := readObject(text)
		if err != nil {
			p.fail("'instructions' must hold objects")
			break
		}
		inner.wrong = p.wrong
		vm.Instructions = append(vm.Instructions, readInstruction(inner, text))
	}
	return vm
}

func readInstruction(p *params, text json.RawMessage) stream.Instruction {
	kind := p.choice("type", "fix_checksum_hw", "fix_checksum_icmpv6", "fix_checksum_ipv4", "flow_var",
		"write_flow_var",
		"write_mask_flow_var", "trim_pkt_size", "tuple_flow_var", "flow_var_rand_limit")
	requireMembers(p, kind)
	var i stream.Instruction
	if err := json.Unmarshal(text, &i); err != nil && *p.wrong == "" {
		p.fail("instruction '%s': %v", kind, err)
	}
	if *p.wrong != "" {
		return i
	}
	switch kind {
	case "flow_var":
		checkVariable(p, i)
	case "flow_var_rand_limit":
		checkSize(p, i)
		checkRange(p, i)
		if i.Limit == 0 || i.Limit > maxValue(i.Size) {
			p.fail("VM: limit %d of variable '%s' is not between 1 and %d", i.Limit, i.Name, maxValue(i.Size))
		}
	case "tuple_flow_var":
		checkTuple(p, i)
	}
	return i
}

// requireMembers refuses an instruction that lacks a member that TRex requires.
func requireMembers(p *params, kind string) {
	needs := map[string][]string{
		"flow_var":            {"name", "size", "op", "step"},
		"flow_var_rand_limit": {"name", "size", "limit", "seed", "min_value", "max_value"},
		"tuple_flow_var":      {"name", "ip_min", "ip_max", "port_min", "port_max", "limit_flows", "flags"},
		"write_flow_var":      {"name", "pkt_offset", "add_value", "is_big_endian"},
		"write_mask_flow_var": {"name", "pkt_offset", "pkt_cast_size", "mask", "shift", "add_value", "is_big_endian"},
		"fix_checksum_ipv4":   {"pkt_offset"},
		"fix_checksum_hw":     {"l2_len", "l3_len", "l4_type"},
		"fix_checksum_icmpv6": {"l2_len", "l3_len"},
		"trim_pkt_size":       {"name"},
	}
	for _, name := range needs[kind] {
		p.required(name)
	}
	if kind == "flow_var" && !p.has("value_list") {
		p.required("init_value")
		p.required("min_value")
		p.required("max_value")
	}
}

func checkVariable(p *params, i stream.Instruction) {
	p.choice("op", "inc", "dec", "random")
	checkSize(p, i)
	if i.Step == 0 {
		p.fail("VM: step of variable '%s' cannot be 0", i.Name)
	}
	if p.has("value_list") {
		checkValues(p, i)
		return
	}
	checkRange(p, i)
	if i.InitValue < i.MinValue || i.InitValue > i.MaxValue {
		p.fail("VM: init_value %d of variable '%s' is not between its min_value %d and max_value %d",
			i.InitValue, i.Name, i.MinValue, i.MaxValue)
	}
}

func checkSize(p *params, i stream.Instruction) {
	switch i.Size {
	case 1, 2, 4, 8:
	default:
		p.fail("field 'size' can only be one of [1 ,2 ,4 ,8]")
	}
}

// checkRange also refuses the whole range of eight bytes, whose length doesn't fit into eight bytes (TRex
// divides by it).
func checkRange(p *params, i stream.Instruction) {
	switch {
	case i.MaxValue > maxValue(i.Size):
		p.fail("VM: requested value is bigger than %d", maxValue(i.Size))
	case i.MinValue > i.MaxValue:
		p.fail("VM: min_value %d of variable '%s' is bigger than its max_value %d", i.MinValue, i.Name, i.MaxValue)
	case i.MinValue == 0 && i.MaxValue == math.MaxUint64:
		p.fail("VM: variable '%s' cannot have the whole range of 8 bytes", i.Name)
	}
}

func checkValues(p *params, i stream.Instruction) {
	if len(i.ValueList) == 0 || len(i.ValueList) > maxValueList {
		p.fail("VM: value_list of variable '%s' has %d values; 1 to %d can be", i.Name, len(i.ValueList), maxValueList)
	}
	if i.Step > uint64(len(i.ValueList)) {
		p.fail("VM: step of variable '%s' is bigger than its value_list", i.Name)
	}
	for _, value := range i.ValueList {
		if value > maxValue(i.Size) {
			p.fail("VM: requested value is bigger than %d", maxValue(i.Size))
		}
	}
}

func checkTuple(p *params, i stream.Instruction) {
	if i.IPMin > i.IPMax {
		p.fail("VM: ip_min of variable '%s' is bigger than its ip_max", i.Name)
	}
	if i.PortMin > i.PortMax {
		p.fail("VM: port_min of variable '%s' is bigger than its port_max", i.Name)
	}
}

func maxValue(size int) uint64 {
	if size >= 8 || size <= 0 {
		return math.MaxUint64
	}
	return 1<<(8*size) - 1
}
