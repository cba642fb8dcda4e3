package forwarder

import (
	"net/netip"
	"slices"
	"testing"
)

// There are as many routes as were asked for, one after another, without a gap and to the last address.
func TestRoutesCoverTheirNetwork(t *testing.T) {
	for _, network := range []string{"48.0.0.0/8", "16.0.0.0/24", "2001:2::/64"} {
		for _, n := range []int{1, 2, 3, 5, 6, 200, 256} {
			whole := netip.MustParsePrefix(network)
			if whole.Addr().Is6() && n > 1 {
				whole = netip.PrefixFrom(whole.Addr(), 96)
			}
			parts := slices.Collect(cut(netip.MustParsePrefix(network), n))
			next := whole.Addr()
			for _, p := range parts {
				if p != p.Masked() || p.Addr() != next {
					t.Fatalf("%d parts of %s: %s, want one that begins at %s", n, network, p, next)
				}
				next = lastAddress(p).Next()
			}
			if len(parts) != n || next != lastAddress(whole).Next() {
				t.Errorf("%d parts of %s: %d, and what follows begins at %s", n, network, len(parts), next)
			}
		}
	}
	want := []string{"48.0.0.0/10", "48.64.0.0/10", "48.128.0.0/11", "48.160.0.0/11", "48.192.0.0/11", "48.224.0.0/11"}
	i := 0
	for p := range cut(netip.MustParsePrefix("48.0.0.0/8"), 6) {
		if p.String() != want[i] {
			t.Errorf("part %d is %s, want %s", i, p, want[i])
		}
		i++
	}
}

func lastAddress(p netip.Prefix) netip.Addr {
	a := p.Addr().AsSlice()
	for bit := p.Bits(); bit < len(a)*8; bit++ {
		a[bit/8] |= 1 << (7 - bit%8)
	}
	address, _ := netip.AddrFromSlice(a)
	return address
}
