package routes_test

import (
	"flag"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/render/routes"
)

var update = flag.Bool("update", false, "write the golden files")

func prefixes(texts ...string) (list []netip.Prefix) {
	for _, text := range texts {
		list = append(list, netip.MustParsePrefix(text))
	}
	return list
}

// router is a router's test with the default addresses of IPv4.
func router() *plan.Plan {
	p := &plan.Plan{Test: plan.Test{Name: "router"}, DUT: plan.DUT{Type: "Device", Forwarding: plan.L3},
		Links: []plan.Link{{Name: "west", DUT: plan.DUTEnd{Addresses: prefixes("198.18.0.1/24")}},
			{Name: "east", DUT: plan.DUTEnd{Addresses: prefixes("198.18.1.1/24")}}},
		Directions: []plan.Direction{{From: "west", To: "east"}, {From: "east", To: "west"}},
		Generators: []plan.Generator{{Name: "generator-0", Ports: []plan.GeneratorPort{
			{Link: "west", Addresses: prefixes("198.18.0.2/24"), Networks: prefixes("16.0.0.0/24")},
			{Link: "east", Addresses: prefixes("198.18.1.2/24"), Networks: prefixes("48.0.0.0/24")}}}}}
	return p
}

// tagged is a router's test of IPv6 in one direction, with a VLAN on its first link and two generators there.
func tagged() *plan.Plan {
	p := router()
	p.Test.Name, p.Directions = "tagged", p.Directions[:1]
	p.Links[0].DUT.Addresses, p.Links[1].DUT.Addresses = prefixes("2001:2::1/64"), prefixes("2001:2:0:1::1/64")
	p.Generators = []plan.Generator{
		{Name: "generator-0", Ports: []plan.GeneratorPort{
			{Link: "west", VLAN: 100, Addresses: prefixes("2001:2::2/64"), Networks: prefixes("2001:2:0:100::/64")},
			{Link: "east", Addresses: prefixes("2001:2:0:1::2/64"), Networks: prefixes("2001:2:0:200::/64")}}},
		{Name: "generator-1", Ports: []plan.GeneratorPort{
			{Link: "west", VLAN: 100, Addresses: prefixes("2001:2::3/64"), Networks: prefixes("2001:2:0:101::/64")}}},
	}
	return p
}

func bridge() *plan.Plan {
	p := router()
	p.Test.Name, p.DUT.Forwarding = "bridge", plan.L2
	p.Links[0].DUT, p.Links[1].DUT = plan.DUTEnd{}, plan.DUTEnd{}
	return p
}

func TestTheWordsOfEachSystem(t *testing.T) {
	for _, system := range routes.Systems() {
		t.Run(system, func(t *testing.T) {
			var text strings.Builder
			for _, p := range []*plan.Plan{router(), tagged(), bridge()} {
				part, err := routes.Write(p, routes.Options{System: system})
				switch {
				case system == "frr" && p.DUT.Forwarding == plan.L2:
					if err == nil || !strings.Contains(err.Error(), "which FRR doesn't configure: use --for linux") {
						t.Errorf("a bridge: %v", err)
					}
				case err != nil:
					t.Fatal(err)
				}
				text.WriteString(part)
			}
			golden := "testdata/" + system + ".txt"
			if *update {
				if err := os.WriteFile(golden, []byte(text.String()), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if want, err := os.ReadFile(golden); err != nil || text.String() != string(want) {
				t.Errorf("it is\n%s\nwant\n%s\n%v", &text, want, err)
			}
		})
	}
}

func TestOneHostAlone(t *testing.T) {
	text, err := routes.Write(router(), routes.Options{System: "linux", Role: routes.Device, Interfaces: []string{"eth4", "eth5"}})
	if err != nil || !strings.Contains(text, "ip route add 48.0.0.0/24 via 198.18.1.2 dev eth5") || strings.Contains(text, "local") {
		t.Errorf("%v: %s", err, text)
	}
}

func TestWhatHasNoRoutesIsRefused(t *testing.T) {
	loopback, configured := router(), router()
	loopback.DUT.Type, configured.DUT.Forwarding = "Loopback", plan.AsConfigured
	for says, c := range map[string]struct {
		plan *plan.Plan
		o    routes.Options
	}{
		`--for "ios": it is linux, freebsd, openbsd, vpp, frr`:             {router(), routes.Options{System: "ios"}},
		`--role "north": router has device, west, east`:                    {router(), routes.Options{System: "linux", Role: "north"}},
		"--interfaces: 1 names for the 2 links of router":                  {router(), routes.Options{System: "linux", Interfaces: []string{"eth0"}}},
		"router: dut.type is Loopback: a cable needs no addresses":         {loopback, routes.Options{System: "linux"}},
		"router: dut.forwarding is AsConfigured: its addresses are in the": {configured, routes.Options{System: "linux"}},
	} {
		if _, err := routes.Write(c.plan, c.o); err == nil || !strings.HasPrefix(err.Error(), says) {
			t.Errorf("%v, want %s", err, says)
		}
	}
	if !slices.Contains(routes.Systems(), "vpp") {
		t.Error(routes.Systems())
	}
}
