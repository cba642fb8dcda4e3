package trextest

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/linerate-dev/linerate/internal/engine/trex/wire"
)

// Port describes a port of a Generator and the device at its link.
type Port struct {
	Index     int
	Driver    string
	MAC       string
	SpeedGbps float64
	Virtual   bool
	// Owner owns the port before a client acquires it. "" is a free port.
	Owner string
	// Neighbor is the device's MAC on this link, to which frames go unless a client sets another MAC (as a
	// configuration file has it). The device answers ARP and neighbour solicitations for Addresses.
	Neighbor  string
	Addresses []netip.Addr
	// ForwardsTo is the port on which the device returns what this one sends (MACs rewritten, TTL one less), -1 for
	// none.
	ForwardsTo int
	// Limit is how many packets per second the device forwards of what the port sends, 0 for everything. Holds is how
	// many frames above Limit the device takes when nothing came for a while.
	Limit, Holds float64
}

// TwoPorts are two 10 Gb/s ports with a router between them. The router has 198.18.0.1 and 2001:2::1 on port 0, and
// 198.18.1.1 and 2001:2:0:1::1 on port 1.
func TwoPorts() []Port {
	return []Port{
		{Index: 0, Driver: "net_ice", MAC: "02:00:00:00:00:10", SpeedGbps: 10, Neighbor: "02:00:00:00:00:20",
			ForwardsTo: 1,
			Addresses:  []netip.Addr{netip.MustParseAddr("198.18.0.1"), netip.MustParseAddr("2001:2::1")}},
		{Index: 1, Driver: "net_ice", MAC: "02:00:00:00:00:11", SpeedGbps: 10, Neighbor: "02:00:00:00:00:21",
			ForwardsTo: 0,
			Addresses:  []netip.Addr{netip.MustParseAddr("198.18.1.1"), netip.MustParseAddr("2001:2:0:1::1")}},
	}
}

// Cable is two ports of virtual functions that a cable joins.
func Cable() []Port {
	ports := TwoPorts()
	for i := range ports {
		p := &ports[i]
		p.Driver, p.SpeedGbps, p.Virtual, p.Neighbor, p.Addresses = "net_e1000_igb_vf", 1, true, ports[1-i].MAC, nil
	}
	return ports
}

// Generator is a small TRex. It keeps ownership, streams, states and events, counts what its ports would have sent
// and the device would have returned (rates by the clock, no packets), and passes pushed frames through the device.
// Inputs that abort a real server are recorded in Crashes.
type Generator struct {
	// Histograms says that the server was started with --hdrh, so that latency streams have a histogram of frames'
	// times.
	Histograms bool
	// HistogramsLater is how long after the counters of latency streams a reading reads their histograms, while
	// frames arrive. A negative time is before the counters.
	HistogramsLater time.Duration
	// Capacity is how many packets per second all ports together can send, 0 for any number. The server doesn't
	// report it, as TRex doesn't.
	Capacity float64

	began time.Time

	mu       sync.Mutex
	handle   string
	ports    map[int]*port
	device   device
	captures captures
	events   events
	schedule schedule
	versions int // of flows, counted up whenever a stream is added that has one
	methods  map[string]AnswerFunc
	crashes  []string
	global   map[string]any
}

// NewGenerator makes a server with these ports.
func NewGenerator(ports ...Port) *Generator {
	g := &Generator{began: time.Now(), ports: map[int]*port{}, events: events{}}
	g.captures = captures{clock: g.clock, ports: g.ports, byID: map[int]*capture{}}
	g.device = device{ports: g.ports, receive: g.captures.receive}
	g.schedule = schedule{ports: g.ports, events: g.events, counted: g.clock()}
	g.methods = g.table()
	g.boot(ports)
	return g
}

func (g *Generator) boot(ports []Port) {
	g.handle = token()
	clear(g.ports)
	clear(g.captures.byID)
	clear(g.events)
	g.global = map[string]any{"m_cpu_util": wire.Float(12.5), "m_rx_cpu_util": wire.Float(1.5), "m_total_queue_full": 0,
		"m_total_queue_drop": 0, "m_total_alloc_error": 0}
	for _, p := range ports {
		g.ports[p.Index] = newPort(p)
	}
}

