package forwarder

import (
	"net/netip"
	"slices"
	"testing"
)

func TestNetworksBehindSeveralGenerators(t *testing.T) {
	const first, second, six, sixSecond = "198.18.0.2", "198.18.0.3", "2001:2::2", "2001:2::3"
	for name, c := range map[string]struct{ generators, networks, hops []string }{
		"one generator has them all": {[]string{first}, []string{"16.0.0.0/24", "16.0.1.0/24"}, []string{first, first}},
		"each its own": {[]string{first, second}, []string{"16.0.0.0/24", "16.0.1.0/24"},
			[]string{first, second}},
		"families apart": {[]string{first, six, second, sixSecond},
			[]string{"16.0.0.0/24", "2001:2:1::/64", "16.0.1.0/24", "2001:2:2::/64"},
			[]string{first, six, second, sixSecond}},
		"the first of its family": {[]string{six, first}, []string{"16.0.0.0/24", "2001:2:1::/64"},
			[]string{first, six}},
		"a family without a hop": {[]string{first}, []string{"2001:2:1::/64"}, []string{"invalid IP"}},
	} {
		t.Run(name, func(t *testing.T) {
			var l Link
			for _, g := range c.generators {
				l.Generator = append(l.Generator, netip.MustParseAddr(g))
			}
			for _, n := range c.networks {
				l.Networks = append(l.Networks, netip.MustParsePrefix(n))
			}
			var got []string
			for i := range l.Networks {
				got = append(got, l.hop(i).String())
			}
			if !slices.Equal(got, c.hops) {
				t.Errorf("got %v, want %v", got, c.hops)
			}
		})
	}
}
