package compile

import (
	"net/netip"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/units"
)

// links answer which links there are, and whether frames on them stay in the lab and find their way through the device.
type links struct {
	*refusals
	specs           []v1alpha1.LinkSpec
	allowedPrefixes []v1alpha1.Network
	traffic         traffic
	device          *device
	replicas        int
	// entries are the links, once they were read.
	entries []link
}

// link is a link with all defaults filled in.
//
//	generators                                   DUT
//	  0  198.18.0.2 ┐ 16.0.0.0/24 behind it
//	  1  198.18.0.3 ├──────── west ──────── 198.18.0.1
//	  2  198.18.0.4 ┘ 16.0.2.0/24 behind it
type link struct {
	name     string
	path     *field.Path
	lineRate units.BitRate
	vlan     uint16
	mac      string
	sources  []string // further MACs from which the device sends
	family
	second *family // IPv6 beside IPv4, or nil on a link of one family
}

// family is a link's addresses of one IP version.
type family struct {
	member    string // of both ends, which has the address in a LoadTest
	dut       netip.Prefix
	addresses []netip.Prefix // the generators', by replica
	networks  []netip.Prefix // behind the generators, by replica
}

func (f family) is6() bool { return f.addresses[0].Addr().Is6() }

// families are the link's one or two.
func (l link) families() []family {
	if l.second == nil {
		return []family{l.family}
	}
	return []family{l.family, *l.second}
}

// versions are the families' names.
func (l link) versions() string {
	switch {
	case l.second != nil:
		return "IPv4 and IPv6"
	case l.is6():
		return "IPv6"
	}
	return "IPv4"
}

// read reads every link, with its defaults, and checks that their addresses don't overlap.
func (ls *links) read() {
	for i := range ls.specs {
		path := specPath().Child("links").Index(i)
		ls.entries = append(ls.entries, ls.readLink(path, i, &ls.specs[i]))
	}
	if len(ls.errs) > 0 {
		return
	}
	for i, l := range ls.entries {
		ls.checkAddresses(l)
		for _, earlier := range ls.entries[:i] {
			ls.checkApart(l, earlier)
		}
	}
}

func (ls *links) readLink(path *field.Path, index int, spec *v1alpha1.LinkSpec) link {
	generator, dut := v1alpha1.GeneratorEnd{}, v1alpha1.DUTEnd{}
	if spec.Generator != nil {
		generator = *spec.Generator
	}
	if spec.DUT != nil {
		dut = *spec.DUT
	}
	four, six := byVersion(generator.Networks)
	d, written := defaultsOf(index, wantsIPv6(generator, dut)), generator.Networks
	mixed := generator.IPv6Address != "" || dut.IPv6Address != "" || len(four) > 0 && len(six) > 0
	if mixed {
		d, written = defaultsOf(index, false), four
	}
	l := link{
		name:     string(spec.Name),
		path:     path,
		lineRate: ls.lineRate(path.Child("lineRate"), spec.LineRate),
		vlan:     uint16(spec.VLAN), // at most 4094 by the schema
		mac:      strings.ToLower(string(dut.MACAddress)),
	}
	for _, mac := range dut.SourceMACs {
		l.sources = append(l.sources, strings.ToLower(string(mac)))
	}
	l.family = ls.family(path, "address", generator.Address, dut.Address, written, d)
	if ls.device.server() != nil && dut.Address == "" {
		l.dut = netip.Prefix{} // no next hop is known, and none is needed for a server on the link
	}
	if mixed {
		second := ls.family(path, "ipv6Address", generator.IPv6Address, dut.IPv6Address, six, defaultsOf(index, true))
		l.second = &second
	}
	return l
}

// family reads the addresses that stand in one member of both ends, with the defaults.
func (ls *links) family(path *field.Path, member string, generator, dut v1alpha1.Address, networks []v1alpha1.Network,
	d linkDefaults) family {
	address := path.Child("generator", member)
	return family{
		member:    member,
		dut:       ls.prefix(path.Child("dut", member), string(dut), d.dut),
		addresses: ls.spread(address, ls.prefix(address, string(generator), d.generator)),
		networks:  ls.networks(path.Child("generator", "networks"), networks, d),
	}
}

// byVersion parts networks of IPv4 and of IPv6.
func byVersion(networks []v1alpha1.Network) (four, six []v1alpha1.Network) {
	for _, n := range networks {
		if strings.Contains(string(n), ":") {
			six = append(six, n)
		} else {
			four = append(four, n)
		}
	}
	return four, six
}

// spread gives each replica an address, in a row from the first.
func (ls *links) spread(path *field.Path, first netip.Prefix) []netip.Prefix {
	var addresses []netip.Prefix
	for r := range ls.replicas {
		a := addressAfter(first, r)
		if !a.IsValid() || isBroadcast(a) {
			ls.refusef(path, first.String(), "%d replicas need as many addresses in a row, and %s has fewer from "+
				"here on: use a wider network, or fewer replicas", ls.replicas, first.Masked())
			return addresses
		}
		addresses = append(addresses, a)
	}
	return addresses
}

// networks gives each replica a network, which is one of several, or a part of a single one.
func (ls *links) networks(path *field.Path, written []v1alpha1.Network, d linkDefaults) []netip.Prefix {
	n := ls.replicas
	switch len(written) {
	case 0:
		return ls.widened(d.networks(n))
	case n:
		return ls.prefixes(path, written)
	case 1:
		network := ls.prefix(path.Index(0), string(written[0]), netip.Prefix{})
		parts := divide(network, n)
		if parts == nil {
			ls.refusef(path.Index(0), network.String(),
				"too small to be divided between %d replicas: use a wider network, or fewer replicas", n)
		}
		return parts
	}
	ls.refusef(path, noValue, "%d networks can't be shared by %d replicas: give one, which they "+
		"divide, or one for each", len(written), n)
	return nil
}

func (r *refusals) prefixes(path *field.Path, texts []v1alpha1.Network) []netip.Prefix {
	var prefixes []netip.Prefix
	for i, text := range texts {
		prefixes = append(prefixes, r.prefix(path.Index(i), string(text), netip.Prefix{}))
	}
	return prefixes
}

func (r *refusals) prefix(path *field.Path, text string, fallback netip.Prefix) netip.Prefix {
	if text == "" {
		return fallback
	}
	p, err := netip.ParsePrefix(text)
	if err != nil {
		r.refuse(path, text, addressForm)
	}
	return p
}

// plan are the Plan's links. A bridge and a wire have no addresses.
func (ls *links) plan() []plan.Link {
	var planned []plan.Link
	for _, l := range ls.entries {
		p := plan.Link{Name: l.name, LineRate: l.lineRate}
		if ls.device.forwarding() != plan.L2 {
			p.DUT = plan.DUTEnd{MAC: l.mac, SourceMACs: l.sources}
			for _, f := range l.families() {
				if f.dut.IsValid() {
					p.DUT.Addresses = append(p.DUT.Addresses, f.dut)
				}
			}
		}
		planned = append(planned, p)
	}
	return planned
}
