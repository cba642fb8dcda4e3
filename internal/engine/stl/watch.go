package stl

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/trex"
	"github.com/linerate-dev/linerate/internal/trex/wire"
)

// detailEvery is how often a reading also asks for link state and pause frames, which cost the server more than counters.
const detailEvery = 700 * time.Millisecond

// watch is what readings learn over time: who owns the ports, whether links flapped, whether counters only grow. It is safe for
// concurrent use, as readings and orders run at the same time.
type watch struct {
	session uint32 // ours
	user    string

	mu       sync.Mutex
	epoch    int          // grows with each Claim and Release
	claimed  map[int]bool // ports that are ours
	ports    map[int]*watched
	fault    error // sticky until the next Claim
	lastAt   time.Duration
	detailed time.Time
}

// watched is one port's past.
type watched struct {
	linkUp bool
	flaps  int64  // that we saw
	base   *int64 // the server's own count at first sight, if it has one
	pause  []int  // positions of received pause frames among the extended counters
	paused int64
	last   trex.PortStats
}

func newWatch(session uint32, user string) *watch {
	return &watch{session: session, user: user, claimed: map[int]bool{}, ports: map[int]*watched{}}
}

// claim begins a new past for ports that became ours.
func (w *watch) claim(ports []int, statuses map[int]trex.PortStatus, pauses map[int][]int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.epoch++
	w.fault = nil
	w.lastAt, w.detailed = 0, time.Time{}
	for _, port := range ports {
		w.claimed[port] = true
		w.ports[port] = &watched{linkUp: statuses[port].Attributes.Link.Up, pause: pauses[port]}
	}
}

func (w *watch) release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.epoch++
	clear(w.claimed)
}

// owns says whether a port is ours, as far as is known.
func (w *watch) owns(port int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.claimed[port] && w.fault == nil
}

// plan says what a reading shall ask for, and the epoch that its answer belongs to.
func (w *watch) plan(ports []int, now time.Time) (detail trex.Detail, epoch int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now.Sub(w.detailed) < detailEvery {
		return detail, w.epoch
	}
	w.detailed = now
	detail.Status = true
	for _, port := range ports {
		if p, ok := w.ports[port]; ok && len(p.pause) > 0 {
			detail.ExtendedStats = append(detail.ExtendedStats, port)
		}
	}
	return detail, w.epoch
}

// learn takes a snapshot in and returns what it proves to be wrong. One that was overtaken by a later one, or by a Claim or Release,
// proves nothing.
func (w *watch) learn(s trex.Snapshot, epoch int) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if epoch != w.epoch {
		return nil
	}
	for _, e := range s.Events {
		w.happened(e)
	}
	for _, port := range slices.Sorted(maps.Keys(s.Statuses)) {
		w.sawStatus(port, s.Statuses[port])
	}
	for port, values := range s.ExtendedStats {
		w.sawPauses(port, values)
	}
	if s.Before >= w.lastAt {
		w.lastAt = s.Before
		for _, port := range slices.Sorted(maps.Keys(s.Ports)) {
			w.sawCounters(port, s.Ports[port])
		}
	}
	return w.fault
}

// blame keeps the first fault.
func (w *watch) blame(err error) {
	if w.fault == nil {
		w.fault = err
	}
}

// sawStatus looks at the link, and at the owner: an event that tells of a theft may get lost.
func (w *watch) sawStatus(port int, s trex.PortStatus) {
	up := s.Attributes.Link.Up
	if p, ok := w.ports[port]; ok {
		p.sawLink(up)
	} else {
		w.ports[port] = &watched{linkUp: up}
	}
	if w.claimed[port] && s.Owner != w.user {
		w.blame(&trex.TakenError{Port: port, Owner: s.Owner})
	}
}

func (p *watched) sawLink(up bool) {
	if p.linkUp != up {
		p.linkUp = up
		p.flaps++
	}
}

func (w *watch) sawPauses(port int, values []wire.Count) {
	p, ok := w.ports[port]
	if !ok {
		return
	}
	p.paused = 0
	for _, at := range p.pause {
		if at < len(values) {
			p.paused += int64(values[at])
		}
	}
}

// sawCounters: counters only grow while a server lives.
func (w *watch) sawCounters(port int, s trex.PortStats) {
	p, ok := w.ports[port]
	if !ok {
		return
	}
	if s.SentPackets < p.last.SentPackets || s.ReceivedPackets < p.last.ReceivedPackets {
		w.blame(&resetError{port})
	}
	if s.LinkChanges != nil && p.base == nil {
		p.base = new(int64(*s.LinkChanges))
	}
	p.last = s
}

// linkFlaps prefers the server's own count: between two of our looks a link may go and come back.
func (p *watched) linkFlaps() int64 {
	if p.base != nil && p.last.LinkChanges != nil {
		return int64(*p.last.LinkChanges) - *p.base
	}
	return p.flaps
}

// happened judges an event. Our own acts are told too.
func (w *watch) happened(e trex.Event) {
	switch e.Type {
	case trex.PortAcquired:
		if w.claimed[e.Port] && e.Session != w.session {
			w.blame(&trex.TakenError{Port: e.Port, Owner: e.Who, SameUser: e.Who == w.user})
		}
	case trex.AttributeChanged:
		if p, ok := w.ports[e.Port]; ok && e.LinkUp != nil {
			p.sawLink(*e.LinkUp)
		}
	case trex.PortFailed, trex.ProfileFailed:
		if w.claimed[e.Port] {
			w.blame(&portFailedError{e.Port})
		}
	case trex.ServerStopped:
		w.blame(&stoppedError{e.Cause})
	default: // the rest is what we ordered, or no concern of ours
	}
}

// counters completes a port's counters with what is known of it.
func (w *watch) counters(port int, c engine.PortCounters) engine.PortCounters {
	w.mu.Lock()
	defer w.mu.Unlock()
	c.PauseFrames = -1
	p, ok := w.ports[port]
	if !ok {
		return c
	}
	c.LinkUp, c.LinkFlaps = p.linkUp, p.linkFlaps()
	if len(p.pause) > 0 {
		c.PauseFrames = p.paused
	}
	return c
}

// pauseCounters finds the counters of received pause frames among each port's extended ones. Which there are is up to its driver.
func (e *Engine) pauseCounters(ctx context.Context, ports []int) (map[int][]int, error) {
	pauses := map[int][]int{}
	for _, port := range ports {
		names, err := e.reader.ExtendedStatNames(ctx, port)
		if err := unlessRefused(err); err != nil {
			return nil, err
		}
		for at, name := range names {
			if isReceivedPause(name) {
				pauses[port] = append(pauses[port], at)
			}
		}
	}
	return pauses, nil
}

// isReceivedPause knows the drivers' names: rx_xoff_packets, rx_flow_control_xoff_packets, rx_pause_ctrl_phy, rx_prio0_pause …, but not
// those that tell durations or transitions.
func isReceivedPause(name string) bool {
	name = strings.ToLower(name)
	return strings.HasPrefix(name, "rx") && (strings.Contains(name, "xoff") || strings.Contains(name, "pause")) &&
		!strings.Contains(name, "duration") && !strings.Contains(name, "transition")
}
