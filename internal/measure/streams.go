package measure

import (
	"math"
	"slices"

	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/units"
)

// PaceOf is how many streams take turns (below 0 where they don't keep a steady pace), and what latency streams
// send beside the load, at rates of their own.
func PaceOf(streams []stream.Stream) (n int, extra units.PacketRate) {
	for _, s := range streams {
		if !s.Enabled {
			continue
		}
		n++
		if !s.FlowStats.Enabled || s.FlowStats.RuleType != "latency" {
			continue
		}
		if s.Mode.Type != "continuous" || s.Mode.Rate.Type != "pps" {
			return -1, 0
		}
		extra += units.PacketRate(math.Ceil(s.Mode.Rate.Value * float64(units.PacketPerSecond)))
	}
	return n, extra
}

// SizesOf are the lengths of the streams' frames as Ethernet has them, merged with those already known.
func SizesOf(streams []stream.Stream, sizes Sizes) Sizes {
	const minBytes = 60 // without FCS, as a port pads what is shorter
	for _, s := range streams {
		if !s.Enabled {
			continue
		}
		size := int64(max(len(s.Packet.Binary), minBytes) + units.FCSBytes)
		shortest := size
		if slices.ContainsFunc(s.VM.Instructions,
			func(i stream.Instruction) bool { return i.Type == "trim_pkt_size" }) {
			shortest = minBytes + units.FCSBytes
		}
		if sizes.Shortest == 0 || shortest < sizes.Shortest {
			sizes.Shortest = shortest
		}
		sizes.Longest = max(sizes.Longest, size)
	}
	return sizes
}
