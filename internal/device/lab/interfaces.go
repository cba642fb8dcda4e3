package lab

import (
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/host/card"
)

// checkInterfaces refuses real interfaces that don't exist, can't carry traffic, or carry this machine's default route.
func checkInterfaces(t Topology) error {
	if t.Kind != Device {
		return nil
	}
	for _, l := range t.Links {
		if err := checkInterface(l, t.Largest); err != nil {
			return err
		}
	}
	if t.Ends && !mayMakeNamespaces() {
		return &Fault{Permission, "--ports: an ordinary user may not open sessions on real interfaces: run with sudo"}
	}
	if err := checkPacketSockets(); err != nil {
		return err
	}
	return checkLoopback()
}

// checkLoopback refuses a namespace whose loopback interface is down, as in a new namespace, since the engine
// listens there.
func checkLoopback() error {
	if lo, err := net.InterfaceByName("lo"); err == nil && lo.Flags&net.FlagUp == 0 {
		return badInput("the loopback interface lo is down, over which the software engine is reached: set it up " +
			"with \"ip link set lo up\" (in the network namespace where linerate runs)")
	}
	return nil
}

func checkInterface(l Link, largest int) error {
	link, err := netlink.LinkByName(l.Interface)
	if _, missing := errors.AsType[netlink.LinkNotFoundError](err); missing {
		return badInput("--ports: there is no interface %s on this machine (link %s): \"ip link\" lists all interfaces",
			l.Interface, l.Name)
	}
	if err != nil {
		return faultOf(fmt.Errorf("look up interface %s: %w", l.Interface, err))
	}
	if link.Attrs().Flags&net.FlagLoopback != 0 || link.Attrs().EncapType != "ether" {
		return badInput("--ports: %s (link %s) is not an Ethernet interface: choose one that is cabled to the device",
			l.Interface, l.Name)
	}
	if link.Attrs().Flags&net.FlagUp == 0 {
		return badInput("--ports: interface %s (link %s) is down: set it up with \"ip link set %s up\"", l.Interface,
			l.Name, l.Interface)
	}
	if link.Attrs().OperState == netlink.OperDown || link.Attrs().OperState == netlink.OperLowerLayerDown {
		advice := "plug its cable in, and see that the device's port is up"
		if port := card.PortOf(os.DirFS("/"), l.Interface); port != "" {
			advice = fmt.Sprintf("it is a virtual function of port %s; ip link set %s up, and linerate doctor says more", port,
				port)
		}
		return badInput("--ports: interface %s (link %s) has no carrier: %s", l.Interface, l.Name, advice)
	}
	if err := checkMTU(link, l, largest); err != nil {
		return err
	}
	return checkDefaultRoute(link, l)
}

// checkMTU refuses an interface on which the largest frame, in bytes without FCS, doesn't fit. The kernel
// leaves the Ethernet header and one VLAN tag out of an MTU.
func checkMTU(link netlink.Link, l Link, largest int) error {
	if need := largest - ethernetHeaderBytes - l.tagBytes(); need > link.Attrs().MTU {
		return badInput("--ports: frames of %d bytes don't fit interface %s (link %s), whose MTU is %d: set it with "+
			"\"ip link set %s mtu %d\", and the device's to as much, or send smaller frames",
			largest+fcsBytes, l.Interface, l.Name, link.Attrs().MTU, l.Interface, need)
	}
	return nil
}

func checkDefaultRoute(link netlink.Link, l Link) error {
	for _, family := range []int{unix.AF_INET, unix.AF_INET6} {
		routes, err := netlink.RouteList(nil, family)
		if err != nil {
			return faultOf(fmt.Errorf("list the routes: %w", err))
		}
		for _, r := range routes {
			if isDefault(r) && uses(r, link.Attrs().Index) {
				return badInput("--ports: interface %s (link %s) carries this machine's default route, and a load "+
					"test would cut you off: choose another interface, or route by another one first",
					l.Interface, l.Name)
			}
		}
	}
	return nil
}

func isDefault(r netlink.Route) bool {
	if r.Dst == nil {
		return true
	}
	ones, _ := r.Dst.Mask.Size()
	return ones == 0 && r.Dst.IP.IsUnspecified()
}

func uses(r netlink.Route, index int) bool {
	if r.LinkIndex == index {
		return true
	}
	for _, hop := range r.MultiPath {
		if hop.LinkIndex == index {
			return true
		}
	}
	return false
}

// checkPacketSockets finds out, before anything is built, whether this user may open interfaces at all.
func checkPacketSockets() error {
	if hasCapability(unix.CAP_NET_RAW) && hasCapability(unix.CAP_NET_ADMIN) {
		return nil
	}
	return &Fault{Permission, "--ports: an ordinary user may not send on real interfaces: run with sudo, or give the " +
		"binary CAP_NET_RAW and CAP_NET_ADMIN with setcap"}
}
