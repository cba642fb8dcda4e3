package compile

import (
	"fmt"
	"net/netip"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/units"
)

// link is a link with all defaults filled in.
//
//	generators                                   DUT
//	  0  198.18.0.2 ┐ 16.0.0.0/24 behind it
//	  1  198.18.0.3 ├──────── west ──────── 198.18.0.1
//	  2  198.18.0.4 ┘ 16.0.2.0/24 behind it
type link struct {
	name      string
	path      *field.Path
	lineRate  units.BitRate
	vlan      uint16
	mac       string
	sources   []string // further MACs from which the device sends
	dut       netip.Prefix
	addresses []netip.Prefix // the generators', by replica
	networks  []netip.Prefix // behind the generators, by replica
}

func (l link) is6() bool { return l.addresses[0].Addr().Is6() }

// readLinks reads every link, with its defaults, and checks that their addresses don't overlap.
func (c *compiler) readLinks() {
	for i := range c.spec.Links {
		path := specPath().Child("links").Index(i)
		c.links = append(c.links, c.readLink(path, i, &c.spec.Links[i]))
	}
	if len(c.errs) > 0 {
		return
	}
	for i, l := range c.links {
		c.checkAddresses(l)
		for _, other := range c.links[:i] {
			c.checkApart(l, other)
		}
	}
}

func (c *compiler) readLink(path *field.Path, index int, spec *v1alpha1.LinkSpec) link {
	generator, dut := v1alpha1.GeneratorEnd{}, v1alpha1.DUTEnd{}
	if spec.Generator != nil {
		generator = *spec.Generator
	}
	if spec.DUT != nil {
		dut = *spec.DUT
	}
	d := defaultsOf(index, wantsIPv6(generator, dut))
	l := link{
		name:     string(spec.Name),
		path:     path,
		lineRate: c.lineRate(path.Child("lineRate"), spec.LineRate),
		vlan:     uint16(spec.VLAN), // at most 4094 by the schema
		mac:      strings.ToLower(string(dut.MACAddress)),
		dut:      c.prefix(path.Child("dut", "address"), string(dut.Address), d.dut),
	}
	for _, mac := range dut.SourceMACs {
		l.sources = append(l.sources, strings.ToLower(string(mac)))
	}
	address := c.prefix(path.Child("generator", "address"), string(generator.Address), d.generator)
	l.addresses = c.spread(path.Child("generator", "address"), address)
	l.networks = c.networks(path.Child("generator", "networks"), generator.Networks, d)
	return l
}

// spread gives each replica an address, in a row from the first.
func (c *compiler) spread(path *field.Path, first netip.Prefix) []netip.Prefix {
	var all []netip.Prefix
	for r := range c.replicas() {
		a := after(first, r)
		if !a.IsValid() || isBroadcast(a) {
			c.refuse(path, first.String(), fmt.Sprintf("%d replicas need as many addresses in a row, and %s has fewer from here on: use a wider network, or fewer replicas",
				c.replicas(), first.Masked()))
			return all
		}
		all = append(all, a)
	}
	return all
}

// networks gives each replica a network: one of several, or a part of a single one.
func (c *compiler) networks(path *field.Path, given []v1alpha1.Network, d linkDefaults) []netip.Prefix {
	n := c.replicas()
	switch len(given) {
	case 0:
		return c.widened(d.networks(n))
	case n:
		return c.prefixes(path, given)
	case 1:
		network := c.prefix(path.Index(0), string(given[0]), netip.Prefix{})
		parts := divide(network, n)
		if parts == nil {
			c.refuse(path.Index(0), network.String(), fmt.Sprintf("too small to be divided between %d replicas: use a wider network, or fewer replicas", n))
		}
		return parts
	}
	c.refuse(path, field.OmitValueType{}, fmt.Sprintf("%d networks can't be shared by %d replicas: give one, which they divide, or one for each", len(given), n))
	return nil
}

func (c *compiler) prefixes(path *field.Path, given []v1alpha1.Network) []netip.Prefix {
	var all []netip.Prefix
	for i, text := range given {
		all = append(all, c.prefix(path.Index(i), string(text), netip.Prefix{}))
	}
	return all
}

func (c *compiler) prefix(path *field.Path, text string, otherwise netip.Prefix) netip.Prefix {
	if text == "" {
		return otherwise
	}
	p, err := netip.ParsePrefix(text)
	if err != nil {
		c.refuse(path, text, "write an address with its prefix length, such as 198.18.0.2/24 or 2001:2::2/64")
	}
	return p
}

// planLinks are the Plan's links. A bridge and a wire have no addresses.
func (c *compiler) planLinks() []plan.Link {
	var out []plan.Link
	for _, l := range c.links {
		p := plan.Link{Name: l.name, LineRate: l.lineRate}
		if c.forwarding() != plan.L2 {
			p.DUT = plan.DUTEnd{Addresses: []netip.Prefix{l.dut}, MAC: l.mac, SourceMACs: l.sources}
		}
		out = append(out, p)
	}
	return out
}
