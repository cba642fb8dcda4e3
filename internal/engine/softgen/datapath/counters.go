package datapath

import (
	"maps"
	"time"

	"github.com/linerate-dev/linerate/internal/units"
)

// A thread that is held up between reading Sent and Received would make frames look lost. Such a reading is repeated.
const (
	acceptableWidth = 100 * time.Microsecond
	readTries       = 3
)

func (p *port) Counters() Counters {
	waited := p.waits.total()
	c := narrowest(p.traffic)
	c.Waited, c.Waiting = waited, p.waits.total()-waited+p.overdue()
	refused := p.sent.dropped.Load() // before the kernel's counters, which then have every drop that is counted here
	k := p.kernel.counts()           // may take long, so these counters belong to a later moment
	c.ReceiveErrors, c.Damaged = c.ReceiveErrors+p.missed(k), k.damaged
	c.Kernel = KernelFrames{Received: k.received, Sent: k.sent, Dropped: k.missed + k.dropped}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	c.SendDrops = p.sendDrops(k, refused)
	c.SendErrors, c.QueueFull, c.PeerFull, c.Behind = p.sent.errors.Load(), p.sent.retries.Load(),
		p.peerFull(k, refused), p.behind.Load()
	c.Sending = time.Duration(p.sendingTime.Load())
	c.CPUPercent = p.load.read(Now(), time.Duration(p.busy.Load()), max(p.options.Cores, 1))
	return c
}

// missed is the number of frames that reached the interface but not the receiver.
func (p *port) missed(k kernelCounts) int64 {
	if p.receiver.dropsAreMissed() {
		return k.missed + k.dropped
	}
	return k.missed
}

// sendDrops is the number of frames that were counted as sent and that the driver dropped later. refused is the
// number of drops that the driver reported at once. sendDrops never decreases, so it keeps a drop that the
// driver counted a moment before it reported the drop. On a virtual cable, frames without room at the far end
// are the device's loss. The caller holds the port's mutex.
func (p *port) sendDrops(k kernelCounts, refused int64) int64 {
	if p.nic.Driver != "veth" {
		p.driverDrops = max(p.driverDrops, k.unsent-refused)
	}
	return p.driverDrops
}

// peerFull is the number of frames that a veth's far end had no room for. For live frames, only the interface's
// own counters show them.
func (p *port) peerFull(k kernelCounts, refused int64) int64 {
	reported := p.sent.peerFull.Load()
	if p.options.Path == PathLive && p.nic.Driver == "veth" {
		return max(reported, k.unsent-refused)
	}
	return reported
}

// traffic reads the sent and the received frames at one moment.
func (p *port) traffic() Counters {
	begin := Now()
	p.collectSent()
	sent := p.sent.total.traffic()
	settle := p.receiver.mark()
	took := Now() - begin
	a := settle()
	return Counters{ReadAt: begin + took/2, Uncertainty: took / 2, Sent: sent, Received: a.received, Strays: a.strays,
		ReceiveErrors: a.missed}
}

// narrowest returns the first reading that took little time, or else the shortest of a few readings.
func narrowest(read func() Counters) Counters {
	best := read()
	for try := 1; try < readTries && 2*best.Uncertainty > acceptableWidth; try++ {
		if reading := read(); reading.Uncertainty < best.Uncertainty {
			best = reading
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
	maps.DeleteFunc(flows, func(id uint32, c FlowCounters) bool { return c == FlowCounters{} && !p.flowIDs[id] })
	return flows
}

// collectSent adds the live frames that the kernel has sent to the port's counters.
func (p *port) collectSent() {
	if l := p.live.Load(); l != nil {
		l.collectSent(p.link.isUp.Load())
	}
}

// flows returns the counters since the port was opened, or since a latency stream was forgotten.
func (p *port) flows() map[uint32]FlowCounters {
	p.collectSent()
	flows := map[uint32]FlowCounters{}
	for id := range p.flowIDs {
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

func (p *port) ForgetFlows(ids []uint32) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for _, id := range ids {
		_ = p.follower().forget(id) // impossible with maps that are open
	}
	flows := p.flows()
	for _, id := range ids {
		p.baseline[id] = flows[id]
		delete(p.flowIDs, id)
	}
}
