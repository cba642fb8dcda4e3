package frames

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/measure/observe"
	"github.com/linerate-dev/linerate/internal/run/runner"
)

// matchGenerators puts the generators into the Plan's order.
func (r *driver) matchGenerators() error {
	r.journal.Enter(runner.Preparing, "asking the generators what they are")
	var gens []Generator
	for _, planned := range r.journal.Plan.Generators {
		i := slices.IndexFunc(r.available, func(g Generator) bool { return g.Name == planned.Name })
		if i < 0 {
			return fmt.Errorf("the plan's generator %s is missing", planned.Name)
		}
		for _, port := range planned.Ports {
			if _, found := r.available[i].PortOfLink[port.Link]; !found {
				return fmt.Errorf("generator %s has no port on link %s", planned.Name, port.Link)
			}
		}
		gens = append(gens, r.available[i])
	}
	if len(gens) == 0 || len(r.journal.Plan.Directions) == 0 {
		return fmt.Errorf("the plan has %d generators and %d directions: there is nothing to measure", len(gens),
			len(r.journal.Plan.Directions))
	}
	r.topology, r.fleet = &topology{plan: r.journal.Plan}, &fleet{journal: r.journal}
	r.resolver = &resolver{}
	for _, g := range gens {
		r.topology.names, r.topology.ports = append(r.topology.names, g.Name), append(r.topology.ports, g.PortOfLink)
		r.fleet.engines, r.resolver.knownHops = append(r.fleet.engines, g.Engine), append(r.resolver.knownHops,
			g.NextHopMAC)
	}
	return nil
}

// describe asks every generator for its description.
func (r *driver) describe(ctx context.Context) error {
	r.topology.described = make([]engine.Description, len(r.topology.names))
	err := r.fleet.callAll(ctx, callTimeout, "describe", func(ctx context.Context, g int) (err error) {
		r.topology.described[g], err = r.fleet.engines[g].Describe(ctx)
		return err
	})
	if err != nil {
		return err
	}
	for g := range r.topology.names {
		d := r.topology.described[g]
		entry := report.Generator{Name: r.topology.names[g], Product: d.Product, Server: d.Server, Hostname: d.Hostname,
			CPUModel: d.CPUModel, Cores: d.CoreCount,
			Processors: d.Processors, Kernel: d.Kernel, Hypervisor: d.Hypervisor, Tuning: d.Tuning, Allowed: d.Allowed}
		for _, planned := range r.journal.Plan.Generators[g].Ports {
			port, err := r.topology.port(g, planned.Link)
			if err != nil {
				return err
			}
			entry.Ports = append(entry.Ports, report.GeneratorPort{Link: planned.Link, Index: port.Index,
				Name: port.Name, Driver: port.Driver, NIC: port.NIC, Firmware: port.Firmware,
				Path: port.Path, MAC: string(port.MAC), FlowControl: port.FlowControl,
				ReceiveQueues: port.ReceiveQueues})
		}
		r.journal.Report.Generators = append(r.journal.Report.Generators, entry)
		r.journal.Note("generator %s: %s at %s", entry.Name, entry.Product, entry.Server)
	}
	return nil
}

// claim takes all ports of all generators, and asks for their descriptions again. Ports that were claimed, or may
// have been, are released at the end in any case.
func (r *driver) claim(ctx context.Context) error {
	r.journal.Update(func(p *runner.Progress) { p.Message = "taking the ports" })
	r.claimed = make([]bool, len(r.topology.names))
	err := r.fleet.callAll(ctx, callTimeout, "claim the ports of", func(ctx context.Context, g int) error {
		err := r.fleet.engines[g].Claim(ctx, r.topology.allPorts(g), r.opts.Force)
		r.claimed[g] = !errors.Is(err, engine.ErrTaken)
		if err == nil {
			r.topology.described[g], err = r.fleet.engines[g].Describe(ctx)
		}
		return err
	})
	if err != nil {
		return err
	}
	return r.reportClaimed()
}

// reportClaimed reports the ports as they are while traffic flows. Claiming turns flow control off where possible,
// and finds out which counters they have.
func (r *driver) reportClaimed() error {
	for g := range r.journal.Report.Generators {
		for i := range r.journal.Report.Generators[g].Ports {
			reported := &r.journal.Report.Generators[g].Ports[i]
			port, err := r.topology.port(g, reported.Link)
			if err != nil {
				return err
			}
			reported.FlowControl, reported.ReceiveDrops, reported.PauseFrames = port.FlowControl,
				string(port.ReceiveDrops),
				string(port.PauseFrames)
		}
	}
	return nil
}

// prepareMeasure says which ports count each direction.
func (r *driver) prepareMeasure(context.Context) error {
	*r.setup = measure.Setup{Limit: r.journal.Plan.DUT.KnownLimit(),
		SharesKernel: r.journal.Plan.DUT.SharesGeneratorsKernel(), Generators: slices.Clone(r.topology.names)}
	r.observers.Log = observe.NewLog(r.journal.Plan.Observers, observe.Setup{Generators: r.setup.Generators,
		Links: r.topology.linksOfPorts(), Directions: r.journal.Plan.Directions, Whereabouts: r.opts.Whereabouts})
	for _, d := range r.journal.Plan.Directions {
		m := measure.Direction{From: d.From, To: d.To, Mix: d.Mix, LineRate: r.rates.line[d.To],
			Reshapes: r.journal.Plan.DUT.Reshapes()}
		for _, g := range r.topology.senders(d) {
			receiver, err := r.topology.partner(g, d.From, d.To)
			if err != nil {
				return err
			}
			pair := measure.Pair{Generator: g, Send: r.topology.index(g, d.From), Receiver: receiver,
				Receive: r.topology.index(receiver, d.To), Share: r.topology.planned(g, d.From).Share}
			pair.Streams, pair.Extra = measure.PaceOf(r.topology.planned(g, d.From).Streams)
			m.Pairs = append(m.Pairs, pair)
			m.Sizes = measure.SizesOf(r.topology.planned(g, d.From).Streams, m.Sizes)
			r.counters.upkeep = r.counters.upkeep || slices.ContainsFunc(r.topology.planned(g, d.From).Streams,
				stream.MayKeepLinkUp)
		}
		r.setup.Directions = append(r.setup.Directions, m)
	}
	return nil
}
