package forwarder

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
)

func TestNetworksBehindSeveralGenerators(t *testing.T) {
	const one, two, six, sixTwo = "198.18.0.2", "198.18.0.3", "2001:2::2", "2001:2::3"
	tests := map[string]struct {
		generators, networks, hops []string
		err                        string
	}{
		"one generator has them all":           {[]string{one}, []string{"16.0.0.0/24", "16.0.1.0/24"}, []string{one, one}, ""},
		"each its own":                         {[]string{one, two}, []string{"16.0.0.0/24", "16.0.1.0/24"}, []string{one, two}, ""},
		"each two":                             {[]string{one, two}, []string{"16.0.0.0/24", "16.0.1.0/24", "16.0.2.0/24", "16.0.3.0/24"}, []string{one, one, two, two}, ""},
		"families apart":                       {[]string{one, six, two, sixTwo}, []string{"16.0.0.0/24", "2001:2:1::/64", "16.0.1.0/24", "2001:2:2::/64"}, []string{one, six, two, sixTwo}, ""},
		"no networks":                          {[]string{one}, nil, nil, ""},
		"a network of a family without a hop":  {[]string{one}, []string{"2001:2:1::/64"}, nil, "no address of the same IP version"},
		"networks that can't be parted evenly": {[]string{one, two}, []string{"16.0.0.0/24"}, nil, "as many networks as the others"},
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
			if tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) || tt.err == "" && (err != nil || !slices.Equal(got, tt.hops)) {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
}
