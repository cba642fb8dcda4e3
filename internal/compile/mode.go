package compile

import (
	"cmp"
	"fmt"
	"math/bits"
	"net/netip"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
)

// modeSpec is the mode of the Reference; nil: it has none.
func (d *device) modeSpec() *v1alpha1.ModeSpec {
	if d.spec.DUT.Type != v1alpha1.DUTReference || d.spec.DUT.Reference == nil {
		return nil
	}
	return d.spec.DUT.Reference.Mode
}

// modeOfTraffic is the mode that traffic is made for: the Reference's or, of a Loopback, that of the device
// that it stands in for; nil: none.
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

func modeOf(in *v1alpha1.ModeSpec) *plan.Mode {
	switch {
	case in == nil:
		return nil
	case in.Router != nil:
		return &plan.Mode{Router: &plan.RouterMode{Routes: max(int(in.Router.Routes), 1)}}
	case in.Bridge != nil:
		return &plan.Mode{Bridge: &plan.BridgeMode{}}
	case in.Filter != nil:
		return &plan.Mode{Filter: &plan.FilterMode{Rules: int(in.Filter.Rules), Routes: beyondOne(in.Filter.Routes)}}
	case in.NAT != nil:
		return &plan.Mode{NAT: &plan.NATMode{Sessions: int(in.NAT.Sessions)}}
	case in.XDP != nil:
		return &plan.Mode{XDP: &plan.XDPMode{Routes: beyondOne(in.XDP.Routes)}}
	case in.Tunnel != nil:
		tunnel := &plan.TunnelMode{Kind: string(in.Tunnel.Kind)}
		if in.Tunnel.Kind == v1alpha1.TunnelIPsec {
			tunnel.Cipher = string(cmp.Or(in.Tunnel.Cipher, v1alpha1.TunnelAES256GCM))
		}
		return &plan.Mode{Tunnel: tunnel}
	default: // the schema wants exactly one
		return &plan.Mode{Userspace: &plan.UserspaceMode{Kind: string(in.Userspace.Kind)}}
	}
}

// checkModeInCluster refuses modes that lack what they need in a cluster: a tunnel's second pod needs a
// network, and a program that our image lacks needs another image.
func (d *device) checkModeInCluster() {
	in := d.modeSpec()
	if in == nil {
		return
	}
	image := d.spec.DUT.Reference.Image
	if in.Tunnel != nil && in.Tunnel.Network == "" {
		d.errs = append(d.errs, field.Required(modePath("tunnel", "network"),
			"in a cluster each of the two gateways is a pod, and the cable between them a NetworkAttachmentDefinition that no "+
				"link has: name it"))
	}
	for i, o := range d.spec.Observers {
		if in.Tunnel != nil && o.Type == v1alpha1.ObserverInterfaces && o.Of == v1alpha1.ObserverOfDUT {
			d.refuse(specPath().Child("observers").Index(i).Child("of"), o.Of,
				"in a cluster a tunnel's links are in two pods, and only the first gateway's is observed: say of: Generator for "+
					"the other end of the links, or leave this observer out")
		}
	}
	if in.Tunnel != nil && in.Tunnel.Kind == v1alpha1.TunnelIPsec && image == "" {
		d.refuse(modePath("tunnel", "kind"), in.Tunnel.Kind, "linerate's image doesn't have strongSwan: name one that has "+
			"Debian's packages strongswan-charon, strongswan-swanctl, libcharon-extra-plugins and "+
			"libstrongswan-standard-plugins as dut.reference.image, or use kind wireguard")
	}
	if in.Userspace != nil && image == "" {
		d.refuse(modePath("userspace"), in.Userspace.Kind, "linerate's image doesn't have dpdk-testpmd: name one that has "+
			"Debian's package dpdk-dev as dut.reference.image")
	}
}

// tunnelCable is the network of the cable between a tunnel's gateways; none: the device isn't a tunnel.
func (d *device) tunnelCable(namespace string) []LinkNetworks {
	in := d.modeSpec()
	if in == nil || in.Tunnel == nil || in.Tunnel.Network == "" {
		return nil
	}
	return []LinkNetworks{{Link: plan.TunnelCable, DUT: networkKey(in.Tunnel.Network, namespace)}}
}

// routes is how many routes the device has to the networks behind each link; 1 of devices without a table.
func (d *device) routes() int {
	return modeOf(d.modeOfTraffic()).Routes()
}

// beyondOne is routes, or 0 where there is only the one route that every router has: so a Plan that doesn't ask
// for more is the same as before.
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
	if why := ls.traffic.whyNotThrough(m); why != "" {
		ls.refuse(modePath(), m.String(), why)
		return
	}
	ls.checkRoutes()
	switch {
	case m.Filter != nil:
		ls.keepApart("a filter's rules drop what is from", plan.FilteredIPv4, plan.FilteredIPv6)
	case m.NAT != nil:
		ls.translate(m.NAT)
	case m.Tunnel != nil && len(ls.all) != 2:
		ls.refuse(modePath("tunnel"), field.OmitValueType{}, "a tunnel has one link at each end: use two links")
	case m.Tunnel != nil:
		ls.keepApart("a tunnel's gateways reach each other in", plan.BetweenTunnel)
		m.Tunnel.Far = ls.all[1].name
	}
}

