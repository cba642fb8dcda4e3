package measure

import (
	"maps"
	"math"
	"math/rand/v2"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/units"
)

// drawn is a random window, as it was read: of one to three replicas, which send evenly or in bursts, are read
// regularly or not, before a device that loses frames all the time, in bursts, in gaps, or not at all.
type drawn struct {
	setup    Setup
	span     Span               // without its pace
	recorded [][]engine.Reading // all readings of all generators, one after the other
}

// pace follows the readings.
func (d drawn) pace() *Pace {
	p := d.setup.Pace(d.span.Intended)
	for _, readings := range d.recorded {
		p.Add(readings)
	}
	return p
}

// habits are how the device loses frames, and how the generators send, of one drawn window.
type habits struct {
	// the shares lost in calm times and in how many of them, in bursts, and in gaps
	calm, often, burst, gap       float64
	bursts, gaps, stray, flaps    float64 // how likely each is in a tick
	drops                         float64 // the share that receiving ports drop
	surplus                       int64   // frames more that come back in a tick
	usual, unsure                 time.Duration
	pps, slow                     float64 // a generator's rate of each direction, and what it really sends of it
	generators, directions, ticks int
}

// oneOf is one of the choices.
func oneOf[T any](rnd *rand.Rand, choices ...T) T { return choices[rnd.IntN(len(choices))] }

func drawHabits(rnd *rand.Rand) habits {
	share := func() float64 { return oneOf(rnd, 0, 0, math.Pow(10, -4*rnd.Float64()), rnd.Float64()/100) }
	return habits{calm: share(), often: oneOf(rnd, 0, 0.3, 0.5, 0.55, 1), burst: share(), gap: share(),
		bursts: oneOf(rnd, 0, 0, 0.02, 0.3), gaps: oneOf(rnd, 0, 0, 0.02, 0.1), drops: oneOf(rnd, 0, 0, 0, 0.001, 0.05), stray: oneOf(rnd, 0, 0, 0.02), flaps: 0.0003,
		surplus: oneOf[int64](rnd, 0, 0, 0, 0, 0, 0, 10), usual: time.Duration(oneOf(rnd, 20, 20, 45, 60, 250)) * time.Millisecond,
		unsure: time.Duration(oneOf(rnd, 0, 0, 50, 1000)) * time.Microsecond, pps: 100 * math.Pow(1000, rnd.Float64()), slow: oneOf(rnd, 1, 1, 1, 0.98, 0.5),
		generators: 1 + rnd.IntN(3), directions: 1 + rnd.IntN(2), ticks: oneOf(rnd, 2+rnd.IntN(10), 2+rnd.IntN(100))}
}

func draw(rnd *rand.Rand) drawn {
	h := drawHabits(rnd)
	d := drawn{setup: drawSetup(rnd, h)}
	for range h.directions {
		d.span.Intended = append(d.span.Intended, units.PacketRate(h.pps*float64(h.generators)*float64(units.PacketPerSecond)))
	}
	now := make([]engine.Reading, h.generators)
	for g := range now {
		now[g] = engine.Reading{Instant: time.Hour * time.Duration(g), Uncertainty: h.unsure, CPUPercent: 50, Ports: map[int]engine.PortCounters{
			0: {LinkUp: true, Paced: h.generators == 1 && h.gap > 0.005}, 1: {LinkUp: true}}}
	}
	d.recorded = append(d.recorded, now)
	d.span.Readings = make([][]engine.Reading, h.generators)
	whole, kept := time.Duration(0), time.Duration(-1)
	for n := range h.ticks {
		took, kind := h.usual, rnd.Float64()
		if kind < h.gaps {
			took *= time.Duration(2 + rnd.IntN(8))
		}
		now = h.tick(rnd, now, took, kind < h.gaps, rnd.Float64() < h.bursts)
		whole += took
		d.recorded = append(d.recorded, now)
		if whole-kept < time.Second && n > 0 && n < h.ticks-1 {
			continue
		}
		kept = whole
		for g := range now {
			d.span.Readings[g] = append(d.span.Readings[g], now[g])
		}
	}
	for g := range now {
		d.span.Readings[g][0] = d.recorded[0][g]
	}
	d.span.Planned = oneOf(rnd, 0, whole, whole, whole, time.Duration(float64(whole)*1.2))
	for range oneOf(rnd, 0, h.directions) {
		d.span.Limited = append(d.span.Limited, report.Limiter{Passed: rnd.Int64N(1e6), Dropped: rnd.Int64N(2) * rnd.Int64N(1000)})
	}
	return d
}