// Restart plays a server process that ended and started again. It has another API handle, and no owners, streams,
// counters or events.
func (g *Generator) Restart() {
	g.mu.Lock()
	defer g.mu.Unlock()
	var ports []Port
	for _, index := range sortedIndexes(g.ports) {
		p := g.ports[index].Port
		p.Owner = ""
		ports = append(ports, p)
	}
	g.boot(ports)
}

// Crashes lists inputs that would have aborted a real server.
func (g *Generator) Crashes() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.crashes)
}

// Steal gives a port to another user, as another client's acquire with force would.
func (g *Generator) Steal(index int, user string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.give(g.ports[index], user, rand.Uint32()|1)
}

// SetLink changes a port's link. A port that works at layer 3 then forgets its next hop's MAC.
func (g *Generator) SetLink(index int, linkUp bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if p := g.ports[index]; p.linkDown == linkUp {
		p.linkDown, p.unresolved = !linkUp, p.unresolved || !p.layer2
	}
	g.events.add(8, object{"port_id": index, "attr": g.ports[index].attributes()})
}

// AddEvent puts an event into every session's queue.
func (g *Generator) AddEvent(kind int, data map[string]any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.events.add(kind, data)
}

// Sending lists the ports that send.
func (g *Generator) Sending() []int {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.schedule.advance(g.clock(), g.Capacity)
	return slices.DeleteFunc(sortedIndexes(g.ports), func(i int) bool { return g.ports[i].state != stateTX })
}

// Owners are the ports' owners, "" for free ports.
func (g *Generator) Owners() map[int]string {
	g.mu.Lock()
	defer g.mu.Unlock()
	owners := map[int]string{}
	for index, p := range g.ports {
		owners[index] = p.owner
	}
	return owners
}

// AddReceiveErrors adds frames that a port dropped itself to its counters.
func (g *Generator) AddReceiveErrors(index int, frames int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ports[index].receiveErrors += frames
}

// AddDamaged adds received frames with wrong checksums to a port's counters.
func (g *Generator) AddDamaged(index int, frames int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ports[index].damaged += frames
}

// Receive has a port receive a frame.
func (g *Generator) Receive(index int, frame []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.captures.receive(index, frame)
}

// Answer implements Answerer.
func (g *Generator) Answer(c Call) (any, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	method, ok := g.methods[c.Method]
	if !ok {
		return nil, &wire.Error{Code: wire.CodeUnknownMethod, Message: fmt.Sprintf("Method %s not registered",
			c.Method)}
	}
	if !bytes.HasPrefix(bytes.TrimSpace(c.Params), []byte("{")) {
		return nil, refuse("JSON-RPC2 params should be object in TRex case ")
	}
	if err := g.verifyHandle(c); err != nil {
		return nil, err
	}
	g.schedule.advance(g.clock(), g.Capacity)
	return method(c)
}

// clock is the server's monotonic clock.
func (g *Generator) clock() float64 { return 1000 + time.Since(g.began).Seconds() }

func (g *Generator) verifyHandle(c Call) error {
	switch c.Method {
	case "get_version", "ping", "api_sync_v2":
		return nil
	}
	p := struct {
		Handle *string `json:"api_h"`
	}{}
	if err := c.Decode(&p); err != nil || p.Handle == nil {
		return badParameters("field 'api_h' value is null")
	}
	if *p.Handle != g.handle {
		return refuse("API verification failed - API handler provided mismatch for class: 'STL'")
	}
	return nil
}

func sortedIndexes(ports map[int]*port) []int { return slices.Sorted(maps.Keys(ports)) }

// refuse is TRex's error for every refused call.
func refuse(format string, args ...any) error {
	return &wire.Error{Code: wire.CodeRefused, Message: "Failed To Execute Method", Specific: fmt.Sprintf(format,
		args...)}
}

// badParameters is TRex's error for parameters that it can't read.
func badParameters(words string) error {
	return &wire.Error{Code: wire.CodeParams, Message: "Bad parameters for method", Specific: words}
}

// token is a random string of eight characters, as handlers are.
func token() string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	b := make([]byte, 8)
	for i := range b {
		b[i] = letters[rand.IntN(len(letters))]
	}
	return string(b)
}
