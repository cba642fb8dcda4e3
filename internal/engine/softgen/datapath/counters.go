package datapath

import (
	"maps"
	"time"

	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/transit"
)

// A thread that is held up between reading Sent and Received would make frames look lost: then both are read again.
const (
	narrowEnough = 100 * time.Microsecond
	readTries    = 3
)

func (p *port) Counters() Counters {
	waited := p.waits.total()
	c := narrowest(p.traffic)
	c.Waited, c.Waiting = waited, p.waits.total()-waited+p.overdue()
	refused := p.sent.dropped.Load() // before the kernel's counters, so that refused never counts a drop that they don't have yet
	k := p.kernel.counts()           // reading them may take long, so they don't belong to the same moment
	c.ReceiveErrors, c.Damaged = c.ReceiveErrors+p.missed(k), k.damaged
	c.Kernel = KernelFrames{Received: k.received, Sent: k.sent, Dropped: k.missed + k.dropped}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	c.SendDrops = p.sendDrops(k, refused)
	c.SendErrors, c.QueueFull, c.PeerFull, c.Behind = p.sent.errors.Load(), p.sent.retries.Load(), p.peerFull(k, refused), p.behind.Load()
	c.Sending = time.Duration(p.took.Load())
	c.CPUPercent = p.load.read(Now(), time.Duration(p.busy.Load()), max(p.options.Cores, 1))
	return c
}

// missed are frames that reached the interface but not the receiver.
func (p *port) missed(k kernelCounts) int64 {
	if p.receiver.last() {
		return k.missed + k.dropped
	}
	return k.missed
}

// sendDrops are frames that were counted as sent, and that the driver dropped later; refused are the drops that the driver reported at once. A drop that the driver counts a moment before it reports it is
// among sendDrops for good, as they never decrease. On a virtual cable, frames without room at the far end are the device's loss. The caller has locked the port.
func (p *port) sendDrops(k kernelCounts, refused int64) int64 {
	if p.nic.Driver != "veth" {
		p.thrown = max(p.thrown, k.unsent-refused)
	}
	return p.thrown
}

// peerFull are frames that a veth's far end had no room for. For live frames, only the interface's own counters show them.
func (p *port) peerFull(k kernelCounts, refused int64) int64 {
	told := p.sent.peerFull.Load()
	if p.options.Path == PathLive && p.nic.Driver == "veth" {
		return max(told, k.unsent-refused)
	}
	return told
}

// traffic reads what was sent and what was received, at one moment.
func (p *port) traffic() Counters {
	before := Now()
	p.harvest()
	sent := p.sent.all.traffic()
	settle := p.receiver.mark()
	took := Now() - before
	a := settle()
	return Counters{At: before + took/2, Uncertainty: took / 2, Sent: sent, Received: a.received, Strays: a.strays, ReceiveErrors: a.missed}
}

// narrowest is the first reading that took little time, or else the shortest of a few.
func narrowest(read func() Counters) Counters {
	best := read()
	for try := 1; try < readTries && 2*best.Uncertainty > narrowEnough; try++ {
		if again := read(); again.Uncertainty < best.Uncertainty {
			best = again
		}
	}
	return best
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

// harvest adds what the kernel has sent by now to the port's counters.
func (p *port) harvest() {
	if l := p.live.Load(); l != nil {
		l.harvest(p.link.up.Load())
	}
}

// flows are the counters since the port was opened, or a latency stream was forgotten.
func (p *port) flows() map[uint32]FlowCounters {
	p.harvest()
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

// follower is the part of this port that follows stamped frames.
func (p *port) follower() follower {
	if f := p.receiver.follower(); f != nil {
		return f
	}
	return p.inbox
}

func (p *port) Latency() map[uint32]Latency { return p.follower().latency() }

func (p *port) Transits() map[uint32]transit.Histogram { return p.follower().transits() }

func (p *port) ForgetFlows(ids []uint32) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for _, id := range ids {
		_ = p.follower().forget(id) // impossible with maps that are open
	}
	flows := p.flows()
	for _, id := range ids {
		p.baseline[id] = flows[id]
		delete(p.known, id)
	}
}
