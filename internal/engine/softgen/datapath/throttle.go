package datapath

// This file limits the rate of a port of the software engine, to test how a measurement handles a generator that can't
// send the load that it is asked for. The port really sends less, and counts what it sent.

import (
	"sync"

	"github.com/linerate-dev/linerate/internal/units"
)

// Throttled sends at most a given rate, whatever load it is asked for. It is safe for concurrent use, as the port inside is.
type Throttled struct {
	Port
	most units.PacketRate

	mu   sync.Mutex
	base float64 // packets/s of the present streams at factor 1
}

// Throttle puts a throttle on a port. It throttles continuous streams and single bursts with rates in packets/s, which are all that profiles have.
func Throttle(p Port, most units.PacketRate) *Throttled { return &Throttled{Port: p, most: most} }

// Start plays the run, slower if it asks for too much.
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
	run.Factor = p.within(run.Factor)
	return p.Port.Start(run)
}

// SetFactor changes the rate, as far as the throttle lets it.
func (p *Throttled) SetFactor(factor float64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.Port.SetFactor(p.within(factor))
}

func (p *Throttled) within(factor float64) float64 {
	if p.base <= 0 {
		return factor
	}
	return min(factor, p.most.PerSecond()/p.base)
}
