package datapath

import (
	"maps"
	"time"

	"github.com/linerate-dev/linerate/internal/units"
)

func (p *port) Counters() Counters {
	received, missed := p.receiver.counters()
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return Counters{Sent: p.sent.all.traffic(), Received: received, SendErrors: p.sent.errors.Load(), ReceiveErrors: missed,
		QueueFull: p.sent.retries.Load(), PeerFull: p.sent.peerFull.Load(), Behind: p.behind.Load(),
		CPUPercent: p.load.read(Now(), time.Duration(p.busy.Load()), max(p.options.Cores, 1))}
}

func (p *port) Flows() map[uint32]FlowCounters {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	flows := p.flows()
	for id, c := range flows {
		base := p.baseline[id]
		flows[id] = FlowCounters{Sent: c.Sent.Sub(base.Sent), Received: c.Received.Sub(base.Received)}
	}
	maps.DeleteFunc(flows, func(id uint32, c FlowCounters) bool { return c == FlowCounters{} && !p.known[id] })
	return flows
}

// flows are the counters since the port was opened, or a latency stream was forgotten.
func (p *port) flows() map[uint32]FlowCounters {
	flows := map[uint32]FlowCounters{}
	for id := range p.known {
		flows[id] = FlowCounters{Sent: p.sent.flows[id].traffic()}
	}
	add := func(id uint32, received units.Traffic) {
		c := flows[id]
		c.Received = c.Received.Add(received)
		flows[id] = c
	}
	p.receiver.flows(add)
	p.inbox.visit(add)
	return flows
}

func (p *port) Latency() map[uint32]Latency { return p.inbox.latency() }

func (p *port) ForgetFlows(ids []uint32) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for _, id := range ids {
		p.inbox.forget(id)
	}
	flows := p.flows()
	for _, id := range ids {
		p.baseline[id] = flows[id]
		delete(p.known, id)
	}
}
