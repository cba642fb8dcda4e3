package main

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
)

// connect joins the boxes and the host by a bridge in the control box. Pods' networks are routed by their nodes.
//
//	   host              control               node-1, node-2
//	lr-NAME .254 ──── host ┐
//	                       ├─ br0 .1
//	                node-1 ┤ ─────────────── eth0 .11   10.244.1.0/24
//	                node-2 ┘ ─────────────── eth0 .12   10.244.2.0/24
func (c *cluster) connect() error {
	control, err := c.open("control")
	if err != nil {
		return err
	}
	defer control.close()
	if err := errors.Join(control.setUp("lo"), control.addBridge(),
		control.address("br0", c.subnet(c.controlAddress()))); err != nil {
		return err
	}
	host, err := openHost()
	if err != nil {
		return err
	}
	defer host.close()
	if err := control.plug("host", host, c.hostLink(), c.subnet(c.outsideAddress())); err != nil {
		return err
	}
	for _, n := range c.nodes() {
		if err := c.connectNode(control, n); err != nil {
			return fmt.Errorf("connect %s: %w", n.name, err)
		}
	}
	return nil
}

func (c *cluster) connectNode(control *stack, n node) error {
	s, err := c.open(n.name)
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.setUp("lo"); err != nil {
		return err
	}
	if err := control.plug(n.name, s, "eth0", c.subnet(n.address)); err != nil {
		return err
	}
	if err := errors.Join(control.route(n.pods, n.address), s.route(netip.MustParsePrefix("0.0.0.0/0"),
		c.controlAddress())); err != nil {
		return err
	}
	for _, peer := range c.nodes() {
		if peer.name != n.name {
			if err := s.route(peer.pods, peer.address); err != nil {
				return err
			}
		}
	}
	return nil
}

// hostLink is the one interface that the host has of a cluster.
func (c *cluster) hostLink() string { return "lr-" + c.Name }

func (c *cluster) subnet(a netip.Addr) netip.Prefix { return netip.PrefixFrom(a, c.Subnet.Bits()) }

// stack is a network namespace to work on.
type stack struct {
	*netlink.Handle
	ns netns.NsHandle
}

func (c *cluster) open(name string) (*stack, error) {
	b, err := c.box(name)
	if err != nil {
		return nil, err
	}
	ns, err := netns.GetFromPath(b.netns())
	if err != nil {
		return nil, fmt.Errorf("open the network of %s: %w", name, err)
	}
	return openStack(ns)
}

func openHost() (*stack, error) {
	ns, err := netns.Get()
	if err != nil {
		return nil, err
	}
	return openStack(ns)
}

func openStack(ns netns.NsHandle) (*stack, error) {
	handle, err := netlink.NewHandleAt(ns)
	if err != nil {
		return nil, errors.Join(err, ns.Close())
	}
	return &stack{Handle: handle, ns: ns}, nil
}

func (s *stack) close() {
	s.Close()
	_ = s.ns.Close()
}

func (s *stack) addBridge() error {
	if err := s.LinkAdd(&netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: "br0"}}); err != nil {
		return fmt.Errorf("add bridge: %w", err)
	}
	return s.setUp("br0")
}

// plug lays a cable from the bridge to another namespace, and gives the far end an address.
func (s *stack) plug(port string, far *stack, name string, address netip.Prefix) error {
	if err := s.cable(port, far, name, 0); err != nil {
		return err
	}
	bridge, err := s.LinkByName("br0")
	if err != nil {
		return err
	}
	link, err := s.LinkByName(port)
	if err != nil {
		return err
	}
	return errors.Join(s.LinkSetMaster(link, bridge), far.address(name, address))
}

// cable adds a pair of interfaces with one end here and one there, both up. An mtu of 0 leaves the kernel's.
func (s *stack) cable(nearPort string, far *stack, name string, mtu int) error {
	pair := &netlink.Veth{
		LinkAttrs: netlink.LinkAttrs{Name: nearPort, MTU: mtu, TxQLen: -1},
		PeerName:  name, PeerNamespace: netlink.NsFd(int(far.ns)), PeerMTU: uint32(mtu),
	}
	if err := s.LinkAdd(pair); err != nil {
		return fmt.Errorf("add cable %s to %s: %w", nearPort, name, err)
	}
	return errors.Join(s.setUp(nearPort), far.setUp(name))
}

func (s *stack) setUp(name string) error {
	link, err := s.LinkByName(name)
	if err == nil {
		err = s.LinkSetUp(link)
	}
	if err != nil {
		return fmt.Errorf("bring up %s: %w", name, err)
	}
	return nil
}

func (s *stack) address(name string, address netip.Prefix) error {
	link, err := s.LinkByName(name)
	if err == nil {
		err = s.AddrAdd(link, &netlink.Addr{IPNet: ipNet(address)})
	}
	if err != nil {
		return fmt.Errorf("give %s to %s: %w", address, name, err)
	}
	return nil
}

func (s *stack) route(destination netip.Prefix, via netip.Addr) error {
	if err := s.RouteAdd(&netlink.Route{Dst: ipNet(destination), Gw: via.AsSlice()}); err != nil {
		return fmt.Errorf("route %s via %s: %w", destination, via, err)
	}
	return nil
}
