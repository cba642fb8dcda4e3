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

// detailEvery is how often a reading also asks for link state and pause frames, which cost the server more than
// counters.
const detailEvery = 700 * time.Millisecond

// portHistory is what successive readings show about the ports' owners, the links' flaps, and whether counters only
// grow. It is safe for concurrent use, as readings and other calls run at the same time.
type portHistory struct {
	session uint32 // of this client
	user    string

	mu          sync.Mutex
	epoch       int          // grows with each Claim and Release
	claimed     map[int]bool // ports that this session owns
	ports       map[int]*watched
	fault       error // kept until the next Claim
	latestBegin time.Duration
	detailed    time.Time
}

// watched is the history of one port.
type watched struct {
	linkUp         bool
	flaps          int64  // link changes that readings have shown
	base           *int64 // the server's own count in the first reading, if it has one
	driver         driver
	places         extended   // indexes of the extended statistics that matter
	extended       tally      // the extended statistics that were read last
	extendedErrors wire.Count // ierrors at that time
	latest         trex.PortStats
	runDuration    time.Duration // how long the latest start makes it send
}

func newPortHistory(session uint32, user string) *portHistory {
	return &portHistory{session: session, user: user, claimed: map[int]bool{}, ports: map[int]*watched{}}
}

// claim begins a new history for ports that this session has claimed.
func (w *portHistory) claim(ports []int, statuses map[int]trex.PortStatus, histories map[int]watched) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.epoch++
	w.fault = nil
	w.latestBegin, w.detailed = 0, time.Time{}
	for _, port := range ports {
		w.claimed[port] = true
		p := histories[port]
		p.linkUp, p.extended = statuses[port].Attributes.Link.Up, tally{pauses: -1, pausesSent: -1}
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

// plan returns which counters a reading requests, and the epoch that the reading belongs to. At an edge that is all
// counters. Between edges it requests slow counters only for ports that have missed frames since, and every
// detailEvery for all ports.
func (w *portHistory) plan(ports []int, readTime time.Time, edge bool) (detail trex.Detail, epoch int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	due := readTime.Sub(w.detailed) >= detailEvery
	if due {
		w.detailed = readTime
		detail.Status = true
	}
	for _, port := range ports {
		p, ok := w.ports[port]
		switch {
		case !ok:
		case p.sharesRegisters():
			detail.SharedRegisters = append(detail.SharedRegisters, port)
		case p.places.wanted() && (due || edge || p.latest.ReceiveErrors != p.extendedErrors):
			detail.ExtendedStats = append(detail.ExtendedStats, port)
		}
	}
	return detail, w.epoch
}

// lacks says whether a port's extended statistics have another number of values than names. In that case the meaning
// of every value is unknown.
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

// complete adds to the counters of ports that share registers what their extended statistics took. It fails
// where these say nothing.
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

// learn adds a snapshot to the history, and returns the fault that it proves. A snapshot that arrives after a
// later one, or after a Claim or Release, proves nothing.
func (w *portHistory) learn(s trex.Snapshot, epoch int) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if epoch != w.epoch {
		return nil
	}
	for _, e := range s.Events {
		w.recordEvent(e)
	}
	for _, port := range slices.Sorted(maps.Keys(s.Statuses)) {
		w.recordStatus(port, s.Statuses[port])
	}
	for port, values := range s.ExtendedStats {
		if p, ok := w.ports[port]; ok {
			p.extended, p.extendedErrors = p.places.tally(values), s.Ports[port].ReceiveErrors
		}
	}
	if s.Begin >= w.latestBegin {
		w.latestBegin = s.Begin
		for _, port := range slices.Sorted(maps.Keys(s.Ports)) {
			w.recordCounters(port, s.Ports[port])
		}
	}
	return w.fault
}

// recordFault stores a fault, unless there is one already.
func (w *portHistory) recordFault(err error) {
	if w.fault == nil {
		w.fault = err
	}
}

