package trextest

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/engine/trex/wire"
)

func (g *Generator) addStream(p *port, c Call) (any, error) {
	var params struct {
		ID     int             `json:"stream_id"`
		Stream json.RawMessage `json:"stream"`
	}
	if err := c.Decode(&params); err != nil {
		return nil, err
	}
	var s stream.Stream
	if err := json.Unmarshal(params.Stream, &s); err != nil {
		return nil, err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(params.Stream, &members); err != nil {
		return nil, err
	}
	for _, name := range []string{"enabled", "self_start", "flags", "isg", "next_stream_id", "mode", "packet", "vm",
		"flow_stats"} {
		if members[name] == nil {
			return nil, refuse("field '%s' value is null", name)
		}
	}
	rates := []string{"pps", "bps_L1", "bps_L2", "percentage"}
	_, exists := p.streams[params.ID]
	switch size := len(s.Packet.Binary); {
	case p.state == stateTX:
		return nil, refuse("command 'add_stream' cannot be executed on current state: 'TX on profile_id(_).")
	case !slices.Contains(rates, s.Mode.Rate.Type):
		return nil, refuse("field 'type' can only be one of ['%s']", strings.Join(rates, "' ,'"))
	case s.Mode.Rate.Value <= 0:
		return nil, refuse("Rate value should be positive.")
	case size < 14 || size > 9238:
		return nil, refuse("Bad packet size provided: %d. Should be between 14 and 9238", size)
	case s.VM.Instructions == nil:
		return nil, refuse("field 'instructions' value is null")
	case exists:
		return nil, refuse("stream %d already exists in profile_id(_)", params.ID)
	}
	if s.FlowStats.Enabled {
		g.versions++
		p.versions[params.ID] = g.versions
	}
	p.streams[params.ID], p.raw[params.ID] = s, params.Stream
	p.profile, p.state = true, stateStreams
	return object{}, nil
}

func (p *port) removeAllStreams(c Call) (any, error) {
	var params struct {
		Profile string `json:"profile_id"`
	}
	if err := c.Decode(&params); err != nil {
		return nil, err
	}
	if p.state == stateTX {
		return nil, refuse("command 'remove_all_streams' cannot be executed on current state: 'TX on profile_id(_).")
	}
	if params.Profile != "*" { // with "*" it does nothing, and reports success
		clear(p.streams)
		clear(p.raw)
		p.state, p.sending = stateIdle, 0
	}
	return object{}, nil
}

func (p *port) getAllStreams(Call) (any, error) {
	streams := object{}
	for id, raw := range p.raw {
		streams[fmt.Sprint(id)] = raw
	}
	return object{"profiles": object{"_": streams}}, nil
}

// loads are the streams' own loads, one of streams that are scaled, and one of latency streams, which are not. The
// unit is a multiplier's. For "percentage" it is bits per second of layer 1.
func (p *port) loads(unit string) (scaled, fixed float64) {
	for _, s := range p.streams {
		load, frame := s.Mode.Rate.Value, float64(len(s.Packet.Binary)+4)
		switch unit {
		case "bps":
			load *= 8 * frame
		case "bpsl1", "percentage":
			load *= 8 * (frame + 20)
		}
		if s.FlowStats.Enabled && s.FlowStats.RuleType == "latency" {
			fixed += load
		} else {
			scaled += load
		}
	}
	return scaled, fixed
}

func (p *port) meanFrame() float64 {
	var bytes, packets float64
	for _, s := range p.streams {
		bytes += s.Mode.Rate.Value * float64(len(s.Packet.Binary)+4)
		packets += s.Mode.Rate.Value
	}
	return bytes / packets
}

func (g *Generator) validate(p *port, _ Call) (any, error) {
	if !p.profile {
		return nil, g.crash("validate of an unknown profile")
	}
	rate := object{}
	for name, unit := range map[string]string{"pps": "pps", "bps_l1": "bpsl1", "bps_l2": "bps"} {
		scaled, fixed := p.loads(unit)
		rate["max_"+name], rate["min_"+name] = wire.Float(scaled+fixed), wire.Float(fixed)
	}
	return object{"rate": rate, "graph": object{"expected_duration": -1}}, nil
}

type order struct {
	Mul struct {
		Type  string
		Op    string
		Value float64
	}
	Duration float64
	Instant  float64 `json:"start_at_ts"`
}

func readOrder(c Call) (o order, err error) {
	if err := c.Decode(&o); err != nil {
		return order{}, err
	}
	if o.Mul.Value == 0 {
		return order{}, badParameters("multiplier can't be zero")
	}
	return o, nil
}

// load is the rate in packets per second that an order asks for, and the factor on the streams' rates. The factor is
// infinite if all are latency streams, which no factor changes.
func (p *port) load(o order) (rate, factor float64, err error) {
	scaled, fixed := p.loads(o.Mul.Type)
	switch wanted := o.Mul.Value; o.Mul.Type {
	case "raw":
		factor = wanted
	case "percentage":
		wanted *= p.SpeedGbps * 1e9 / 100
		fallthrough
	default:
		if wanted < fixed {
			return 0, 0, refuse("current stream configuration enforces a minimum rate of '%v' %s", fixed,
				map[bool]string{true: "pps", false: "bps"}[o.Mul.Type == "pps"])
		}
		factor = (wanted - fixed) / scaled
	}
	packets, fixedPackets := p.loads("pps")
	rate = fixedPackets
	if packets > 0 {
		rate += factor * packets
	}
	if bits := rate * (p.meanFrame() + 20) * 8; bits > p.SpeedGbps*1e9*1.0001 {
		return 0, 0, refuse("Expected L1 B/W: '%.3g Gbps' exceeds port line rate: '%v Gbps'", bits/1e9, p.SpeedGbps)
	}
	return rate, factor, nil
}

// needsDestination says that some stream takes its destination from the port, and not from its own frame.
func (p *port) needsDestination() bool {
	for _, s := range p.streams {
		if s.Flags&6 != 2 {
			return true
		}
	}
	return false
}

func (g *Generator) startTraffic(p *port, c Call) (any, error) {
	o, err := readOrder(c)
	if err != nil {
		return nil, err
	}
	switch {
	case p.state != stateStreams:
		return nil, refuse("command 'start' cannot be executed on current state: '%s on profile_id(_).", p.state)
	case p.linkDown:
		return nil, refuse("Link state is DOWN.")
	case p.unresolved && p.needsDestination():
		return nil, refuse("Port %d dest MAC is invalid and there are streams without explicit dest MAC.", p.Index)
	}
	clock := g.clock()
	if o.Instant != 0 && o.Instant < clock+minNotice {
		return nil, refuse("start_at_ts, if defined, should be at least 100msec from now_sec()")
	}
	rate, factor, err := p.load(o)
	if err != nil {
		return nil, err
	}
	p.ends = math.Inf(1)
	if o.Duration > 0 {
		p.ends = g.schedule.position + o.Duration + g.schedule.endsLate()
	}
	p.starts = max(g.schedule.position, g.schedule.position+o.Instant-clock)
	p.rate, p.mean, p.state, p.unsent = rate, p.meanFrame(), stateTX, p.burst()
	g.events.addTraffic(trafficStarted, p.Index)
	return object{"multiplier": wire.Float(factor), "ts": clock}, nil
}

func (p *port) updateTraffic(c Call) (any, error) {
	o, err := readOrder(c)
	if err != nil {
		return nil, err
	}
	if p.state != stateTX {
		return nil, refuse("command 'update' cannot be executed on current state: '%s on profile_id(_).", p.state)
	}
	rate, factor, err := p.load(o)
	if err != nil {
		return nil, err
	}
	p.rate = rate
	return object{"multiplier": wire.Float(factor)}, nil
}

func (g *Generator) stopTraffic(p *port, _ Call) (any, error) {
	if p.state == stateTX {
		g.schedule.rest(p)
		g.events.addTraffic(trafficStopped, p.Index)
	}
	return object{}, nil
}

func (p *port) pauseTraffic(Call) (any, error) {
	if !math.IsInf(p.ends, 1) {
		return nil, refuse("pause is supported when duration is not enable is start command")
	}
	return object{}, nil
}
