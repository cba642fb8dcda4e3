package sessions

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/run/runner"
)

// meet connects to all ends, and adds their descriptions to the Report.
func (r *run) meet(ctx context.Context) error {
	r.Update(func(p *runner.Progress) { p.Phase, p.Message = runner.Preparing, "reach the ends" })
	err := r.forEach(func(i int) (err error) {
		r.ends[i], err = meet(ctx, r.places[i].Server, r.opts.Key, r.places[i].Link, r.opts.Force)
		return err
	})
	if i := r.placeOf(plan.DeviceEnd); i >= 0 && r.ends[i] != nil {
		w := r.ends[i].welcome
		r.Note("the device's own end is %s on interface %s (%s) of %s, kernel %s", w.Product, w.Interface, cmp.Or(w.Driver, "driver unknown"), cmp.Or(w.Hostname, "an unnamed host"), cmp.Or(w.Machine.Kernel, "unknown"))
	}
	for _, g := range r.Plan.Generators {
		if described := r.describe(g); len(described.Ports) > 0 {
			r.Report.Generators = append(r.Report.Generators, described)
		}
	}
	return err
}

// throughSockets is the Report's word for how an end sends: by sockets of its protocol.
func (r *run) throughSockets() string { return r.Plan.Sessions.Protocol + " sockets" }

// describe is what the ends of a generator's links said of themselves and of their machine, which is one: each link's end is a
// generator of its own, or all are on this machine. Ends that were not reached are left out.
func (r *run) describe(g plan.Generator) report.Generator {
	described := report.Generator{Name: g.Name}
	for _, port := range g.Ports {
		i := r.placeOf(port.Link)
		if i < 0 || r.ends[i] == nil {
			continue
		}
		w := r.ends[i].welcome
		described.Product, described.Hostname, described.Server = w.Product, w.Hostname, r.places[i].Server
		described.CPUModel, described.Processors, described.Kernel, described.Hypervisor, described.Tuning, described.Allowed = w.Machine.CPUModel, w.Machine.Processors, w.Machine.Kernel, w.Machine.Hypervisor, w.Machine.Tuning, w.Machine.Allowed
		described.Ports = append(described.Ports, report.GeneratorPort{Link: port.Link, Index: len(described.Ports), Name: w.Interface, Driver: w.Driver, NIC: w.NIC, Firmware: w.Firmware,
			Path: r.throughSockets(), MAC: w.MAC})
	}
	return described
}

// sendsBy adds to the Report the congestion control of the connections from a link: the kernel's own choice where the Plan makes none.
func (r *run) sendsBy(link, congestionControl string) {
	for g := range r.Report.Generators {
		for p := range r.Report.Generators[g].Ports {
			if port := &r.Report.Generators[g].Ports[p]; port.Link == link {
				port.CongestionControl = congestionControl
			}
		}
	}
}

// placeOf is the index of a link's place; -1 where it has none.
func (r *run) placeOf(link string) int {
	return slices.IndexFunc(r.places, func(p Place) bool { return p.Link == link })
}

// setUpNetworks gives each end its addresses, routes and neighbours.
func (r *run) setUpNetworks(ctx context.Context) error {
	remarks := make([][]string, len(r.places))
	err := r.forEach(func(i int) error {
		network, err := r.networkOf(i)
		if err != nil {
			return err
		}
		a, err := r.ends[i].ask(ctx, answerTimeout, request{Verb: doLay, Lay: &network})
		if err != nil {
			return fmt.Errorf("%s: %w", r.places[i], err)
		}
		if a.Laid != nil {
			remarks[i] = a.Laid.Remarks
		}
		return nil
	})
	for i, all := range remarks {
		for _, words := range all {
			r.Note("%s: %s", r.places[i], words)
		}
	}
	return err
}

// networkOf is what the end of a place needs to reach the links that it has a direction with: routes by the device if that routes, else addresses on the link itself.
func (r *run) networkOf(i int) (Network, error) {
	link := r.places[i].Link
	address, err := r.address(link)
	n := Network{Address: address, AsItIs: link == plan.DeviceEnd && r.Plan.DUT.Type == "Pod"}
	device := r.device(link)
	if r.Plan.DUT.Forwarding == plan.L3 {
		if !device.IsValid() {
			err = errors.Join(err, fmt.Errorf("link %s: the device's address is not known: set dut.address of the link", link))
		}
		index := slices.IndexFunc(r.Plan.Links, func(l plan.Link) bool { return l.Name == link })
		if mac := cmp.Or(r.places[i].DUTMAC, r.Plan.Links[index].DUT.MAC); mac != "" {
			n.Neighbours = append(n.Neighbours, Neighbour{Address: device, MAC: mac})
		}
	}
	for _, far := range r.farLinks(link) {
		address, farErr := r.address(far)
		err = errors.Join(err, farErr)
		if r.Plan.DUT.Forwarding == plan.L3 {
			destination := address.Masked()
			if reached := r.reached(far, address); reached != address.Addr() {
				destination = netip.PrefixFrom(reached, reached.BitLen())
			}
			n.Routes = append(n.Routes, Route{Destination: destination, Via: device})
			continue
		}
		n.Routes = append(n.Routes, Route{Destination: netip.PrefixFrom(address.Addr(), address.Addr().BitLen())})
		n.Neighbours = append(n.Neighbours, Neighbour{Address: address.Addr(), MAC: r.ends[r.placeOf(far)].welcome.MAC})
	}
	return n, err
}

// farLinks are the links that have a direction from or to this one, each once.
func (r *run) farLinks(link string) (far []string) {
	for _, d := range r.Plan.Directions {
		other := ""
		switch link {
		case d.From:
			other = d.To
		case d.To:
			other = d.From
		}
		if other != "" && !slices.Contains(far, other) {
			far = append(far, other)
		}
	}
	return far
}