// recordStatus checks the link, and the owner, because the event of a port taken by others may get lost.
func (w *portHistory) recordStatus(port int, s trex.PortStatus) {
	linkUp := s.Attributes.Link.Up
	if p, ok := w.ports[port]; ok {
		p.recordLink(linkUp)
	} else {
		w.ports[port] = &watched{linkUp: linkUp}
	}
	if w.claimed[port] && s.Owner != w.user {
		w.recordFault(&trex.TakenError{Port: port, Owner: s.Owner})
	}
}

func (p *watched) recordLink(linkUp bool) {
	if p.linkUp != linkUp {
		p.linkUp = linkUp
		p.flaps++
	}
}

// recordCounters checks that counters only grow, as they do while a server lives.
func (w *portHistory) recordCounters(port int, s trex.PortStats) {
	p, ok := w.ports[port]
	if !ok {
		return
	}
	if s.SentPackets < p.latest.SentPackets || s.ReceivedPackets < p.latest.ReceivedPackets {
		w.recordFault(&resetError{port})
	}
	if s.LinkChanges != nil && p.base == nil {
		p.base = new(int64(*s.LinkChanges))
	}
	p.latest = s
}

// linkFlaps prefers the server's own count, because a link may go down and up again between two readings.
func (p *watched) linkFlaps() int64 {
	if p.base != nil && p.latest.LinkChanges != nil {
		return int64(*p.latest.LinkChanges) - *p.base
	}
	return p.flaps
}

// recordEvent judges an event. The server also sends events for this session's own calls.
func (w *portHistory) recordEvent(e trex.Event) {
	switch e.Type {
	case trex.PortAcquired:
		if w.claimed[e.Port] && e.Session != w.session {
			w.recordFault(&trex.TakenError{Port: e.Port, Owner: e.User, SameUser: e.User == w.user})
		}
	case trex.AttributeChanged:
		if p, ok := w.ports[e.Port]; ok && e.LinkUp != nil {
			p.recordLink(*e.LinkUp)
		}
	case trex.PortFailed, trex.ProfileFailed:
		if w.claimed[e.Port] {
			w.recordFault(&portFailedError{e.Port})
		}
	case trex.ServerStopped:
		w.recordFault(&stoppedError{e.Cause})
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

// recordStarts records how long each port was started for.
func (w *portHistory) recordStarts(starts []trex.Start, answers []trex.Started) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, s := range starts {
		if p, ok := w.ports[s.Port]; ok {
			p.runDuration = answers[i].RunDuration
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
	c.PauseFrames, c.PauseFramesSent = p.extended.pauses, p.extended.pausesSent
	// a server that paces its frames is the software engine, which ends by the clock
	c.RunDuration, c.EndsLate = p.runDuration, !c.Paced
	switch {
	case c.Paced: // the software engine sends them with its counters
		return c
	case p.driver.registers == guardedRegisters: // ierrors has none of the frames that found no room
		c.ReceiveErrors, c.Damaged = 0, c.ReceiveErrors
	case p.places.split:
		c.ReceiveErrors, c.Damaged = p.extended.missed, p.extended.damaged
	}
	c.SendDrops = p.extended.dropped
	if !p.driver.errorsAreUnsent {
		c.SendDrops += c.SendErrors
	}
	return c
}

// extendedStats finds the counters that matter among each port's extended statistics, which differ by driver.
func (e *Engine) extendedStats(ctx context.Context, ports []trex.PortInfo) (map[int]watched, error) {
	histories := map[int]watched{}
	for _, p := range ports {
		d := driverOf(p.Driver)
		if d.registers == guardedRegisters {
			histories[p.Index] = watched{driver: d}
			continue
		}
		if p.ReceiveDrops != "" { // the server sends all of them with its counters
			continue
		}
		names, err := e.reader.ExtendedStatNames(ctx, p.Index)
		if err := ignoreRefusal(err); err != nil {
			return nil, err
		}
		histories[p.Index] = watched{driver: d, places: findExtended(d, names)}
	}
	return histories, nil
}
