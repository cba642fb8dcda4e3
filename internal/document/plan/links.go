package plan

import (
	"net/netip"
	"slices"
)

// LinksVersion is the kind and version of the document Links. A reader refuses others.
const LinksVersion = "linerate.dev/links.v1alpha1"

// Links describes its links to the device under test, as /etc/linerate/links.json, with the device's end of each
// link, and the generators at the other end.
//
//	198.18.0.1/24 west ┌─────┐ east 198.18.1.1/24
//	 ───────────────── │ DUT │ ─────────────────
//	      ▲            └─────┘
//	      └ generators: generator-0 at 198.18.0.2 with 16.0.0.0/24 behind it, …
//
// LinksOf leaves empty what only the running pod knows (Device, MAC, Driver).
type Links struct {
	Version string `json:"version"`
	Test    string `json:"test"`
	// Forwarding is what the device is expected to do.
	Forwarding Forwarding `json:"forwarding"`
	Links      []LinkEnd  `json:"links"`
}

// LinkEnd is the device's end of a link.
type LinkEnd struct {
	Name string `json:"name"`
	// Interface is its name in the device's pod, which is the link's own.
	Interface string `json:"interface"`
	// Addresses are those that the device is to have on the interface. There are none if it forwards without
	// addresses.
	Addresses []netip.Prefix `json:"addresses,omitempty"`
	// VLAN is the tag of all frames on the link, or 0 for untagged.
	VLAN uint16 `json:"vlan"`
	// Generators are at the other end, as the next hops of their networks.
	Generators []Peer `json:"generators"`
	// Device is the PCI address behind the interface, MAC its address and Driver the kernel's driver of it, where
	// they are known.
	Device string `json:"device,omitempty"`
	MAC    string `json:"macAddress,omitempty"`
	Driver string `json:"driver,omitempty"`
}

// Peer is a generator's port on a link.
type Peer struct {
	Name string `json:"name"`
	// Address is the next hop of Networks.
	Address netip.Addr `json:"address,omitzero"`
	// IPv6Address is the next hop of IPv6 networks beside IPv4 ones.
	IPv6Address netip.Addr `json:"ipv6Address,omitzero"`
	// MAC is the port's, where it is known before the pod runs.
	MAC      string         `json:"macAddress,omitempty"`
	Networks []netip.Prefix `json:"networks,omitempty"`
}

// LinksOf is what the Plan says of the device's links, in the Plan's order.
func LinksOf(p *Plan) Links {
	links := Links{Version: LinksVersion, Test: p.Test.Name, Forwarding: p.DUT.Forwarding, Links: []LinkEnd{}}
	for _, l := range p.Links {
		end := LinkEnd{Name: l.Name, Interface: l.Name, Addresses: l.DUT.Addresses, Generators: []Peer{},
			MAC: l.DUT.MAC}
		for _, g := range p.Generators {
			port, ok := g.PortOn(l.Name)
			if !ok {
				continue
			}
			end.VLAN = port.VLAN
			end.Generators = append(end.Generators, peer(g.Name, port))
		}
		links.Links = append(links.Links, end)
	}
	return links
}

func peer(name string, port GeneratorPort) Peer {
	p := Peer{Name: name, Networks: port.Networks}
	if len(port.Addresses) > 0 {
		p.Address = port.Addresses[0].Addr()
	}
	if len(port.Addresses) > 1 {
		p.IPv6Address = port.Addresses[1].Addr()
	}
	return p
}

// NextHop is the peer's address that leads to one of its networks.
func (p Peer) NextHop(network netip.Prefix) netip.Addr {
	if p.IPv6Address.IsValid() && network.Addr().Is6() {
		return p.IPv6Address
	}
	return p.Address
}

// PortOn is the generator's port on a link, or false where it has none.
func (g Generator) PortOn(link string) (GeneratorPort, bool) {
	i := slices.IndexFunc(g.Ports, func(p GeneratorPort) bool { return p.Link == link })
	if i < 0 {
		return GeneratorPort{}, false
	}
	return g.Ports[i], true
}
