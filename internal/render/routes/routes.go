package routes

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/plan"
)

// Device is the role of the device under test. The other roles are the hosts at its links, by the links' names.
const Device = "device"

// Systems are the systems in whose words there is a configuration.
func Systems() (names []string) {
	for _, s := range systems() {
		names = append(names, s.name)
	}
	return names
}

// Options say what to write.
type Options struct {
	System string
	// Role is Device or a link's name. Empty means all roles.
	Role string
	// Interfaces are the device's, in the links' order. Nil means that they have the links' names.
	Interfaces []string
}

// host is one machine with its interfaces.
type host struct {
	role, title string
	ports       []port
	// local are the networks for which the host itself answers.
	local []netip.Prefix
	// forwards says that it is a router. bridges says that it joins its ports.
	forwards, bridges bool
}

// port is an interface, with its addresses, and the routes that lead out of it.
type port struct {
	name      string
	vlan      uint16
	addresses []netip.Prefix
	routes    []route
	// bridge is the number of the bridge that joins it to the links that it exchanges traffic with.
	bridge int
}

// route leads to a network by a next hop. Without one the network is on the link itself.
type route struct {
	network netip.Prefix
	via     netip.Addr
}

// onLink says that the port itself reaches an address, without a route.
func (p port) onLink(a netip.Addr) bool {
	return slices.ContainsFunc(p.addresses, func(own netip.Prefix) bool { return own.Contains(a) })
}

// Write is the configuration of a Plan's hosts.
func Write(p *plan.Plan, o Options) (string, error) {
	index := slices.Index(Systems(), o.System)
	if index < 0 {
		return "", fmt.Errorf("--for %q: it is %s", o.System, strings.Join(Systems(), ", "))
	}
	hosts, err := hostsOf(p, o.Interfaces)
	if err != nil {
		return "", err
	}
	var roles []string
	var text strings.Builder
	for _, h := range hosts {
		if roles = append(roles, h.role); o.Role != "" && o.Role != h.role {
			continue
		}
		if h.bridges && o.System == "frr" {
			return "", fmt.Errorf("%s: the device is a bridge (dut.forwarding: L2), which FRR doesn't configure: use "+
				"--for linux",
				p.Test.Name)
		}
		if text.Len() > 0 {
			text.WriteByte('\n')
		}
		mark := map[bool]string{true: "!", false: "#"}[o.System == "frr"]
		fmt.Fprintf(&text, "%s %s: %s\n%s\n", mark, p.Test.Name, h.title, strings.Join(systems()[index].configure(h), "\n"))
	}
	if text.Len() == 0 {
		return "", fmt.Errorf("--role %q: %s has %s", o.Role, p.Test.Name, strings.Join(roles, ", "))
	}
	return text.String(), nil
}

// hostsOf are the device and a host at each of its links.
func hostsOf(p *plan.Plan, interfaces []string) ([]host, error) {
	ends := plan.LinksOf(p)
	switch {
	case p.DUT.Loopback():
		return nil, fmt.Errorf("%s: dut.type is Loopback: a cable needs no addresses and no routes", p.Test.Name)
	case p.DUT.Forwarding == plan.AsConfigured:
		return nil, fmt.Errorf("%s: dut.forwarding is AsConfigured: its addresses are in the generator's own "+
			"configuration",
			p.Test.Name)
	case interfaces != nil && len(interfaces) != len(ends.Links):
		return nil, fmt.Errorf("--interfaces: %d names for the %d links of %s: give one for each, in the links' order",
			len(interfaces), len(ends.Links), p.Test.Name)
	}
	bridges := p.DUT.Forwarding == plan.L2
	device := host{role: Device, title: "the device under test", forwards: !bridges && !p.DUT.Endpoint(),
		bridges: bridges}
	hosts := []host{device}
	for i, end := range ends.Links {
		name := end.Interface
		if interfaces != nil {
			name = interfaces[i]
		}
		at := port{name: name, addresses: end.Addresses, bridge: bridgeOf(p.Directions, ends, i)}
		if !bridges {
			at.vlan = end.VLAN
		}
		for _, g := range end.Generators {
			for _, network := range g.Networks {
				if !bridges {
					at.routes = append(at.routes, route{network, g.Address})
				}
			}
		}
		hosts[0].ports = append(hosts[0].ports, at)
		hosts = append(hosts, atLink(p, ends, i))
	}
	return hosts, nil
}

