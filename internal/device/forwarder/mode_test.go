package forwarder_test

import (
	"bytes"
	"encoding/binary"
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/device/forwarder"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/host/netif"
	"github.com/linerate-dev/linerate/test/rigs/netnstest"
)

// applyMode makes the rig's device a real one, which takes what XDP sends at either end of its cables.
func (r *rig) applyMode(t *testing.T, mode plan.Mode) forwarder.Spec {
	t.Helper()
	for _, l := range r.links {
		netnstest.RunIn(t, r.generator, func() error { return netif.AcceptXDP(l.Interface) })
	}
	return r.setUp(t, forwarder.Spec{Forwarding: mode.Forwarding(), Mode: &mode, AcceptsXDP: true})
}

// between is a frame of 128 bytes from a host to another, by the device.
func between(link int, source, destination string) []byte {
	f := frame4(link, 1-link, 128)
	copy(f[14+12:], netip.MustParseAddr(source).AsSlice())
	copy(f[14+16:], netip.MustParseAddr(destination).AsSlice())
	return mended(f)
}

func mended(f []byte) []byte {
	f[24], f[25] = 0, 0
	binary.BigEndian.PutUint16(f[24:], checksum(f[14:34]))
	return f
}

// routedTo is what a router makes of a frame that leaves by a link.
func routedTo(link int, f []byte) []byte {
	f = bytes.Clone(f)
	copy(f, generatorMAC(link))
	copy(f[6:], dutMAC(link))
	f[14+8]--
	return mended(f)
}

// arrives sends each frame into a link, and says which of them came out of the other as wanted, until the last
// one did. Each link has one queue, in which frames stay in order.
func (r *rig) arrives(t *testing.T, from, to int, sent, want [][]byte) (came []bool) {
	t.Helper()
	sender, receiver := r.socket(t, from), r.socket(t, to)
	for _, f := range sent {
		if _, err := unix.Write(sender, f); err != nil {
			t.Fatal(err)
		}
	}
	came = make([]bool, len(want))
	if err := unix.SetsockoptTimeval(receiver, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 2}); err != nil {
		t.Fatal(err)
	}
	buffer := make([]byte, 4096)
	for !came[len(want)-1] {
		n, peer, err := unix.Recvfrom(receiver, buffer, 0)
		if err != nil {
			return came
		}
		if sender, ok := peer.(*unix.SockaddrLinklayer); !ok || sender.Pkttype == unix.PACKET_OUTGOING {
			continue
		}
		for i, w := range want {
			if !came[i] && bytes.Equal(w, buffer[:n]) {
				came[i] = true
				break
			}
		}
	}
	return came
}

func missing(came []bool) (lost []int) {
	for i, c := range came {
		if !c {
			lost = append(lost, i)
		}
	}
	return lost
}

// TestARouterDropsPacketsWithoutARoute has five routes to 16.1.0.0/16, three of a quarter, and two of an eighth.
func TestARouterDropsPacketsWithoutARoute(t *testing.T) {
	r := newRig(t, 2)
	r.applyMode(t, plan.Mode{Router: &plan.RouterMode{Routes: 10}}) // and as many to the network of IPv6
	var routes []netlink.Route
	netnstest.RunIn(t, r.dut, func() error {
		link, err := netlink.LinkByName(r.links[1].Interface)
		if err != nil {
			return err
		}
		routesOfLink, err := netlink.RouteList(link, netlink.FAMILY_V4)
		for _, route := range routesOfLink {
			if route.Gw != nil {
				routes = append(routes, route)
			}
		}
		return err
	})
	if len(routes) != 5 {
		t.Fatalf("it has %d routes behind the second link: %v", len(routes), routes)
	}
	var sent, want [][]byte
	for _, destination := range []string{"16.1.0.1", "16.1.64.1", "16.1.128.1", "16.1.192.1", "16.1.255.254"} {
		f := between(0, "16.0.0.1", destination)
		sent, want = append(sent, f), append(want, routedTo(1, f))
	}
	if lost := missing(r.arrives(t, 0, 1, sent, want)); len(lost) > 0 {
		t.Fatalf("frames %v of 5 were lost", lost)
	}
	netnstest.RunIn(t, r.dut, func() error {
		for _, route := range routes {
			if route.Dst.Contains(net.IPv4(16, 1, 128, 1)) {
				return netlink.RouteDel(&route)
			}
		}
		return nil
	})
	if lost := missing(r.arrives(t, 0, 1, sent, want)); len(lost) != 1 || lost[0] != 2 {
		t.Errorf("without the route to 16.1.128.1, frames %v were lost", lost)
	}
}

// Once the far end has sent a frame, no other end gets frames for it. What the bridge has unlearned is forwarded again.
func TestABridgeLearns(t *testing.T) {
	r := newRig(t, 2)
	spec := r.applyMode(t, plan.Mode{Bridge: &plan.BridgeMode{}})
	f := frame4(0, 1, 128)
	copy(f, generatorMAC(1))
	reverse := frame4(1, 0, 128)
	copy(reverse, generatorMAC(0))
	for _, exchange := range []struct {
		from, to int
		frame    []byte
	}{{0, 1, f}, {1, 0, reverse}} {
		if lost := missing(r.arrives(t, exchange.from, exchange.to, [][]byte{exchange.frame},
			[][]byte{exchange.frame})); len(lost) > 0 {
			t.Fatalf("nothing came from link %d to link %d unchanged", exchange.from, exchange.to)
		}
	}
	report, err := forwarder.Reset(r.dut, spec)
	if err != nil || !strings.Contains(report, "2 learned addresses") {
		t.Errorf("reset: %q, %v", report, err)
	}
	if lost := missing(r.arrives(t, 0, 1, [][]byte{f}, [][]byte{f})); len(lost) > 0 {
		t.Error("after the reset, nothing came")
	}
}

