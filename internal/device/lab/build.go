package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"slices"

	"github.com/vishvananda/netlink"

	"github.com/linerate-dev/linerate/internal/device/forwarder"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/internal/host/netif"
	"github.com/linerate-dev/linerate/internal/host/reception"
)

// testbed is a topology that was built. Its closers keep it, as a namespace that no process holds is removed.
type testbed struct {
	info    forwarder.Info
	closers []io.Closer
	dut     *netif.Namespace // the Reference's, nil if there is no Reference
	device  []*DeviceProcess // the processes that forward in user space
	senders map[string][]int // by link, the processors that its sending threads are bound to
	// ends are, by link, the namespaces of links that each end in one of their own, the device's by
	// plan.DeviceEnd. Without ends all links end in this process's namespace.
	ends map[string]*netif.Namespace
}

func (b *testbed) close() {
	for _, h := range slices.Backward(b.closers) {
		_ = h.Close()
	}
}

// build makes the topology. This process's namespace becomes the generator's. For a Device there is nothing to make
// but the ends of sessions.
func build(ctx context.Context, o order) (*testbed, error) {
	b := &testbed{}
	var err error
	switch t := o.Topology; {
	case t.Kind != Device:
		err = b.layCables(ctx, o)
	case t.Ends:
		if err = b.makeEndNamespaces(t); err == nil {
			err = b.attachPorts(ctx, t)
		}
	}
	if err == nil {
		err = errors.Join(b.tagEnds(o.Topology), b.shield(o.Topology))
	}
	if err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

func (b *testbed) layCables(ctx context.Context, o order) error {
	if err := refuseParents(o.ParentNamespace); err != nil {
		return err
	}
	if err := silenceIPv6(); err != nil {
		return err
	}
	if o.Topology.Ends {
		if err := b.makeEndNamespaces(o.Topology); err != nil {
			return err
		}
	}
	switch t := o.Topology; {
	case t.Kind == Loopback:
		return b.loopback(t)
	case t.Forwarding == plan.Nothing:
		return b.endpoint(t.Links[0], t.MTU)
	}
	return b.reference(ctx, o.Topology)
}

// makeEndNamespaces makes a namespace for the end of each link.
func (b *testbed) makeEndNamespaces(t Topology) error {
	b.ends = map[string]*netif.Namespace{}
	for _, l := range t.Links {
		ns, err := netif.NewNamespace()
		if err != nil {
			return err
		}
		b.ends[l.Name], b.closers = ns, append(b.closers, ns)
		if err := l.disableIPv6(ns); err != nil {
			return err
		}
		// A connection whose program has ended holds its namespace, and so the port, until its other end has answered.
		// That has ended, too, and by default the kernel asks it for two minutes.
		err = ns.Do(func() error { return netif.WriteSysctl("ipv4/tcp_orphan_retries", "1") })
		if err != nil {
			return err
		}
	}
	return nil
}

// disableIPv6 turns IPv6 off in the namespace of a link without IPv6 addresses, so that the kernel sends none
// by itself.
func (l Link) disableIPv6(ns *netif.Namespace) error {
	if slices.ContainsFunc(l.Generator, func(a netip.Prefix) bool { return a.Addr().Is6() }) {
		return nil
	}
	return ns.Do(silenceIPv6)
}

// endpoint makes the namespace of a device that is itself an end of sessions. The program of that end sets its
// interface up.
func (b *testbed) endpoint(l Link, mtu int) error {
	ns, err := netif.NewNamespace()
	if err != nil {
		return err
	}
	b.closers = append(b.closers, ns)
	if err := l.disableIPv6(ns); err != nil {
		return err
	}
	b.ends[plan.DeviceEnd] = ns
	return cable(b.endOf(l), cableEnd{name: l.Interface, mac: net.HardwareAddr(l.DUTMAC), namespace: ns}, mtu)
}

// shield keeps this machine's IP stack off the test's frames. It does nothing where the ends are sessions,
// which the kernel itself carries.
func (b *testbed) shield(t Topology) error {
	if t.Ends {
		return nil
	}
	rules, err := shield(t.Links)
	if err == nil {
		b.closers = append(b.closers, closer(rules.CloseLasting))
		return nil
	}
	b.info.Missing = append(b.info.Missing, fmt.Sprintf("keep the kernel off the test's frames: %v", err))
	if t.Kind == Device {
		return refuseLeaks(t.Links, err)
	}
	return nil
}

type closer func() error

// Close calls the function.
func (c closer) Close() error { return c() }

// refuseParents returns an error in the parent's network namespace, as cables must never be laid in the
// namespace that people work in.
func refuseParents(parent uint64) error {
	current, err := netif.CurrentNamespace()
	if err != nil {
		return err
	}
	defer func() { _ = current.Close() }()
	id, err := current.ID()
	if err != nil {
		return err
	}
	if parent == 0 || id == parent {
		return errors.New("the lab's process is not in a network namespace of its own")
	}
	return nil
}

// silenceIPv6 keeps the kernel from sending IPv6 by itself on the generator's interfaces, so that only the
// test's frames arrive at the far end.
func silenceIPv6() error {
	err := os.WriteFile("/proc/sys/net/ipv6/conf/default/disable_ipv6", []byte("1"), 0)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("silence IPv6 on the generator's side: %w", err)
	}
	return nil
}

