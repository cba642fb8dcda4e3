//go:build full

package iperf3

import (
	"context"
	"fmt"
	"math"
	"net"
	"net/netip"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/linerate-dev/linerate/internal/device/forwarder"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/host/netif"
	"github.com/linerate-dev/linerate/test/rigs/impaired"
)

func TestMain(m *testing.M) {
	impaired.Main()
	os.Exit(m.Run())
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func namespace(t *testing.T) *netif.Namespace {
	t.Helper()
	ns, err := netif.NewNamespace()
	noError(t, err)
	t.Cleanup(func() { _ = ns.Close() })
	return ns
}

// wired is two places, each cabled to an interface of its own (west, east) of a device's namespace. Their packets
// have whole checksums and fit the MTU.
type wired struct {
	device    *netif.Namespace
	places    [2]Place
	addresses [2]netip.Prefix
	macs      [2]net.HardwareAddr
}

var links = [2]string{"west", "east"}

func newWired(t *testing.T, addresses ...string) *wired {
	t.Helper()
	w := &wired{device: namespace(t)}
	for i, name := range links {
		w.places[i] = Place{Namespace: namespace(t), Interface: name}
		w.addresses[i], w.macs[i] = netip.MustParsePrefix(addresses[i]), net.HardwareAddr{2, 0x6c, 0x72, 0, byte(i), 2}
		noError(t, w.places[i].Namespace.Do(func() error {
			attrs := netlink.NewLinkAttrs()
			attrs.Name, attrs.HardwareAddr, attrs.MTU, attrs.NumTxQueues, attrs.NumRxQueues = name, w.macs[i], 1500, 1,
				1
			veth := netlink.NewVeth(attrs)
			veth.PeerName, veth.PeerHardwareAddr, veth.PeerMTU, veth.PeerNumTxQueues, veth.PeerNumRxQueues = name,
				deviceMAC(i), 1500, 1, 1
			veth.PeerNamespace = netlink.NsFd(w.device.Fd())
			if err := netlink.LinkAdd(veth); err != nil {
				return err
			}
			return bring(name, w.addresses[i])
		}))
	}
	return w
}

func deviceMAC(i int) net.HardwareAddr { return net.HardwareAddr{2, 0x6c, 0x72, 0, byte(i), 1} }

// bring makes an interface of the calling thread's namespace ready.
func bring(name string, address netip.Prefix) error {
	if err := os.WriteFile("/proc/sys/net/ipv6/conf/"+name+"/disable_ipv6", []byte("1"), 0o600); err != nil {
		return err
	}
	for _, o := range []netif.Offload{netif.TransmitChecksum, netif.TCPSegmentation, netif.GenericSegmentation,
		netif.GenericReceive} {
		if err := netif.SetOffload(name, o, false); err != nil {
			return err
		}
	}
	link, err := netlink.LinkByName(name)
	if err != nil {
		return err
	}
	if err := netlink.LinkSetUp(link); err != nil || !address.IsValid() {
		return err
	}
	return netif.AddAddress(link, address)
}

// reach gives a place a neighbour, and a route to the other's network by it.
func (w *wired) reach(t *testing.T, i int, neighbour netip.Addr, mac net.HardwareAddr, network netip.Prefix) {
	t.Helper()
	noError(t, w.places[i].Namespace.Do(func() error {
		link, err := netlink.LinkByName(links[i])
		if err != nil {
			return err
		}
		if err := netif.SetNeighbour(link, neighbour, mac); err != nil || !network.IsValid() {
			return err
		}
		return netlink.RouteAdd(&netlink.Route{LinkIndex: link.Attrs().Index, Dst: netif.IPNet(network),
			Gw: neighbour.AsSlice()})
	}))
}

// measure makes a test from west to a server on east.
func (w *wired) measure(t *testing.T, test Test) *Result {
	t.Helper()
	l, err := Listen(t.Context(), w.places[1], w.addresses[1].Addr().String()+":5201")
	noError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	var serving sync.WaitGroup
	serving.Go(func() {
		_ = Server{Ended: func(_ netip.AddrPort, _ *Result, err error) {
			if err != nil {
				t.Errorf("the server: %v", err)
			}
		}}.Serve(ctx, l)
	})
	defer serving.Wait()
	defer cancel()
	r, err := Client{Server: l.Address().String(), Place: w.places[0]}.Measure(t.Context(), test)
	noError(t, err)
	return r
}

// The loss by the device's own counters is compared with ours, over 100 000 datagrams.
func TestLossOfADeviceThatDropsOneInAHundred(t *testing.T) {
	for _, flow := range []Flow{Forward, Reverse, Bidirectional} {
		t.Run(string(flow), func(t *testing.T) {
			w := newWired(t, "198.18.0.2/24", "198.18.0.3/24")
			for i := range links {
				noError(t, w.device.Do(func() error { return bring(links[i], netip.Prefix{}) }))
				w.reach(t, i, w.addresses[1-i].Addr(), w.macs[1-i], netip.Prefix{})
			}
			device, err := impaired.Start(w.device, impaired.Spec{Interfaces: links,
				Ports: [2]impaired.Impairment{{LoseOneIn: 100}, {LoseOneIn: 100}}})
			noError(t, err)
			defer func() { noError(t, device.Close()) }()
			const perSecond, message = 10_000, 1000
			r := w.measure(t, Test{Protocol: UDP, Flow: flow, Duration: 10 * time.Second, MessageBytes: message,
				BitsPerSecond: perSecond * message * 8})
			counts, err := device.Counts()
			noError(t, err)
			for _, d := range r.Directions {
				c := counts[0]
				if d.Flow == Reverse {
					c = counts[1]
				}
				g := *d.Datagrams
				t.Logf("%s: %+v, loss %.4f %%, %.3f Mb/s sent, %.3f Mb/s received; the device: %+v", d.Flow, g,
					100*g.LossRatio(), d.Sent.BitsPerSecond()/1e6, d.Received.BitsPerSecond()/1e6, c)
				if math.Abs(g.LossRatio()-0.01) > 0.001 || g.Sent < 99_000 || c.Missed > 0 || g.Dropped > 0 {
					t.Errorf("%s: a loss of %.4f %% of %d datagrams", d.Flow, 100*g.LossRatio(), g.Sent)
				}
				// of what the device lost, some are the control connection's
				if controlFrames := int64(40); g.Lost < c.Chosen-controlFrames/10 || g.Lost > c.Chosen {
					t.Errorf("%s: %d datagrams were lost, and the device dropped %d frames", d.Flow, g.Lost, c.Chosen)
				}
			}
		})
	}
}

// The goodput is what a Reference's limit leaves for TCP's payload, within 2 %.
func TestGoodputThroughFiftyMegabits(t *testing.T) {
	const limit = 50_000_000
	for _, test := range []Test{{}, {Parallel: 4}, {Flow: Reverse}, {Parallel: 4, Omit: 2 * time.Second,
		CongestionControl: "cubic"}} {
		t.Run(fmt.Sprintf("%s %d omit %s", test.withDefaults().Flow, test.Parallel, test.Omit), func(t *testing.T) {
			w := newWired(t, "198.18.0.2/24", "198.18.1.2/24")
			spec := forwarder.Spec{Forwarding: plan.L3, Limit: &plan.Limit{Layer2BitsPerSecond: limit,
				Queue: plan.Duration(50 * time.Millisecond)},
				Directions: []forwarder.Direction{{From: "west", To: "east"}, {From: "east", To: "west"}}}
			for i, name := range links {
				device := netip.PrefixFrom(w.addresses[i].Masked().Addr().Next(), 24)
				spec.Links = append(spec.Links, forwarder.Link{Interface: name, Addresses: []netip.Prefix{device},
					Generator: []netip.Addr{w.addresses[i].Addr()}, GeneratorMAC: forwarder.MAC(w.macs[i])})
				w.reach(t, i, device.Addr(), deviceMAC(i), w.addresses[1-i].Masked())
			}
			_, err := forwarder.Configure(t.Context(), w.device, spec)
			noError(t, err)
			test.Duration = 8 * time.Second
			r := w.measure(t, test)
			d := r.Directions[0]
			want := float64(limit) * 1448 / 1518
			retransmits := int64(-1)
			if d.Sent.Retransmits != nil {
				retransmits = *d.Sent.Retransmits
			}
			t.Logf("%.3f Mb/s sent, %.3f Mb/s received, %d segments sent again: %.3f Mb/s is what fits",
				d.Sent.BitsPerSecond()/1e6, d.Received.BitsPerSecond()/1e6, retransmits, want/1e6)
			if got := d.Received.BitsPerSecond(); math.Abs(got/want-1) > 0.02 {
				t.Errorf("%.3f Mb/s, want %.3f within 2 %%", got/1e6, want/1e6)
			}
			if d.Received.Bytes > d.Sent.Bytes && test.Omit == 0 {
				t.Errorf("%d bytes received of %d", d.Received.Bytes, d.Sent.Bytes)
			}
		})
	}
}
