package stl

import (
	"context"
	"maps"
	"slices"
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
	driver driver
	places extended   // of what matters among the extended statistics
	told   tally      // by the extended statistics that were read last
	errors wire.Count // ierrors as of then
	last   trex.PortStats
}

func newWatch(session uint32, user string) *watch {
	return &watch{session: session, user: user, claimed: map[int]bool{}, ports: map[int]*watched{}}
}

// claim begins a new past for ports that became ours.
func (w *watch) claim(ports []int, statuses map[int]trex.PortStatus, known map[int]watched) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.epoch++
	w.fault = nil
	w.lastAt, w.detailed = 0, time.Time{}
	for _, port := range ports {
		w.claimed[port] = true
		p := known[port]
		p.linkUp, p.told = statuses[port].Attributes.Link.Up, tally{pauses: -1, pausesSent: -1}
		w.ports[port] = &p
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

// plan says what a reading shall ask for, and the epoch that its answer belongs to. At an edge it asks for all that ports can tell; in between of those of whose frames some
// went astray since, and of all now and then.
func (w *watch) plan(ports []int, now time.Time, edge bool) (detail trex.Detail, epoch int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	due := now.Sub(w.detailed) >= detailEvery
	if due {
		w.detailed = now
		detail.Status = true
	}
	for _, port := range ports {
		if p, ok := w.ports[port]; ok && p.places.wanted() && (due || edge || p.last.ReceiveErrors != p.errors) {
			detail.ExtendedStats = append(detail.ExtendedStats, port)
		}
	}
	return detail, w.epoch
}

// lacks says that a port's extended statistics are not one value for each of their names: of none of them it is known what it means.
func (w *watch) lacks(port int, values []wire.Count) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	p, ok := w.ports[port]
	return ok && len(values) != p.places.names
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
		if p, ok := w.ports[port]; ok {
			p.told, p.errors = p.places.tally(values), s.Ports[port].ReceiveErrors
		}
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

// pauseFrames says whether a port that was claimed counts the pause frames that it receives.
func (w *watch) pauseFrames(port int) engine.Visibility {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p, ok := w.ports[port]; ok && len(p.places.pauses) > 0 {
		return engine.Counted
	}
	return engine.VisibilityUnknown
}

// counters completes a port's counters with what is known of it.
func (w *watch) counters(port int, c engine.PortCounters) engine.PortCounters {
	w.mu.Lock()
	defer w.mu.Unlock()
	c.PauseFrames, c.PauseFramesSent = -1, -1
	p, ok := w.ports[port]
	if !ok {
		return c
	}
	c.LinkUp, c.LinkFlaps = p.linkUp, p.linkFlaps()
	c.PauseFrames, c.PauseFramesSent = p.told.pauses, p.told.pausesSent
	switch {
	case c.Paced: // the software engine says it with its counters
		return c
	case p.places.split:
		c.ReceiveErrors, c.Damaged = p.told.missed, p.told.damaged
	}
	c.SendDrops = p.told.dropped
	if !p.driver.errorsAreUnsent {
		c.SendDrops += c.SendErrors
	}
	return c
}

// extendedStats finds what matters among each port's extended statistics. Which there are is up to its driver.
func (e *Engine) extendedStats(ctx context.Context, ports []trex.PortInfo) (map[int]watched, error) {
	known := map[int]watched{}
	for _, p := range ports {
		if p.ReceiveDrops != "" { // the server tells all of it with its counters
			continue
		}
		names, err := e.reader.ExtendedStatNames(ctx, p.Index)
		if err := unlessRefused(err); err != nil {
			return nil, err
		}
		d := driverOf(p.Driver)
		known[p.Index] = watched{driver: d, places: extendedOf(d, names)}
	}
	return known, nil
}
