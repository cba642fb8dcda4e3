package fieldengine

import (
	"fmt"
	"math"
	"slices"

	"github.com/linerate-dev/linerate/internal/document/stream"
)

// Check checks the values of an instruction by itself, with TRex's texts.
func Check(i stream.Instruction) error {
	switch {
	case i.Type == "flow_var" || i.Type == "flow_var_rand_limit":
		return checkVariable(i)
	case i.Type == "tuple_flow_var" && i.IPMin > i.IPMax:
		return fmt.Errorf("VM: ip_min of variable '%s' is bigger than its ip_max", i.Name)
	case i.Type == "tuple_flow_var" && i.PortMin > i.PortMax:
		return fmt.Errorf("VM: port_min of variable '%s' is bigger than its port_max", i.Name)
	}
	return nil
}

func checkVariable(i stream.Instruction) error {
	_, ok := operations[i.Op]
	limited := i.Type == "flow_var_rand_limit"
	switch {
	case !limited && !ok:
		return fmt.Errorf("VM: op '%s' of variable '%s' is not one of inc, dec, random", i.Op, i.Name)
	case !slices.Contains([]int{1, 2, 4, 8}, i.Size):
		return fmt.Errorf("field 'size' can only be one of [1 ,2 ,4 ,8]")
	case limited && (i.Limit == 0 || i.Limit > maxValue(i.Size)):
		return fmt.Errorf("VM: limit %d of variable '%s' is not between 1 and %d", i.Limit, i.Name, maxValue(i.Size))
	case limited:
		i.InitValue = i.MinValue
	case i.Step == 0:
		return fmt.Errorf("VM: step of variable '%s' cannot be 0", i.Name)
	case i.ValueList != nil:
		return checkValues(i)
	}
	return checkRange(i)
}

// checkRange also refuses the whole range of eight bytes, whose length doesn't fit into eight bytes (TRex divides by
// it).
func checkRange(i stream.Instruction) error {
	switch top := maxValue(i.Size); {
	case i.MaxValue > top:
		return fmt.Errorf("VM: requested value is bigger than %d", top)
	case i.MinValue > i.MaxValue:
		return fmt.Errorf("VM: min_value %d of variable '%s' is bigger than its max_value %d",
			i.MinValue, i.Name, i.MaxValue)
	case i.MinValue == 0 && i.MaxValue == math.MaxUint64:
		return fmt.Errorf("VM: variable '%s' cannot have the whole range of 8 bytes", i.Name)
	case i.InitValue < i.MinValue || i.InitValue > i.MaxValue:
		return fmt.Errorf("VM: init_value %d of variable '%s' is not between its min_value %d and max_value %d",
			i.InitValue, i.Name, i.MinValue, i.MaxValue)
	}
	return nil
}

func checkValues(i stream.Instruction) error {
	switch {
	case len(i.ValueList) == 0 || len(i.ValueList) > maxList:
		return fmt.Errorf("VM: value_list of variable '%s' has %d values; 1 to %d can be",
			i.Name, len(i.ValueList), maxList)
	case i.Step > uint64(len(i.ValueList)):
		return fmt.Errorf("VM: step of variable '%s' is bigger than its value_list", i.Name)
	case slices.Max(i.ValueList) > maxValue(i.Size):
		return fmt.Errorf("VM: requested value is bigger than %d", maxValue(i.Size))
	}
	return nil
}

// maxValue is the largest value of this many bytes.
func maxValue(size int) uint64 { return math.MaxUint64 >> (64 - 8*min(max(size, 1), 8)) }
