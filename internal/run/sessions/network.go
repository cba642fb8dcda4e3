package sessions

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/host/netif"
)

// setUpNetwork gives the interface its address, routes to the other links' networks, and neighbours, in the
// calling thread's namespace. Unless AsItIs is set, it turns offloads off, so that frames are within the MTU
// and have whole checksums. The undoList removes what was added, also after an error.
func setUpNetwork(name string, n Network) (laid Laid, g undoList, err error) {
	link, err := netlink.LinkByName(name)
	if err != nil {
		return laid, nil, fmt.Errorf("interface %s: %w", name, err)
	}
	for _, o := range []struct {
		netif.Offload
		effect string
	}{
		{netif.TransmitChecksum, "checksums left to hardware"},
		{netif.TCPSegmentation, "segments larger than the MTU (TSO)"},
		{netif.GenericSegmentation, "segments larger than the MTU (GSO)"},
		{netif.GenericReceive, "merged segments (GRO)"},
	} {
		if n.AsItIs {
			break
		}
		if err := netif.SetOffload(name, o.Offload, false); err != nil {
			laid.Remarks = append(laid.Remarks, fmt.Sprintf("%s: %s can't be switched off: %v", name, o.effect, err))
		}
	}
	if err := netlink.LinkSetUp(link); err != nil {
		return laid, nil, fmt.Errorf("set interface %s up: %w", name, err)
	}
	if err := g.address(link, n.Address); err != nil {
		return laid, g, fmt.Errorf("interface %s: give it %s: %w", name, n.Address, err)
	}
	for _, b := range n.Neighbours {
		if err := g.neighbour(link, b); err != nil {
			return laid, g, fmt.Errorf("interface %s: neighbour %s at %s: %w", name, b.Address, b.MAC, err)
		}
	}
	for _, r := range n.Routes {
		if err := g.route(link, r); err != nil {
			return laid, g, fmt.Errorf("interface %s: route to %s by %s: %w", name, r.Destination, r.Via, err)
		}
	}
	return laid, g, nil
}

// undoList undoes what was added to an interface, one function for each addition. What was there before stays.
type undoList []func() error

// undo removes all additions, in reverse order. It must run in the namespace in which they were made. An addition
// that has vanished, for example with its interface, is no error.
func (g undoList) undo() error {
	var errs []error
	for _, undo := range slices.Backward(g) {
		if err := undo(); err != nil && !slices.ContainsFunc([]error{unix.ESRCH, unix.ENOENT, unix.ENODEV,
			unix.EADDRNOTAVAIL}, func(absence error) bool { return errors.Is(err, absence) }) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func familyOf(a netip.Addr) int {
	if a.Is6() {
		return netlink.FAMILY_V6
	}
	return netlink.FAMILY_V4
}

func (g *undoList) address(link netlink.Link, a netip.Prefix) error {
	existing, err := netlink.AddrList(link, familyOf(a.Addr()))
	if err != nil {
		return err
	}
	if err := netif.AddAddress(link, a); err != nil {
		return err
	}
	network := netif.IPNet(a)
	if !slices.ContainsFunc(existing, func(b netlink.Addr) bool { return b.IPNet.String() == network.String() }) {
		*g = append(*g, func() error { return netlink.AddrDel(link, &netlink.Addr{IPNet: network}) })
	}
	return nil
}

func (g *undoList) neighbour(link netlink.Link, b Neighbour) error {
	mac, err := net.ParseMAC(b.MAC)
	if err != nil {
		return err
	}
	existing, err := netlink.NeighList(link.Attrs().Index, familyOf(b.Address))
	if err != nil {
		return err
	}
	if err := netif.SetNeighbour(link, b.Address, mac); err != nil {
		return err
	}
	i := slices.IndexFunc(existing, func(n netlink.Neigh) bool {
		return n.IP.Equal(b.Address.AsSlice()) && n.State == netlink.NUD_PERMANENT
	})
	if i >= 0 {
		*g = append(*g, func() error { return netlink.NeighSet(&existing[i]) })
		return nil
	}
	*g = append(*g, func() error {
		return netlink.NeighDel(&netlink.Neigh{LinkIndex: link.Attrs().Index, IP: b.Address.AsSlice()})
	})
	return nil
}

func (g *undoList) route(link netlink.Link, r Route) error {
	route := &netlink.Route{LinkIndex: link.Attrs().Index, Dst: netif.IPNet(r.Destination.Masked())}
	if r.Via.IsValid() {
		route.Gw = r.Via.AsSlice()
	} else {
		route.Scope = netlink.SCOPE_LINK
	}
	existing, err := netlink.RouteListFiltered(familyOf(r.Destination.Addr()), route, netlink.RT_FILTER_DST)
	if err != nil {
		return err
	}
	if err := netlink.RouteReplace(route); err != nil {
		return err
	}
	if slices.ContainsFunc(existing, func(h netlink.Route) bool {
		return h.LinkIndex == route.LinkIndex && h.Gw.Equal(route.Gw)
	}) {
		return nil
	}
	*g = append(*g, func() error {
		err := netlink.RouteDel(route)
		for _, h := range existing {
			err = errors.Join(err, netlink.RouteReplace(&h))
		}
		return err
	})
	return nil
}

// routeTo is the kernel's route by the interface, such as "via 198.18.0.1 dev west". A route by another interface is
// an error.
func routeTo(name string, remote netip.Addr) (string, error) {
	link, err := netlink.LinkByName(name)
	if err != nil {
		return "", fmt.Errorf("interface %s: %w", name, err)
	}
	routes, err := netlink.RouteGetWithOptions(remote.AsSlice(), &netlink.RouteGetOptions{Oif: name})
	if err != nil || len(routes) == 0 {
		return "", errors.Join(fmt.Errorf("no route to %s by %s", remote, name), err)
	}
	if routes[0].LinkIndex != link.Attrs().Index {
		return "", fmt.Errorf("the kernel's route to %s is not by %s: both ends are in one network namespace", remote,
			name)
	}
	if routes[0].Gw == nil {
		return "on link " + name, nil
	}
	return fmt.Sprintf("via %s dev %s", routes[0].Gw, name), nil
}
