package cni

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"

	current "github.com/containernetworking/cni/pkg/types/100"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/test/rigs/fabric/vf"
)

// handOver moves the device into the container's namespace and sets it up there. It returns the MAC that it has then.
func handOver(d vf.Device, a Attachment, w Wish) (net.HardwareAddr, error) {
	target, err := os.Open(a.Namespace)
	if err != nil {
		return nil, fmt.Errorf("open the pod's network namespace: %w", err)
	}
	defer func() { _ = target.Close() }()
	link, err := netlink.LinkByName(d.Interface)
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", d.Interface, err)
	}
	if err := netlink.LinkSetNsFd(link, int(target.Fd())); err != nil {
		return nil, fmt.Errorf("move %s into the pod's network namespace: %w", d.Interface, err)
	}
	mac := link.Attrs().HardwareAddr
	if w.MAC != nil {
		mac = w.MAC
	}
	return mac, vf.InNamespace(a.Namespace, func() error { return setUp(d.Interface, a.Interface, mac, w.Addresses) })
}

func setUp(oldName, name string, mac net.HardwareAddr, addresses []netip.Prefix) error {
	link, err := netlink.LinkByName(oldName)
	if err != nil {
		return fmt.Errorf("find %s in the pod: %w", oldName, err)
	}
	if err := netlink.LinkSetName(link, name); err != nil {
		return fmt.Errorf("rename %s to %s: %w", oldName, name, err)
	}
	if err := netlink.LinkSetHardwareAddr(link, mac); err != nil {
		return fmt.Errorf("give %s the MAC %s: %w", name, mac, err)
	}
	for _, p := range addresses {
		address := &netlink.Addr{IPNet: ipNet(p)}
		if p.Addr().Is6() {
			address.Flags = unix.IFA_F_NODAD // or it couldn't be used for a second
		}
		if err := netlink.AddrAdd(link, address); err != nil {
			return fmt.Errorf("give %s the address %s: %w", name, p, err)
		}
	}
	if err := netlink.LinkSetUp(link); err != nil {
		return fmt.Errorf("set %s up: %w", name, err)
	}
	return nil
}

func ipNet(p netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}
}

func resultOf(a Attachment, w Wish, d vf.Device, mac net.HardwareAddr) *current.Result {
	result := &current.Result{
		CNIVersion: current.ImplementedSpecVersion,
		Interfaces: []*current.Interface{{Name: a.Interface, Mac: mac.String(), Mtu: d.MTU, Sandbox: a.Namespace,
			PciID: d.ID}},
	}
	for _, p := range w.Addresses {
		result.IPs = append(result.IPs, &current.IPConfig{Interface: current.Int(0), Address: *ipNet(p)})
	}
	return result
}

// Check compares what the container has with what Attach answered.
func (n Node) Check(a Attachment, attached *current.Result) error {
	unlock, err := n.records.lock()
	if err != nil {
		return err
	}
	defer unlock()
	rec, ok, err := n.records.load(a)
	if err != nil {
		return err
	}
	if !ok {
		return fmt.Errorf("no device is recorded for %s of container %s", a.Interface, a.Container)
	}
	return vf.InNamespace(a.Namespace, func() error { return checkInterface(a.Interface, rec.Device, attached) })
}

func checkInterface(name, device string, attached *current.Result) error {
	link, err := netlink.LinkByName(name)
	if _, missing := errors.AsType[netlink.LinkNotFoundError](err); missing {
		return fmt.Errorf("the pod has no interface %s (any more)", name)
	}
	if err != nil {
		return fmt.Errorf("look up %s: %w", name, err)
	}
	if link.Attrs().Alias != device {
		return fmt.Errorf("interface %s isn't device %s", name, device)
	}
	for _, i := range attached.Interfaces {
		if i.Name == name && i.Mac != link.Attrs().HardwareAddr.String() {
			return fmt.Errorf("interface %s has MAC %s, and had %s", name, link.Attrs().HardwareAddr, i.Mac)
		}
	}
	return checkAddresses(link, attached.IPs)
}

func checkAddresses(link netlink.Link, wanted []*current.IPConfig) error {
	addresses, err := netlink.AddrList(link, netlink.FAMILY_ALL)
	if err != nil {
		return fmt.Errorf("list the addresses of %s: %w", link.Attrs().Name, err)
	}
	present := map[string]bool{}
	for _, a := range addresses {
		present[a.IPNet.String()] = true
	}
	for _, w := range wanted {
		if !present[w.Address.String()] {
			return fmt.Errorf("interface %s has lost its address %s", link.Attrs().Name, w.Address.String())
		}
	}
	return nil
}
