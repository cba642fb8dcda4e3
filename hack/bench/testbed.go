package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"

	reference "github.com/linerate-dev/linerate/internal/device/forwarder"
	"github.com/linerate-dev/linerate/internal/host/netif"
)

// testbed is a generator and a device, each in a network namespace without a name: it ends with the last process in it.
//
//	generator ┬ g0 ─── d0 ┬ device: a forwarder, or a sink
//	          └ g1 ─── d1 ┘
type testbed struct {
	dut                         dut
	original, generator, device netns.NsHandle
	nearLinks, far              [2]netlink.Link // g0 and g1, d0 and d1
	queues                      int             // from g0 to d0, and from g1 to d1
}

// inTestbed runs fn in a testbed whose generator can send on so many queues, each with a receive queue at the device's
// end. The calling thread is in the generator's namespace meanwhile; the tools that it starts inherit that, and
// die with it.
func inTestbed(d dut, queues int, fn func(*testbed) error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	l, err := newTestbed(d, queues)
	if err != nil {
		return err
	}
	return errors.Join(fn(l), l.close())
}

func newTestbed(d dut, queues int) (*testbed, error) {
	original, err := netns.Get()
	if err != nil {
		return nil, fmt.Errorf("look at the present network namespace: %w", err)
	}
	l := &testbed{dut: d, queues: queues, original: original, generator: netns.None(), device: netns.None()}
	if err := l.build(); err != nil {
		return nil, errors.Join(fmt.Errorf("build the lab: %w", err), l.close())
	}
	return l, nil
}

func (l *testbed) build() (err error) {
	if l.device, err = netns.New(); err != nil {
		return err
	}
	if err := errors.Join(silence(), write("/proc/sys/net/ipv4/ip_forward", "1")); err != nil {
		return err
	}
	if l.generator, err = netns.New(); err != nil {
		return err
	}
	if err := silence(); err != nil {
		return err
	}
	for i := range 2 {
		if err := l.cable(i); err != nil {
			return err
		}
	}
	if err := l.inside(l.device, func() error {
		return errors.Join(route("16.0.0.0/8", "198.18.0.2"),
			route("48.0.0.0/8", "198.18.1.2"))
	}); err != nil {
		return err
	}
	if err := route("48.0.0.0/8", "198.18.0.1"); err != nil { // hping3 asks the kernel for a route
		return err
	}
	return l.receiveByNAPI()
}

// cable connects g<i> and d<i>, with addresses and neighbours set, so that no ARP is needed.
func (l *testbed) cable(i int) error {
	nearMAC, far := hardware(i, 1), hardware(i, 2)
	veth := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: fmt.Sprintf("g%d", i), HardwareAddr: nearMAC,
		NumTxQueues: l.queues, NumRxQueues: 1},
		PeerName: fmt.Sprintf("d%d", i), PeerHardwareAddr: far, PeerNumTxQueues: 1, PeerNumRxQueues: uint32(l.queues),
		PeerNamespace: netlink.NsFd(int(l.device))}
	if err := netlink.LinkAdd(veth); err != nil {
		return fmt.Errorf("veth g%d: %w", i, err)
	}
	err := l.inside(l.device, func() (err error) {
		l.far[i], err = configure(veth.PeerName, fmt.Sprintf("198.18.%d.1/24", i), fmt.Sprintf("198.18.%d.2", i),
			nearMAC)
		return err
	})
	if err != nil {
		return err
	}
	l.nearLinks[i], err = configure(veth.Name, fmt.Sprintf("198.18.%d.2/24", i), fmt.Sprintf("198.18.%d.1", i), far)
	return err
}

func hardware(link, end int) net.HardwareAddr {
	return net.HardwareAddr{2, 0, 0, 0, byte(link), byte(end)}
}

