package sessions

import (
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"

	"github.com/linerate-dev/linerate/internal/forwarder"
)

// lay gives the interface its address, routes to the other links' networks, and neighbours, in the calling thread's namespace, and makes it send and take frames as they
// are on the wire: within the MTU, with whole checksums.
func lay(name string, n Network) (Laid, error) {
	var laid Laid
	link, err := netlink.LinkByName(name)
	if err != nil {
		return laid, fmt.Errorf("interface %s: %w", name, err)
	}
	for _, o := range []struct {
		forwarder.Offload
		what string
	}{
		{forwarder.TransmitChecksum, "checksums left to hardware"}, {forwarder.TCPSegmentation, "segments larger than the MTU (TSO)"},
		{forwarder.GenericSegmentation, "segments larger than the MTU (GSO)"}, {forwarder.GenericReceive, "merged segments (GRO)"},
	} {
		if err := forwarder.SetOffload(name, o.Offload, false); err != nil {
			laid.Remarks = append(laid.Remarks, fmt.Sprintf("%s: %s can't be switched off: %v", name, o.what, err))
		}
	}
	if err := netlink.LinkSetUp(link); err != nil {
		return laid, fmt.Errorf("set interface %s up: %w", name, err)
	}
	if err := forwarder.AddAddress(link, n.Address); err != nil {
		return laid, fmt.Errorf("interface %s: give it %s: %w", name, n.Address, err)
	}
	for _, b := range n.Neighbours {
		if err := addNeighbour(link, b); err != nil {
			return laid, fmt.Errorf("interface %s: neighbour %s at %s: %w", name, b.Address, b.MAC, err)
		}
	}
	for _, r := range n.Routes {
		if err := addRoute(link, r); err != nil {
			return laid, fmt.Errorf("interface %s: route to %s by %s: %w", name, r.To, r.Via, err)
		}
	}
	return laid, nil
}

func addNeighbour(link netlink.Link, b Neighbour) error {
	mac, err := net.ParseMAC(b.MAC)
	if err != nil {
		return err
	}
	return forwarder.SetNeighbour(link, b.Address, mac)
}

func addRoute(link netlink.Link, r Route) error {
	route := &netlink.Route{LinkIndex: link.Attrs().Index, Dst: forwarder.IPNet(r.To.Masked())}
	if r.Via.IsValid() {
		route.Gw = r.Via.AsSlice()
	} else {
		route.Scope = netlink.SCOPE_LINK
	}
	return netlink.RouteReplace(route)
}

// routeTo is the way that the kernel would take by the interface: "via 198.18.0.1 dev west". Another interface is an error.
func routeTo(name string, to netip.Addr) (string, error) {
	link, err := netlink.LinkByName(name)
	if err != nil {
		return "", fmt.Errorf("interface %s: %w", name, err)
	}
	routes, err := netlink.RouteGetWithOptions(to.AsSlice(), &netlink.RouteGetOptions{Oif: name})
	if err != nil || len(routes) == 0 {
		return "", errors.Join(fmt.Errorf("no route to %s by %s", to, name), err)
	}
	if routes[0].LinkIndex != link.Attrs().Index {
		return "", fmt.Errorf("the kernel's way to %s is not by %s: both ends are in one network namespace", to, name)
	}
	if routes[0].Gw == nil {
		return "on link " + name, nil
	}
	return fmt.Sprintf("via %s dev %s", routes[0].Gw, name), nil
}
