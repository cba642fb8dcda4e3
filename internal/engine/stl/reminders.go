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

// remindEvery is how often a device gets a neighbour advertisement where the server doesn't answer for IPv6
// addresses. A Linux router begins to doubt a neighbour after 15 s at the soonest (RFC 4861, 6.3.2), and gives
// it up, with all traffic to it, 8 s later.
const remindEvery = 5 * time.Second

// countedAfter is how long it may take until the server's counters include a pushed frame. TRex answers when the
// frame is in the port's queue, and reads the port's own counters.
const countedAfter = 5 * time.Millisecond

// reminders keep devices from forgetting ports. Where the server doesn't answer neighbour solicitations, reminders
// are neighbour advertisements. A TRex answers ARP requests by itself, but its card counts these answers among the
// frames of the load, and no counter of the card tells them apart. There reminders are ARP replies, so that the
// device has no reason to ask.
//
//	Address          Read, and each Read after it:
//	│ solicitation   │ counters, then, if 5 s are over,
//	│ advertisement  │ an advertisement            ──▶ device: the neighbour is reachable
//
//	Start                            Read
//	│ an ARP reply, if 5 s are over  │ and so on  ──▶ device: there is nothing to ask for
//
// The server counts these frames and they never come back, so they are subtracted from what was sent. reminders
// are safe for concurrent use.
type reminders struct {
	reader  *trex.Client
	history *portHistory
	mu      sync.Mutex
	ports   map[int]*reminder
}

type reminder struct {
	frames  [][]byte      // empty if the device needn't be reminded
	lastDue time.Time     // when the last ones were due
	sent    units.Traffic // since the engine was made, as counters only grow
	// fresh are the last ones sent, at freshAt.
	fresh   units.Traffic
	freshAt time.Time
}

// forPort is a port's reminder. The caller holds mu.
func (r *reminders) forPort(port int) *reminder {
	p, ok := r.ports[port]
	if !ok {
		p = &reminder{}
		r.ports[port] = p
	}
	return p
}

// set stores the frame that reminds the device, which has just been sent. With nil there are no reminders.
func (r *reminders) set(port int, frame []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.forPort(port)
	if p.frames, p.lastDue = nil, time.Now(); frame != nil {
		p.frames = [][]byte{frame}
	}
}

// keep stores one more frame that reminds the device. It is due if the last ones were sent long ago.
func (r *reminders) keep(port int, frame []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := r.forPort(port); !slices.ContainsFunc(p.frames,
		func(stored []byte) bool { return bytes.Equal(stored, frame) }) {
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

// due returns the frames to send now, if any. The caller must send them, as the next ones are due after remindEvery.
func (r *reminders) due(port int, clock time.Time) [][]byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	p, ok := r.ports[port]
	if !ok || len(p.frames) == 0 || clock.Sub(p.lastDue) < remindEvery {
		return nil
	}
	p.lastDue = clock
	return p.frames
}

// note counts frames that were sent.
func (r *reminders) note(port int, frames [][]byte, sentAt time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.ports[port]
	p.fresh, p.freshAt = units.Traffic{}, sentAt
	for _, frame := range frames {
		p.fresh = p.fresh.Add(onWire(frame))
	}
	p.sent = p.sent.Add(p.fresh)
}

// counted is how many of the frames that the server has counted as sent by now were reminders, by port.
func (r *reminders) counted(readTime time.Time) map[int]units.Traffic {
	r.mu.Lock()
	defer r.mu.Unlock()
	counted := make(map[int]units.Traffic, len(r.ports))
	for port, p := range r.ports {
		counted[port] = p.sent
		if readTime.Sub(p.freshAt) < countedAfter {
			counted[port] = p.sent.Sub(p.fresh)
		}
	}
	return counted
}

// onWire is a frame as counters have it, padded and with its FCS.
func onWire(frame []byte) units.Traffic {
	return units.Traffic{Packets: 1, Bytes: int64(max(len(frame), 60) + units.FCSBytes)}
}

// send sends the reminders that are due, and says whether there were any. An error isn't reported here, as it shows
// in the next reading, or in frames that don't come back.
func (r *reminders) send(ctx context.Context, ports []int) (sent bool) {
	for _, port := range ports {
		if !r.history.owns(port) {
			continue
		}
		frames := r.due(port, time.Now())
		if len(frames) > 0 && r.reader.PushFrames(ctx, port, frames) == nil {
			r.note(port, frames, time.Now())
			sent = true
		}
	}
	return sent
}

// remindBeforeStart sends reminders to the devices behind ports that are about to start, so that no device asks for
// an address during the traffic.
func (l *links) remindBeforeStart(ctx context.Context, statuses map[int]trex.PortStatus) error {
	if l.reported.machine.Load() { // the software engine counts ARP separately
		return nil
	}
	var reminded []int
	for port, status := range statuses {
		d, layer := l.destinations[port], status.Attributes.Layer
		if l.reported.virtual[port] || !d.local.IsValid() || !d.hop.IsValid() || len(status.Attributes.VLAN.Tags) > 1 {
			continue
		}
		q := neighbor.Query{Source: d.local, Target: d.hop}
		if tags := status.Attributes.VLAN.Tags; len(tags) > 0 {
			q.VLAN = tags[0]
		}
		q.SourceMAC, _ = net.ParseMAC(layer.Ether.Source)
		if frame, err := q.Reply(d.mac); err == nil {
			l.reminders.keep(port, frame)
			reminded = append(reminded, port)
		}
	}
	if len(reminded) == 0 || !l.reminders.send(ctx, reminded) {
		return nil
	}
	return bounded.Pause(ctx, countedAfter)
}

// withoutReminders subtracts the reminders from a reading.
func withoutReminders(r engine.Reading, reminded map[int]units.Traffic) engine.Reading {
	for port, counters := range r.Ports {
		counters.Sent = counters.Sent.Sub(reminded[port])
		r.Ports[port] = counters
	}
	return r
}
