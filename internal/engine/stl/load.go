package stl

import (
	"context"
	"fmt"

	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/engine/trex"
	"github.com/linerate-dev/linerate/internal/units"
)

// loaded is what Start and Update must know of a port's streams.
type loaded struct {
	scaled  bool    // there are streams that the multiplier scales
	finite  bool    // all streams to scale are single bursts, whose rates are written into the streams
	fixed   float64 // packets per second of latency streams, which the multiplier doesn't scale
	latency []uint32
}

// Load replaces the port's streams and has the server compile them, so that a stream it refuses is reported now
// and not at the start.
func (e *Engine) Load(ctx context.Context, port int, streams []stream.Stream) error {
	load, err := sumFixedRates(streams)
	if err != nil {
		return e.explain(ctx, fmt.Errorf("port %d: %w", port, err))
	}
	delete(e.traffic.loads, port)
	if err := e.control.Reset(ctx, port); err != nil {
		return e.explain(ctx, err)
	}
	if err := e.control.AddStreams(ctx, port, streams); err != nil {
		return e.explain(ctx, err)
	}
	if len(streams) > 0 && e.methods["validate"] {
		if _, err := e.control.Validate(ctx, port); err != nil {
			return e.explain(ctx, err)
		}
	}
	e.traffic.loads[port] = load
	return nil
}

// sumFixedRates adds up the rates that no multiplier changes. The server counts latency streams towards an absolute
// rate, but sends them at their own. The server also takes a short burst's rate for almost zero and would multiply it
// up, so a finite load isn't scaled.
func sumFixedRates(streams []stream.Stream) (loaded, error) {
	var l loaded
	sending, bursts := 0, 0
	for i, s := range streams {
		if !s.FlowStats.Enabled || s.FlowStats.RuleType != "latency" {
			l.scaled = true
			if s.Enabled {
				sending++
			}
			if s.Enabled && s.SelfStart && s.NextStreamID == -1 && s.Mode.Type == "single_burst" {
				bursts++
			}
			continue
		}
		pps, err := packetsPerSecond(s)
		if err != nil {
			return l, fmt.Errorf("latency stream %d: %w", i+1, err)
		}
		l.fixed += pps
		l.latency = append(l.latency, s.FlowStats.StreamID)
	}
	l.finite = bursts > 0 && bursts == sending
	return l, nil
}

func packetsPerSecond(s stream.Stream) (float64, error) {
	frame := float64(max(len(s.Packet.Binary), 60) + units.FCSBytes)
	switch rate := s.Mode.Rate; rate.Type {
	case "pps":
		return rate.Value, nil
	case "bps_L2":
		return rate.Value / (frame * 8), nil
	case "bps_L1":
		return rate.Value / ((frame + units.Layer1OverheadBytes) * 8), nil
	default:
		return 0, fmt.Errorf("rate in %q: give it in packets per second", rate.Type)
	}
}

// multiplier is what makes the port's scaled streams send rate together.
func (l loaded) multiplier(rate units.PacketRate) trex.Multiplier {
	if !l.scaled || l.finite {
		return trex.Raw(1)
	}
	return trex.PPS(rate.PerSecond() + l.fixed)
}
