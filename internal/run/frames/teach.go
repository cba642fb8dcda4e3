package frames

import (
	"context"
	"fmt"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/measure/path"
)

// teachBridge sends a broadcast frame from each port (RFC 2544 section 23), so that a bridge learns where each port
// is, and doesn't flood the test's frames.
func (p *prover) teachBridge(ctx context.Context) error {
	if p.topology.forwarding() != plan.L2 {
		return nil
	}
	return p.teach(ctx, func(port engine.Port, planned plan.GeneratorPort) ([][]byte, error) {
		frame, err := path.Learning(port.MAC, planned.VLAN)
		return [][]byte{frame}, err
	})
}

// teach sends the learning frames of each port that has some.
func (p *prover) teach(ctx context.Context, learning func(port engine.Port, planned plan.GeneratorPort) ([][]byte,
	error)) error {
	return p.fleet.callAll(ctx, callTimeout, "send a learning frame from", func(ctx context.Context, g int) error {
		for _, planned := range p.journal.Plan.Generators[g].Ports {
			port, err := p.topology.port(g, planned.Link)
			if err != nil {
				return err
			}
			frames, err := learning(port, planned)
			if err == nil && len(frames) > 0 {
				err = p.fleet.engines[g].Inject(ctx, port.Index, frames)
			}
			if err != nil {
				return fmt.Errorf("link %s: %w", planned.Link, err)
			}
		}
		return nil
	})
}

// relearn sends learning frames, and then marked frames in all directions, until all marked frames of a round come
// out where they should. If they don't in time, the error names the first direction in which they don't.
func (p *prover) relearn(ctx context.Context, deadline time.Time) error {
	for wait := relearnWait; ; wait = min(2*wait, proveWait) {
		checks, err := p.seeAll(ctx, wait)
		if err != nil {
			return err
		}
		wrong := firstUnproven(checks)
		if wrong == nil || !time.Now().Before(deadline) {
			return wrong
		}
	}
}

// seeAll sends marked frames once in each direction, waits until they prove all directions or wait is over, and
// returns where they came out.
func (p *prover) seeAll(ctx context.Context, wait time.Duration) ([]report.PathCheck, error) {
	probes := make([][]path.Probe, len(p.journal.Plan.Directions))
	for i := range p.journal.Plan.Directions {
		var err error
		if probes[i], err = p.probes(i, 1<<31+p.relearned); err != nil {
			return nil, err
		}
		p.relearned += uint32(len(p.topology.names) * path.MostKinds)
	}
	judge := func(arrivals []path.Arrival) (checks []report.PathCheck) {
		for i, d := range p.journal.Plan.Directions {
			check, _ := path.Judge(d, p.topology.device(), probes[i], arrivals)
			checks = append(checks, check)
		}
		return checks
	}
	proven := func(arrivals []path.Arrival) bool { return firstUnproven(judge(arrivals)) == nil }
	arrivals, err := p.capture(ctx, func(ctx context.Context, captures []engine.Capture) ([]path.Arrival, error) {
		if err := p.teachRouter(ctx); err != nil {
			return nil, err
		}
		for _, ofDirection := range probes {
			if err := p.inject(ctx, ofDirection); err != nil {
				return nil, err
			}
		}
		return p.see(ctx, captures, nil, proven, wait, 0)
	})
	if err != nil {
		return nil, err
	}
	return judge(arrivals), nil
}

// teachRouter sends an ARP or neighbour request from each of the generators' addresses to the router, which learns
// from the request where that address is.
func (p *prover) teachRouter(ctx context.Context) error {
	if p.topology.forwarding() != plan.L3 {
		return nil
	}
	return p.teach(ctx, func(port engine.Port, planned plan.GeneratorPort) ([][]byte, error) {
		return path.LearningOfRouter(port.MAC, planned.VLAN, planned.Addresses,
			p.topology.link(planned.Link).DUT.Addresses)
	})
}