// reference cables each link to an interface of the same name in the forwarder's namespace, and sets the forwarder up.
func (b *testbed) reference(ctx context.Context, t Topology) error {
	dut, err := netif.NewNamespace()
	if err != nil {
		return err
	}
	b.dut, b.closers = dut, append(b.closers, dut)
	gateways := [2]*netif.Namespace{dut}
	if t.tunnels() {
		if gateways[1], err = netif.NewNamespace(); err != nil {
			return err
		}
		b.closers = append(b.closers, gateways[1])
	}
	for _, l := range t.Links {
		end := cableEnd{name: l.Interface, mac: net.HardwareAddr(l.DUTMAC), namespace: dut, forwarders: true}
		if t.tunnels() {
			end.namespace = gateways[t.Mode.Tunnel.Gateway(l.Name)]
		}
		if err := cable(b.endOf(l), end, t.MTU); err != nil {
			return fmt.Errorf("link %s: %w", l.Name, err)
		}
		if t.sendsByXDP() {
			if err := b.endOf(l).acceptXDP(); err != nil {
				return fmt.Errorf("link %s: %w", l.Name, err)
			}
		}
	}
	if t.Mode != nil && t.Mode.Userspace != nil {
		return b.startUserspaceDevice(ctx, t)
	}
	processors, err := machine.OwnProcessors()
	if err != nil {
		return err
	}
	place := t.placement(processors)
	b.senders = place.senders
	if t.tunnels() {
		return b.gateways(ctx, t, gateways, place)
	}
	if len(place.others) > 0 {
		if err := machine.BindProcess(os.Getpid(), place.others...); err != nil {
			return err
		}
	}
	b.info, err = forwarder.Configure(ctx, dut, t.forwarderOn(place))
	return err
}

// endOf is the generator's end of a link.
func (b *testbed) endOf(l Link) cableEnd {
	return cableEnd{name: l.Interface, mac: net.HardwareAddr(l.GeneratorMAC), namespace: b.ends[l.Name]}
}

// loopback cables the two links of each pair to each other.
func (b *testbed) loopback(t Topology) error {
	ends := map[string]cableEnd{}
	for _, l := range t.Links {
		ends[l.Name] = b.endOf(l)
	}
	for _, d := range t.Directions {
		from, to := ends[d.From], ends[d.To]
		if from.name == "" { // the opposite direction of a pair that is cabled already
			continue
		}
		if err := cable(from, to, t.MTU); err != nil {
			return fmt.Errorf("links %s and %s: %w", d.From, d.To, err)
		}
		if t.AcceptsXDP {
			if err := errors.Join(from.acceptXDP(), to.acceptXDP()); err != nil {
				return fmt.Errorf("links %s and %s: %w", d.From, d.To, err)
			}
		}
		delete(ends, d.From)
		delete(ends, d.To)
	}
	for name := range ends {
		return badInput("link %s: no direction uses it, so a Loopback has nothing to cable it to: leave it out", name)
	}
	return nil
}

