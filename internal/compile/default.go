package compile

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// linkDefaults are the default addresses of a link. They follow from the link's place in the list, so that the
// same file always means the same addresses.
type linkDefaults struct {
	index          int
	ipv6           bool
	generator, dut netip.Prefix
}

func defaultsOf(index int, ipv6 bool) linkDefaults {
	format := "198.18.%d.%d/24"
	if ipv6 {
		format = "2001:2:0:%x::%x/64"
	}
	return linkDefaults{
		index:     index,
		ipv6:      ipv6,
		generator: netip.MustParsePrefix(fmt.Sprintf(format, index, 2)),
		dut:       netip.MustParsePrefix(fmt.Sprintf(format, index, 1)),
	}
}

// networks are the networks behind n replicas. For IPv4 they are TRex's, 16.x on one side and 48.x on the other.
func (d linkDefaults) networks(n int) []netip.Prefix {
	var networks []netip.Prefix
	for r := range n {
		text := fmt.Sprintf("2001:2:0:%x%02x::/64", d.index+1, r)
		if !d.ipv6 {
			side := [2]int{16, 48}[d.index%2]
			text = fmt.Sprintf("%d.%d.%d.0/24", side, d.index/2, r)
		}
		networks = append(networks, netip.MustParsePrefix(text))
	}
	return networks
}

// wantsIPv6 says that an address or network of the link is IPv6, so that its defaults must be, too.
func wantsIPv6(generator v1alpha1.GeneratorEnd, dut v1alpha1.DUTEnd) bool {
	texts := []string{string(generator.Address), string(dut.Address)}
	for _, n := range generator.Networks {
		texts = append(texts, string(n))
	}
	return strings.Contains(strings.Join(texts, " "), ":")
}
