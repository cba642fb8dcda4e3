package fabric

import (
	"fmt"

	"github.com/vishvananda/netlink"

	"github.com/linerate-dev/linerate/test/rigs/fabric/vf"
)

// SetPort pulls the cable of a port (its functions' interfaces lose their carrier, wherever they are), or plugs it in
// again. Ports are numbered along their wire, from 0. A function that was lost while the cable is pulled comes
// back with its cable plugged in.
func (s Spec) SetPort(wire string, index int, plugged bool) error {
	name := fmt.Sprintf("%sp%d", wire, index)
	for _, p := range s.ports() {
		if p.name == name {
			return vf.InNamespace(s.path(), func() error { return setEnds(p.devices, plugged) })
		}
	}
	return fmt.Errorf("fabric %s: wire %s has no port %d", s.Name, wire, index)
}

func setEnds(devices []vf.Device, plugged bool) error {
	for _, d := range devices {
		link, err := netlink.LinkByName(d.Interface)
		if err != nil {
			return fmt.Errorf("find %s on its wire: %w", d.Interface, err)
		}
		set := netlink.LinkSetDown
		if plugged {
			set = netlink.LinkSetUp
		}
		if err := set(link); err != nil {
			return fmt.Errorf("set %s: %w", d.Interface, err)
		}
	}
	return nil
}

// Away lists the functions, by node, that are not at home, as they are in a pod, or destroyed. Nodes without such
// functions are not in the list.
func (s Spec) Away() (map[string][]vf.Device, error) {
	away := map[string][]vf.Device{}
	for _, n := range s.Nodes {
		err := vf.InNamespace(n.Namespace, func() error {
			for d := range s.Inventory(n.Name).Devices() {
				home, err := d.Home()
				if err != nil {
					return err
				}
				if !home {
					away[n.Name] = append(away[n.Name], d)
				}
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("fabric %s: node %s: %w", s.Name, n.Name, err)
		}
	}
	return away, nil
}