// cableEnd is one end of a virtual cable. A nil namespace is this process's own.
type cableEnd struct {
	name       string
	mac        net.HardwareAddr
	namespace  *netif.Namespace
	forwarders bool
}

func (e cableEnd) acceptXDP() error {
	return e.namespace.Do(func() error { return netif.AcceptXDP(e.name) })
}

// cable lays a veth pair and sets the generator's ends up. The forwarder sets up its own. Each end has one
// queue each way, so that all frames of a link wait in the same one.
func cable(a, b cableEnd, mtu int) error {
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.HardwareAddr, attrs.MTU = a.name, a.mac, mtu
	attrs.NumTxQueues, attrs.NumRxQueues = 1, 1
	veth := netlink.NewVeth(attrs)
	veth.PeerName, veth.PeerHardwareAddr, veth.PeerMTU = b.name, b.mac, uint32(mtu)
	veth.PeerNumTxQueues, veth.PeerNumRxQueues = 1, 1
	if a.namespace != nil {
		veth.Namespace = netlink.NsFd(a.namespace.Fd())
	}
	if b.namespace != nil {
		veth.PeerNamespace = netlink.NsFd(b.namespace.Fd())
	}
	if err := netlink.LinkAdd(veth); err != nil {
		return fmt.Errorf("lay a cable (veth): %w", err)
	}
	for _, end := range []cableEnd{a, b} {
		if end.forwarders {
			continue
		}
		if err := end.namespace.Do(func() error { return setUp(end.name) }); err != nil {
			return err
		}
	}
	return nil
}

func setUp(name string) error {
	netif.DisableOffloads(name)
	link, err := netlink.LinkByName(name)
	if err != nil {
		return fmt.Errorf("find %s: %w", name, err)
	}
	if err := netlink.LinkSetUp(link); err != nil {
		return fmt.Errorf("set %s up: %w", name, err)
	}
	return nil
}

// counters reads the device's interfaces, by the names of their links. It is nil where no device was built.
func (b *testbed) counters(t Topology) (func() ([]forwarder.Counted, error), error) {
	if b.dut == nil {
		return nil, nil
	}
	counters, err := forwarder.OpenCounters(b.dut, t.forwarderSpec())
	if err != nil {
		return nil, err
	}
	b.closers = append(b.closers, counters)
	return func() ([]forwarder.Counted, error) {
		counted, err := counters.Read()
		for i := range counted {
			counted[i].Interface = t.Links[i].Name
		}
		return counted, err
	}, nil
}

// place reads where the device receives frames. The second of two gateways is in a namespace of its own, and left out.
func (b *testbed) place(t Topology) (*reception.Reading, error) {
	var interfaces []reception.Interface
	for _, l := range t.Links {
		interfaces = append(interfaces, reception.Interface{Link: l.Name, Name: l.Interface})
	}
	var reading reception.Reading
	err := b.dut.Do(func() (err error) {
		reading, err = reception.Read(interfaces)
		return err
	})
	return &reading, err
}

// NothingLearned is what a reset reports of a device that forwards in user space.
const NothingLearned = "nothing: this mode learns nothing"

// reply answers a question of the parent by what the Reference's limits counted, or by what its reset did. It
// is empty where there is no Reference.
func (b *testbed) reply(t Topology, q question) (a answer, err error) {
	switch {
	case b.dut == nil:
	case q.Place:
		a.Place, err = b.place(t)
	case q.Reset && len(b.device) > 0:
		a.Report = NothingLearned
	case q.Reset:
		a.Report, err = forwarder.Reset(b.dut, t.forwarderSpec())
	default:
		a.Counters, err = forwarder.ReadLimitCounters(b.dut, t.forwarderSpec())
	}
	return a, err
}
