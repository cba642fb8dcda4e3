package compile_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/compile"
)

func TestWhereServersMayBe(t *testing.T) {
	const everything = "0.0.0.0/0 ::/0"
	for name, c := range map[string]struct {
		ranges, address string
		allowed         bool
	}{
		"in a network, on TRex's port":          {"192.0.2.0/28", "192.0.2.15:4501", true},
		"beside it":                             {"192.0.2.0/28", "192.0.2.16:4501", false},
		"in it, on another port":                {"192.0.2.0/28", "192.0.2.1:22", false},
		"on a port of its own":                  {"192.0.2.7:4511", "192.0.2.7:4511", true},
		"on the port that it is not on":         {"192.0.2.7:4511", "192.0.2.7:4501", false},
		"at an address alone":                   {"2001:db8::7", "[2001:db8::7]:4501", true},
		"in an IPv6 network with a port":        {"[2001:db8::/64]:4511", "[2001:db8::9]:4511", true},
		"an IPv4 address written as IPv6":       {"192.0.2.0/28", "[::ffff:192.0.2.1]:4501", true},
		"one of several":                        {"192.0.2.7 198.51.100.7", "198.51.100.7:4501", true},
		"nowhere":                               {"", "192.0.2.7:4501", false},
		"everywhere":                            {everything, "203.0.113.9:4501", true},
		"everywhere, but the runner's pod":      {everything, "127.0.0.1:4501", false},
		"… by IPv6":                             {everything, "[::1]:4501", false},
		"… written as IPv6":                     {everything, "[::ffff:127.0.0.1]:4501", false},
		"… by no address":                       {everything, "0.0.0.0:4501", false},
		"everywhere, but a cloud's metadata":    {everything, "169.254.169.254:4501", false},
		"everywhere, but the node's neighbours": {everything, "[fe80::1%eth0]:4501", false},
		"everywhere, but many at a time":        {everything, "224.0.0.1:4501", false},
		"the runner's pod, where it is meant":   {"127.0.0.0/8", "127.0.0.1:4501", true},
	} {
		t.Run(name, func(t *testing.T) {
			ranges, err := compile.ParseServerRanges(strings.Fields(c.ranges))
			if err != nil {
				t.Fatal(err)
			}
			if refusal := ranges.Refuse(netip.MustParseAddrPort(c.address)); (refusal == "") != c.allowed ||
				refusal != "" && !strings.Contains(refusal, "allowedServers") {
				t.Errorf("it says %q, want allowed %v", refusal, c.allowed)
			}
			reread, err := compile.ParseServerRanges(ranges.Texts())
			if err != nil || !slices.Equal(reread, ranges) {
				t.Errorf("%q are read as %v, %v", ranges.Texts(), reread, err)
			}
		})
	}
	for _, wrong := range []string{"", "trex.lab", "192.0.2.0/33", "192.0.2.7:0", "192.0.2.7:65536", "192.0.2.7:",
		"[2001:db8::7", "fe80::1%eth0", "::ffff:192.0.2.7", "*"} {
		if _, err := compile.ParseServerRanges([]string{wrong}); err == nil ||
			!strings.Contains(err.Error(), "write a network or an address") {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}

// A test's spec is in its author's hands, so what it allows itself has a bound that its author can't change.
func TestATestAllowsItselfNoMoreThanItsCluster(t *testing.T) {
	const external = "  dut: {type: Device}\n  generator: {engine: TRex, placement: {servers: [{address: SERVER}]}}\n"
	server := newServer(t)
	defaults := compile.Bounds{}
	for text := range strings.SplitSeq(compile.DefaultPrefixes, ",") {
		defaults.Prefixes = append(defaults.Prefixes, netip.MustParsePrefix(text))
	}
	listed := compile.Bounds{Servers: compile.ServerRanges{{Prefix: netip.MustParsePrefix("192.0.2.0/28"), Port: 4501}}}
	for name, c := range map[string]struct {
		bounds  compile.Bounds
		spec    string
		message string // empty: it compiles
	}{
		"a private network":           {defaults, "  traffic: {allowedPrefixes: [10.1.0.0/16]}\n", ""},
		"a network for documentation": {defaults, "  traffic: {allowedPrefixes: [\"2001:db8:1::/48\"]}\n", ""},
		"one for measuring, though none is listed": {compile.Bounds{},
			"  traffic: {allowedPrefixes: [198.18.0.0/16]}\n", ""},
		"everything": {defaults, "  traffic: {allowedPrefixes: [0.0.0.0/0]}\n",
			"spec.traffic.allowedPrefixes[0]: Invalid value: \"0.0.0.0/0\": 0.0.0.0/0 is outside"},
		"everything, in two halves": {defaults, "  traffic: {allowedPrefixes: [0.0.0.0/1, 128.0.0.0/1]}\n",
			"allowedPrefixes[1]: Invalid value: \"128.0.0.0/1\": 128.0.0.0/1 is outside"},
		"all of IPv6": {defaults, "  traffic: {allowedPrefixes: [\"::/0\"]}\n",
			"have an administrator add it to the chart's allowedTrafficPrefixes"},
		"the neighbour of a private network": {defaults, "  traffic: {allowedPrefixes: [10.1.0.0/16, 11.0.0.0/16]}\n",
			"allowedPrefixes[1]: Invalid value: \"11.0.0.0/16\": 11.0.0.0/16 is outside"},
		"more than a private network": {defaults, "  traffic: {allowedPrefixes: [172.0.0.0/11]}\n", "172.0.0.0/11"},
		"a private network where none is listed": {compile.Bounds{}, "  traffic: {allowedPrefixes: [10.1.0.0/16]}\n",
			"10.1.0.0/16 is outside"},
		"a server of the list": {listed, strings.ReplaceAll(external, "SERVER", "192.0.2.7"), ""},
		"a server by its name": {listed, strings.ReplaceAll(external, "SERVER", "trex.lab"), ""},
		"a server of no list": {listed, strings.ReplaceAll(external, "SERVER", `"10.96.0.1:4501"`),
			"spec.generator.placement.servers[0].address: Invalid value: \"10.96.0.1:4501\": 10.96.0.1:4501 is none of the " +
				"servers that this"},
		"a server on a port of no list": {listed, strings.ReplaceAll(external, "SERVER", `"192.0.2.7:22"`),
			"192.0.2.7:22 is none of"},
		"a server by its name where none is": {compile.Bounds{}, strings.ReplaceAll(external, "SERVER",
			"trex.lab"), "this cluster's tests may use no server that runs already"},
	} {
		t.Run(name, func(t *testing.T) {
			test := admit(t, server, c.spec+strings.ReplaceAll(links, "lineRate", "network: lab, lineRate"))
			cluster, errs := c.bounds.ForCluster(test)
			text := ""
			if err := errs.ToAggregate(); err != nil {
				text = err.Error()
			}
			if (cluster == nil) != (c.message != "") || !strings.Contains(text, c.message) {
				t.Errorf("it says %q, want %q", text, c.message)
			}
		})
	}
}
