package compile

import (
	"cmp"
	"math/bits"
	"net/netip"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
)

// modeSpec is the mode of the Reference. Nil means that it has none.
func (d *device) modeSpec() *v1alpha1.ModeSpec {
	if d.spec.DUT.Type != v1alpha1.DUTReference || d.spec.DUT.Reference == nil {
		return nil
	}
	return d.spec.DUT.Reference.Mode
}

// modeOfTraffic is the mode that traffic is made for. It is the Reference's, or that of the device that a Loopback
// stands in for. Nil means none.
func (d *device) modeOfTraffic() *v1alpha1.ModeSpec {
	if d.spec.DUT.Type != v1alpha1.DUTLoopback || d.spec.DUT.Reference == nil {
		return d.modeSpec()
	}
	return d.spec.DUT.Reference.Mode
}

func modePath(names ...string) *field.Path {
	path := specPath().Child("dut", "reference", "mode")
	for _, name := range names {
		path = path.Child(name)
	}
	return path
}

// mode is the Plan's mode, without what depends on links.
func (d *device) mode() *plan.Mode { return modeOf(d.modeSpec()) }

func modeOf(spec *v1alpha1.ModeSpec) *plan.Mode {
	switch {
	case spec == nil:
		return nil
	case spec.Router != nil:
		return &plan.Mode{Router: &plan.RouterMode{Routes: max(int(spec.Router.Routes), 1)}}
	case spec.Bridge != nil:
		return &plan.Mode{Bridge: &plan.BridgeMode{}}
	case spec.Filter != nil:
		return &plan.Mode{Filter: &plan.FilterMode{Rules: int(spec.Filter.Rules),
			Routes: beyondOne(spec.Filter.Routes)}}
	case spec.NAT != nil:
		return &plan.Mode{NAT: &plan.NATMode{Sessions: int(spec.NAT.Sessions)}}
	case spec.XDP != nil:
		return &plan.Mode{XDP: &plan.XDPMode{Routes: beyondOne(spec.XDP.Routes)}}
	case spec.Tunnel != nil:
		tunnel := &plan.TunnelMode{Kind: string(spec.Tunnel.Kind)}
		if spec.Tunnel.Kind == v1alpha1.TunnelIPsec {
			tunnel.Cipher = string(cmp.Or(spec.Tunnel.Cipher, v1alpha1.TunnelAES256GCM))
		}
		return &plan.Mode{Tunnel: tunnel}
	default: // the schema wants exactly one
		return &plan.Mode{Userspace: &plan.UserspaceMode{Kind: string(spec.Userspace.Kind)}}
	}
}

// checkModeInCluster refuses modes that lack what they need in a cluster. A tunnel's second pod needs a network, and a
// program that our image lacks needs another image.
func (d *device) checkModeInCluster() {
	mode := d.modeSpec()
	if mode == nil {
		return
	}
	image := d.spec.DUT.Reference.Image
	if mode.Tunnel != nil && mode.Tunnel.Network == "" {
		d.errs = append(d.errs, field.Required(modePath("tunnel", "network"),
			"in a cluster each of the two gateways is a pod, and the cable between them a "+
				"NetworkAttachmentDefinition that no link has: name it"))
	}
	for i, o := range d.spec.Observers {
		if mode.Tunnel != nil && o.Type == v1alpha1.ObserverInterfaces && o.Observed == v1alpha1.ObserverOfDUT {
			d.refuse(specPath().Child("observers").Index(i).Child("observed"), o.Observed,
				"in a cluster a tunnel's links are in two pods, and only the first gateway's is observed: say observed: "+
					"Generator for the other end of the links, or leave this observer out")
		}
	}
	if mode.Tunnel != nil && mode.Tunnel.Kind == v1alpha1.TunnelIPsec && image == "" {
		d.refuse(modePath("tunnel", "kind"), mode.Tunnel.Kind,
			"linerate's image doesn't have strongSwan: name one that has Debian's packages strongswan-charon, "+
				"strongswan-swanctl, libcharon-extra-plugins and libstrongswan-standard-plugins as "+
				"dut.reference.image, or use kind WireGuard")
	}
	if mode.Userspace != nil && image == "" {
		d.refuse(modePath("userspace"), mode.Userspace.Kind,
			"linerate's image doesn't have dpdk-testpmd: name one that has Debian's package dpdk-dev as "+
				"dut.reference.image")
	}
}

