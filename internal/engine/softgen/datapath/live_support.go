package datapath

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// The kernel reports over generic netlink which XDP features an interface has (include/uapi/linux/netdev.h), since 6.3.
const (
	netdevFamily      = "netdev"
	netdevGet         = 1 // NETDEV_CMD_DEV_GET
	netdevIndex       = 1 // NETDEV_A_DEV_IFINDEX
	netdevXDPFeatures = 3 // NETDEV_A_DEV_XDP_FEATURES
	xdpTransmits      = 4 // NETDEV_XDP_ACT_NDO_XMIT
)

// genericHead is struct genlmsghdr. Package nl leaves the reserved bytes of its own to chance, and this family
// refuses bytes that aren't zero.
type genericHead [4]byte

func (h genericHead) Len() int { return len(h) }

func (h genericHead) Serialize() []byte { return h[:] }

// checkLiveInterface says why the interface takes no live frames, or returns nil if it does. The kernel itself
// drops live frames by the same bit, without a word.
func checkLiveInterface(p *port) error {
	var features uint64
	if err := p.namespace.run(func() (err error) {
		features, err = xdpFeatures(p.index)
		return err
	}); err != nil {
		return fmt.Errorf("ask what XDP can do on %s: %w", p.name, err)
	}
	switch {
	case features&xdpTransmits != 0:
		return nil
	case p.nic.Driver == "veth":
		return fmt.Errorf("%s is one end of a veth whose other end drops what XDP sends: turn GRO on there "+
			"(ethtool -K PEER gro on)", p.name)
	}
	return fmt.Errorf("the driver of %s (%s) sends nothing for XDP as it is now: some do once an XDP program is "+
		"on the interface, virtual functions by iavf never", p.name, p.nic.Driver)
}

// xdpFeatures asks in the calling thread's network namespace.
func xdpFeatures(index int) (uint64, error) {
	family, err := netlink.GenlFamilyGet(netdevFamily)
	if err != nil {
		return 0, err
	}
	request := nl.NewNetlinkRequest(int(family.ID), unix.NLM_F_ACK)
	request.AddData(genericHead{netdevGet, 1})
	request.AddData(nl.NewRtAttr(netdevIndex, nl.Uint32Attr(uint32(index))))
	answers, err := request.Execute(unix.NETLINK_GENERIC, 0)
	if err != nil {
		return 0, err
	}
	for _, a := range answers {
		attributes, err := nl.ParseRouteAttr(a[genericHead{}.Len():])
		if err != nil {
			return 0, err
		}
		for _, attribute := range attributes {
			if attribute.Attr.Type&nl.NLA_TYPE_MASK == netdevXDPFeatures && len(attribute.Value) >= 8 {
				return binary.NativeEndian.Uint64(attribute.Value), nil
			}
		}
	}
	return 0, fmt.Errorf("the kernel reports no XDP features; Linux 6.3 or later does")
}

// errOtherPath says that the options ask for another path than live frames.
var errOtherPath = errors.New("another way was asked for")

// allowedProcessors is how many processors this process may use, within a container's limit.
var allowedProcessors = runtime.GOMAXPROCS(0)

// refuseLive says why the port's runs don't go by live frames, or returns nil if they do. checkLiveRun judges a
// run's streams.
func refuseLive(p *port) error {
	switch p.options.Path {
	case "", PathAuto:
	case PathLive:
		return nil
	default:
		return errOtherPath
	}
	if p.options.Plain {
		return errOtherPath
	}
	if p.nic.Driver != "veth" {
		return fmt.Errorf("%w: what %s has no room for would count as sent, so they have to be asked for", errNotLive,
			p.name)
	}
	if err := checkLiveProcessors(senders(), p.cpus); err != nil {
		return err
	}
	if err := checkLiveInterface(p); err != nil {
		return fmt.Errorf("%w: %w", errNotLive, err)
	}
	return nil
}

// checkLiveProcessors says why the sending threads have no processors of their own, or returns nil if they
// have. A cable's far end works on this machine too, and so do the programs that drive and observe the test. On
// two processors a device's own threads would wait for the sending threads, and their losses would count as the
// device's.
func checkLiveProcessors(threads, processors int) error {
	if needed := 2*threads + 1; processors < needed {
		return fmt.Errorf("%w: threads that send (%d), the far ends of their cables and all else would need %d "+
			"processors, of %d here", errNotLive, threads, needed, processors)
	}
	return nil
}