func drawSetup(rnd *rand.Rand, h habits) Setup {
	s := Setup{}
	apart := rnd.IntN(3) // so many machines further are the receiving ports
	for g := range h.generators {
		s.Generators = append(s.Generators, []string{"g0", "g1", "g2"}[g])
	}
	for i := range h.directions {
		d := Direction{From: []string{"west", "east"}[i], To: []string{"east", "west"}[i], Mix: units.Traffic{Packets: 1, Bytes: 64}, LineRate: units.Gbps,
			Background: units.PacketRate(oneOf(rnd, 0, 0, 0, h.pps)), Strays: units.PacketRate(oneOf(rnd, 0, 0, 2)) * units.PacketPerSecond}
		for g := range h.generators {
			d.Pairs = append(d.Pairs, Pair{Generator: g, Receiver: (g + apart) % h.generators, Send: i, Receive: 1 - i, Streams: oneOf(rnd, 1, 1, 1, 1, 5, -1)})
		}
		s.Directions = append(s.Directions, d)
	}
	of := h.pps * float64(h.generators) * oneOf(rnd, 0.99, 0.999, 1, 1.004, 1.1)
	s.Limit = oneOf(rnd, nil, nil, &plan.Limit{PacketsPerSecond: int64(of), Burst: plan.Duration(50 * time.Millisecond)},
		&plan.Limit{Layer2BitsPerSecond: int64(of * 512), Burst: plan.Duration(100 * time.Millisecond)})
	return s
}

// tick is the next reading of all generators, so much later.
func (h habits) tick(rnd *rand.Rand, before []engine.Reading, took time.Duration, gap, burst bool) []engine.Reading {
	after := make([]engine.Reading, len(before))
	for g, r := range before {
		after[g] = r
		after[g].Instant += took + time.Duration(rnd.Int64N(int64(2*h.unsure)+1)) - h.unsure
		after[g].Ports = maps.Clone(r.Ports)
		if rnd.Float64() < h.flaps {
			edit(after[g], 0, func(c *engine.PortCounters) { c.LinkFlaps++ })
		}
	}
	share := 0.0
	switch {
	case gap:
		share = oneOf(rnd, h.gap, h.gap, -h.gap/2) // what waited comes back
	case burst:
		share = h.burst
	case rnd.Float64() < h.often:
		share = h.calm
	}
	for g := range after {
		for port := range h.directions {
			sent := int64(math.Round(h.pps * h.slow * took.Seconds()))
			if burst {
				sent += sent + int64(math.Round(h.pps/10)) + 20
			}
			back := sent - int64(math.Ceil(float64(sent)*share)) + h.surplus*rnd.Int64N(2)
			dropped := int64(float64(back) * h.drops)
			edit(after[g], port, func(c *engine.PortCounters) { c.Sent = c.Sent.Add(units.Traffic{Packets: sent, Bytes: 64 * sent}) })
			to := g
			if rnd.Float64() < h.stray {
				to = rnd.IntN(len(after))
			}
			edit(after[to], 1-port, func(c *engine.PortCounters) {
				c.Received = c.Received.Add(units.Traffic{Packets: back - dropped, Bytes: 64 * (back - dropped)})
				c.ReceiveErrors += dropped
			})
		}
	}
	return after
}

func edit(r engine.Reading, port int, change func(*engine.PortCounters)) {
	c := r.Ports[port]
	change(&c)
	r.Ports[port] = c
}
