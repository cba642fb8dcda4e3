package stl

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/engine/trex"
	"github.com/linerate-dev/linerate/internal/engine/trex/wire"
)

// detailEvery is how often a reading also asks for link state and pause frames, which cost the server more than counters.
const detailEvery = 700 * time.Millisecond

// portHistory is what successive readings show: who owns the ports, whether links flapped, whether counters only grow. It is safe for
// concurrent use, as readings and other calls run at the same time.
type portHistory struct {
	session uint32 // of this client
	user    string

	mu       sync.Mutex
	epoch    int          // grows with each Claim and Release
	claimed  map[int]bool // ports that this session owns
	ports    map[int]*watched
	fault    error // kept until the next Claim
	lastAt   time.Duration
	detailed time.Time
}

// watched is the history of one port.
type watched struct {
	linkUp bool
	flaps  int64  // link changes that readings have shown
	base   *int64 // the server's own count in the first reading, if it has one
	driver driver
	places extended   // indexes of the extended statistics that matter
	told   tally      // the extended statistics that were read last
	errors wire.Count // ierrors at that time
	last   trex.PortStats
	lasts  time.Duration // for how long the latest start makes it send
}

func newPortHistory(session uint32, user string) *portHistory {
	return &portHistory{session: session, user: user, claimed: map[int]bool{}, ports: map[int]*watched{}}
}

// claim begins a new history for ports that this session has claimed.
func (w *portHistory) claim(ports []int, statuses map[int]trex.PortStatus, known map[int]watched) {
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

func (w *portHistory) release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.epoch++
	clear(w.claimed)
}

// owns says whether this session owns a port, as far as is known.
func (w *portHistory) owns(port int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.claimed[port] && w.fault == nil
}

// plan says which counters a reading requests, and the epoch that its answer belongs to. At an edge it requests all counters; between edges the slow ones only for ports that have
// missed frames since, and every detailEvery for all ports.
func (w *portHistory) plan(ports []int, now time.Time, edge bool) (detail trex.Detail, epoch int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	due := now.Sub(w.detailed) >= detailEvery
	if due {
		w.detailed = now
		detail.Status = true
	}
	for _, port := range ports {
		p, ok := w.ports[port]
		switch {
		case !ok:
		case p.sharesRegisters():
			detail.SharedRegisters = append(detail.SharedRegisters, port)
		case p.places.wanted() && (due || edge || p.last.ReceiveErrors != p.errors):
			detail.ExtendedStats = append(detail.ExtendedStats, port)
		}
	}
	return detail, w.epoch
}

// lacks says whether a port's extended statistics aren't exactly one value for each name: then the meaning of every value is unknown.
func (w *portHistory) lacks(port int, values []wire.Count) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	p, ok := w.ports[port]
	return ok && len(values) != p.places.names
}

// sharesRegisters says whether the port's extended statistics have frames that its counters miss.
func (p *watched) sharesRegisters() bool {
	return p.driver.registers == sharedRegisters && len(p.places.good) == 4
}

// complete adds to the counters of ports that share registers what their extended statistics took. It fails where these say nothing.
func (w *portHistory) complete(s trex.Snapshot) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for port, counters := range s.Ports {
		p, ok := w.ports[port]
		if !ok || !p.sharesRegisters() {
			continue
		}
		values, ok := s.ExtendedStats[port]
		if !ok {
			return errWithheld
		}
		p.places.addTo(&counters, values)
		s.Ports[port] = counters
	}
	return nil
}

// learn adds a snapshot to the history, and returns the fault that it proves. A snapshot that arrives after a later one, or after a Claim or Release,
// proves nothing.
func (w *portHistory) learn(s trex.Snapshot, epoch int) error {
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

// blame stores a fault, unless there is one already.
func (w *portHistory) blame(err error) {
	if w.fault == nil {
		w.fault = err
	}
}

// sawStatus checks the link, and the owner: the event of a port taken by others may get lost.
func (w *portHistory) sawStatus(port int, s trex.PortStatus) {
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

// sawCounters checks that counters only grow, as they do while a server lives.
func (w *portHistory) sawCounters(port int, s trex.PortStats) {
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

// linkFlaps prefers the server's own count: a link may go down and up again between two readings.
func (p *watched) linkFlaps() int64 {
	if p.base != nil && p.last.LinkChanges != nil {
		return int64(*p.last.LinkChanges) - *p.base
	}
	return p.flaps
}

// happened judges an event. The server also sends events for this session's own calls.
func (w *portHistory) happened(e trex.Event) {
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
	default: // other events are the results of this session's calls, or don't concern its ports
	}
}

// pauseFrames says whether a claimed port counts the pause frames that it receives.
func (w *portHistory) pauseFrames(port int) engine.Visibility {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p, ok := w.ports[port]; ok && len(p.places.pauses) > 0 {
		return engine.Counted
	}
	return engine.VisibilityUnknown
}

// started records for how long ports were started.
func (w *portHistory) started(starts []trex.Start, answers []trex.Started) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, s := range starts {
		if p, ok := w.ports[s.Port]; ok {
			p.lasts = answers[i].Lasts
		}
	}
}

// counters adds to a port's counters what the history knows.
func (w *portHistory) counters(port int, c engine.PortCounters) engine.PortCounters {
	w.mu.Lock()
	defer w.mu.Unlock()
	c.PauseFrames, c.PauseFramesSent = -1, -1
	p, ok := w.ports[port]
	if !ok {
		return c
	}
	c.LinkUp, c.LinkFlaps = p.linkUp, p.linkFlaps()
	c.PauseFrames, c.PauseFramesSent = p.told.pauses, p.told.pausesSent
	c.Lasts, c.EndsLate = p.lasts, !c.Paced // a server that paces its frames is the software engine, which ends by the clock
	switch {
	case c.Paced: // the software engine sends them with its counters
		return c
	case p.driver.registers == guardedRegisters: // ierrors has none of the frames that found no room
		c.ReceiveErrors, c.Damaged = 0, c.ReceiveErrors
	case p.places.split:
		c.ReceiveErrors, c.Damaged = p.told.missed, p.told.damaged
	}
	c.SendDrops = p.told.dropped
	if !p.driver.errorsAreUnsent {
		c.SendDrops += c.SendErrors
	}
	return c
}

// extendedStats finds the counters that matter among each port's extended statistics, which differ by driver.
func (e *Engine) extendedStats(ctx context.Context, ports []trex.PortInfo) (map[int]watched, error) {
	known := map[int]watched{}
	for _, p := range ports {
		d := driverOf(p.Driver)
		if d.registers == guardedRegisters {
			known[p.Index] = watched{driver: d}
			continue
		}
		if p.ReceiveDrops != "" { // the server sends all of them with its counters
			continue
		}
		names, err := e.reader.ExtendedStatNames(ctx, p.Index)
		if err := unlessRefused(err); err != nil {
			return nil, err
		}
		known[p.Index] = watched{driver: d, places: extendedOf(d, names)}
	}
	return known, nil
}
