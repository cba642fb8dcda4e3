package datapath

// This file limits the rate of a port of the software engine, to test how a measurement handles a generator
// that can't send the offered load. The port really sends less, and counts the frames that it sent.

import (
	"sync"

	"github.com/linerate-dev/linerate/internal/units"
)

// Throttled sends at most a given rate, whatever the offered load. It is safe for concurrent use, as its port is.
type Throttled struct {
	Port
	limit units.PacketRate

	mu   sync.Mutex
	base float64 // packets/s of the present streams at factor 1
}

// Throttle puts a throttle on a port. It throttles continuous streams and single bursts with rates in
// packets/s. Profiles have no others.
func Throttle(p Port, limit units.PacketRate) *Throttled { return &Throttled{Port: p, limit: limit} }

// Start plays the run, at a lower rate if the run exceeds the limit.
func (p *Throttled) Start(run Run) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.base = 0
	for _, s := range run.Streams {
		latency := s.Stream.FlowStats.Enabled && s.Stream.FlowStats.RuleType == "latency"
		if s.Stream.Mode.Type != "multi_burst" && s.Stream.Mode.Rate.Type == "pps" && !latency {
			p.base += s.Stream.Mode.Rate.Value
		}
	}
	run.Factor = p.throttled(run.Factor)
	return p.Port.Start(run)
}

// SetFactor changes the rate, up to the limit.
func (p *Throttled) SetFactor(factor float64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.Port.SetFactor(p.throttled(factor))
}

func (p *Throttled) throttled(factor float64) float64 {
	if p.base <= 0 {
		return factor
	}
	return min(factor, p.limit.PerSecond()/p.base)
}
