package forwarder

import (
	"net/netip"
	"testing"
)

func TestEachNetworkIsRoutedToTheGeneratorThatItIsBehind(t *testing.T) {
	for name, c := range map[string]struct{ generator, networks, want []string }{
		"one generator, several networks":         {[]string{"198.18.0.2"}, []string{"16.0.0.0/24", "16.0.1.0/24"}, []string{"198.18.0.2", "198.18.0.2"}},
		"a network behind each of the replicas":   {[]string{"198.18.0.2", "198.18.0.3"}, []string{"16.0.0.0/25", "16.0.0.128/25"}, []string{"198.18.0.2", "198.18.0.3"}},
		"both IP versions, in either order":       {[]string{"198.18.0.2", "2001:2::2"}, []string{"2001:2:0:100::/64", "16.0.0.0/24"}, []string{"2001:2::2", "198.18.0.2"}},
		"nobody of the network's IP version":      {[]string{"198.18.0.2"}, []string{"2001:2:0:100::/64"}, []string{"invalid IP"}},
		"more replicas than networks say nothing": {[]string{"198.18.0.2", "198.18.0.3"}, []string{"16.0.0.0/24"}, []string{"198.18.0.2"}},
	} {
		t.Run(name, func(t *testing.T) {
			var l Link
			for _, a := range c.generator {
				l.Generator = append(l.Generator, netip.MustParseAddr(a))
			}
			for _, n := range c.networks {
				l.Networks = append(l.Networks, netip.MustParsePrefix(n))
			}
			for i := range l.Networks {
				if got := l.hop(i).String(); got != c.want[i] {
					t.Errorf("%s is routed to %s, want %s", l.Networks[i], got, c.want[i])
				}
			}
		})
	}
}
