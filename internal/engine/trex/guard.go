package trex

import (
	"errors"
	"fmt"
	"math"

	"github.com/linerate-dev/linerate/internal/document/stream"
)

// Frame sizes without FCS that a server takes.
const (
	minFrame = 14
	maxFrame = 9238
)

// CheckStream refuses a stream that is known to abort a server, or that the server would refuse no earlier than
// at the start.
func CheckStream(s stream.Stream) error {
	switch {
	case s.CoreID != -1:
		return &UnsafeError{Object: fmt.Sprintf("core_id %d", s.CoreID),
			Reason: "pinning streams to cores can abort a server; -1 is any"}
	case len(s.Packet.Binary) < minFrame || len(s.Packet.Binary) > maxFrame:
		return fmt.Errorf("frame of %d bytes (without FCS): must be %d to %d", len(s.Packet.Binary), minFrame, maxFrame)
	case !(s.ISG >= 0):
		return fmt.Errorf("isg %v: must not be negative", s.ISG)
	}
	if err := checkMode(s.Mode); err != nil {
		return err
	}
	for i, instruction := range s.VM.Instructions {
		if err := checkInstruction(instruction); err != nil {
			return fmt.Errorf("instruction %d (%s): %w", i+1, instruction.Type, err)
		}
	}
	return nil
}

func checkMode(m stream.Mode) error {
	switch {
	case !(m.Rate.Value > 0) || math.IsInf(m.Rate.Value, 0):
		return fmt.Errorf("rate %v %s: must be positive", m.Rate.Value, m.Rate.Type)
	case m.Type == "single_burst" && m.TotalPackets == 0:
		return errors.New("single_burst of no packets")
	case m.Type == "multi_burst" && m.PacketsPerBurst == 0:
		return errors.New("multi_burst of no packets")
	case m.Type == "multi_burst" && m.Count == 0:
		return errors.New("multi_burst with count 0 would go on practically for ever")
	}
	return nil
}

func checkInstruction(i stream.Instruction) error {
	switch i.Type {
	case "tuple_flow_var":
		return checkTuple(i)
	case "flow_var", "flow_var_rand_limit":
		return checkVariable(i)
	}
	return nil
}

func checkTuple(i stream.Instruction) error {
	if i.IPMin > i.IPMax {
		return &UnsafeError{Object: fmt.Sprintf("ip_min %d above ip_max %d", i.IPMin, i.IPMax),
			Reason: "it would abort the server"}
	}
	if i.PortMin > i.PortMax {
		return &UnsafeError{Object: fmt.Sprintf("port_min %d above port_max %d", i.PortMin, i.PortMax),
			Reason: "it would abort the server"}
	}
	return nil
}

func checkVariable(i stream.Instruction) error {
	if len(i.ValueList) > 0 {
		return nil
	}
	if i.MinValue > i.MaxValue {
		return fmt.Errorf("min_value %d above max_value %d", i.MinValue, i.MaxValue)
	}
	if i.Size == 8 && i.MaxValue-i.MinValue == math.MaxUint64 {
		return &UnsafeError{Object: "8-byte variable over its full range",
			Reason: "it would abort the server; leave out one value"}
	}
	return nil
}
