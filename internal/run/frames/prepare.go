package frames

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/run/runner"
)

// matchGenerators puts the generators into the Plan's order.
func (r *run) matchGenerators(context.Context) error {
	r.Update(func(p *runner.Progress) { p.Phase, p.Message = runner.Preparing, "asking the generators what they are" })
	for _, planned := range r.Plan.Generators {
		i := slices.IndexFunc(r.given, func(g Generator) bool { return g.Name == planned.Name })
		if i < 0 {
			return fmt.Errorf("the plan's generator %s is missing", planned.Name)
		}
		for _, port := range planned.Ports {
			if _, found := r.given[i].PortOfLink[port.Link]; !found {
				return fmt.Errorf("generator %s has no port on link %s", planned.Name, port.Link)
			}
		}
		r.gens = append(r.gens, r.given[i])
	}
	if len(r.gens) == 0 || len(r.Plan.Directions) == 0 {
		return fmt.Errorf("the plan has %d generators and %d directions: there is nothing to measure", len(r.gens), len(r.Plan.Directions))
	}
	return nil
}

// describe asks every generator for its description.
func (r *run) describe(ctx context.Context) error {
	r.described = make([]engine.Description, len(r.gens))
	err := r.each(ctx, callTimeout, "describe", func(ctx context.Context, g int) (err error) {
		r.described[g], err = r.gens[g].Engine.Describe(ctx)
		return err
	})
	if err != nil {
		return err
	}
	for g := range r.gens {
		d := r.described[g]
		entry := report.Generator{Name: r.gens[g].Name, Product: d.Product, Server: d.Server, Hostname: d.Hostname, CPUModel: d.CPUModel, Cores: d.CoreCount,
			Processors: d.Processors, Kernel: d.Kernel, Hypervisor: d.Hypervisor, Tuning: d.Tuning, Allowed: d.Allowed}
		for _, planned := range r.Plan.Generators[g].Ports {
			port, err := r.port(g, planned.Link)
			if err != nil {
				return err
			}
			entry.Ports = append(entry.Ports, report.GeneratorPort{Link: planned.Link, Index: port.Index, Name: port.Name, Driver: port.Driver, NIC: port.NIC, Firmware: port.Firmware,
				Path: port.Path, MAC: string(port.MAC), FlowControl: port.FlowControl, ReceiveQueues: port.ReceiveQueues})
		}
		r.Report.Generators = append(r.Report.Generators, entry)
		r.Note("generator %s: %s at %s", entry.Name, entry.Product, entry.Server)
	}
	return nil
}

// port is the description of a generator's port on a link.
func (r *run) port(g int, link string) (engine.Port, error) {
	index := r.gens[g].PortOfLink[link]
	for _, p := range r.described[g].Ports {
		if p.Index == index {
			return p, nil
		}
	}
	return engine.Port{}, fmt.Errorf("generator %s has no port %d for link %s: it has %d ports", r.gens[g].Name, index, link, len(r.described[g].Ports))
}

// ports are all of a generator's ports that the plan uses, in ascending order.
func (r *run) ports(g int) []int {
	var ports []int
	for _, p := range r.Plan.Generators[g].Ports {
		ports = append(ports, r.gens[g].PortOfLink[p.Link])
	}
	slices.Sort(ports)
	return ports
}

// claim takes all ports of all generators, and asks for their descriptions again. Ports that were claimed, or may have been, are released at the end in any
// case.
func (r *run) claim(ctx context.Context) error {
	r.Update(func(p *runner.Progress) { p.Message = "taking the ports" })
	r.claimed = make([]bool, len(r.gens))
	err := r.each(ctx, callTimeout, "claim the ports of", func(ctx context.Context, g int) error {
		err := r.gens[g].Engine.Claim(ctx, r.ports(g), r.opts.Force)
		r.claimed[g] = !errors.Is(err, engine.ErrTaken)
		if err == nil {
			r.described[g], err = r.gens[g].Engine.Describe(ctx)
		}
		return err
	})
	if err != nil {
		return err
	}
	return r.reportClaimed()
}

// reportClaimed reports the ports as they are while traffic flows: claiming turns flow control off where possible, and finds out which counters they have.
func (r *run) reportClaimed() error {
	for g := range r.Report.Generators {
		for i := range r.Report.Generators[g].Ports {
			reported := &r.Report.Generators[g].Ports[i]
			port, err := r.port(g, reported.Link)
			if err != nil {
				return err
			}
			reported.FlowControl, reported.ReceiveDrops, reported.PauseFrames = port.FlowControl, string(port.ReceiveDrops), string(port.PauseFrames)
		}
	}
	return nil
}

