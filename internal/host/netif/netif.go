package netif

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// Find looks an interface of the calling thread's namespace up by its name.
func Find(name string) (netlink.Link, error) {
	link, err := netlink.LinkByName(name)
	if _, missing := errors.AsType[netlink.LinkNotFoundError](err); missing {
		return nil, fmt.Errorf("no interface of that name here (%w)", err)
	}
	if err != nil {
		return nil, fmt.Errorf("look it up: %w", err)
	}
	return link, nil
}

// AddAddress gives an interface of the calling thread's namespace an address that is usable at once, without IPv6's
// probe on the wire.
func AddAddress(link netlink.Link, a netip.Prefix) error {
	addr := &netlink.Addr{IPNet: IPNet(a)}
	if a.Addr().Is6() {
		addr.Flags = unix.IFA_F_NODAD
	}
	return netlink.AddrReplace(link, addr)
}

// SetNeighbour enters an address and its MAC as a permanent neighbour on an interface, so that no ARP or neighbour
// discovery is needed.
func SetNeighbour(link netlink.Link, a netip.Addr, mac net.HardwareAddr) error {
	return netlink.NeighSet(&netlink.Neigh{LinkIndex: link.Attrs().Index, State: netlink.NUD_PERMANENT, IP: a.AsSlice(),
		HardwareAddr: mac})
}

// IPNet is a prefix in the type that netlink takes. It keeps the host part of the address.
func IPNet(p netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}
}

// ForwardIPv4 turns IPv4 forwarding on for packets that come in on the interface, and source checks and redirects
// off. It asks rtnetlink first, which works also where /proc/sys is read-only, as in a pod, and writes to /proc/sys
// on kernels where rtnetlink can't do it.
func ForwardIPv4(link netlink.Link) error {
	name := link.Attrs().Name
	if err := setIPv4Conf(link, map[uint16]uint32{confForwarding: 1, confReversePathFilter: 0,
		confSendRedirects: 0}); err == nil {
		return nil
	}
	for _, s := range [][2]string{{"forwarding", "1"}, {"rp_filter", "0"}, {"send_redirects", "0"}} {
		if err := WriteSysctl("ipv4/conf/"+name+"/"+s[0], s[1]); err != nil {
			return err
		}
	}
	return nil
}

// The members of an interface's IPv4 configuration (linux/ip.h, IPV4_DEVCONF_*) that are set here.
const (
	confForwarding        = 1
	confSendRedirects     = 6
	confReversePathFilter = 8
	iflaInetConf          = 1 // IFLA_INET_CONF
)

// setIPv4Conf sets members of the interface's IPv4 configuration (IFLA_AF_SPEC / AF_INET / IFLA_INET_CONF /
// member).
func setIPv4Conf(link netlink.Link, members map[uint16]uint32) error {
	req := nl.NewNetlinkRequest(unix.RTM_SETLINK, unix.NLM_F_ACK)
	msg := nl.NewIfInfomsg(unix.AF_UNSPEC)
	msg.Index = int32(link.Attrs().Index)
	req.AddData(msg)
	spec := nl.NewRtAttr(unix.IFLA_AF_SPEC, nil)
	conf := spec.AddRtAttr(unix.AF_INET, nil).AddRtAttr(iflaInetConf, nil)
	for member, value := range members {
		conf.AddRtAttr(int(member), binary.NativeEndian.AppendUint32(nil, value))
	}
	req.AddData(spec)
	_, err := req.Execute(unix.NETLINK_ROUTE, 0)
	return err
}
