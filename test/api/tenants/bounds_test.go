package tenants

import (
	"fmt"
	"strings"
	"testing"
)

// What a test's spec names is bounded by who administers the cluster: at its creation by the policy, and by the operator where there is none.
func TestATestNamesNoMoreThanItsClusterAllows(t *testing.T) {
	l := newLab(t)
	const device = "dut: {type: Device}\n"
	server := func(name string) string {
		return links + device + fmt.Sprintf("generator: {engine: TRex, placement: {servers: [{address: %q}]}}\n", name)
	}
	prefix := func(name string) string {
		return links + device + fmt.Sprintf("traffic: {allowedPrefixes: [%q]}\n", name)
	}
	for what, c := range map[string]struct{ spec, says string }{
		"a pod's address":                       {server("10.244.1.7:4501"), "10.244.1.7:4501 is none of the servers"},
		"a Service's address":                   {server("10.96.0.1"), "10.96.0.1"},
		"the runner's own pod":                  {server("127.0.0.1:4501"), "127.0.0.1:4501 is none of"},
		"the runner's own pod by IPv6":          {server("[::1]:4501"), "[::1]:4501 is none of"},
		"a cloud's metadata":                    {server("169.254.169.254:80"), "169.254.169.254:80 is none of"},
		"another port of a listed machine":      {server("192.0.2.7:22"), "192.0.2.7:22 is none of"},
		"another port of a listed IPv6 machine": {server("[2001:db8:7::1]:4501"), "[2001:db8:7::1]:4501 is none of"},
		"traffic to anybody":                    {prefix("0.0.0.0/0"), "0.0.0.0/0 is outside"},
		"traffic to anybody of IPv6":            {prefix("::/0"), "::/0 is outside"},
		"traffic to half of the Internet":       {prefix("128.0.0.0/1"), "128.0.0.0/1 is outside"},
		"traffic to a network beside":           {prefix("11.0.0.0/8"), "11.0.0.0/8 is outside"},
	} {
		t.Run(what, func(t *testing.T) {
			refused(t, l.try("author", written(t, "attempt", c.spec)), c.says, "have an administrator add it to the chart's allowed")
			name := "old-" + strings.Map(func(r rune) rune {
				if r >= 'a' && r <= 'z' {
					return r
				}
				return -1
			}, what)
			test := written(t, name, c.spec)
			test.Namespace = l.namespace
			l.must(l.withoutThePolicy(test))
			l.holdsUp(l.operate(name), "Accepted", "Invalid", c.says)
		})
	}
	for what, spec := range map[string]string{
		"a listed machine": server("192.0.2.7"), "a listed machine by IPv6": server("[2001:db8:7::1]:4511"), "a name, which the runner looks at": server("trex.lab"),
		"a private network": prefix("10.1.0.0/16"), "a network for documentation": prefix("2001:db8::/48"), "one for measuring": prefix("198.18.0.0/16"),
	} {
		t.Run(what, func(t *testing.T) { allowed(t, l.try("author", written(t, "attempt", spec))) })
	}
	t.Run("nor does a suite", func(t *testing.T) {
		for place, suite := range everywhere() {
			for spec, says := range map[string]string{
				"traffic: {allowedPrefixes: [0.0.0.0/0]}":                                                                                          "0.0.0.0/0 is outside",
				"dut: {type: Device}\ngenerator: {engine: TRex, placement: {servers: [{address: 10.244.1.7}]}}":                                    "10.244.1.7 is none of",
				"dut: {type: Device}\ngenerator: {engine: TRex, replicas: 2, placement: {servers: [{address: 192.0.2.7}, {address: 10.244.1.7}]}}": "10.244.1.7 is none of",
			} {
				t.Log(place)
				refused(t, l.trySuite("author", suite(t, spec)), says)
			}
		}
	})
}