// address gives every port its addresses and resolves its next hop.
func (r *run) address(ctx context.Context) error {
	r.Update(func(p *runner.Progress) { p.Message = "finding the device's addresses" })
	r.nextHops = make([]map[string]engine.MAC, len(r.gens))
	err := r.each(ctx, resolveTimeout+r.Plan.DUT.ReadyDelay.Std(), "address", func(ctx context.Context, g int) error {
		r.nextHops[g] = map[string]engine.MAC{}
		for _, planned := range r.Plan.Generators[g].Ports {
			mac, err := r.addressPort(ctx, g, planned)
			if err != nil {
				return err
			}
			if mac == "" {
				return fmt.Errorf("link %s: the server's port %d has no destination MAC: give it dest_mac or default_gw in the server's configuration file (port_info)",
					planned.Link, r.gens[g].PortOfLink[planned.Link])
			}
			r.nextHops[g][planned.Link] = mac
		}
		return nil
	})
	for g := range r.Report.Generators {
		for i := range r.Report.Generators[g].Ports {
			port := &r.Report.Generators[g].Ports[i]
			port.NextHopMAC = string(r.nextHops[g][port.Link])
		}
	}
	return err
}

// forwarding is how the device forwards; without a device it is L2, as frames come back unchanged.
func (r *run) forwarding() plan.Forwarding {
	if r.Plan.DUT.Loopback() {
		return plan.L2
	}
	return r.Plan.DUT.Forwarding
}

// device is the Plan's device, with the way that it really forwards.
func (r *run) device() plan.DUT {
	d := r.Plan.DUT
	d.Forwarding = r.forwarding()
	return d
}

// addressing is a port's addresses and next hop on its link. Where the device forwards frames unchanged, the next hop is the replica's own far port.
func (r *run) addressing(g int, port plan.GeneratorPort) (engine.Addressing, error) {
	if r.forwarding() == plan.AsConfigured {
		return engine.Addressing{}, nil
	}
	a := engine.Addressing{Local: port.Addresses, VLAN: port.VLAN}
	if r.forwarding() == plan.L2 {
		peer := r.peerOf(port.Link)
		far, err := r.partner(g, port.Link, peer)
		if err == nil {
			a.NextHopMAC, err = r.mac(far, peer)
		}
		return a, err
	}
	link := r.link(port.Link)
	for _, prefix := range link.DUT.Addresses {
		a.NextHop = append(a.NextHop, prefix.Addr())
	}
	a.NextHopMAC = r.gens[g].NextHopMAC[port.Link]
	if a.NextHopMAC == "" {
		a.NextHopMAC = engine.MAC(strings.ToLower(link.DUT.MAC))
	}
	if a.NextHopMAC == "" && len(a.NextHop) == 0 {
		return a, fmt.Errorf("link %s: neither address nor MAC of the device is known: set dut.address or dut.macAddress", port.Link)
	}
	return a, nil
}

// peerOf is the link with which a link exchanges frames: the one that it sends to, else the one that it receives from, else itself.
func (r *run) peerOf(link string) string {
	for _, d := range r.Plan.Directions {
		if d.From == link {
			return d.To
		}
	}
	for _, d := range r.Plan.Directions {
		if d.To == link {
			return d.From
		}
	}
	return link
}

func (r *run) link(name string) plan.Link {
	for _, l := range r.Plan.Links {
		if l.Name == name {
			return l
		}
	}
	return plan.Link{Name: name}
}

// hops are the next hop's addresses, for people.
func hops(a engine.Addressing) string {
	if len(a.NextHop) == 0 {
		return string(a.NextHopMAC)
	}
	var names []string
	for _, h := range a.NextHop {
		names = append(names, netip.Addr.String(h))
	}
	return strings.Join(names, ", ")
}

// load gives every sending port its streams.
func (r *run) load(ctx context.Context) error {
	r.findStamped()
	return r.each(ctx, callTimeout, "load streams on", func(ctx context.Context, g int) error {
		for i, d := range r.Plan.Directions {
			if !r.on(g, d.From) {
				continue
			}
			if err := r.gens[g].Engine.Load(ctx, r.gens[g].PortOfLink[d.From], r.streams(g, i)); err != nil {
				return fmt.Errorf("link %s: %w", d.From, err)
			}
		}
		return nil
	})
}

// planned is a generator's port on a link, as the Plan has it.
func (r *run) planned(g int, link string) plan.GeneratorPort {
	for _, p := range r.Plan.Generators[g].Ports {
		if p.Link == link {
			return p
		}
	}
	return plan.GeneratorPort{Link: link}
}
