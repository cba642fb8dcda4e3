package softgen

import (
	"cmp"
	"slices"

	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/engine/softgen/fieldengine"
	"github.com/linerate-dev/linerate/internal/units"
)

// minBurst bounds bursts. A burst of fewer packets counts as one small packet a second.
const minBurst = 1000

// load is a rate in the three units in which it can be asked for. These are packets, bits with FCS, and bits on
// the wire, each per second.
type load struct{ pps, layer2, layer1 float64 }

func (l load) plus(o load) load { return load{l.pps + o.pps, l.layer2 + o.layer2, l.layer1 + o.layer1} }

func (l load) times(factor float64) load {
	return load{l.pps * factor, l.layer2 * factor, l.layer1 * factor}
}

// maximum is the maximum of each of the three rates.
func (l load) maximum(o load) load {
	return load{max(l.pps, o.pps), max(l.layer2, o.layer2), max(l.layer1, o.layer1)}
}

// trickle is the load of a burst below minBurst, which is one packet of 14 bytes on both layers.
func trickle() load { return load{pps: 1, layer2: 14 * 8, layer1: 14 * 8} }

// rateEvent is a change of the profile's rate at factor 1.
type rateEvent struct {
	microseconds float64
	stream       uint32
	change       load
}

// graph is a profile's rate over time at factor 1:
//
//	rate │      ┌────┐          variable: the highest point, which the multiplier scales
//	     │  ┌───┘    └───       fixed: the latency streams beside it, never scaled
//	     └──┴───┴────┴──▶ t
type graph struct {
	events          []rateEvent
	variable, fixed load
	// duration is how long the bursts take, in microseconds, or -1 for endless streams.
	duration float64
}

// newGraph follows every chain of enabled streams from its self-starting stream.
func newGraph(f *profile, speed units.BitRate) graph {
	g := graph{}
	for _, id := range f.ids() {
		if stream := f.streams[id].stream; stream.Enabled && stream.SelfStart {
			g.follow(f, id, speed)
		}
	}
	slices.SortStableFunc(g.events, func(a, b rateEvent) int { return cmp.Compare(a.microseconds, b.microseconds) })
	var present load
	for _, e := range g.events {
		present = present.plus(e.change)
		g.variable = g.variable.maximum(present)
	}
	if g.duration != -1 && len(g.events) > 0 {
		g.duration = g.events[len(g.events)-1].microseconds
	}
	return g
}

func (g *graph) follow(f *profile, root uint32, speed units.BitRate) {
	visited := map[uint32]bool{}
	offset := 0.0
	for id := root; ; {
		stream := f.streams[id].stream
		visited[id] = true
		offset = g.add(id, stream, offset, speed)
		next := stream.NextStreamID
		if next < 0 || f.streams[uint32(next)] == nil {
			return
		}
		if id = uint32(next); visited[id] {
			g.duration = -1
			return
		}
	}
}

// add adds a stream at offset, and returns where the next stream of its chain begins.
func (g *graph) add(id uint32, s stream.Stream, offset float64, speed units.BitRate) float64 {
	rate := rateOf(s, speed)
	if fixedRate(s) {
		g.fixed = g.fixed.plus(rate)
		return offset
	}
	start := offset + s.ISG
	if s.Mode.Type == "continuous" {
		g.events = append(g.events, rateEvent{start, id, rate})
		g.duration = -1
		return start
	}
	packets, bursts := s.Mode.TotalPackets, 1.0
	if s.Mode.Type == "multi_burst" {
		packets, bursts = s.Mode.PacketsPerBurst, float64(s.Mode.Count)
	}
	length := (float64(packets)/rate.pps*1e6 + s.Mode.InterBurstGap) * bursts
	if packets < minBurst {
		rate = trickle()
	}
	g.events = append(g.events, rateEvent{start, id, rate}, rateEvent{start + length, id, rate.times(-1)})
	return start + length
}

func fixedRate(s stream.Stream) bool { return s.FlowStats.Enabled && s.FlowStats.RuleType == "latency" }

// rateOf is a stream's base rate.
func rateOf(s stream.Stream, speed units.BitRate) load {
	layer2 := frameSize(s) * 8
	layer1 := layer2 + units.Layer1OverheadBytes*8
	pps := s.Mode.Rate.Value
	switch s.Mode.Rate.Type {
	case "bps_L2":
		pps /= layer2
	case "bps_L1":
		pps /= layer1
	case "percentage":
		pps = pps / 100 * float64(speed) / layer1
	}
	return load{pps, pps * layer2, pps * layer1}
}

// frameSize is a stream's mean frame with FCS, in bytes.
func frameSize(s stream.Stream) float64 {
	size := max(len(s.Packet.Binary), fieldengine.MinFrame)
	for _, i := range s.VM.Instructions {
		if i.Type != "trim_pkt_size" {
			continue
		}
		for _, v := range s.VM.Instructions {
			if v.Type == "flow_var" && v.Name == i.Name {
				low, high := max(v.MinValue, fieldengine.MinFrame), min(v.MaxValue, uint64(size))
				return float64(low+high)/2 + units.FCSBytes
			}
		}
	}
	return float64(size + units.FCSBytes)
}