// TestAFilterDropsPacketsThatMatchARule adds a rule about a host of the traffic's to those that are about nobody.
func TestAFilterDropsPacketsThatMatchARule(t *testing.T) {
	r := newRig(t, 2)
	r.applyMode(t, plan.Mode{Filter: &plan.FilterMode{Rules: 1001}})
	f, unmatched := between(0, "16.0.0.7", "16.1.0.9"), between(0, "16.0.0.8", "16.1.0.9")
	sent, want := [][]byte{f, unmatched}, [][]byte{routedTo(1, f), routedTo(1, unmatched)}
	if lost := missing(r.arrives(t, 0, 1, sent, want)); len(lost) > 0 {
		t.Fatalf("frames %v were lost", lost)
	}
	netnstest.RunIn(t, r.dut, func() error {
		conn, err := nftables.New()
		if err != nil {
			return err
		}
		table := &nftables.Table{Family: nftables.TableFamilyINet, Name: "linerate"}
		chain := &nftables.Chain{Table: table, Name: "filter"}
		rules, err := conn.GetRules(table, chain)
		if err != nil {
			return err
		}
		if len(rules) != 1001 {
			t.Errorf("it has %d rules", len(rules))
		}
		conn.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: []expr.Any{
			&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseNetworkHeader, Offset: 12, Len: 4},
			&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte{16, 0, 0, 7}}, &expr.Verdict{Kind: expr.VerdictDrop},
		}})
		return conn.Flush()
	})
	if lost := missing(r.arrives(t, 0, 1, sent, want)); len(lost) != 1 || lost[0] != 0 {
		t.Errorf("with a rule about 16.0.0.7, frames %v were lost", lost)
	}
}

// Hosts of either side may send first, and a host without a translation isn't reached.
func TestNATGivesEachSideItsAddresses(t *testing.T) {
	r := newRig(t, 2)
	prefix := netip.MustParsePrefix
	spec := r.applyMode(t, plan.Mode{NAT: &plan.NATMode{Inside: r.links[0].Interface, Sessions: 1000,
		Translations: []plan.Translation{{Inside: prefix("16.0.0.0/24"), Outside: prefix("198.19.3.0/24")}}}})
	outbound, inbound := between(0, "16.0.0.7", "16.1.0.9"), between(1, "16.1.0.10", "198.19.3.8")
	outboundWant, inboundWant := between(0, "198.19.3.7", "16.1.0.9"), between(1, "16.1.0.10", "16.0.0.8")
	noSum := func(f []byte) []byte { f[40], f[41] = 0, 0; return f }
	if lost := missing(r.arrives(t, 0, 1, [][]byte{noSum(outbound)},
		[][]byte{routedTo(1, noSum(outboundWant))})); len(lost) > 0 {
		t.Error("nothing came out with the address of outside")
	}
	if lost := missing(r.arrives(t, 1, 0, [][]byte{noSum(inbound)},
		[][]byte{routedTo(0, noSum(inboundWant))})); len(lost) > 0 {
		t.Error("nothing came in with the address of inside")
	}
	unknown := between(1, "16.1.0.10", "198.19.4.8")
	if came := r.exchange(t, 1, 0, unknown); came != nil {
		t.Errorf("what is for nobody came in: %x", came)
	}
	report, err := forwarder.Reset(r.dut, spec)
	if err != nil || !strings.Contains(report, "1002 tracked connections; 1000 of silent hosts are tracked again") {
		t.Errorf("reset: %q, %v", report, err)
	}
}

// The kernel's own forwarding drops everything, and nothing is lost.
func TestXDPForwardsBeforeTheKernel(t *testing.T) {
	r := newRig(t, 2)
	r.plainGenerator(t)
	r.applyMode(t, plan.Mode{XDP: &plan.XDPMode{}})
	netnstest.RunIn(t, r.dut, func() error {
		conn, err := nftables.New()
		if err != nil {
			return err
		}
		table := conn.AddTable(&nftables.Table{Family: nftables.TableFamilyINet, Name: "nobody"})
		drop := nftables.ChainPolicyDrop
		conn.AddChain(&nftables.Chain{Table: table, Name: "forward", Type: nftables.ChainTypeFilter,
			Hooknum: nftables.ChainHookForward, Priority: nftables.ChainPriorityFilter, Policy: &drop})
		return conn.Flush()
	})
	four := between(0, "16.0.0.1", "16.1.0.9")
	six := frame6(0, 1, 128)
	sixWant := bytes.Clone(six)
	copy(sixWant, generatorMAC(1))
	copy(sixWant[6:], dutMAC(1))
	sixWant[14+7]--
	unroutable := between(0, "16.0.0.1", "48.9.9.9")
	sent, want := [][]byte{four, unroutable, six}, [][]byte{routedTo(1, four), routedTo(1, unroutable), sixWant}
	if lost := missing(r.arrives(t, 0, 1, sent, want)); len(lost) != 1 || lost[0] != 1 {
		t.Errorf("frames %v were lost, want 1, which has no route", lost)
	}
}
