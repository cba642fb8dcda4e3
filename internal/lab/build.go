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

	"github.com/linerate-dev/linerate/internal/forwarder"
	"github.com/linerate-dev/linerate/internal/netif"
	"github.com/linerate-dev/linerate/internal/netspace"
	"github.com/linerate-dev/linerate/internal/plan"
)

// built is what was made, and what must be held for it to last: a namespace that nobody holds is gone.
type built struct {
	info   forwarder.Info
	held   []io.Closer
	dut    *netspace.Namespace            // the forwarder's; nil: there is none
	device []*DeviceProcess               // the processes that forward, where the kernel doesn't alone
	ends   map[string]*netspace.Namespace // by link, where links end in namespaces of their own, the device's by plan.DeviceEnd; nil: they end in the process's
}

func (b *built) close() {
	for _, h := range slices.Backward(b.held) {
		_ = h.Close()
	}
}

// build makes the topology around the calling process, whose namespace becomes the generator's. For a Device there is nothing to make.
func build(ctx context.Context, o order) (*built, error) {
	b := &built{}
	var err error
	if o.Topology.Kind != Device {
		err = b.lay(ctx, o)
	}
	if err == nil {
		err = b.shield(o.Topology)
	}
	if err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

func (b *built) lay(ctx context.Context, o order) error {
	if err := refuseParents(o.ParentNamespace); err != nil {
		return err
	}
	if err := silenceIPv6(); err != nil {
		return err
	}
	if o.Topology.Ends {
		if err := b.part(o.Topology); err != nil {
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

// part makes a namespace for each link's end.
func (b *built) part(t Topology) error {
	b.ends = map[string]*netspace.Namespace{}
	for _, l := range t.Links {
		ns, err := netspace.New()
		if err != nil {
			return err
		}
		b.ends[l.Name], b.held = ns, append(b.held, ns)
		if err := l.silence(ns); err != nil {
			return err
		}
	}
	return nil
}

// silence keeps IPv6 off a namespace at whose end of the link nobody speaks it.
func (l Link) silence(ns *netspace.Namespace) error {
	if slices.ContainsFunc(l.Generator, func(a netip.Prefix) bool { return a.Addr().Is6() }) {
		return nil
	}
	return ns.Do(silenceIPv6)
}

// endpoint makes a device that is an end itself, in a namespace like the others'. It is set up by who speaks there.
func (b *built) endpoint(l Link, mtu int) error {
	ns, err := netspace.New()
	if err != nil {
		return err
	}
	b.held = append(b.held, ns)
	if err := l.silence(ns); err != nil {
		return err
	}
	b.ends[plan.DeviceEnd] = ns
	return cable(b.endOf(l), cableEnd{name: l.Interface, mac: net.HardwareAddr(l.DUTMAC), namespace: ns}, mtu)
}

// shield has nothing to do for ends that are the kernel's own.
func (b *built) shield(t Topology) error {
	if t.Ends {
		return nil
	}
	rules, err := shield(t.Links)
	if err == nil {
		b.held = append(b.held, closer(rules.CloseLasting))
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

// refuseParents makes sure that cables are never laid in the namespace that people work in.
func refuseParents(parent uint64) error {
	own, err := netspace.Current()
	if err != nil {
		return err
	}
	defer func() { _ = own.Close() }()
	id, err := own.ID()
	if err != nil {
		return err
	}
	if parent == 0 || id == parent {
		return errors.New("the lab's process is not in a network namespace of its own")
	}
	return nil
}

// silenceIPv6 keeps the kernel from speaking IPv6 on the generator's interfaces: what arrives at the far end is what was sent.
func silenceIPv6() error {
	err := os.WriteFile("/proc/sys/net/ipv6/conf/default/disable_ipv6", []byte("1"), 0)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("silence IPv6 on the generator's side: %w", err)
	}
	return nil
}

// reference cables each link to an interface of the same name in the forwarder's namespace, and sets the forwarder up.
func (b *built) reference(ctx context.Context, t Topology) error {
	dut, err := netspace.New()
	if err != nil {
		return err
	}
	b.dut, b.held = dut, append(b.held, dut)
	gateways := [2]*netspace.Namespace{dut}
	if t.tunnels() {
		if gateways[1], err = netspace.New(); err != nil {
			return err
		}
		b.held = append(b.held, gateways[1])
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
			if err := b.endOf(l).takeXDP(); err != nil {
				return fmt.Errorf("link %s: %w", l.Name, err)
			}
		}
	}
	switch {
	case t.tunnels():
		return b.gateways(ctx, t, gateways)
	case t.Mode != nil && t.Mode.Userspace != nil:
		return b.userspace(ctx, t)
	}
	b.info, err = forwarder.Configure(ctx, dut, t.forwarderSpec())
	return err
}

// endOf is a link's end that is the generator's.
func (b *built) endOf(l Link) cableEnd {
	return cableEnd{name: l.Interface, mac: net.HardwareAddr(l.GeneratorMAC), namespace: b.ends[l.Name]}
}

// loopback cables the two links of each pair to each other.
func (b *built) loopback(t Topology) error {
	ends := map[string]cableEnd{}
	for _, l := range t.Links {
		ends[l.Name] = b.endOf(l)
	}
	for _, d := range t.Directions {
		from, to := ends[d.From], ends[d.To]
		if from.name == "" { // the other way of a pair that is cabled
			continue
		}
		if err := cable(from, to, t.MTU); err != nil {
			return fmt.Errorf("links %s and %s: %w", d.From, d.To, err)
		}
		if t.TakesXDP {
			if err := errors.Join(from.takeXDP(), to.takeXDP()); err != nil {
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

// cableEnd is one end of a virtual cable; a nil namespace is the calling process's. The forwarder sets its own up.
type cableEnd struct {
	name       string
	mac        net.HardwareAddr
	namespace  *netspace.Namespace
	forwarders bool
}

func (e cableEnd) takeXDP() error {
	return e.namespace.Do(func() error { return netif.AcceptXDP(e.name) })
}

// cable lays a veth pair and sets the generator's ends up; the forwarder sets up its own. One queue each way, so that all frames of a
// link wait in the same one.
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

// counters reads the device's interfaces, by the names of their links; nil where no device was built.
func (b *built) counters(t Topology) (func() ([]forwarder.Counted, error), error) {
	if b.dut == nil {
		return nil, nil
	}
	counters, err := forwarder.OpenCounters(b.dut, t.forwarderSpec())
	if err != nil {
		return nil, err
	}
	b.held = append(b.held, counters)
	return func() ([]forwarder.Counted, error) {
		all, err := counters.Read()
		for i := range all {
			all[i].Interface = t.Links[i].Name
		}
		return all, err
	}, nil
}

// NothingLearned is what resetting a device does that forwards in user space.
const NothingLearned = "nothing: this mode learns nothing"

// reply is what the forwarder's limits counted, or what resetting it did; nothing where there is no forwarder.
func (b *built) reply(t Topology, q question) (a answer, err error) {
	switch {
	case b.dut == nil:
	case q.Reset && len(b.device) > 0:
		a.Did = NothingLearned
	case q.Reset:
		a.Did, err = forwarder.Reset(b.dut, t.forwarderSpec())
	default:
		a.Taken, err = forwarder.ReadTaken(b.dut, t.forwarderSpec())
	}
	return a, err
}
