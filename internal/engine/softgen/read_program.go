package softgen

import (
	"encoding/json"
	"math"

	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/engine/softgen/fieldengine"
)

// maxCache bounds the frames of a field engine's cache.
const maxCache = 10000

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
	texts := p.list("instructions")
	for i, inner := range p.objects("instructions") {
		vm.Instructions = append(vm.Instructions, readInstruction(inner, texts[i]))
	}
	return vm
}

func readInstruction(p *params, text json.RawMessage) stream.Instruction {
	kind := p.choice("type", "fix_checksum_hw", "fix_checksum_icmpv6", "fix_checksum_ipv4", "flow_var",
		"write_flow_var", "write_mask_flow_var", "trim_pkt_size", "tuple_flow_var", "flow_var_rand_limit")
	requireMembers(p, kind)
	var i stream.Instruction
	if err := json.Unmarshal(text, &i); err != nil && *p.wrong == "" {
		p.fail("instruction '%s': %v", kind, err)
	}
	if *p.wrong != "" {
		return i
	}
	if kind == "flow_var" {
		p.choice("op", "inc", "dec", "random")
	}
	if err := fieldengine.Check(i); err != nil {
		p.fail("%v", err)
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