// address is the end's on a link, or that of the device's own end.
func (r *run) address(link string) (netip.Prefix, error) {
	if addresses := r.Plan.Links[0].DUT.Addresses; link == plan.DeviceEnd && len(addresses) > 0 {
		return addresses[0], nil
	}
	for _, g := range r.Plan.Generators {
		if port, ok := g.PortOn(link); ok && len(port.Addresses) > 0 {
			return port.Addresses[0], nil
		}
	}
	return netip.Prefix{}, fmt.Errorf("link %s: the plan has no address for its end", link)
}

// reached is the address by which others reach a link's end; it differs from the end's own where the device translates addresses.
func (r *run) reached(link string, address netip.Prefix) netip.Addr {
	return r.Plan.DUT.ReachedAt(link, address.Addr())
}

// device is the device's address on a link, of the end's IP version; the zero Addr: there is none.
func (r *run) device(link string) netip.Addr {
	address, _ := r.address(link)
	for _, l := range r.Plan.Links {
		for _, a := range l.DUT.Addresses {
			if l.Name == link && a.Addr().Is4() == address.Addr().Is4() {
				return a.Addr()
			}
		}
	}
	return netip.Addr{}
}

// connect makes each direction's connections, and proves their path: by the address and interface that they are made from, the kernel's route, and, if the
// device routes, the TTL that the device decremented. A direction whose path isn't proven ends the run.
func (r *run) connect(ctx context.Context) error {
	r.Update(func(p *runner.Progress) { p.Phase, p.Message = runner.Proving, "connect the ends through the device" })
	token := make([]byte, tokenBytes/2)
	if _, err := rand.Read(token); err != nil {
		return fmt.Errorf("make a token: %w", err)
	}
	for _, d := range r.Plan.Directions {
		check, err := r.open(ctx, d, hex.EncodeToString(token))
		if check == nil {
			return err
		}
		r.Report.Path = append(r.Report.Path, *check)
		if !check.Proven {
			return &runner.PathError{Check: *check}
		}
	}
	return nil
}

// open makes one direction's connections. Its check is nil where an end, and not the path, is at fault.
func (r *run) open(ctx context.Context, d plan.Direction, token string) (*report.PathCheck, error) {
	sender, receiver := r.placeOf(d.From), r.placeOf(d.To)
	if sender < 0 || receiver < 0 {
		return nil, fmt.Errorf("direction %s to %s: a link of it has no end", d.From, d.To)
	}
	s, shape := r.Plan.Sessions, r.shape()
	address, err := r.address(d.To)
	if err != nil {
		return nil, err
	}
	if _, err := r.ends[receiver].ask(ctx, answerTimeout, request{Verb: doListen, Listen: &listenRequest{Shape: shape, Token: token}}); err != nil {
		return nil, fmt.Errorf("%s: %w", r.places[receiver], err)
	}
	check := &report.PathCheck{From: d.From, To: d.To, Sent: s.Parallel}
	went, err := r.askLong(ctx, sender, request{Verb: doConnect, Connect: &connectRequest{Shape: shape, Token: token, Remote: r.reached(d.To, address)}})
	if err == nil {
		if went.Opened != nil {
			r.sendsBy(d.From, went.Opened.CongestionControl)
			r.frames[d.From] = went.Opened.FramesEach
		}
		var came answer
		if came, err = r.askLong(ctx, receiver, request{Verb: doCame}); err == nil {
			prove(check, r.Plan.DUT, went.Opened, came.Opened)
			return check, nil
		}
	}
	if ctx.Err() != nil || isLost(err) {
		return nil, fmt.Errorf("connect %s to %s: %w", d.From, d.To, err)
	}
	if !fromPath(err) {
		return nil, fmt.Errorf("%s: its end can't connect to %s, and the device isn't the reason: %w", r.places[sender], d.To, err)
	}
	ports := "TCP port"
	if shape.Datagrams {
		ports = "TCP and UDP port"
	}
	check.Message = fmt.Sprintf("%v: check that the device forwards between the links, and %s %d with them", err, ports, DataPort)
	if r.Plan.DUT.Endpoint() {
		check.Message = fmt.Sprintf("%v: check that the link leads to the device, and that nothing there blocks %s %d", err, ports, DataPort)
	}
	return check, nil
}

// shape is the shape of each direction's connections.
func (r *run) shape() Shape {
	s := r.Plan.Sessions
	shape := Shape{Connections: s.Parallel, WindowBytes: s.WindowBytes, MessageBytes: s.MessageBytes, CongestionControl: s.CongestionControl}
	if s.Application != "" {
		shape.Application, shape.Datagrams, shape.Lasts = s.Application, s.Protocol == plan.UDP, r.lasts()
		shape.BitsPerSecond = s.BitsPerSecond(r.Plan.Procedure) / int64(max(1, s.Parallel))
	}
	return shape
}

// askLong sends one end a request that may take long, and the others a short request now and then: an end whose driver is silent drops its connections.
func (r *run) askLong(ctx context.Context, end int, q request) (a answer, err error) {
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		a, err = r.ends[end].ask(ctx, answerTimeout+connectTimeout, q)
	}()
	ticker := time.NewTicker(DriverSilence / 5)
	defer ticker.Stop()
	for {
		select {
		case <-answered:
			return a, err
		case <-ticker.C:
			for i, e := range r.ends {
				if i != end {
					_, _ = e.ask(ctx, answerTimeout, request{Verb: doRead}) // a lost end is noticed with its next request
				}
			}
		}
	}
}
