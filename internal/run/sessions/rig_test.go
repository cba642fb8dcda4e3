package sessions

import (
	"context"
	"log/slog"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure/procedures"
	"github.com/linerate-dev/linerate/internal/run/runner"

	"github.com/vishvananda/netlink"

	"github.com/linerate-dev/linerate/internal/device/forwarder"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/host/netif"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/netnstest"
)

// rig is two ends with a Reference between them, each in a namespace of its own.
type rig struct {
	plan   *plan.Plan
	dut    *netif.Namespace
	ends   []End
	places []Place
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// newRig is a rig with a device of this limit, or of none if it is nil, whose ends are served. Most of a test through
// a limit of some megabits is waiting, so those tests are parallel.
func newRig(t *testing.T, limit *plan.Limit, options ...func(*plan.Plan, []End)) *rig {
	t.Helper()
	return newRigOf(t, limit, limit == nil, options...)
}

// newRigOf is a rig whose device has kernel threads of its own, or forwards where frames are sent.
func newRigOf(t *testing.T, limit *plan.Limit, ownThreads bool, options ...func(*plan.Plan, []End)) *rig {
	t.Helper()
	r := &rig{dut: netnstest.New(t)}
	r.plan = &plan.Plan{
		Version: plan.Version, Engine: "Software", DUT: plan.DUT{Type: "Reference", Forwarding: plan.L3,
			Reference: &plan.Reference{Limit: limit}},
		Sessions:   &plan.Sessions{Protocol: "TCP", Parallel: 4, MessageBytes: 128 << 10},
		Directions: []plan.Direction{{From: "west", To: "east"}, {From: "east", To: "west"}},
		Generators: []plan.Generator{{Name: "generator-0"}},
		Procedure: plan.Procedure{Type: plan.TypeConstantLoad, ConstantLoad: &plan.ConstantLoad{Unlimited: true,
			WarmupDuration: plan.Duration(time.Second),
			Duration:       plan.Duration(4 * time.Second), Window: plan.Duration(time.Second)}},
	}
	spec := forwarder.Spec{Forwarding: plan.L3, Limit: limit, OwnCPU: ownThreads}
	for i, name := range []string{"west", "east"} {
		endAddress, device := netip.MustParsePrefix("198.18."+string(rune('0'+i))+".2/24"),
			netip.MustParsePrefix("198.18."+string(rune('0'+i))+".1/24")
		r.plan.Links = append(r.plan.Links, plan.Link{Name: name, DUT: plan.DUTEnd{Addresses: []netip.Prefix{device}}})
		r.plan.Generators[0].Ports = append(r.plan.Generators[0].Ports, plan.GeneratorPort{Link: name,
			Addresses: []netip.Prefix{endAddress}, ShareOf: 1})
		end := End{Link: name, Interface: name, Namespace: netnstest.New(t), Product: "linerate sessions"}
		mac, dutMAC := net.HardwareAddr{2, 0x6c, 0x72, 0, byte(i), 2}, net.HardwareAddr{2, 0x6c, 0x72, 0, byte(i), 1}
		cable(t, end.Namespace, r.dut, name, mac, dutMAC)
		spec.Links = append(spec.Links, forwarder.Link{Interface: name, Addresses: []netip.Prefix{device},
			Generator: []netip.Addr{endAddress.Addr()}, GeneratorMAC: forwarder.MAC(mac)})
		r.ends = append(r.ends, end)
		r.places = append(r.places, Place{Link: name, DUTMAC: dutMAC.String()})
	}
	for _, d := range r.plan.Directions {
		spec.Directions = append(spec.Directions, forwarder.Direction{From: d.From, To: d.To})
	}
	for _, o := range options {
		o(r.plan, r.ends)
	}
	spec.Mode = r.plan.DUT.Mode()
	_, err := forwarder.Configure(t.Context(), r.dut, spec)
	noError(t, err)
	r.serve(t)
	return r
}

// serve has the rig's ends wait for a driver.
func (r *rig) serve(t *testing.T) {
	t.Helper()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	noError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- Ends(r.ends).Serve(ctx, listener) }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	for i := range r.places {
		r.places[i].Server = listener.Addr().String()
	}
}

// run carries the rig's Plan out.
func (r *rig) run(t *testing.T) *report.Report {
	t.Helper()
	return runner.Run(t.Context(), r.plan, New(r.places, Options{}), runner.Options{})
}

func cable(t *testing.T, ns, dut *netif.Namespace, name string, mac, dutMAC net.HardwareAddr) {
	t.Helper()
	noError(t, ns.Do(func() error {
		attrs := netlink.NewLinkAttrs()
		attrs.Name, attrs.HardwareAddr, attrs.MTU, attrs.NumTxQueues, attrs.NumRxQueues = name, mac, 1500, 1, 1
		veth := netlink.NewVeth(attrs)
		veth.PeerName, veth.PeerHardwareAddr, veth.PeerMTU, veth.PeerNumTxQueues, veth.PeerNumRxQueues = name, dutMAC,
			1500, 1, 1
		veth.PeerNamespace = netlink.NsFd(dut.Fd())
		return netlink.LinkAdd(veth)
	}))
}

// counters are the device's own, of an interface.
func (r *rig) counters(t *testing.T, name string) (received, sent units.Traffic) {
	t.Helper()
	noError(t, r.dut.Do(func() error {
		link, err := netlink.LinkByName(name)
		if err != nil {
			return err
		}
		s := link.Attrs().Statistics
		received, sent = units.Traffic{Packets: int64(s.RxPackets), Bytes: int64(s.RxBytes)},
			units.Traffic{Packets: int64(s.TxPackets), Bytes: int64(s.TxBytes)}
		return nil
	}))
	return received, sent
}

// journal is that of a run that has just begun.
func journal(p *plan.Plan) *runner.Journal {
	return &runner.Journal{Plan: p, Procedure: procedures.New(p.Procedure), Report: &report.Report{Plan: p},
		Started: time.Now(), Log: slog.New(slog.DiscardHandler)}
}

// setDown sets an interface of the calling thread's namespace down.
func setDown(name string) error {
	link, err := netlink.LinkByName(name)
	if err != nil {
		return err
	}
	return netlink.LinkSetDown(link)
}

func mustAddr(t *testing.T, text string) netip.Addr {
	t.Helper()
	a, err := netip.ParseAddr(text)
	noError(t, err)
	return a
}
