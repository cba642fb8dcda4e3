package forwarder

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// forwardRouted turns the kernel into a router between the links, with a route for each of the generators' networks.
func forwardRouted(spec Spec, info *Info) error {
	for _, l := range spec.Links {
		link, err := find(l.Interface)
		if err != nil {
			return fmt.Errorf("link %s: %w", l.Interface, err)
		}
		if err := Route(link); err != nil {
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

// Route turns IPv4 forwarding on for what comes in on the interface, and source checks and redirects off. rtnetlink does it also where
// /proc/sys is read-only, as in a pod; kernels that don't take it there are told through /proc/sys.
func Route(link netlink.Link) error {
	name := link.Attrs().Name
	if err := setIPv4Conf(link, map[uint16]uint32{confForwarding: 1, confReversePathFilter: 0, confSendRedirects: 0}); err == nil {
		return nil
	}
	for _, s := range [][2]string{{"forwarding", "1"}, {"rp_filter", "0"}, {"send_redirects", "0"}} {
		if err := writeSysctl("ipv4/conf/"+name+"/"+s[0], s[1]); err != nil {
			return err
		}
	}
	return nil
}

// routeIPv6 needs /proc/sys: IPv6 has no per-interface switch in rtnetlink, and checks the switch of "all" for every packet.
func routeIPv6(spec Spec, info *Info) error {
	if !anyIPv6(spec) {
		return nil
	}
	if err := writeSysctl("ipv6/conf/all/forwarding", "1"); err != nil {
		return fmt.Errorf("turn IPv6 forwarding on: %w (where /proc/sys is read-only, as in a pod, set net.ipv6.conf.all.forwarding=1 by the tuning CNI plugin or the pod's sysctls)", err)
	}
	info.applied("IPv6 forwarding")
	return nil
}

func anyIPv6(spec Spec) bool { return slices.ContainsFunc(spec.Links, hasIPv6) }

func hasIPv6(l Link) bool {
	is6 := func(p netip.Prefix) bool { return p.Addr().Is6() }
	return slices.ContainsFunc(l.Addresses, is6) || slices.ContainsFunc(l.Networks, is6)
}

// hop is where network i is routed to: to generator i where there is one for each network, else to the first that speaks its IP version;
// the zero address if none does.
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

// nextHops are the generators' addresses that the link's networks are behind, in the networks' order. With several generators, each
// has as many networks as the others, in the generators' order and within a family: with one each, Networks[i] is behind Generator[i].
func nextHops(l Link) ([]netip.Addr, error) {
	hops := make([]netip.Addr, len(l.Networks))
	for _, four := range []bool{true, false} {
		var addresses []netip.Addr
		for _, a := range l.Generator {
			if a.Is4() == four {
				addresses = append(addresses, a)
			}
		}
		var of []int
		for i, n := range l.Networks {
			if n.Addr().Is4() == four {
				of = append(of, i)
			}
		}
		if len(of) == 0 {
			continue
		}
		if len(addresses) == 0 {
			return nil, fmt.Errorf("network %s: the generator has no address of its family to route it to", l.Networks[of[0]])
		}
		if len(of)%len(addresses) != 0 {
			return nil, fmt.Errorf("%d networks and %d generator addresses of one family: give each generator as many networks as the others", len(of), len(addresses))
		}
		for place, i := range of {
			hops[i] = addresses[place*len(addresses)/len(of)]
		}
	}
	return hops, nil
}

// The members of an interface's IPv4 configuration (linux/ip.h, IPV4_DEVCONF_*) that are set here.
const (
	confForwarding        = 1
	confSendRedirects     = 6
	confReversePathFilter = 8
	iflaInetConf          = 1 // IFLA_INET_CONF
)

// setIPv4Conf sets members of the interface's IPv4 configuration: IFLA_AF_SPEC / AF_INET / IFLA_INET_CONF / member.
func setIPv4Conf(link netlink.Link, members map[uint16]uint32) error {
	req := nl.NewNetlinkRequest(unix.RTM_SETLINK, unix.NLM_F_ACK)
	msg := nl.NewIfInfomsg(unix.AF_UNSPEC)
	msg.Index = int32(link.Attrs().Index)
	req.AddData(msg)
	spec := nl.NewRtAttr(unix.IFLA_AF_SPEC, nil)
	conf := spec.AddRtAttr(unix.AF_INET, nil).AddRtAttr(iflaInetConf, nil)
	for member, value := range members {
		conf.AddRtAttr(int(member), binary.NativeEndian.AppendUint32(nil, value))
	}
	req.AddData(spec)
	_, err := req.Execute(unix.NETLINK_ROUTE, 0)
	return err
}