func configure(name, address, neighbour string, mac net.HardwareAddr) (netlink.Link, error) {
	link, err := netlink.LinkByName(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	a, err := netlink.ParseAddr(address)
	if err != nil {
		return nil, err
	}
	return link, errors.Join(netlink.AddrAdd(link, a), netlink.LinkSetUp(link),
		netlink.NeighSet(&netlink.Neigh{LinkIndex: link.Attrs().Index, State: netlink.NUD_PERMANENT,
			IP: net.ParseIP(neighbour), HardwareAddr: mac}))
}

func route(destination, via string) error {
	_, network, err := net.ParseCIDR(destination)
	if err != nil {
		return err
	}
	return netlink.RouteAdd(&netlink.Route{Dst: network, Gw: net.ParseIP(via)})
}

// silence keeps IPv6's own packets out of the counters.
func silence() error {
	return errors.Join(write("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1"),
		write("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1"))
}

func write(path, text string) error {
	err := os.WriteFile(path, []byte(text), 0o600)
	if errors.Is(err, os.ErrNotExist) {
		return nil // a kernel without it needs none
	}
	return err
}

// inside runs fn with the calling thread in another namespace, and comes back.
func (l *testbed) inside(ns netns.NsHandle, fn func() error) error {
	if err := netns.Set(ns); err != nil {
		return err
	}
	err := fn()
	return errors.Join(err, netns.Set(l.generator))
}

// openDrain puts the sink where frames arrive: behind the forwarder at the generator's ends, or at the device's
// if that is a sink itself.
func (l *testbed) openDrain() (d *drain, err error) {
	if l.dut != sink {
		return openDrain(l.nearLinks[:])
	}
	err = l.inside(l.device, func() error {
		d, err = openDrain(l.far[:])
		return err
	})
	return d, err
}

// offered is what g0 and g1 together have sent so far, by their own counters. A frame that found the far end's
// queue full has left, and was lost there: a veth counts it as dropped at the sending end.
func (l *testbed) offered() (uint64, error) {
	sum := uint64(0)
	for _, end := range l.nearLinks {
		link, err := netlink.LinkByIndex(end.Attrs().Index)
		if err != nil {
			return 0, fmt.Errorf("read the counters of %s: %w", end.Attrs().Name, err)
		}
		sum += link.Attrs().Statistics.TxPackets + link.Attrs().Statistics.TxDropped
	}
	return sum, nil
}

// receiveByNAPI gives each of the device's ends a NAPI, as network cards have one, by turning aggregation on:
// frames that a program in the kernel sends are dropped without. The generator's ends must not offer
// segmentation: veth leaves the NAPI out for frames that could only then be aggregated. A forwarder with a
// processor of its own has its NAPIs in kernel threads on the last processor, as the Reference of linerate run
// has; senders have the first ones.
func (l *testbed) receiveByNAPI() error {
	if err := l.aggregate(true); err != nil || l.dut != ownProcessor {
		return err
	}
	return l.inside(l.device, func() error {
		for _, end := range l.far {
			threads, err := reference.GiveOwnThread(end.Attrs().Name)
			if err == nil {
				err = reference.Bind(threads, runtime.NumCPU()-1)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// aggregate turns aggregation at the device's ends on or off.
func (l *testbed) aggregate(enabled bool) error {
	for _, end := range l.nearLinks {
		if err := netif.SetOffload(end.Attrs().Name, netif.TCPSegmentation, !enabled); err != nil {
			return err
		}
	}
	return l.inside(l.device, func() error {
		return errors.Join(netif.SetOffload(l.far[0].Attrs().Name, netif.GenericReceive, enabled),
			netif.SetOffload(l.far[1].Attrs().Name, netif.GenericReceive, enabled))
	})
}

func (l *testbed) close() error {
	err := netns.Set(l.original)
	for _, h := range []netns.NsHandle{l.generator, l.device, l.original} {
		if h.IsOpen() {
			err = errors.Join(err, h.Close())
		}
	}
	return err
}
