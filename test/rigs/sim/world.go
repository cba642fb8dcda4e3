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
	// Now is the clock, time.Now inside a bubble.
	Now        func() time.Time
	Links      []Link
	Directions []Direction
	// Generators is how many there are, each with a port on every link.
	Generators []Generator
	// Receiver is the generator that receives what another one sends in a direction. With nil that is the sender
	// itself. It makes replicas whose ports are on different machines.
	Receiver func(direction, generator int) int
}

// Link is one wire. Its index is also the index of every generator's port on it.
type Link struct {
	Name    string
	Speed   units.BitRate
	Virtual bool
	Down    bool
	// Cuts are when the link is down once the world has begun, in order of time. The generators' ports send and
	// receive nothing then.
	Cuts []Cut
	// Background is foreign traffic that the generators' ports receive all the time.
	Background units.PacketRate
}

// Cut is from when to when a link is down, since the world began.
type Cut struct{ Begin, End time.Duration }

// isDown says that the link is down at a moment.
func (l Link) isDown(instant time.Duration) bool {
	return l.Down || slices.ContainsFunc(l.Cuts, func(c Cut) bool { return instant >= c.Begin && instant < c.End })
}

// changes is how often cuts changed the link's state up to a moment.
func (l Link) changes(instant time.Duration) (n int64) {
	for _, c := range l.Cuts {
		for _, moment := range []time.Duration{c.Begin, c.End} {
			if instant >= moment {
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
	// Limit is the most it forwards in packets per second, 0 for no limit. Burst is how much unused rate is saved up,
	// as time at the limit.
	Limit units.PacketRate
	Burst time.Duration
	// Later is the limit that it has from a moment on, in order of time.
	Later []LaterLimit
	// Capacity, where set, is what the device forwards of an offered rate, both in packets per second. It may be any
	// curve.
	Capacity func(offered float64) float64
	// Delay is a frame's latency.
	Delay time.Duration
	// MarkedDelay is a marked frame's latency.
	MarkedDelay time.Duration
	// Loss is the frame loss ratio at any load.
	Loss units.Ratio

	// Table fills up with forwarded frames, until Reset empties it.
	Table Table

	// Trouble is a temporary loss. Between two moments since the world began, this share is lost in addition.
	Trouble Trouble

	// Faults for the path check to find.
	Bounced  bool // frames come back on the port that sent them
	Bypassed bool // frames reach the other side unchanged
	KeepsTTL bool
	// Spoils flips a bit at the end of each marked frame.
	Spoils    bool
	Silent    bool // nothing is forwarded
	Resolving int  // how many marked frames are dropped before the first is forwarded
	// RepeatsOneIn N lets the Nth, the 2 Nth and so on of all marked frames arrive twice, and the one before each of
	// these not at all. With 1 each arrives twice, with 0 none does.
	RepeatsOneIn int64

	// Relearns is how many marked frames the device drops after each Reset before it forwards one, as Resolving at
	// the beginning.
	Relearns int

	marked int64 // of RepeatsOneIn
}

// Table is a device's table of connections or addresses. Each frame leaves an entry, and once the table is full the
// device forwards by a slower way.
type Table struct {
	// Room is how many frames it has room for, 0 for any number.
	Room int64
	// Full is the most that the device forwards once it is full.
	Full units.PacketRate
}

// LaterLimit is a limit that a device has from a moment on, since the world began.
type LaterLimit struct {
	Begin time.Duration
	Limit units.PacketRate
}

// Trouble is a device's temporary loss.
type Trouble struct {
	Begin, End time.Duration
	Loss       units.Ratio
}

// World holds the links, the device and the generators.
type World struct {
	cfg Config

	mu         sync.Mutex
	start      time.Time
	computed   time.Duration // up to where the fluid is computed
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
		w.generators = append(w.generators, &Engine{world: w, index: i, Generator: g, ports: map[int]*port{},
			cleared:  map[int]engine.PortCounters{},
			injected: map[int]units.Traffic{}, delivered: map[int]units.Traffic{}})
	}
	return w
}

// Generator is the i-th generator.
func (w *World) Generator(i int) *Engine { return w.generators[i] }

// Forwarded is what the device really forwarded of a direction so far, frames that are still on their way included. A
// measurement is compared with this truth.
func (w *World) Forwarded(direction int) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.advance()
	total := int64(0)
	for _, back := range w.flows[direction].returned {
		total += frames(back.end(), w.flows[direction].Mix).Packets
	}
	return total
}

// Reset empties the device's tables. The device forgets everything that it forwarded, and has to learn again where
// its neighbours are.
func (w *World) Reset() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.advance()
	for i, f := range w.flows {
		f.emptied = f.forwarded()
		w.cfg.Directions[i].Device.Resolving = f.Device.Relearns
	}
}

// elapsed is the time since the world began.
func (w *World) elapsed() time.Duration { return w.cfg.Now().Sub(w.start) }

// elapsedSince is the time since a moment of the world.
func (w *World) elapsedSince(moment time.Duration) time.Duration { return w.elapsed() - moment }

// advance computes the fluid up to now, piece by piece between the moments at which generators stop by themselves.
func (w *World) advance() {
	clock := w.elapsed()
	for w.computed < clock {
		next := clock
		for _, g := range w.generators {
			next = g.nextChange(w.computed, next)
		}
		for _, l := range w.cfg.Links {
			for _, c := range l.Cuts {
				next = Trouble{Begin: c.Begin, End: c.End}.next(w.computed, next)
			}
		}
		for i, f := range w.flows {
			f.advance(w.computed, next, w.rates(i), w.cfg.Links[f.To].isDown(w.computed))
		}
		w.computed = next
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

// directionFrom is the direction that a link is the source of, -1 if none.
func (w *World) directionFrom(link int) int {
	for i, d := range w.cfg.Directions {
		if d.From == link {
			return i
		}
	}
	return -1
}
