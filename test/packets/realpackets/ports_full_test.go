//go:build full

package realpackets

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"testing"
	"time"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/host/netif"
)

// TestKnownAnswersOfRealDevicesBySessions: devices that linerate knows nothing of, each with a limit near 50 Mb/s on each port, drawn anew for each run. TCP of one and of four connections carries it within 1 %, one way or the
// other; both ways, acknowledgements take up to 66 of each 1580 bytes. Datagrams below the limit all come. A figure that is said to be a lower bound is no more than the limit.
func TestKnownAnswersOfRealDevicesBySessions(t *testing.T) {
	needRoot(t)
	const back, both = "[{from: east, to: west}]", "[{from: west, to: east}, {from: east, to: west}]"
	for _, device := range []struct {
		name, forwarding, links string
		directions              []string
		header                  float64 // bytes of a frame's 1514 that are no payload
		build                   func(*testing.T, *rig)
		check                   func(*testing.T, *rig)
	}{
		{name: "router", forwarding: "L3", links: twoLinks, directions: []string{oneWay, back, both}, header: 66, build: func(t *testing.T, r *rig) { r.route(t) }},
		{name: "filter", forwarding: "L3", links: twoLinks, directions: []string{oneWay, back}, header: 66, build: func(t *testing.T, r *rig) {
			r.route(t)
			r.filter(t)
		}},
		{name: "masquerade", forwarding: "L3", links: twoLinks, directions: []string{oneWay}, header: 66, build: func(t *testing.T, r *rig) {
			r.route(t)
			r.masquerade(t)
		}},
		{name: "router of IPv6", forwarding: "L3", links: "{name: west, generator: {address: '2001:2:0:0::2/64'}}, {name: east, generator: {address: '2001:2:0:1::2/64'}}", directions: []string{oneWay, back}, header: 86,
			build: func(t *testing.T, r *rig) { r.routeIPv6(t) }},
		{name: "bridge of a VLAN", forwarding: "L2", links: "{name: west, vlan: 7}, {name: east, vlan: 7}", directions: []string{oneWay, back}, header: 66, build: func(t *testing.T, r *rig) {
			r.bridge(t, "br", 0, 1)
			r.dropUntagged(t)
		}},
	} {
		t.Run(device.name, func(t *testing.T) {
			r := newRig(t, 2)
			device.build(t, r)
			r.furnish(t)
			before := r.portStates(t)
			runs, found := 0, 0
			for _, directions := range device.directions {
				for _, streams := range []int{1, 4} {
					limit := 45_000_000 + rand.Int64N(10_000_000)
					r.shapeEach(t, limit)
					least := 0.99
					if directions == both {
						least = 0.95
					}
					runs++
					if fits(t, r.measure(t, fmt.Sprintf(sessionsTest, device.forwarding, device.links, fmt.Sprintf("{parallel: %d}", streams), directions, "Unlimited", 4)),
						float64(limit)*(1514-device.header)/1514, least) {
						found++
					}
				}
				rep := r.measure(t, fmt.Sprintf(sessionsTest, device.forwarding, device.links, "{protocol: UDP}", directions, "20mbps", 3))
				if !rep.Answer.Measured {
					t.Fatalf("%s: %s", rep.Answer.Reason, rep.Message)
				}
				for _, d := range rep.Answer.Directions {
					if got := d.Sessions.GoodputBitsPerSecond; got > 20_400_000 || rep.Answer.Reason == report.TargetReached && got < 19_800_000 {
						t.Errorf("%s→%s: %d bit/s of datagrams, %s, want 20 Mb/s", d.From, d.To, got, rep.Answer.Reason)
					}
				}
			}
			r.asBefore(t, before)
			t.Logf("%d of %d runs of TCP found the limit", found, runs)
		})
	}
}

// TestPortsAfterKillsAtTwentyMoments: whichever process of a run is killed, and when, the ports are as they were, and the next run uses them at once.
func TestPortsAfterKillsAtTwentyMoments(t *testing.T) {
	needRoot(t)
	const limit = 50_000_000
	r := sessionsBox(t, limit)
	before := r.portStates(t)
	for i := range 20 {
		whom, after := "rcb"[i%3], time.Duration(i)*150*time.Millisecond+rand.N(150*time.Millisecond)
		r.killSessions(t, after, whom)
		r.asBefore(t, before)
		t.Logf("killed %c after %v", whom, after)
	}
	fits(t, r.measure(t, fmt.Sprintf(sessionsTest, "L3", twoLinks, "{parallel: 4}", oneWay, "Unlimited", 4)), payloadOf(limit), 0.99)
	r.asBefore(t, before)
}