// tunnelCable is the network of the cable between a tunnel's gateways. None means that the device isn't a tunnel.
func (d *device) tunnelCable(namespace string) []LinkNetworks {
	mode := d.modeSpec()
	if mode == nil || mode.Tunnel == nil || mode.Tunnel.Network == "" {
		return nil
	}
	return []LinkNetworks{{Link: plan.TunnelCable, DUT: networkKey(mode.Tunnel.Network, namespace)}}
}

// routes is how many routes the device has to the networks behind each link. Devices without a table have 1.
func (d *device) routes() int {
	return modeOf(d.modeOfTraffic()).Routes()
}

// beyondOne is routes, or 0 where there is only the one route that every router has, so that a Plan doesn't mention it.
func beyondOne(routes int32) int {
	if routes <= 1 {
		return 0
	}
	return int(routes)
}

// fitMode adds to the mode what depends on links, and refuses links and traffic that the device can't have.
func (ls *links) fitMode(m *plan.Mode) {
	if m == nil {
		return
	}
	if obstacle := ls.traffic.whyNotThrough(m); obstacle != "" {
		ls.refuse(modePath(), m.String(), obstacle)
		return
	}
	ls.checkRoutes()
	switch {
	case m.Filter != nil:
		ls.keepApart("a filter's rules drop what is from", plan.FilteredIPv4, plan.FilteredIPv6)
	case m.NAT != nil:
		ls.translate(m.NAT)
	case m.Tunnel != nil && len(ls.entries) != 2:
		ls.refuse(modePath("tunnel"), noValue, "a tunnel has one link at each end: use two links")
	case m.Tunnel != nil && ls.entries[0].second != nil:
		ls.refuse(modePath("tunnel"), noValue, "through a tunnel go frames of one family yet: leave ipv6Address out, or "+
			"use another mode")
	case m.Tunnel != nil:
		ls.keepApart("a tunnel's gateways reach each other in", plan.BetweenTunnel)
		m.Tunnel.FarLink = ls.entries[1].name
	}
}

// checkFramesOfTunnel refuses frames that IPsec in user space doesn't carry whole.
func (ft *fit) checkFramesOfTunnel(p *plan.Plan) {
	const ethernet, fcs = 14, 4
	if m := p.DUT.Mode(); m == nil || m.Tunnel == nil || m.Tunnel.Kind != plan.TunnelIPsec {
		return
	}
	if largest := p.LargestFrame(); largest-ethernet > plan.LargestOfIPsec {
		ft.refusef(modePath("tunnel", "kind"), plan.TunnelIPsec,
			"its packets have at most %d bytes, and the traffic has frames of %d: use frames of at most %d bytes, or "+
				"kind wireguard", plan.LargestOfIPsec, largest+fcs, plan.LargestOfIPsec+ethernet+fcs)
	}
}

// keepApart refuses links whose addresses the device uses itself.
func (ls *links) keepApart(reason string, used ...netip.Prefix) {
	for _, l := range ls.entries {
		networks := hosts(l)
		for _, f := range l.families() {
			networks = append(networks, f.dut)
		}
		for _, network := range networks {
			for _, prefix := range used {
				if network.Overlaps(prefix) {
					ls.refusef(l.path.Child("generator", "networks"), network.String(),
						"%s %s: use addresses apart from it, such as 16.0.0.0/8 and 48.0.0.0/8, or 2001:2::/48 (RFC "+
							"5180)", reason, prefix)
					return
				}
			}
		}
	}
}

