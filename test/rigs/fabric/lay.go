package fabric

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/test/rigs/fabric/vf"
)

// wiresNumber is what each node's namespace calls the wires' (RTM_NEWNSID). Numbers that the kernel gives out
// by itself begin at 0.
const wiresNumber = 0x4c52

// Lay makes the fabric, or what of it is missing, and removes functions and wires that the Spec no longer has.
// Functions in pods stay there. Lay needs root, in the machine's own mount namespace. A Lay that was broken off is
// finished, or undone, by the next Lay or Remove. Lay also removes what is left of fabrics whose nodes have all ended
// without a Remove. One Lay or Remove acts at a time.
func Lay(s Spec) error {
	if err := s.Check(); err != nil {
		return err
	}
	unlock, err := lock()
	if err != nil {
		return err
	}
	defer unlock()
	if err := removeAbandoned(s.Name); err != nil {
		return err
	}
	if err := makeNamespace(s.path()); err != nil {
		return fmt.Errorf("fabric %s: %w", s.Name, err)
	}
	if err := vf.InNamespace(s.path(), s.layWires); err != nil {
		return fmt.Errorf("fabric %s: %w", s.Name, err)
	}
	for _, n := range s.Nodes {
		if err := s.layNode(n); err != nil {
			return fmt.Errorf("fabric %s: node %s: %w", s.Name, n.Name, err)
		}
	}
	return nil
}

// layWires runs in the wires' namespace.
func (s Spec) layWires() error {
	if err := silenceWires(); err != nil {
		return err
	}
	if err := s.clear(); err != nil {
		return err
	}
	for _, w := range s.Wires {
		if err := bridge(w.Name); err != nil {
			return fmt.Errorf("wire %s: %w", w.Name, err)
		}
	}
	return nil
}

// silenceWires keeps the kernel from speaking on the wires, and from handing bridged frames to its packet filter.
func silenceWires() error {
	for file, value := range map[string]string{
		"/proc/sys/net/ipv6/conf/all/disable_ipv6":      "1",
		"/proc/sys/net/ipv6/conf/default/disable_ipv6":  "1",
		"/proc/sys/net/bridge/bridge-nf-call-iptables":  "0",
		"/proc/sys/net/bridge/bridge-nf-call-ip6tables": "0",
		"/proc/sys/net/bridge/bridge-nf-call-arptables": "0",
	} {
		if err := os.WriteFile(file, []byte(value), 0); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("silence the wires: %w", err)
		}
	}
	return nil
}

// clear takes away what the Spec doesn't have (any more).
func (s Spec) clear() error {
	var wanted []string
	for _, w := range s.Wires {
		wanted = append(wanted, w.Name)
	}
	for _, p := range s.ports() {
		for _, d := range p.devices {
			wanted = append(wanted, d.Interface)
		}
	}
	links, err := vf.Links()
	if err != nil {
		return err
	}
	for _, l := range links {
		if kind := l.Type(); kind != "veth" && kind != "bridge" || slices.Contains(wanted, l.Attrs().Name) {
			continue
		}
		// A pod's end, and its namespace with it, may be on its way out.
		if err := netlink.LinkDel(l); err != nil && !errors.Is(err, unix.ENODEV) {
			return fmt.Errorf("take %s away: %w", l.Attrs().Name, err)
		}
	}
	return nil
}

// bridge makes a wire. Multicast goes everywhere, as on a switch that doesn't snoop.
func bridge(name string) error {
	_, err := netlink.LinkByName(name)
	if _, missing := errors.AsType[netlink.LinkNotFoundError](err); !missing {
		return err
	}
	attrs := netlink.NewLinkAttrs()
	attrs.Name = name
	snooping := false
	if err := netlink.LinkAdd(&netlink.Bridge{LinkAttrs: attrs, MulticastSnooping: &snooping}); err != nil {
		return fmt.Errorf("make a bridge: %w", err)
	}
	link, err := netlink.LinkByName(name)
	if err != nil {
		return err
	}
	return netlink.LinkSetUp(link)
}

func (s Spec) layNode(n Node) error {
	wires, err := os.Open(s.path())
	if err != nil {
		return fmt.Errorf("find the wires: %w", err)
	}
	defer func() { _ = wires.Close() }()
	inventory := s.Inventory(n.Name)
	err = vf.InNamespace(n.Namespace, func() error {
		if err := numberWires(int(wires.Fd())); err != nil {
			return err
		}
		for d := range inventory.Devices() {
			if err := plugMissing(d); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || n.Root == "" {
		return err
	}
	return inventory.Save(filepath.Join(n.Root, vf.StateDir, vf.InventoryFile))
}

// numberWires gives the wires' namespace its number in the calling thread's.
func numberWires(wires int) error {
	err := netlink.SetNetNsIdByFd(wires, wiresNumber)
	if err == nil {
		return nil
	}
	if number, lookupErr := netlink.GetNetNsIdByFd(wires); lookupErr == nil && number == wiresNumber {
		return nil
	}
	return fmt.Errorf("tell the node of the wires: %w (another fabric's are known there already? remove it first)", err)
}

func plugMissing(d vf.Device) error {
	plugged, err := d.Plugged()
	if err != nil || plugged {
		return err
	}
	if err := d.Plug(); err != nil {
		if errors.Is(err, unix.EEXIST) {
			return fmt.Errorf("%w: the node has another interface of that name", err)
		}
		return err
	}
	return nil
}
