package stream

import "encoding/json"

// Stream is one TRex stream, the value of add_stream's "stream". Required members are always written, as the server
// insists.
type Stream struct {
	Enabled     bool `json:"enabled"`
	SelfStart   bool `json:"self_start"`
	StartPaused bool `json:"start_paused"`
	// bit 0 is source MAC from the packet, bits 1-2 = 1 destination MAC from the packet, and 0 the port's own
	Flags       int     `json:"flags"`
	ActionCount uint32  `json:"action_count"` // loops of a chain, 0 = endless
	RandomSeed  uint32  `json:"random_seed,omitempty"`
	CoreID      int     `json:"core_id"` // -1 for any
	ISG         float64 `json:"isg"`     // microseconds before the first packet
	// NextStreamID is the id of the stream that follows when this one ends, or -1 for none. Streams that are loaded
	// together are numbered from 1 in their order, as TRex's own client numbers them, so this is a position in the
	// list, from 1.
	NextStreamID int `json:"next_stream_id"`
	// Name and Next are labels that TRex stores and returns and never reads. TRex's builders name streams to chain
	// them.
	Name      string `json:"name,omitempty"`
	Next      string `json:"next,omitempty"`
	Mode      Mode   `json:"mode"`
	Packet    Packet `json:"packet"`
	VM        VM     `json:"vm"`
	FlowStats Flow   `json:"flow_stats"`
}

// Mode says when a stream's packets leave, as "continuous", "single_burst" or "multi_burst".
type Mode struct {
	Type            string  `json:"type"`
	Rate            Rate    `json:"rate"`
	TotalPackets    uint32  `json:"total_pkts,omitempty"`     // single_burst
	PacketsPerBurst uint32  `json:"pkts_per_burst,omitempty"` // multi_burst
	InterBurstGap   float64 `json:"ibg,omitempty"`            // multi_burst, microseconds
	Count           uint32  `json:"count,omitempty"`          // multi_burst, at least 1
}

// Rate is a stream's base rate before the multiplier. Type is "pps", "bps_L1", "bps_L2" or "percentage".
type Rate struct {
	Type  string  `json:"type"`
	Value float64 `json:"value"`
}

// Packet is the frame's template without FCS, 14 to 9238 bytes, which JSON has in base64.
type Packet struct {
	Binary []byte `json:"binary"`
	Meta   string `json:"meta"`
}

// VM is the field engine's program, first variables, then writes, then checksum fixes.
type VM struct {
	Instructions []Instruction `json:"instructions"` // never null on the wire
	Cache        uint16        `json:"cache,omitempty"`
}

// Instruction is one instruction of the field engine. Type selects which members matter ("flow_var",
// "flow_var_rand_limit", "tuple_flow_var", "write_flow_var", "write_mask_flow_var", "fix_checksum_ipv4",
// "fix_checksum_hw", "fix_checksum_icmpv6", "trim_pkt_size"). MarshalJSON writes just those.
type Instruction struct {
	Type         string   `json:"type"`
	Name         string   `json:"name,omitempty"`
	Size         int      `json:"size,omitempty"` // 1, 2, 4 or 8 bytes
	Op           string   `json:"op,omitempty"`   // inc, dec, random
	InitValue    uint64   `json:"init_value"`
	MinValue     uint64   `json:"min_value"`
	MaxValue     uint64   `json:"max_value"`
	ValueList    []uint64 `json:"value_list,omitempty"`
	Step         uint64   `json:"step,omitempty"`
	SplitToCores *bool    `json:"split_to_cores,omitempty"`
	NextVar      *string  `json:"next_var"`
	Seed         uint64   `json:"seed,omitempty"`
	Limit        uint64   `json:"limit,omitempty"`
	IPMin        uint32   `json:"ip_min,omitempty"`
	IPMax        uint32   `json:"ip_max,omitempty"`
	PortMin      uint16   `json:"port_min,omitempty"`
	PortMax      uint16   `json:"port_max,omitempty"`
	LimitFlows   uint32   `json:"limit_flows,omitempty"`
	Flags        int      `json:"flags,omitempty"`
	PacketOffset int      `json:"pkt_offset"`
	CastSize     int      `json:"pkt_cast_size,omitempty"`
	Mask         uint32   `json:"mask,omitempty"`
	Shift        int      `json:"shift,omitempty"`
	AddValue     int64    `json:"add_value,omitempty"`
	BigEndian    bool     `json:"is_big_endian,omitempty"`
	L2Length     int      `json:"l2_len,omitempty"`
	L3Length     int      `json:"l3_len,omitempty"`
	L4Type       int      `json:"l4_type,omitempty"` // of fix_checksum_hw, 11 UDP, 13 TCP, 17 IP only
}

