package stl

import (
	"context"
	"sync"
	"time"

	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/units"
)

// remindEvery is how often a device gets a neighbour advertisement where the server doesn't answer for IPv6 addresses. A Linux router begins to doubt a
// neighbour after 15 s at the soonest (RFC 4861, 6.3.2), and gives it up, with all traffic to it, 8 s later.
const remindEvery = 5 * time.Second

// countedAfter is how long it may take until the server's counters include a pushed frame.
const countedAfter = 500 * time.Millisecond

// reminders send neighbour advertisements for ports whose server doesn't answer neighbour solicitations, so that devices don't forget them:
//
//	Address          Read, and each Read after it:
//	│ solicitation   │ counters, then, if 5 s are over,
//	│ advertisement  │ an advertisement            ──▶ device: the neighbour is reachable
//
// The server counts these frames and they never come back, so they are subtracted from what was sent. reminders are safe for concurrent use.
type reminders struct {
	mu    sync.Mutex
	ports map[int]*reminder
}

type reminder struct {
	frame []byte        // nil: the server answers by itself
	last  time.Time     // when the last one was due
	sent  units.Traffic // since the engine was made: counters only grow
	// fresh is the last one sent, at freshAt.
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
	p.frame, p.last = frame, time.Now()
}

// forget ends all reminding.
func (r *reminders) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.ports {
		p.frame = nil
	}
}

// due is the frame to send now, or nil. The caller must send it: the next one is due after remindEvery.
func (r *reminders) due(port int, now time.Time) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	p, ok := r.ports[port]
	if !ok || p.frame == nil || now.Sub(p.last) < remindEvery {
		return nil
	}
	p.last = now
	return p.frame
}

// note counts a frame that was sent.
func (r *reminders) note(port int, frame []byte, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.ports[port]
	p.fresh, p.freshAt = onWire(frame), now
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

// remind sends the reminders that are due. An error isn't reported: it shows in the next reading, or in frames that don't come back.
func (e *Engine) remind(ctx context.Context, ports []int) {
	for _, port := range ports {
		if !e.portHistory.owns(port) {
			continue
		}
		frame := e.reminders.due(port, time.Now())
		if frame != nil && e.reader.PushFrames(ctx, port, [][]byte{frame}) == nil {
			e.reminders.note(port, frame, time.Now())
		}
	}
}

// withoutReminders subtracts the reminders from a reading.
func withoutReminders(r engine.Reading, own map[int]units.Traffic) engine.Reading {
	for port, counters := range r.Ports {
		counters.Sent = counters.Sent.Sub(own[port])
		r.Ports[port] = counters
	}
	return r
}
