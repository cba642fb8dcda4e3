package forwarder

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/host/netif"
)

// openLinks sets every link up, with its addresses, and keeps the kernel from sending on it by itself. With L2
// the links have no addresses, as nothing is sent to the bridge itself.
func openLinks(spec Spec, info *Info) error {
	for _, l := range spec.Links {
		if err := openLink(l, spec.Forwarding, info); err != nil {
			return fmt.Errorf("link %s: %w", l.Interface, err)
		}
	}
	return nil
}

func openLink(l Link, forwarding plan.Forwarding, info *Info) error {
	link, err := netif.Find(l.Interface)
	if err != nil {
		return err
	}
	// Without a link-local address the kernel solicits no routers and reports no multicast groups on it.
	if err := netlink.LinkSetIP6AddrGenMode(link, nl.IN6_ADDR_GEN_MODE_NONE); err != nil &&
		!errors.Is(err, unix.EAFNOSUPPORT) {
		info.missing("%s: no link-local address: %v", l.Interface, err)
	}
	for _, s := range [][2]string{{"accept_ra", "0"}, {"autoconf", "0"}, {"accept_dad", "0"},
		{"disable_ipv6", disableIPv6(l, forwarding)}} {
		tune(info, "ipv6/conf/"+l.Interface+"/"+s[0], s[1])
	}
	if err := netlink.LinkSetUp(link); err != nil {
		return fmt.Errorf("set it up: %w", err)
	}
	if forwarding == plan.L2 {
		return nil
	}
	for _, a := range l.Addresses {
		if err := netif.AddAddress(link, a); err != nil {
			return fmt.Errorf("address %s: %w", a, err)
		}
	}
	return addNeighbours(link, l)
}

// disableIPv6 is the sysctl disable_ipv6 of a link. It is "1" where the link has no IPv6 address, so that it
// sends none.
func disableIPv6(l Link, forwarding plan.Forwarding) string {
	if forwarding != plan.L2 && slices.ContainsFunc(l.Addresses, isIPv6) {
		return "0"
	}
	return "1"
}

func addNeighbours(link netlink.Link, l Link) error {
	if l.GeneratorMAC == nil {
		return nil
	}
	for _, g := range l.Generator {
		if err := netif.SetNeighbour(link, g, net.HardwareAddr(l.GeneratorMAC)); err != nil {
			return fmt.Errorf("neighbour %s: %w", g, err)
		}
	}
	return nil
}

// tune sets a value below /proc/sys/net, and notes in info why it could not.
func tune(info *Info, path, value string) {
	if err := netif.WriteSysctl(path, value); err != nil && !os.IsNotExist(err) {
		info.missing("%v", err)
	}
}
