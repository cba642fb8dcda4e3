package stl

import (
	"bytes"
	"context"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/engine/trex"
	"github.com/linerate-dev/linerate/internal/engine/trex/neighbor"
	"github.com/linerate-dev/linerate/internal/host/bounded"
	"github.com/linerate-dev/linerate/internal/units"
)

// remindEvery is how often a device gets a neighbour advertisement where the server doesn't answer for IPv6 addresses. A Linux router begins to doubt a
// neighbour after 15 s at the soonest (RFC 4861, 6.3.2), and gives it up, with all traffic to it, 8 s later.
const remindEvery = 5 * time.Second

// countedAfter is how long it may take until the server's counters include a pushed frame: TRex answers when the frame is in the port's queue, and reads the port's own counters.
const countedAfter = 5 * time.Millisecond

// reminders keep devices from forgetting ports. They are neighbour advertisements where the server doesn't answer neighbour solicitations; and ARP replies of cards of a TRex, which answers ARP requests, but
// counts its answers among the frames of the load, from which no counter of a card tells them:
//
//	Address          Read, and each Read after it:
//	│ solicitation   │ counters, then, if 5 s are over,
//	│ advertisement  │ an advertisement            ──▶ device: the neighbour is reachable
//
//	Start                            Read
//	│ an ARP reply, if 5 s are over  │ and so on  ──▶ device: there is nothing to ask for
//
// The server counts these frames and they never come back, so they are subtracted from what was sent. reminders are safe for concurrent use.
type reminders struct {
	mu    sync.Mutex
	ports map[int]*reminder
}

type reminder struct {
	frames [][]byte      // none: the device needn't be reminded
	last   time.Time     // when the last ones were due
	sent   units.Traffic // since the engine was made: counters only grow
	// fresh are the last ones sent, at freshAt.
	fresh   units.Traffic
	freshAt time.Time
}

// set stores the frame that reminds the device, which has just been sent; nil: no reminders.
func (r *reminders) set(port int, frame []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ports == nil {
		r.ports = map[int]*reminder{}
	}
	p, ok := r.ports[port]
	if !ok {
		p = &reminder{}
		r.ports[port] = p
	}
	if p.frames, p.last = nil, time.Now(); frame != nil {
		p.frames = [][]byte{frame}
	}
}

// keep stores one more frame that reminds the device. It is due if the last ones were sent long ago.
func (r *reminders) keep(port int, frame []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ports == nil {
		r.ports = map[int]*reminder{}
	}
	if _, ok := r.ports[port]; !ok {
		r.ports[port] = &reminder{}
	}
	if p := r.ports[port]; !slices.ContainsFunc(p.frames, func(kept []byte) bool { return bytes.Equal(kept, frame) }) {
		p.frames = append(p.frames, frame)
	}
}

// forget ends all reminding.
func (r *reminders) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.ports {
		p.frames = nil
	}
}

// due are the frames to send now, or none. The caller must send them: the next ones are due after remindEvery.
func (r *reminders) due(port int, now time.Time) [][]byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	p, ok := r.ports[port]
	if !ok || len(p.frames) == 0 || now.Sub(p.last) < remindEvery {
		return nil
	}
	p.last = now
	return p.frames
}

// note counts frames that were sent.
func (r *reminders) note(port int, frames [][]byte, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.ports[port]
	p.fresh, p.freshAt = units.Traffic{}, now
	for _, frame := range frames {
		p.fresh = p.fresh.Add(onWire(frame))
	}
	p.sent = p.sent.Add(p.fresh)
}

// counted is how many of the frames that the server has counted as sent by now were reminders, by port.
func (r *reminders) counted(now time.Time) map[int]units.Traffic {
	r.mu.Lock()
	defer r.mu.Unlock()
	counted := make(map[int]units.Traffic, len(r.ports))
	for port, p := range r.ports {
		counted[port] = p.sent
		if now.Sub(p.freshAt) < countedAfter {
			counted[port] = p.sent.Sub(p.fresh)
		}
	}
	return counted
}

// onWire is a frame as counters have it: padded, with its FCS.
func onWire(frame []byte) units.Traffic {
	return units.Traffic{Packets: 1, Bytes: int64(max(len(frame), 60) + units.FCSBytes)}
}

// remind sends the reminders that are due, and says whether there were any. An error isn't reported: it shows in the next reading, or in frames that don't come back.
func (e *Engine) remind(ctx context.Context, ports []int) (sent bool) {
	for _, port := range ports {
		if !e.portHistory.owns(port) {
			continue
		}
		frames := e.reminders.due(port, time.Now())
		if len(frames) > 0 && e.reader.PushFrames(ctx, port, frames) == nil {
			e.reminders.note(port, frames, time.Now())
			sent = true
		}
	}
	return sent
}

// remindBeforeStart keeps the devices behind ports that are about to start from asking for their addresses meanwhile.
func (e *Engine) remindBeforeStart(ctx context.Context, statuses map[int]trex.PortStatus) error {
	if e.machine.known.Load() { // the software engine counts ARP apart
		return nil
	}
	var reminded []int
	for port, status := range statuses {
		d, layer := e.destinations[port], status.Attributes.Layer
		if e.virtual[port] || !d.local.IsValid() || !d.hop.IsValid() || len(status.Attributes.VLAN.Tags) > 1 {
			continue
		}
		q := neighbor.Query{Source: d.local, Target: d.hop}
		if tags := status.Attributes.VLAN.Tags; len(tags) > 0 {
			q.VLAN = tags[0]
		}
		q.SourceMAC, _ = net.ParseMAC(layer.Ether.Source)
		if frame, err := q.Reply(d.mac); err == nil {
			e.reminders.keep(port, frame)
			reminded = append(reminded, port)
		}
	}
	if len(reminded) == 0 || !e.remind(ctx, reminded) {
		return nil
	}
	return bounded.Pause(ctx, countedAfter)
}

// withoutReminders subtracts the reminders from a reading.
func withoutReminders(r engine.Reading, own map[int]units.Traffic) engine.Reading {
	for port, counters := range r.Ports {
		counters.Sent = counters.Sent.Sub(own[port])
		r.Ports[port] = counters
	}
	return r
}