// Flow is the stream's "flow_stats", which the receiver counts under StreamID (TRex's pg_id), with RuleType "stats"
// or "latency".
type Flow struct {
	Enabled  bool   `json:"enabled"`
	StreamID uint32 `json:"stream_id,omitempty"`
	RuleType string `json:"rule_type,omitempty"`
	VXLAN    bool   `json:"vxlan,omitempty"`     // look at the inner frame
	IEEE1588 bool   `json:"ieee_1588,omitempty"` // hardware time stamps
	// Stamped says that each frame of a "stats" stream ends with its number and when it was sent. Only the software
	// engine knows it.
	Stamped bool `json:"stamped,omitempty"`
}

var (
	_ json.Marshaler = VM{}
	_ json.Marshaler = Instruction{}
)

// MarshalJSON writes an empty program as an empty list, because TRex refuses null.
func (v VM) MarshalJSON() ([]byte, error) {
	type plain VM
	if v.Instructions == nil {
		v.Instructions = []Instruction{}
	}
	return json.Marshal(plain(v))
}

// MarshalJSON writes the members that the instruction's type has, and no other.
func (i Instruction) MarshalJSON() ([]byte, error) {
	return json.Marshal(i.members())
}

func (i Instruction) members() map[string]any {
	m := map[string]any{"type": i.Type}
	switch i.Type {
	case "flow_var", "flow_var_rand_limit":
		i.variableMembers(m)
	case "tuple_flow_var":
		m["name"], m["ip_min"], m["ip_max"], m["port_min"], m["port_max"] = i.Name, i.IPMin, i.IPMax, i.PortMin,
			i.PortMax
		m["limit_flows"], m["flags"] = i.LimitFlows, i.Flags
	case "write_flow_var":
		m["name"], m["pkt_offset"], m["add_value"], m["is_big_endian"] = i.Name, i.PacketOffset, i.AddValue, i.BigEndian
	case "write_mask_flow_var":
		m["name"], m["pkt_offset"], m["add_value"], m["is_big_endian"] = i.Name, i.PacketOffset, i.AddValue, i.BigEndian
		m["pkt_cast_size"], m["mask"], m["shift"] = i.CastSize, i.Mask, i.Shift
	case "fix_checksum_ipv4":
		m["pkt_offset"] = i.PacketOffset
	case "fix_checksum_hw":
		m["l2_len"], m["l3_len"], m["l4_type"] = i.L2Length, i.L3Length, i.L4Type
	case "fix_checksum_icmpv6":
		m["l2_len"], m["l3_len"] = i.L2Length, i.L3Length
	case "trim_pkt_size":
		m["name"] = i.Name
	}
	return m
}

func (i Instruction) variableMembers(m map[string]any) {
	m["name"], m["size"], m["next_var"] = i.Name, i.Size, i.NextVar
	if i.SplitToCores != nil {
		m["split_to_cores"] = *i.SplitToCores
	}
	if i.Type == "flow_var_rand_limit" {
		m["seed"], m["limit"], m["min_value"], m["max_value"] = i.Seed, i.Limit, i.MinValue, i.MaxValue
		return
	}
	m["op"], m["step"] = i.Op, i.Step
	if len(i.ValueList) > 0 {
		m["value_list"] = i.ValueList
		return
	}
	m["init_value"], m["min_value"], m["max_value"] = i.InitValue, i.MinValue, i.MaxValue
}
