package sessions

import (
	"errors"
	"net"
	"net/netip"
	"slices"
	"testing"

	"github.com/vishvananda/netlink"

	"github.com/linerate-dev/linerate/internal/host/netif"
	"github.com/linerate-dev/linerate/test/rigs/netnstest"
)

// stateOf is all that an interface of a namespace has, which is addresses, permanent neighbours and routes.
func stateOf(t *testing.T, ns *netif.Namespace, name string) (state []string) {
	t.Helper()
	noError(t, ns.Do(func() error {
		link, err := netlink.LinkByName(name)
		noError(t, err)
		for _, family := range []int{netlink.FAMILY_V4, netlink.FAMILY_V6} {
			addresses, err := netlink.AddrList(link, family)
			neighbours, neighbourErr := netlink.NeighList(link.Attrs().Index, family)
			routes, routeErr := netlink.RouteList(link, family)
			noError(t, errors.Join(err, neighbourErr, routeErr))
			for _, a := range addresses {
				if !a.IP.IsLinkLocalUnicast() { // which comes by itself
					state = append(state, "address "+a.IPNet.String())
				}
			}
			for _, n := range neighbours {
				if n.State == netlink.NUD_PERMANENT {
					state = append(state, "neighbour "+n.IP.String()+" "+n.HardwareAddr.String())
				}
			}
			for _, r := range routes {
				if r.Dst != nil && !r.Dst.IP.IsLinkLocalUnicast() && !r.Dst.IP.IsMulticast() {
					state = append(state, "route "+r.Dst.String()+" "+r.Gw.String())
				}
			}
		}
		return nil
	}))
	slices.Sort(state)
	return state
}

// Who serves an end by hand has the interface afterwards as it was before.
func TestSettingsOfAnInterfaceAreUndone(t *testing.T) {
	prefix, addr := netip.MustParsePrefix, netip.MustParseAddr
	network4 := Network{Address: prefix("198.18.0.2/24"), Routes: []Route{{Destination: prefix("198.18.1.0/24"),
		Via: addr("198.18.0.1")}},
		Neighbours: []Neighbour{{Address: addr("198.18.0.1"), MAC: "02:6c:72:00:00:01"}}}
	network6 := Network{Address: prefix("2001:db8::2/64"), Routes: []Route{{Destination: prefix("2001:db8:1::/64"),
		Via: addr("2001:db8::1")}},
		Neighbours: []Neighbour{{Address: addr("2001:db8::1"), MAC: "02:6c:72:00:00:01"}}}
	for name, c := range map[string]struct {
		setUp func(netlink.Link) error
		give  Network
	}{
		"an interface that had nothing":       {func(netlink.Link) error { return nil }, network4},
		"an interface that had nothing, IPv6": {func(netlink.Link) error { return nil }, network6},
		"an interface that had all of it": {func(link netlink.Link) error {
			_, _, err := setUpNetwork("west", network4)
			return err
		}, network4},
		"an interface with another way there": {func(link netlink.Link) error {
			return errors.Join(netif.AddAddress(link, prefix("198.18.0.2/24")),
				netif.SetNeighbour(link, addr("198.18.0.1"), net.HardwareAddr{2, 9, 9, 9, 9, 9}),
				netlink.RouteReplace(&netlink.Route{LinkIndex: link.Attrs().Index,
					Dst: netif.IPNet(prefix("198.18.1.0/24")), Gw: net.IP{198, 18, 0, 9}}))
		}, network4},
	} {
		t.Run(name, func(t *testing.T) {
			ns, far := netnstest.New(t), netnstest.New(t)
			cable(t, ns, far, "west", net.HardwareAddr{2, 0x6c, 0x72, 0, 0, 2}, net.HardwareAddr{2, 0x6c, 0x72, 0, 0,
				1})
			noError(t, far.Do(func() error {
				link, err := netlink.LinkByName("west")
				noError(t, err)
				return netlink.LinkSetUp(link)
			}))
			noError(t, ns.Do(func() error {
				link, err := netlink.LinkByName("west")
				noError(t, err)
				return errors.Join(netlink.LinkSetUp(link), c.setUp(link))
			}))
			original := stateOf(t, ns, "west")
			var g undoList
			noError(t, ns.Do(func() (err error) { _, g, err = setUpNetwork("west", c.give); return err }))
			during := stateOf(t, ns, "west")
			for _, want := range []string{"address " + c.give.Address.String(), "neighbour " +
				c.give.Neighbours[0].Address.String() + " 02:6c:72:00:00:01",
				"route " + c.give.Routes[0].Destination.String() + " " + c.give.Routes[0].Via.String()} {
				if !slices.Contains(during, want) {
					t.Errorf("it has %q, and not %s", during, want)
				}
			}
			noError(t, ns.Do(g.undo))
			if restored := stateOf(t, ns, "west"); !slices.Equal(restored, original) {
				t.Errorf("it has %q afterwards, and had %q", restored, original)
			}
			noError(t, ns.Do(g.undo)) // what is gone is no fault
		})
	}
}
