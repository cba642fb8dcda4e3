package forwarder

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
)

func TestNetworksBehindSeveralGenerators(t *testing.T) {
	const first, second, six, sixTwo = "198.18.0.2", "198.18.0.3", "2001:2::2", "2001:2::3"
	tests := map[string]struct {
		generators, networks, hops []string
		err                        string
	}{
		"one generator has them all": {[]string{first}, []string{"16.0.0.0/24", "16.0.1.0/24"},
			[]string{first, first}, ""},
		"each its own": {[]string{first, second}, []string{"16.0.0.0/24", "16.0.1.0/24"},
			[]string{first, second}, ""},
		"each two": {[]string{first, second}, []string{"16.0.0.0/24", "16.0.1.0/24",
			"16.0.2.0/24", "16.0.3.0/24"}, []string{first, first, second, second}, ""},
		"families apart": {[]string{first, six, second, sixTwo},
			[]string{"16.0.0.0/24", "2001:2:1::/64", "16.0.1.0/24", "2001:2:2::/64"}, []string{first, six, second,
				sixTwo}, ""},
		"no networks": {[]string{first}, nil, nil, ""},
		"a network of a family without a hop": {[]string{first}, []string{"2001:2:1::/64"}, nil,
			"no address of the same IP version"},
		"networks that can't be parted evenly": {[]string{first, second}, []string{"16.0.0.0/24"}, nil,
			"as many networks as the others"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			l := Link{}
			for _, g := range tt.generators {
				l.Generator = append(l.Generator, netip.MustParseAddr(g))
			}
			for _, n := range tt.networks {
				l.Networks = append(l.Networks, netip.MustParsePrefix(n))
			}
			hops, err := nextHops(l)
			var got []string
			for _, h := range hops {
				got = append(got, h.String())
			}
			if tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) || tt.err == "" &&
				(err != nil || !slices.Equal(got, tt.hops)) {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
}