// checkRoutes refuses networks that are too small for so many routes, each to a part of its own.
func (ls *links) checkRoutes() {
	for _, l := range ls.entries {
		networks := l.allNetworks()
		for i, network := range networks {
			room := int64(1) << min(network.Addr().BitLen()-network.Bits(), 32)
			if need := part(int64(ls.device.routes()), i, len(networks)); need > room {
				ls.refusef(l.path.Child("generator", "networks"), network.String(),
					"%d routes lead to this network, which has %d addresses: use a wider one, such as 16.0.0.0/8 "+
						"behind the first link and 48.0.0.0/8 behind the second, or fewer routes", need, room)
				return
			}
		}
	}
}

// translated has the addresses to which hosts behind the inside link are translated. It is RFC 2544's second network,
// which no link has by default.
var translated = netip.MustParsePrefix("198.19.0.0/16")

// translate gives each network and each address of the first link a place in translated, of the same size, one
// after another.
func (ls *links) translate(m *plan.NATMode) {
	inside := ls.entries[0]
	m.Inside = inside.name
	next := translated.Addr()
	for _, network := range hosts(inside) {
		if network.Addr().Is6() {
			ls.refuse(modePath("nat"), network.String(),
				"only IPv4 addresses are translated: give the links IPv4 addresses")
			return
		}
		place, fits := placeFor(next, network.Bits())
		if !fits {
			ls.refusef(inside.path.Child("generator", "networks"), network.String(),
				"hosts behind the first link are known to others by addresses in %s, which has no room for these: "+
					"use networks of fewer addresses, such as 16.0.0.0/17", translated)
			return
		}
		m.Translations = append(m.Translations, plan.Translation{Inside: network.Masked(), Outside: place})
		next = lastAddress(place).Next()
	}
	ls.keepApart("hosts behind the first link are known to others by addresses in", translated)
}

// hosts are the networks behind a link, the widest first, otherwise in the replicas' order, and then the
// generators' own addresses.
func hosts(l link) (prefixes []netip.Prefix) {
	prefixes = l.allNetworks()
	for _, f := range l.families() {
		for _, a := range f.addresses {
			prefixes = append(prefixes, netip.PrefixFrom(a.Addr(), a.Addr().BitLen()))
		}
	}
	return prefixes
}

// allNetworks are the networks behind a link, of both families.
func (l link) allNetworks() (networks []netip.Prefix) {
	for _, f := range l.families() {
		networks = append(networks, f.networks...)
	}
	return networks
}

// placeFor is the first network of a size, at or after an address, that lies within translated. False means that there
// is none.
func placeFor(start netip.Addr, length int) (netip.Prefix, bool) {
	if !translated.Contains(start) || length < translated.Bits() {
		return netip.Prefix{}, false
	}
	place := netip.PrefixFrom(start, length).Masked()
	if place.Addr() != start { // start isn't the first address of such a network, so take the next one
		place = netip.PrefixFrom(lastAddress(place).Next(), length)
	}
	return place, translated.Contains(place.Addr())
}

// destination is the network that other hosts address to reach a replica's hosts behind a link.
func (lo *loads) destination(destination link, f family, replica int) netip.Prefix {
	if lo.dut.Reference == nil || lo.dut.Reference.Mode == nil || lo.dut.Reference.Mode.NAT == nil ||
		lo.dut.Reference.Mode.NAT.Inside != destination.name {
		return f.networks[replica]
	}
	return lo.dut.Reference.Mode.NAT.Translations[replica].Outside
}

// flowsByDefault is the default number of flows, at least one for each route.
func (d *device) flowsByDefault() int64 { return max(defaultFlows, int64(d.routes())) }

const defaultFlows = 254

// widened widens a router link's default network, if there is one replica, so that each route leads to four addresses.
func (ls *links) widened(networks []netip.Prefix) []netip.Prefix {
	if len(networks) != 1 || len(ls.specs) > 2 || networks[0].Addr().Is6() {
		return networks
	}
	wanted := 32 - bits.Len(uint(ls.device.routes()-1)) - 2
	return []netip.Prefix{netip.PrefixFrom(networks[0].Addr(), min(wanted, networks[0].Bits())).Masked()}
}
