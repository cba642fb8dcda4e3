package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/host/bounded"
	"github.com/linerate-dev/linerate/internal/host/netif"
)

// An end of sessions on a real interface, the port, has an interface of its own above the port: a macvlan in mode
// passthru, in the end's namespace. It has the port's name and MAC address, and gets all unicast frames that arrive at
// the port.
//
//	this machine's namespace            the end's own
//	eth1 ◀── macvlan, passthru ───────  eth1: the test's address, routes, sockets
//	its own addresses, routes, MTU, offloads and queueing discipline, all as they were
//
// The port isn't moved into the namespace. It would lose addresses, routes, filters and queueing discipline, which a
// process that nobody can kill would have to restore, and a virtual cable would be gone with the namespace. Nor is it
// bound to a VRF, which flushes its routes and IPv6 addresses, and leaves the sessions to this machine's firewall and
// connection tracking. A macvlan changes nothing of its port, and the kernel removes it with the namespace when the
// last process that holds it ends, whoever is killed, and when.

// portFreeWithin is how long a port may still be held by the namespace of a run that was killed. The kernel removes
// namespaces in the background.
const portFreeWithin = 10 * time.Second

// attachPorts gives the end of each link its interface above the link's port.
func (b *testbed) attachPorts(ctx context.Context, t Topology) error {
	for _, l := range t.Links {
		end := b.ends[l.Name]
		if err := attachPort(ctx, l, end); err != nil {
			return fmt.Errorf("link %s: %w", l.Name, err)
		}
		// the port is free at once, and not once the namespace is gone
		leave := func() error { return detach(l.Interface) }
		b.closers = append(b.closers, closer(func() error { return end.Do(leave) }))
	}
	return nil
}

func detach(name string) error {
	upper, err := netif.Find(name)
	if err != nil {
		return err
	}
	return netlink.LinkDel(upper)
}

func attachPort(ctx context.Context, l Link, end *netif.Namespace) error {
	port, err := netif.Find(l.Interface)
	if err != nil {
		return fmt.Errorf("interface %s: %w", l.Interface, err)
	}
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.ParentIndex, attrs.Namespace = l.Interface, port.Attrs().Index, netlink.NsFd(end.Fd())
	upper := &netlink.Macvlan{LinkAttrs: attrs, Mode: netlink.MACVLAN_MODE_PASSTHRU}
	ctx, cancel := context.WithTimeout(ctx, portFreeWithin)
	defer cancel()
	for {
		err := netlink.LinkAdd(upper)
		switch {
		case err == nil:
			return end.Do(func() error { return setUpAbovePort(l.Interface) })
		case errors.Is(err, unix.EOPNOTSUPP):
			return &Fault{Unsupported, fmt.Sprintf("--ports: this kernel has no macvlan, by which sessions leave on %s: "+
				"load it with \"modprobe macvlan\"", l.Interface)}
		case !errors.Is(err, unix.EBUSY) && !errors.Is(err, unix.EINVAL):
			return fmt.Errorf("make a macvlan of interface %s: %w", l.Interface, err)
		}
		if bounded.Pause(ctx, 50*time.Millisecond) != nil {
			return &Fault{Failed, fmt.Sprintf("--ports: interface %s is in use by another macvlan, a bridge or a bond "+
				"(%v): remove that (\"ip -d link show\" lists this namespace's; those of containers are in their "+
				"own), or use another interface", l.Interface, err)}
		}
	}
}

// setUpAbovePort sets the interface above a port up. TCP hands it one segment at a time, as the offloads of a macvlan
// can't be switched off, and those of the port are left alone.
func setUpAbovePort(name string) error {
	link, err := netif.Find(name)
	if err != nil {
		return fmt.Errorf("above interface %s: %w", name, err)
	}
	if err := netlink.LinkSetGSOMaxSegs(link, 1); err != nil {
		return fmt.Errorf("above interface %s: keep segments within the MTU: %w", name, err)
	}
	// a router's advertisements must not give the end further addresses
	err = netif.WriteSysctl("ipv6/conf/"+name+"/accept_ra", "0")
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := netlink.LinkSetUp(link); err != nil {
		return fmt.Errorf("above interface %s: set it up: %w", name, err)
	}
	return nil
}
