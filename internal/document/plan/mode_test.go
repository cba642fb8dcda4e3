package plan_test

import (
	"net/netip"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/plan"
)

func TestHostsAreReachedWhereTheDevicePutsThem(t *testing.T) {
	nat := plan.DUT{Forwarding: plan.L3, Reference: &plan.Reference{Mode: &plan.Mode{NAT: &plan.NATMode{Inside: "west", Translations: []plan.Translation{
		{Inside: netip.MustParsePrefix("16.0.0.0/23"), Outside: netip.MustParsePrefix("198.19.2.0/23")},
		{Inside: netip.MustParsePrefix("198.18.0.2/32"), Outside: netip.MustParsePrefix("198.19.4.0/32")},
	}}}}}
	for _, c := range []struct{ link, host, want string }{
		{"west", "16.0.1.7", "198.19.3.7"}, {"west", "198.18.0.2", "198.19.4.0"}, {"west", "16.0.2.7", "16.0.2.7"}, {"east", "16.0.1.7", "16.0.1.7"},
	} {
		if got := nat.ReachedAt(c.link, netip.MustParseAddr(c.host)).String(); got != c.want {
			t.Errorf("%s behind %s is reached at %s, want %s", c.host, c.link, got, c.want)
		}
	}
	if got := (plan.DUT{}).ReachedAt("west", netip.MustParseAddr("16.0.1.7")).String(); got != "16.0.1.7" {
		t.Errorf("without a mode a host is reached at %s", got)
	}
}

func TestNATTranslatesOneAddressOfAPacket(t *testing.T) {
	nat := plan.DUT{Reference: &plan.Reference{Mode: &plan.Mode{NAT: &plan.NATMode{Inside: "west", Translations: []plan.Translation{
		{Inside: netip.MustParsePrefix("16.0.0.0/23"), Outside: netip.MustParsePrefix("198.19.2.0/23")},
	}}}}}
	for _, c := range []struct{ from, to, source, destination, want string }{
		{"west", "east", "16.0.1.7", "48.0.0.9", "198.19.3.7 48.0.0.9"}, {"east", "west", "48.0.0.9", "198.19.3.7", "48.0.0.9 16.0.1.7"},
		{"east", "north", "48.0.0.9", "198.19.3.7", "48.0.0.9 198.19.3.7"}, {"east", "west", "48.0.0.9", "16.0.1.7", "48.0.0.9 16.0.1.7"},
	} {
		source, destination := nat.Translated(plan.Direction{From: c.from, To: c.to}, netip.MustParseAddr(c.source), netip.MustParseAddr(c.destination))
		if got := source.String() + " " + destination.String(); got != c.want {
			t.Errorf("%s→%s from %s to %s: %s, want %s", c.from, c.to, c.source, c.destination, got, c.want)
		}
	}
}

func TestAModeSaysHowItForwards(t *testing.T) {
	for _, c := range []struct {
		mode       plan.Mode
		forwarding plan.Forwarding
		routers    int
		name       string
	}{
		{plan.Mode{Router: &plan.RouterMode{Routes: 1}}, plan.L3, 1, "router"},
		{plan.Mode{Router: &plan.RouterMode{Routes: 1000}}, plan.L3, 1, "router, 1000 routes"},
		{plan.Mode{Bridge: &plan.BridgeMode{}}, plan.L2, 0, "bridge"},
		{plan.Mode{Filter: &plan.FilterMode{Rules: 7}}, plan.L3, 1, "filter, 7 rules"},
		{plan.Mode{Filter: &plan.FilterMode{Rules: 7, Routes: 1000}}, plan.L3, 1, "filter, 7 rules, 1000 routes"},
		{plan.Mode{XDP: &plan.XDPMode{Routes: 1000}}, plan.L3, 1, "XDP, 1000 routes"},
		{plan.Mode{NAT: &plan.NATMode{}}, plan.L3, 1, "NAT"},
		{plan.Mode{XDP: &plan.XDPMode{}}, plan.L3, 1, "XDP"},
		{plan.Mode{Tunnel: &plan.TunnelMode{Kind: plan.TunnelWireGuard}}, plan.L3, 2, "WireGuard tunnel"},
		{plan.Mode{Tunnel: &plan.TunnelMode{Kind: plan.TunnelIPsec, Cipher: plan.CipherAES128GCM}}, plan.L3, 2, "IPsec tunnel, AES-128-GCM"},
		{plan.Mode{Userspace: &plan.UserspaceMode{Kind: plan.UserspaceTestpmd}}, plan.MACRewrite, 0, "testpmd"},
	} {
		d := plan.DUT{Type: "Reference", Forwarding: c.mode.Forwarding(), Reference: &plan.Reference{Mode: &c.mode}}
		if d.Forwarding != c.forwarding || d.Routers() != c.routers || c.mode.String() != c.name {
			t.Errorf("%s forwards %s by %d routers, want %s: %s by %d", c.mode.String(), d.Forwarding, d.Routers(), c.name, c.forwarding, c.routers)
		}
	}
}
