package profile

import (
	"fmt"

	"github.com/linerate-dev/linerate/internal/document/stream"
)

// balanced makes the sum of all variables the same in every frame. Variables that take the same number of values at
// the same step move and start again together. Of these every second counts down, and one left over gets a counter
// of its own in the payload that moves against it. A value counts in the checksum by its 16-bit words, and as 65536
// ≡ 1 modulo 65535 that is the value itself. +1 and −1 cancel, carries and all.
func balanced(variables []variable, payload int) []variable {
	type pace struct {
		count int64
		step  uint64
	}
	open := map[pace]int{} // how they move → the variable that nothing moves against yet
	for i := range variables {
		v := &variables[i]
		moves := pace{v.count, v.stride()}
		if _, ok := open[moves]; ok {
			v.descending = true
			delete(open, moves)
			continue
		}
		open[moves] = i
	}
	for i, n := 0, len(variables); i < n; i++ {
		if index, ok := open[pace{variables[i].count, variables[i].stride()}]; !ok || index != i {
			continue
		}
		counter := variable{name: fmt.Sprintf("balance%d", i), balance: true, offset: payload, size: 2,
			count: variables[i].count, step: variables[i].step, descending: true}
		if counter.high() >= 1<<16 {
			counter.size = 4
		}
		payload += counter.size
		variables = append(variables, counter)
	}
	return variables
}

// program is the field engine's program for the flows, with variables, then writes, then the IPv4 header checksum
// where an address varies.
func (f form) program(flows flowSet) stream.VM {
	vm := stream.VM{Instructions: []stream.Instruction{}}
	split := f.splittable(flows)
	for _, v := range flows.variables {
		vm.Instructions = append(vm.Instructions, v.definition(split))
	}
	address := false
	for _, v := range flows.variables {
		address = address || v.address
		vm.Instructions = append(vm.Instructions, stream.Instruction{Type: "write_flow_var", Name: v.name,
			PacketOffset: v.offset, BigEndian: true})
	}
	if address && !f.ipv6 {
		vm.Instructions = append(vm.Instructions, stream.Instruction{Type: "fix_checksum_ipv4", PacketOffset: f.ip()})
	}
	return vm
}

func (v variable) definition(split bool) stream.Instruction {
	op := "inc"
	switch {
	case v.random:
		op = "random"
	case v.descending:
		op = "dec"
	}
	return stream.Instruction{
		Type: "flow_var", Name: v.name, Size: v.size, Op: op, InitValue: v.first(), MinValue: v.low, MaxValue: v.high(),
		Step: v.stride(), SplitToCores: &split,
	}
}

// splittable says whether the cores of a port may divide the variables' values among them. That keeps the flows the
// same only where all variables take equally many values in the same direction, one by one. Otherwise each core
// plays all flows.
func (f form) splittable(flows flowSet) bool {
	for _, v := range flows.variables {
		if f.ipv6 || v.random || v.count != flows.count || v.stride() != 1 {
			return false
		}
	}
	return true
}
