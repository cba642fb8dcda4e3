package compile

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// Bounds are what the tests of a cluster may name at most. Whoever administers the operator sets them, since a
// test's spec is in its author's hands. The zero value allows no server that runs already, and no network but those
// made for measuring. linerate run on somebody's own machine has no such bounds.
type Bounds struct {
	// Servers are where generators that run already may be.
	Servers ServerRanges
	// Prefixes are the networks in which those of spec.traffic.allowedPrefixes have to lie, besides the networks
	// made for measuring.
	Prefixes []netip.Prefix
}

// DefaultPrefixes are the operator's default. They are networks for documentation (RFC 5737, RFC 3849), and private
// ones (RFC 1918, RFC 6598, RFC 4193), which no network of others routes.
const DefaultPrefixes = "10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,100.64.0.0/10,192.0.2.0/24," +
	"198.51.100.0/24,203.0.113.0/24,fc00::/7,2001:db8::/32"

// ForCluster compiles a LoadTest for a cluster with these bounds, as the function of this name does without.
func (b *Bounds) ForCluster(test *v1alpha1.LoadTest) (*Cluster, field.ErrorList) {
	cluster, errs := ForCluster(test)
	if errs = append(errs, b.check(&test.Spec)...); len(errs) > 0 {
		return nil, errs
	}
	return cluster, nil
}

func (b *Bounds) check(spec *v1alpha1.LoadTestSpec) (errs field.ErrorList) {
	path := specPath().Child("traffic", "allowedPrefixes")
	for i, text := range spec.Traffic.AllowedPrefixes {
		network, err := netip.ParsePrefix(string(text))
		if err != nil {
			continue // the schema refuses it
		}
		allowed := slices.Concat(benchmarking(), b.Prefixes)
		if !slices.ContainsFunc(allowed, func(p netip.Prefix) bool { return contains(p, network) }) {
			errs = append(errs, field.Invalid(path.Index(i), network.String(),
				fmt.Sprintf("%s is outside of the networks that tests of this cluster may send to (%s): use part of "+
					"one of those, or have an administrator add it to the chart's allowedTrafficPrefixes (the "+
					"operator's option --traffic-prefixes)", network, listOf(allowed))))
		}
	}
	for i, server := range spec.Generator.Servers() {
		if refusal := b.Servers.refuse(withPort(string(server.Address))); refusal != "" {
			errs = append(errs, field.Invalid(serversPath().Index(i).Child("address"), string(server.Address), refusal))
		}
	}
	return errs
}

func listOf[T fmt.Stringer](values []T) string {
	words := make([]string, len(values))
	for i, value := range values {
		words[i] = value.String()
	}
	return strings.Join(words, ", ")
}

// ServerRange is a network and the TCP port on which generators run already on its machines.
type ServerRange struct {
	Prefix netip.Prefix
	Port   uint16
}

// String is the form that ParseServerRanges reads.
func (r ServerRange) String() string {
	switch {
	case ":"+strconv.Itoa(int(r.Port)) == defaultRPCPort:
		return r.Prefix.String()
	case r.Prefix.Addr().Is6():
		return fmt.Sprintf("[%s]:%d", r.Prefix, r.Port)
	}
	return fmt.Sprintf("%s:%d", r.Prefix, r.Port)
}

// ServerRanges are where generators that run already may be.
type ServerRanges []ServerRange

// Texts are the ranges in the form that ParseServerRanges reads.
func (ranges ServerRanges) Texts() (texts []string) {
	for _, r := range ranges {
		texts = append(texts, r.String())
	}
	return texts
}

// ParseServerRanges reads networks or addresses, each with a port or without, which is TRex's own. Examples are
// 192.0.2.0/28, 192.0.2.7:4511 and [2001:db8::/64]:4511.
func ParseServerRanges(texts []string) (ranges ServerRanges, err error) {
	for _, text := range texts {
		network, number, found := cutPort(text)
		bracketed := strings.HasPrefix(text, "[")
		if !bracketed && strings.Count(text, ":") > 1 { // IPv6, without a port
			network, number, found = text, "", false
		}
		port := uint64(4501)
		if found {
			port, err = strconv.ParseUint(number, 10, 16)
		}
		if bracketed {
			network = strings.TrimSuffix(strings.TrimPrefix(network, "["), "]")
		}
		if address, single := netip.ParseAddr(network); single == nil && address.Zone() == "" {
			network = netip.PrefixFrom(address, address.BitLen()).String()
		}
		prefix, wrong := netip.ParsePrefix(network)
		if err != nil || wrong != nil || port == 0 || prefix.Addr().Is4In6() {
			return nil, fmt.Errorf("%q: write a network or an address, and a port unless it is TRex's own, such as "+
				"192.0.2.0/28, 192.0.2.7:4511 or [2001:db8::/64]:4511", text)
		}
		ranges = append(ranges, ServerRange{prefix.Masked(), uint16(port)})
	}
	return ranges, nil
}

// Refuse says why a runner may not connect to an address. Empty means that it may. A network that is wider than
// loopback, link-local or multicast addresses contains none of those, since they lead to the runner's own pod, to its
// node, or to the services of a cloud.
func (ranges ServerRanges) Refuse(address netip.AddrPort) string {
	host := address.Addr().Unmap().WithZone("")
	for _, r := range ranges {
		if r.Port == address.Port() && r.Prefix.Contains(host) && !slices.ContainsFunc(special(),
			func(p netip.Prefix) bool { return p.Contains(host) && !contains(p, r.Prefix) }) {
			return ""
		}
	}
	if len(ranges) == 0 {
		return "this cluster's tests may use no server that runs already: an administrator lists where those may be in " +
			"the chart's allowedServers (the operator's option --allowed-servers)"
	}
	return fmt.Sprintf("%s is none of the servers that this cluster's tests may use (%s): use one of those, or have an "+
		"administrator add it to the chart's allowedServers (the operator's option --allowed-servers)", netip.AddrPortFrom(host, address.Port()), listOf(ranges))
}

// refuse is Refuse of host:port. A name is refused only where no address would be allowed. Its address is judged when
// the runner connects to it, since the address may change until then.
func (ranges ServerRanges) refuse(server string) string {
	address, err := netip.ParseAddrPort(server)
	if err != nil && len(ranges) > 0 {
		return ""
	}
	return ranges.Refuse(address)
}

// special are the networks whose addresses mean something else on each machine (RFC 6890).
func special() []netip.Prefix {
	return []netip.Prefix{
		netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("127.0.0.0/8"),
		netip.MustParsePrefix("169.254.0.0/16"), netip.MustParsePrefix("224.0.0.0/3"),
		netip.MustParsePrefix("::/127"), netip.MustParsePrefix("fe80::/10"), netip.MustParsePrefix("ff00::/8"),
	}
}