// filter lets through what goes to or comes from the port of sessions, and nothing else.
func (r *rig) filter(t *testing.T) {
	t.Helper()
	conn, err := nftables.New(nftables.WithNetNSFd(r.device.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	table, drop := conn.AddTable(&nftables.Table{Family: nftables.TableFamilyIPv4, Name: "filter"}), nftables.ChainPolicyDrop
	chain := conn.AddChain(&nftables.Chain{Name: "forward", Table: table, Type: nftables.ChainTypeFilter, Hooknum: nftables.ChainHookForward, Priority: nftables.ChainPriorityFilter, Policy: &drop})
	for _, offset := range []uint32{0, 2} { // source, destination
		conn.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: []expr.Any{netif.RuleLoad(expr.PayloadBaseTransportHeader, offset, 2), netif.RuleEqual([]byte{5201 >> 8, 5201 & 0xff}),
			&expr.Verdict{Kind: expr.VerdictAccept}}})
	}
	if err := conn.Flush(); err != nil {
		t.Fatal(err)
	}
}

// masquerade gives all that leaves by the second port that port's address.
func (r *rig) masquerade(t *testing.T) {
	t.Helper()
	conn, err := nftables.New(nftables.WithNetNSFd(r.device.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	table := conn.AddTable(&nftables.Table{Family: nftables.TableFamilyIPv4, Name: "nat"})
	chain := conn.AddChain(&nftables.Chain{Name: "postrouting", Table: table, Type: nftables.ChainTypeNAT, Hooknum: nftables.ChainHookPostrouting, Priority: nftables.ChainPriorityNATSource})
	conn.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: []expr.Any{&expr.Meta{Key: expr.MetaKeyOIFNAME, Register: 1}, netif.RuleEqual(netif.RuleInterfaceName("d1")), &expr.Masq{}}})
	if err := conn.Flush(); err != nil {
		t.Fatal(err)
	}
}

// routeIPv6 is route, of IPv6.
func (r *rig) routeIPv6(t *testing.T) {
	t.Helper()
	in(t, r.device, func() error {
		err := os.WriteFile("/proc/sys/net/ipv6/conf/all/forwarding", []byte("1"), 0)
		for i := range r.ports {
			name := fmt.Sprintf("d%d", i)
			link, findErr := netlink.LinkByName(name)
			if findErr != nil {
				return findErr
			}
			err = errors.Join(err, os.WriteFile("/proc/sys/net/ipv6/conf/"+name+"/disable_ipv6", []byte("0"), 0),
				netif.AddAddress(link, netip.MustParsePrefix(fmt.Sprintf("2001:2:0:%d::1/64", i))))
		}
		return err
	})
}

// dropUntagged makes the device drop what comes without the tag of VLAN 7.
func (r *rig) dropUntagged(t *testing.T) {
	t.Helper()
	conn, err := nftables.New(nftables.WithNetNSFd(r.device.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	table := conn.AddTable(&nftables.Table{Family: nftables.TableFamilyNetdev, Name: "trunk"})
	for i := range r.ports {
		name := fmt.Sprintf("d%d", i)
		chain := conn.AddChain(&nftables.Chain{Name: name, Device: name, Table: table, Type: nftables.ChainTypeFilter, Hooknum: nftables.ChainHookIngress, Priority: nftables.ChainPriorityFilter})
		conn.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: []expr.Any{netif.RuleLoad(expr.PayloadBaseLLHeader, 12, 2), netif.RuleEqual([]byte{unix.ETH_P_8021Q >> 8, unix.ETH_P_8021Q & 0xff}),
			netif.RuleLoad(expr.PayloadBaseLLHeader, 14, 2), netif.RuleEqual([]byte{0, 7}), &expr.Verdict{Kind: expr.VerdictAccept}}})
		conn.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: []expr.Any{&expr.Verdict{Kind: expr.VerdictDrop}}})
	}
	if err := conn.Flush(); err != nil {
		t.Fatal(err)
	}
}
