package forwarder

import (
	"fmt"
	"slices"

	"github.com/vishvananda/netlink"

	"github.com/linerate-dev/linerate/internal/host/netif"
)

// forwardBridged connects the two links of each pair by a bridge of its own. The bridge learns no addresses
// unless its mode says so, as with two ports every frame leaves by the other one, whatever its addresses, from
// the first frame on.
//
//	west ──┤ lane.0 ├── east        north ──┤ lane.1 ├── south
//
// A link's name contains no dot, so no bridge has a link's name.
func forwardBridged(spec Spec, info *Info) error {
	for i, pair := range pairs(spec.Directions) {
		name := fmt.Sprintf("lane.%d", i)
		learns := spec.Mode != nil && spec.Mode.Bridge != nil
		if err := bridge(name, pair, learns, info); err != nil {
			return fmt.Errorf("bridge %s between %s and %s: %w", name, pair.From, pair.To, err)
		}
		kind := "bridge"
		if learns {
			kind = "learning bridge"
		}
		info.applied("%s between %s and %s", kind, pair.From, pair.To)
	}
	return nil
}

// pairs are the directions, but only one of the two between the same two links.
func pairs(directions []Direction) []Direction {
	var ps []Direction
	for _, d := range directions {
		if !slices.Contains(ps, Direction{d.To, d.From}) && !slices.Contains(ps, d) {
			ps = append(ps, d)
		}
	}
	return ps
}

func bridge(name string, pair Direction, learns bool, info *Info) error {
	snooping := false
	br := &netlink.Bridge{LinkAttrs: netlink.NewLinkAttrs(), MulticastSnooping: &snooping}
	br.Name = name
	if err := netlink.LinkAdd(br); err != nil {
		return fmt.Errorf("make it: %w", err)
	}
	tune(info, "ipv6/conf/"+name+"/disable_ipv6", "1")
	for _, port := range []string{pair.From, pair.To} {
		if err := bridgePort(br, port, learns); err != nil {
			return fmt.Errorf("port %s: %w", port, err)
		}
	}
	if err := netlink.LinkSetUp(br); err != nil {
		return fmt.Errorf("set it up: %w", err)
	}
	return nil
}

func bridgePort(br *netlink.Bridge, port string, learns bool) error {
	link, err := netif.Find(port)
	if err != nil {
		return err
	}
	if err := netlink.LinkSetMaster(link, br); err != nil {
		return fmt.Errorf("join: %w", err)
	}
	if err := netlink.LinkSetLearning(link, learns); err != nil {
		return fmt.Errorf("turn learning on or off: %w", err)
	}
	return nil
}
