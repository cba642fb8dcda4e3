package fakeport

import (
	"maps"
	"time"

	"github.com/linerate-dev/linerate/internal/engine/softgen/datapath"
	"github.com/linerate-dev/linerate/internal/units/transit"
)

// Counters implements datapath.Port.
func (p *Port) Counters() datapath.Counters {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.base
	c.ReadAt, c.Uncertainty = p.clock.Now(), p.options.Uncertainty
	if p.run != nil {
		p.settle()
		c.Sent = c.Sent.Add(p.run.sum(sentOf))
		c.Behind = int64(p.run.behind)
		c.CPUPercent = 10
	}
	if p.peer.run != nil {
		p.peer.settle()
		c.Received = c.Received.Add(p.peer.run.sum(receivedOf))
		c.ReceiveErrors += p.peer.run.sum(droppedOf).Packets
	}
	return c
}

// Flows implements datapath.Port.
func (p *Port) Flows() map[uint32]datapath.FlowCounters {
	p.mu.Lock()
	defer p.mu.Unlock()
	flows, _ := p.presentFlows()
	return flows
}

// Latency implements datapath.Port. Every packet took as long as the cable says.
func (p *Port) Latency() map[uint32]datapath.Latency {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, delays := p.presentFlows()
	took := p.cable.Latency
	latencies := map[uint32]datapath.Latency{}
	for id, packets := range delays {
		latencies[id] = datapath.Latency{
			Received: packets, Min: took, Average: took, Max: took, Latest: took,
			Histogram: map[time.Duration]int64{bucket(took): packets},
		}
	}
	return latencies
}

// Transits implements datapath.Port.
func (p *Port) Transits() map[uint32]transit.Histogram {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, delays := p.presentFlows()
	transits := map[uint32]transit.Histogram{}
	for id, packets := range delays {
		var h transit.Histogram
		h.Add(transit.Index(p.cable.Latency), uint64(packets))
		transits[id] = h
	}
	return transits
}

// bucket is the lower bound of the log-decade bucket that a delay falls into, 0 under 10 µs.
func bucket(took time.Duration) time.Duration {
	decade := int64(10)
	for took.Microseconds() >= 10*decade {
		decade *= 10
	}
	return time.Duration(took.Microseconds()/decade*decade) * time.Microsecond
}

// ForgetFlows implements datapath.Port.
func (p *Port) ForgetFlows(ids []uint32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, id := range ids {
		delete(p.flows, id)
		delete(p.delays, id)
	}
}

// presentFlows is the flows' present counters, with what both ports' runs have sent so far.
func (p *Port) presentFlows() (flows map[uint32]datapath.FlowCounters, delays map[uint32]int64) {
	flows, delays = maps.Clone(p.flows), maps.Clone(p.delays)
	if p.run != nil {
		p.settle()
		p.run.sentInto(flows)
	}
	if p.peer.run != nil {
		p.peer.settle()
		p.peer.run.receivedInto(flows, delays)
	}
	return flows, delays
}

// addFlows adds what the run did to both ports' counters.
func (r *run) addFlows(sender *Port) {
	r.sentInto(sender.flows)
	r.receivedInto(sender.peer.flows, sender.peer.delays)
}

func (r *run) sentInto(flows map[uint32]datapath.FlowCounters) {
	for _, s := range r.streams {
		if id := s.stream.FlowStats.StreamID; s.stream.FlowStats.Enabled {
			c := flows[id]
			c.Sent = c.Sent.Add(s.traffic(s.sent))
			flows[id] = c
		}
	}
}

func (r *run) receivedInto(flows map[uint32]datapath.FlowCounters, delays map[uint32]int64) {
	for _, s := range r.streams {
		id := s.stream.FlowStats.StreamID
		if !s.stream.FlowStats.Enabled {
			continue
		}
		c := flows[id]
		arrived := s.traffic(s.received)
		c.Received = c.Received.Add(arrived)
		flows[id] = c
		if (isLatency(s.stream) || s.stream.FlowStats.Stamped) && arrived.Packets > 0 {
			delays[id] += arrived.Packets
		}
	}
}
