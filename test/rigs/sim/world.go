package sim

import (
	"slices"
	"sync"
	"time"

	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/units"
)

// Config is the world outside the generators.
type Config struct {
	// Now is the clock; time.Now inside a bubble.
	Now        func() time.Time
	Links      []Link
	Directions []Direction
	// Generators is how many there are, each with a port on every link.
	Generators []Generator
	// Receiver is the generator that receives what another one sends in a direction; nil: the sender itself. It makes replicas whose ports are
	// on different machines.
	Receiver func(direction, generator int) int
}

// Link is one wire; its index is also the index of every generator's port on it.
type Link struct {
	Name    string
	Speed   units.BitRate
	Virtual bool
	Down    bool
	// Cuts are when the link is down once the world has begun, in order of time: the generators' ports send and receive nothing then.
	Cuts []Cut
	// Background is foreign traffic that the generators' ports receive all the time.
	Background units.PacketRate
}

// Cut is from when to when a link is down, since the world began.
type Cut struct{ From, To time.Duration }

// down says that the link is down at a moment.
func (l Link) down(at time.Duration) bool {
	return l.Down || slices.ContainsFunc(l.Cuts, func(c Cut) bool { return at >= c.From && at < c.To })
}

// changes is how often cuts changed the link's state up to a moment.
func (l Link) changes(at time.Duration) (n int64) {
	for _, c := range l.Cuts {
		for _, moment := range []time.Duration{c.From, c.To} {
			if at >= moment {
				n++
			}
		}
	}
	return n
}

// Direction is traffic from one link to another and what the device does to it.
type Direction struct {
	From, To int // indexes of links
	Mix      units.Traffic
	Device   Device
}

// Device is how the device treats one direction. The zero value forwards everything at once.
type Device struct {
	// Forwarding is "L3" (also when empty), "L2" or "MACRewrite".
	Forwarding string
	// Limit is the most it forwards, packets per second; 0 no limit. Burst is how much unused rate is saved up, as time at the limit.
	Limit units.PacketRate
	Burst time.Duration
	// Later is the limit that it has from a moment on, in order of time.
	Later []LaterLimit
	// Capacity, where set, is what it forwards of an offered rate, both in packets per second: any curve.
	Capacity func(offered float64) float64
	// Delay is a frame's latency.
	Delay time.Duration
	// MarkedDelay is a marked frame's latency.
	MarkedDelay time.Duration
	// Loss is the frame loss ratio at any load.
	Loss units.Ratio

	// Table fills up with forwarded frames, until Reset empties it.
	Table Table

	// Trouble is a temporary loss: between two moments since the world began, this share is lost in addition.
	Trouble Trouble

	// Faults for the path check to find.
	Bounced  bool // frames come back on the port that sent them
	Bypassed bool // frames reach the other side unchanged
	KeepsTTL bool
	// Spoils flips a bit at the end of each marked frame.
	Spoils    bool
	Silent    bool // nothing is forwarded
	Resolving int  // how many marked frames are dropped before the first is forwarded
	// RepeatsOneIn N: of all marked frames the Nth, the 2 Nth and so on arrive twice, and the one before each of these not at all; 1: each arrives twice; 0: none does.
	RepeatsOneIn int64

	// Relearns is how many marked frames the device drops after each Reset before it forwards one, as Resolving at the beginning.
	Relearns int

	marked int64 // of RepeatsOneIn
}

// Table is a device's table of connections or addresses: each frame leaves an entry, and once there is no room more the device forwards by a slower way.
type Table struct {
	// Room is how many frames it has room for; 0: any number.
	Room int64
	// Full is the most that the device forwards once it is full.
	Full units.PacketRate
}

// LaterLimit is a limit that a device has from a moment on, since the world began.
type LaterLimit struct {
	From  time.Duration
	Limit units.PacketRate
}

// Trouble is a device's temporary loss.
type Trouble struct {
	From, To time.Duration
	Loss     units.Ratio
}

// World holds the links, the device and the generators.
type World struct {
	cfg Config

	mu         sync.Mutex
	start      time.Time
	last       time.Duration // up to where the fluid is computed
	flows      []*flow
	generators []*Engine
	underway   []arrival
}

// New makes a world whose time begins now.
func New(cfg Config) *World {
	w := &World{cfg: cfg, start: cfg.Now()}
	for _, d := range cfg.Directions {
		w.flows = append(w.flows, newFlow(d, len(cfg.Generators)))
	}
	for i, g := range cfg.Generators {
		w.generators = append(w.generators, &Engine{world: w, index: i, Generator: g, ports: map[int]*port{}, cleared: map[int]engine.PortCounters{},
			injected: map[int]units.Traffic{}, delivered: map[int]units.Traffic{}})
	}
	return w
}

// Generator is the i-th generator.
func (w *World) Generator(i int) *Engine { return w.generators[i] }

// Forwarded is what the device really forwarded of a direction so far, frames that are still on their way included: the truth that a
// measurement is held against.
func (w *World) Forwarded(direction int) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.advance()
	total := int64(0)
	for _, back := range w.flows[direction].back {
		total += frames(back.end(), w.flows[direction].Mix).Packets
	}
	return total
}

// Reset empties the device's tables: it forgets everything that it forwarded, and has to learn again where its neighbours are.
func (w *World) Reset() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.advance()
	for i, f := range w.flows {
		f.emptied = f.forwarded()
		w.cfg.Directions[i].Device.Resolving = f.Device.Relearns
	}
}

// now is the time since the world began.
func (w *World) now() time.Duration { return w.cfg.Now().Sub(w.start) }

// since is the time since a moment of the world.
func (w *World) since(moment time.Duration) time.Duration { return w.now() - moment }

// advance computes the fluid up to now, piece by piece between the moments at which generators stop by themselves.
func (w *World) advance() {
	now := w.now()
	for w.last < now {
		next := now
		for _, g := range w.generators {
			next = g.nextChange(w.last, next)
		}
		for _, l := range w.cfg.Links {
			for _, c := range l.Cuts {
				next = Trouble{From: c.From, To: c.To}.next(w.last, next)
			}
		}
		for i, f := range w.flows {
			f.advance(w.last, next, w.rates(i), w.cfg.Links[f.To].down(w.last))
		}
		w.last = next
		for _, g := range w.generators {
			g.expire(next)
		}
	}
	w.arrive()
}

// rates is what each generator sends of direction i at present, packets per second.
func (w *World) rates(i int) []float64 {
	rates := make([]float64, len(w.generators))
	for g, e := range w.generators {
		rates[g] = e.sending(w.flows[i].From)
	}
	return rates
}

// receiver is the generator that gets what another one sends in a direction.
func (w *World) receiver(direction, generator int) int {
	if w.cfg.Receiver == nil {
		return generator
	}
	return w.cfg.Receiver(direction, generator)
}

// deviceMAC is the device's address on a link.
func deviceMAC(link int) engine.MAC { return mac(0xdd, link) }

// directionFrom is the direction that a link is the source of; -1 none.
func (w *World) directionFrom(link int) int {
	for i, d := range w.cfg.Directions {
		if d.From == link {
			return i
		}
	}
	return -1
}