// checkFramesOfTunnel refuses frames that IPsec in user space doesn't carry whole.
func (ft *fit) checkFramesOfTunnel(p *plan.Plan) {
	const ethernet, fcs = 14, 4
	if m := p.DUT.Mode(); m == nil || m.Tunnel == nil || m.Tunnel.Kind != plan.TunnelIPsec {
		return
	}
	if largest := p.LargestFrame(); largest-ethernet > plan.LargestOfIPsec {
		ft.refuse(modePath("tunnel", "kind"), plan.TunnelIPsec, fmt.Sprintf("its packets have at most %d bytes, and the "+
			"traffic has frames of %d: use frames of at most %d bytes, or kind wireguard",
			plan.LargestOfIPsec, largest+fcs, plan.LargestOfIPsec+ethernet+fcs))
	}
}

// keepApart refuses links whose addresses the device uses itself.
func (ls *links) keepApart(why string, used ...netip.Prefix) {
	for _, l := range ls.all {
		for _, network := range append(hosts(l), l.dut) {
			for _, its := range used {
				if network.Overlaps(its) {
					ls.refuse(l.path.Child("generator", "networks"), network.String(),
						fmt.Sprintf("%s %s: use addresses apart from it, such as 16.0.0.0/8 and 48.0.0.0/8, or 2001:2::/48 (RFC 5180)",
							why, its))
					return
				}
			}
		}
	}
}

// checkRoutes refuses networks that are too small for so many routes, each to a part of its own.
func (ls *links) checkRoutes() {
	for _, l := range ls.all {
		for i, network := range l.networks {
			room := int64(1) << min(network.Addr().BitLen()-network.Bits(), 32)
			if need := part(int64(ls.device.routes()), i, len(l.networks)); need > room {
				ls.refuse(l.path.Child("generator", "networks"), network.String(),
					fmt.Sprintf("%d routes lead to this network, which has %d addresses: use a wider one, such as 16.0.0.0/8 behind "+
						"the first link and 48.0.0.0/8 behind the second, or fewer routes",
						need, room))
				return
			}
		}
	}
}

// translated has the addresses to which hosts behind the inside link are translated: RFC 2544's second network,
// which no link has by default.
var translated = netip.MustParsePrefix("198.19.0.0/16")

// translate gives each network and each address of the first link a place in translated, of the same size, one
// after another.
func (ls *links) translate(m *plan.NATMode) {
	inside := ls.all[0]
	m.Inside = inside.name
	next := translated.Addr()
	for _, network := range hosts(inside) {
		if network.Addr().Is6() {
			ls.refuse(modePath("nat"), network.String(), "only IPv4 addresses are translated: give the links IPv4 addresses")
			return
		}
		place, fits := placeFor(next, network.Bits())
		if !fits {
			ls.refuse(inside.path.Child("generator", "networks"), network.String(),
				fmt.Sprintf("hosts behind the first link are known to others by addresses in %s, which has no room for these: "+
					"use networks of fewer addresses, such as 16.0.0.0/17", translated))
			return
		}
		m.Translations = append(m.Translations, plan.Translation{Inside: network.Masked(), Outside: place})
		next = last(place).Next()
	}
	ls.keepApart("hosts behind the first link are known to others by addresses in", translated)
}

// hosts are the networks behind a link, the widest first, otherwise in the replicas' order, and then the
// generators' own addresses.
func hosts(l link) (all []netip.Prefix) {
	all = append(all, l.networks...)
	for _, a := range l.addresses {
		all = append(all, netip.PrefixFrom(a.Addr(), a.Addr().BitLen()))
	}
	return all
}

// placeFor is the first network of a size, at or after an address, that lies within translated; false: there is none.
func placeFor(from netip.Addr, length int) (netip.Prefix, bool) {
	if !translated.Contains(from) || length < translated.Bits() {
		return netip.Prefix{}, false
	}
	place := netip.PrefixFrom(from, length).Masked()
	if place.Addr() != from { // from isn't the first address of such a network: take the next network
		place = netip.PrefixFrom(last(place).Next(), length)
	}
	return place, translated.Contains(place.Addr())
}

// destination is the network that other hosts address to reach a replica's hosts behind a link.
func (lo *loads) destination(to link, replica int) netip.Prefix {
	if lo.dut.Reference == nil || lo.dut.Reference.Mode == nil || lo.dut.Reference.Mode.NAT == nil ||
		lo.dut.Reference.Mode.NAT.Inside != to.name {
		return to.networks[replica]
	}
	return lo.dut.Reference.Mode.NAT.Translations[replica].Outside
}

// flowsByDefault is the default number of flows: at least one for each route.
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
