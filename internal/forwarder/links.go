package forwarder

import (
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/plan"
)

// openLinks makes every link plain, addressed and up. In L2 the links have no addresses: nobody talks to a bridge.
func openLinks(spec Spec, info *Info) error {
	for _, l := range spec.Links {
		if err := openLink(l, spec.Forwarding, info); err != nil {
			return fmt.Errorf("link %s: %w", l.Interface, err)
		}
	}
	return nil
}

func openLink(l Link, forwarding plan.Forwarding, info *Info) error {
	link, err := find(l.Interface)
	if err != nil {
		return err
	}
	// Without a link-local address the kernel neither solicits routers nor reports multicast groups from this interface.
	if err := netlink.LinkSetIP6AddrGenMode(link, nl.IN6_ADDR_GEN_MODE_NONE); err != nil && !errors.Is(err, unix.EAFNOSUPPORT) {
		info.missing("%s: no link-local address: %v", l.Interface, err)
	}
	for _, s := range [][2]string{{"accept_ra", "0"}, {"autoconf", "0"}, {"accept_dad", "0"}, {"disable_ipv6", disableIPv6(l, forwarding)}} {
		tune(info, "ipv6/conf/"+l.Interface+"/"+s[0], s[1])
	}
	if err := netlink.LinkSetUp(link); err != nil {
		return fmt.Errorf("set it up: %w", err)
	}
	if forwarding == plan.L2 {
		return nil
	}
	for _, a := range l.Addresses {
		if err := addAddress(link, a); err != nil {
			return err
		}
	}
	return addNeighbours(link, l)
}

// disableIPv6 says whether a link without IPv6 addresses has IPv6 at all: then it can't speak it.
func disableIPv6(l Link, forwarding plan.Forwarding) string {
	if forwarding != plan.L2 {
		for _, a := range l.Addresses {
			if a.Addr().Is6() {
				return "0"
			}
		}
	}
	return "1"
}

func find(name string) (netlink.Link, error) {
	link, err := netlink.LinkByName(name)
	if _, missing := errors.AsType[netlink.LinkNotFoundError](err); missing {
		return nil, fmt.Errorf("no interface of that name here (%w)", err)
	}
	if err != nil {
		return nil, fmt.Errorf("look it up: %w", err)
	}
	return link, nil
}

func addAddress(link netlink.Link, a netip.Prefix) error {
	addr := &netlink.Addr{IPNet: ipNet(a)}
	if a.Addr().Is6() {
		addr.Flags = unix.IFA_F_NODAD // usable now, without a probe on the wire
	}
	if err := netlink.AddrReplace(link, addr); err != nil {
		return fmt.Errorf("address %s: %w", a, err)
	}
	return nil
}

func addNeighbours(link netlink.Link, l Link) error {
	if l.GeneratorMAC == nil {
		return nil
	}
	for _, g := range l.Generator {
		err := netlink.NeighSet(&netlink.Neigh{
			LinkIndex: link.Attrs().Index, Family: family(g), State: netlink.NUD_PERMANENT,
			IP: g.AsSlice(), HardwareAddr: net.HardwareAddr(l.GeneratorMAC),
		})
		if err != nil {
			return fmt.Errorf("neighbour %s: %w", g, err)
		}
	}
	return nil
}

func family(a netip.Addr) int {
	if a.Is4() {
		return unix.AF_INET
	}
	return unix.AF_INET6
}

func ipNet(p netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}
}