// atLink is the host at a link: what sends to, or answers for, the networks behind it.
func atLink(p *plan.Plan, ends plan.Links, index int) host {
	end := ends.Links[index]
	at := port{name: end.Name, vlan: end.VLAN}
	h := host{role: end.Name, title: fmt.Sprintf("a host at link %s that %s with its own network stack; linerate's "+
		"ports need "+
		"none of this", end.Name, doing(p.Directions, end.Name))}
	for _, g := range p.Generators {
		if own, found := g.PortOn(end.Name); found {
			at.addresses, h.local = append(at.addresses, own.Addresses...), append(h.local, own.Networks...)
		}
	}
	for _, other := range ends.Links {
		if !exchange(p.Directions, end.Name, other.Name) {
			continue
		}
		for _, g := range other.Generators {
			at.routes = append(at.routes, at.to(g, end.Addresses)...)
		}
		for _, address := range other.Addresses {
			if len(end.Addresses) > 0 {
				at.routes = append(at.routes, route{address.Masked(), end.Addresses[0].Addr()})
			}
		}
	}
	h.ports = []port{at}
	return h
}

// to are the routes to a far host's networks, by the device's address, or through a bridge by the far host's own.
func (p port) to(far plan.Peer, device []netip.Prefix) (list []route) {
	via := far.Address
	if len(device) > 0 {
		via = device[0].Addr()
	} else if !p.onLink(via) {
		list = append(list, route{network: netip.PrefixFrom(via, via.BitLen())})
	}
	for _, network := range far.Networks {
		list = append(list, route{network, via})
	}
	return list
}

// exchange says that a direction joins two links.
func exchange(directions []plan.Direction, a, b string) bool {
	return slices.ContainsFunc(directions, func(d plan.Direction) bool {
		return d.From == a && d.To == b || d.From == b && d.To == a
	})
}

// bridgeOf numbers the bridges by the first link of each.
func bridgeOf(directions []plan.Direction, ends plan.Links, index int) (number int) {
	joined := slices.IndexFunc(ends.Links[:index], func(l plan.LinkEnd) bool {
		return exchange(directions, l.Name, ends.Links[index].Name)
	})
	if joined >= 0 {
		return bridgeOf(directions, ends, joined)
	}
	for i := range index {
		if bridgeOf(directions, ends, i) == number {
			number++
		}
	}
	return number
}

// doing is what a host does in the test's directions.
func doing(directions []plan.Direction, link string) string {
	sends := slices.ContainsFunc(directions, func(d plan.Direction) bool { return d.From == link })
	receives := slices.ContainsFunc(directions, func(d plan.Direction) bool { return d.To == link })
	switch {
	case sends && receives:
		return "sends and receives"
	case sends:
		return "sends"
	}
	return "receives"
}

// families are whether any address of the host is IPv4, and IPv6.
func (h host) families() (four, six bool) {
	for _, p := range h.ports {
		for _, a := range p.addresses {
			four, six = four || a.Addr().Is4(), six || a.Addr().Is6()
		}
	}
	return four, six
}

// family is inet or inet6.
func family(a netip.Addr) string {
	if a.Is6() {
		return "inet6"
	}
	return "inet"
}

// first is a network's first host, as an address of its own.
func first(network netip.Prefix) netip.Prefix {
	a := network.Masked().Addr().Next()
	if !network.Contains(a) {
		a = network.Addr()
	}
	return netip.PrefixFrom(a, a.BitLen())
}
