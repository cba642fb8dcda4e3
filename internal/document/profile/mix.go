package profile

import (
	"fmt"
	"math/big"
	"strconv"

	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/units"
)

// MixOf is the composition of the traffic of streams whose rate is set together, in packets and their bytes with
// FCS, in the streams' proportions. Latency streams don't count, as their rate is their own. Only continuous
// streams have a steady proportion. MixOf refuses bursts, and a percentage beside other rates, which no one can add
// without the port's speed. A stream of random length counts with the mean of its shortest and longest frame, as
// TRex counts it.
//
// The figures are exact where they are whole numbers below 10⁹ in a common measure, else rounded to 10⁻⁹ of the
// packets.
func MixOf(streams []stream.Stream) (units.Traffic, error) {
	packets, bytes := new(big.Rat), new(big.Rat)
	var rateType string
	for i, s := range streams {
		if !s.Enabled || isLatency(s) {
			continue
		}
		if s.Mode.Type != "continuous" {
			return units.Traffic{}, fmt.Errorf("streams[%d].mode.type: %q has no steady rate to measure at: use continuous", i, s.Mode.Type)
		}
		percentage := s.Mode.Rate.Type == "percentage"
		if rateType != "" && percentage != (rateType == "percentage") {
			return units.Traffic{}, fmt.Errorf("streams[%d].mode.rate.type: percentage can't stand beside pps or bps: write all rates in one of them", i)
		}
		rateType = s.Mode.Rate.Type
		size := meanSize(s)
		rate, err := packetRate(s.Mode.Rate, size)
		if err != nil {
			return units.Traffic{}, fmt.Errorf("streams[%d].mode.rate: %w", i, err)
		}
		packets.Add(packets, rate)
		bytes.Add(bytes, size.Mul(size, rate))
	}
	if packets.Sign() == 0 {
		return units.Traffic{}, fmt.Errorf("no stream has a rate that can be set: add a continuous one without flow_stats.rule_type latency")
	}
	return proportion(packets, bytes), nil
}

func isLatency(s stream.Stream) bool {
	return s.FlowStats.Enabled && s.FlowStats.RuleType == ruleLatency
}

// packetRate is the stream's rate in packets per second. Of a percentage it is in packets per second of a line of
// 800 bits/s.
func packetRate(r stream.Rate, size *big.Rat) (*big.Rat, error) {
	value, ok := new(big.Rat).SetString(strconv.FormatFloat(r.Value, 'g', -1, 64))
	if !ok || value.Sign() <= 0 {
		return nil, fmt.Errorf("value %v is not above zero", r.Value)
	}
	bits := func(overhead int64) *big.Rat {
		b := new(big.Rat).Add(size, new(big.Rat).SetInt64(overhead))
		return b.Mul(b, new(big.Rat).SetInt64(8))
	}
	switch r.Type {
	case "pps":
		return value, nil
	case "bps_L2":
		return value.Quo(value, bits(0)), nil
	case "bps_L1", "percentage":
		return value.Quo(value, bits(units.Layer1OverheadBytes)), nil
	}
	return nil, fmt.Errorf("type %q is not known: use %s", r.Type, quoted(rateTypes()))
}

// meanSize is the mean size of the stream's frames with FCS.
func meanSize(s stream.Stream) *big.Rat {
	length := int64(max(len(s.Packet.Binary), minWireBytes))
	double := 2 * length
	for _, trim := range s.VM.Instructions {
		if trim.Type != "trim_pkt_size" {
			continue
		}
		for _, v := range s.VM.Instructions {
			if v.Type == "flow_var" && v.Name == trim.Name {
				low, high := trimRange(v)
				double = min(max(low, minWireBytes), length) + min(high, length)
			}
		}
	}
	return big.NewRat(double+2*units.FCSBytes, 2)
}

// trimRange is the smallest and the largest length that a variable can give.
func trimRange(v stream.Instruction) (low, high int64) {
	if len(v.ValueList) == 0 {
		return int64(v.MinValue), int64(v.MaxValue)
	}
	low, high = int64(v.ValueList[0]), int64(v.ValueList[0])
	for _, value := range v.ValueList {
		low, high = min(low, int64(value)), max(high, int64(value))
	}
	return low, high
}

// proportion makes whole numbers of packets and bytes.
func proportion(packets, bytes *big.Rat) units.Traffic {
	const limit = 1_000_000_000
	common := new(big.Int).Mul(packets.Denom(), bytes.Denom())
	common.Quo(common, new(big.Int).GCD(nil, nil, packets.Denom(), bytes.Denom()))
	whole := func(r *big.Rat) *big.Int {
		n := new(big.Int).Mul(r.Num(), common)
		return n.Quo(n, r.Denom())
	}
	p, b := whole(packets), whole(bytes)
	if p.Cmp(big.NewInt(limit)) > 0 {
		b.Mul(b, big.NewInt(2*limit)).Add(b, p).Quo(b, new(big.Int).Lsh(p, 1)) // rounded to the nearest
		p = big.NewInt(limit)
	}
	return units.Traffic{Packets: p.Int64(), Bytes: b.Int64()}
}
