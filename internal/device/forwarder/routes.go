package forwarder

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/linerate-dev/linerate/internal/host/netif"
)

// forwardRouted turns the kernel into a router between the links, with a route for each of the generators' networks.
func forwardRouted(spec Spec, info *Info) error {
	for _, l := range spec.Links {
		link, err := netif.Find(l.Interface)
		if err != nil {
			return fmt.Errorf("link %s: %w", l.Interface, err)
		}
		if err := netif.ForwardIPv4(link); err != nil {
			return fmt.Errorf("link %s: turn IPv4 forwarding on: %w", l.Interface, err)
		}
		for i := range l.Networks {
			n := spec.routesTo(l, i)
			if err := addRoutes(link, l.Networks[i], l.hop(i), n); err != nil {
				return fmt.Errorf("link %s: %w", l.Interface, err)
			}
			if n > 1 {
				info.applied("%d routes to %s", n, l.Networks[i])
			}
		}
	}
	info.applied("IPv4 forwarding on %d links", len(spec.Links))
	return routeIPv6(spec, info)
}

// routeIPv6 needs /proc/sys, as IPv6 has no per-interface switch in rtnetlink, and checks the switch of "all"
// for every packet.
func routeIPv6(spec Spec, info *Info) error {
	if !anyIPv6(spec) {
		return nil
	}
	if err := netif.WriteSysctl("ipv6/conf/all/forwarding", "1"); err != nil {
		return fmt.Errorf("turn IPv6 forwarding on: %w (where /proc/sys is read-only, as in a pod, set "+
			"net.ipv6.conf.all.forwarding=1 by the tuning CNI plugin or the pod's sysctls)", err)
	}
	info.applied("IPv6 forwarding")
	return nil
}

func anyIPv6(spec Spec) bool { return slices.ContainsFunc(spec.Links, hasIPv6) }

func hasIPv6(l Link) bool {
	return slices.ContainsFunc(l.Addresses, isIPv6) || slices.ContainsFunc(l.Networks, isIPv6)
}

func isIPv6(p netip.Prefix) bool { return p.Addr().Is6() }

// hop is the next hop for network i. It is generator i where there is one for each network, else the first
// generator of the same IP version, and the zero address if there is none.
func (l Link) hop(i int) netip.Addr {
	speaks := func(a netip.Addr) bool { return a.Is4() == l.Networks[i].Addr().Is4() }
	if len(l.Generator) == len(l.Networks) && speaks(l.Generator[i]) {
		return l.Generator[i]
	}
	if first := slices.IndexFunc(l.Generator, speaks); first >= 0 {
		return l.Generator[first]
	}
	return netip.Addr{}
}
