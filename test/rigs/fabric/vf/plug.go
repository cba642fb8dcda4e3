package vf

import (
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/host/netif"
)

// Plugged says whether the function exists, in whichever namespace its own end is.
func (d Device) Plugged() (bool, error) {
	end, err := d.Wire.find(d.Interface)
	return end.index != 0, err
}

// Home says whether the function is in the node's namespace, and not in a pod's.
func (d Device) Home() (bool, error) {
	link, err := netlink.LinkByName(d.Interface)
	if _, missing := errors.AsType[netlink.LinkNotFoundError](err); missing {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look up %s: %w", d.Interface, err)
	}
	if link.Type() != "veth" {
		return false, fmt.Errorf("interface %s of this node is a %s and no virtual function: something else took "+
			"the name", d.Interface, link.Type())
	}
	return true, nil
}

// Plug makes the function. Its end on the wire is up, and its own end is in the node's namespace, down, as a card's
// would be. Its alias is its ID.
func (d Device) Plug() error { return d.plug(unix.IFF_UP) }

// Replug brings the function home as new, from wherever it is. It destroys what is left, and plugs a new one. A cable
// that is pulled stays pulled.
func (d Device) Replug() error {
	old, err := d.Wire.find(d.Interface)
	if err != nil {
		return err
	}
	if err := d.Unplug(); err != nil {
		return err
	}
	if old.index == 0 {
		return d.Plug()
	}
	return d.plug(old.flags & unix.IFF_UP)
}

func (d Device) plug(flags uint32) error {
	bridge, err := d.Wire.find(d.Wire.Bridge)
	if err != nil {
		return err
	}
	if bridge.index == 0 {
		return fmt.Errorf("plug %s: there is no wire %s: lay the fabric again", d.ID, d.Wire.Bridge)
	}
	if err := d.pair(bridge.index, flags); err != nil {
		return fmt.Errorf("plug %s (interface %s): %w", d.ID, d.Interface, err)
	}
	netif.DisableOffloads(d.Interface)
	link, err := netlink.LinkByName(d.Interface)
	if err == nil {
		err = netlink.LinkSetAlias(link, d.ID)
	}
	if err != nil {
		return fmt.Errorf("name %s: %w", d.ID, err)
	}
	return nil
}

// Unplug destroys the function, wherever it is. One that doesn't exist is no error.
func (d Device) Unplug() error {
	end, err := d.Wire.find(d.Interface)
	if err != nil || end.index == 0 {
		return err
	}
	request := d.Wire.request(unix.RTM_DELLINK, unix.NLM_F_ACK, wireEnd{index: end.index})
	if _, err := request.Execute(unix.NETLINK_ROUTE, 0); err != nil && !errors.Is(err, unix.ENODEV) {
		return fmt.Errorf("unplug %s: %w", d.ID, err)
	}
	return nil
}

// pair asks for a veth in the wires' namespace, on the bridge, whose peer is in the calling thread's namespace.
func (d Device) pair(bridge int32, flags uint32) error {
	namespace, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		return err
	}
	defer func() { _ = namespace.Close() }()
	mac, err := net.ParseMAC(d.MAC)
	if err != nil {
		return err
	}
	request := d.Wire.request(unix.RTM_NEWLINK, unix.NLM_F_CREATE|unix.NLM_F_EXCL|unix.NLM_F_ACK, wireEnd{flags: flags})
	for _, a := range d.common() {
		request.AddData(a)
	}
	request.AddData(nl.NewRtAttr(unix.IFLA_MASTER, nl.Uint32Attr(uint32(bridge))))
	kind := nl.NewRtAttr(unix.IFLA_LINKINFO, nil)
	kind.AddRtAttr(nl.IFLA_INFO_KIND, nl.NonZeroTerminated("veth"))
	peer := kind.AddRtAttr(nl.IFLA_INFO_DATA, nil).AddRtAttr(nl.VETH_INFO_PEER, nil)
	nl.NewIfInfomsgChild(peer, unix.AF_UNSPEC)
	for _, a := range d.common() {
		peer.AddChild(a)
	}
	peer.AddRtAttr(unix.IFLA_ADDRESS, mac)
	peer.AddRtAttr(unix.IFLA_NET_NS_FD, nl.Uint32Attr(uint32(namespace.Fd())))
	request.AddData(kind)
	_, err = request.Execute(unix.NETLINK_ROUTE, 0)
	return err
}

// common is what both ends have, the name, the MTU, and one queue, so that all frames of a function wait in the same
// one.
func (d Device) common() []*nl.RtAttr {
	return []*nl.RtAttr{
		nl.NewRtAttr(unix.IFLA_IFNAME, nl.ZeroTerminated(d.Interface)),
		nl.NewRtAttr(unix.IFLA_MTU, nl.Uint32Attr(uint32(d.MTU))),
		nl.NewRtAttr(unix.IFLA_NUM_TX_QUEUES, nl.Uint32Attr(1)),
		nl.NewRtAttr(unix.IFLA_NUM_RX_QUEUES, nl.Uint32Attr(1)),
	}
}

// wireEnd is an interface in the wires' namespace. Index 0 means that there is none.
type wireEnd struct {
	index int32
	flags uint32
}

func (w Wire) find(name string) (wireEnd, error) {
	request := w.request(unix.RTM_GETLINK, 0, wireEnd{})
	request.AddData(nl.NewRtAttr(unix.IFLA_IFNAME, nl.ZeroTerminated(name)))
	answers, err := request.Execute(unix.NETLINK_ROUTE, unix.RTM_NEWLINK)
	switch {
	case errors.Is(err, unix.ENODEV):
		return wireEnd{}, nil
	case errors.Is(err, unix.EINVAL):
		return wireEnd{}, fmt.Errorf("look for %s on its wire: this namespace knows none by the number %d: is it "+
			"the node's, and is the fabric laid?", name, w.Namespace)
	case err != nil:
		return wireEnd{}, fmt.Errorf("look for %s on its wire: %w", name, err)
	}
	for _, a := range answers {
		info := nl.DeserializeIfInfomsg(a)
		return wireEnd{info.Index, info.Flags}, nil
	}
	return wireEnd{}, nil
}

// request is one about an interface of the wires' namespace.
func (w Wire) request(kind, flags int, end wireEnd) *nl.NetlinkRequest {
	request := nl.NewNetlinkRequest(kind, flags)
	info := nl.NewIfInfomsg(unix.AF_UNSPEC)
	info.Index, info.Flags, info.Change = end.index, end.flags, end.flags
	request.AddData(info)
	request.AddData(nl.NewRtAttr(unix.IFLA_TARGET_NETNSID, nl.Uint32Attr(uint32(w.Namespace))))
	return request
}
