package trextest

import (
	"fmt"
	"math"
)

func (g *Generator) getPortStats(p *port, _ Call) (any, error) {
	return object{
		"opackets": int64(p.sent), "obytes": int64(p.sentBytes), "oerrors": 0,
		"ipackets": int64(p.received), "ibytes": int64(p.receivedBytes), "ierrors": p.receiveErrors,
		"m_cpu_util": 25.0, "m_total_tx_pps": p.rate,
	}, nil
}

func (g *Generator) getExtendedNames(p *port, _ Call) (any, error) {
	if p.Virtual {
		return object{"xstats_names": []string{"rx_good_packets", "tx_good_packets"}}, nil
	}
	return object{"xstats_names": []string{"rx_good_packets", "rx_xoff_packets", "rx_xon_packets", "tx_xoff_packets"}}, nil
}

func (g *Generator) getExtendedValues(p *port, _ Call) (any, error) {
	if p.Virtual {
		return object{"xstats_values": []int64{int64(p.received), int64(p.sent)}}, nil
	}
	return object{"xstats_values": []int64{int64(p.received), 3, 2, 100}}, nil
}

func (g *Generator) getActiveFlows(Call) (any, error) {
	stats, latency := []uint32{}, []uint32{}
	for _, p := range g.ports {
		for _, s := range p.streams {
			switch {
			case !s.FlowStats.Enabled:
			case s.FlowStats.RuleType == "latency":
				latency = append(latency, s.FlowStats.StreamID)
			default:
				stats = append(stats, s.FlowStats.StreamID)
			}
		}
	}
	return object{"ids": object{"flow_stats": stats, "latency": latency}}, nil
}

// getFlowStats pretends that each flow came back whole, in 34 µs.
func (g *Generator) getFlowStats(Call) (any, error) {
	flows, latency := object{}, object{"g": nil}
	for index, p := range g.ports {
		for _, s := range p.streams {
			if !s.FlowStats.Enabled {
				continue
			}
			id, own, other := fmt.Sprint(s.FlowStats.StreamID), fmt.Sprint(index), fmt.Sprint(p.ForwardsTo)
			sent := int64(s.Mode.Rate.Value * math.Max(0, p.counted-p.startsAt))
			flows[id] = object{"tp": object{own: sent}, "rp": object{other: sent}, "tb": object{own: 64 * sent}}
			if s.FlowStats.RuleType == "latency" {
				latency[id] = object{"lat": object{"average": 34.0, "total_min": 3, "total_max": 8976, "last_max": 40, "jit": 5, "histogram": object{"0": 1, "30": sent}}}
			}
		}
	}
	return object{"ver_id": object{}, "flow_stats": flows, "latency": latency}, nil
}

type event struct {
	Name     string `json:"name"`
	Type     int    `json:"type"`
	Sequence int    `json:"seq"`
	Data     object `json:"data"`
}

func (g *Generator) register(session uint32) {
	if _, known := g.queues[session]; !known {
		g.queues[session] = nil
	}
}

func (g *Generator) tell(kind int, data object) {
	for session := range g.queues {
		g.queues[session] = append(g.queues[session], event{Name: "trex-event", Type: kind, Sequence: g.sequence, Data: data})
	}
	g.sequence++
}

func (g *Generator) getEvents(c Call) (any, error) {
	var params struct {
		Session uint32 `json:"session_id"`
	}
	if err := c.Into(&params); err != nil {
		return nil, err
	}
	g.register(params.Session)
	events := g.queues[params.Session]
	g.queues[params.Session] = nil
	if events == nil {
		events = []event{}
	}
	return object{"data": events}, nil
}
