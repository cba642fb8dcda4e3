package main

import (
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// setUp makes the link's interface one of a router's.
func (l link) setUp() error {
	i, err := netlink.LinkByName(l.Interface)
	if err != nil {
		return err
	}
	for _, a := range l.Addresses {
		if err := netlink.AddrReplace(i, &netlink.Addr{IPNet: ipNet(a)}); err != nil {
			return fmt.Errorf("address %s: %w", a, err)
		}
	}
	if err := errors.Join(netlink.LinkSetUp(i), forward(i)); err != nil {
		return err
	}
	for _, g := range l.Generators {
		for _, n := range g.Networks {
			if err := netlink.RouteReplace(&netlink.Route{LinkIndex: i.Attrs().Index, Dst: ipNet(n),
				Gw: g.Address.AsSlice()}); err != nil {
				return fmt.Errorf("route to %s via %s: %w", n, g.Address, err)
			}
		}
	}
	return nil
}

func ipNet(p netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}
}

// forward turns IPv4 forwarding on for what comes in on an interface. It does so by rtnetlink, since /proc/sys
// is read-only in a container that isn't privileged: IFLA_AF_SPEC / AF_INET / IFLA_INET_CONF /
// IPV4_DEVCONF_FORWARDING (linux/ip.h).
func forward(i netlink.Link) error {
	const inetConf, forwarding = 1, 1
	req := nl.NewNetlinkRequest(unix.RTM_SETLINK, unix.NLM_F_ACK)
	msg := nl.NewIfInfomsg(unix.AF_UNSPEC)
	msg.Index = int32(i.Attrs().Index)
	req.AddData(msg)
	spec := nl.NewRtAttr(unix.IFLA_AF_SPEC, nil)
	spec.AddRtAttr(unix.AF_INET, nil).AddRtAttr(inetConf, nil).AddRtAttr(forwarding, nl.Uint32Attr(1))
	req.AddData(spec)
	if _, err := req.Execute(unix.NETLINK_ROUTE, 0); err != nil {
		return fmt.Errorf("turn IPv4 forwarding on: %w", err)
	}
	return nil
}
