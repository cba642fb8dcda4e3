package lab_test

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/device/lab"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/units"
)

// planOf is a plan between links of these names, in pairs, both ways, with the changes made to it.
func planOf(names []string, changes ...func(*plan.Plan)) *plan.Plan {
	p := &plan.Plan{DUT: plan.DUT{Type: "Reference", Forwarding: plan.L3},
		Generators: []plan.Generator{{Name: "generator-0"}}}
	for i, name := range names {
		third := byte(i)
		p.Links = append(p.Links, plan.Link{
			Name: name, LineRate: 10 * units.Gbps,
			DUT: plan.DUTEnd{Addresses: []netip.Prefix{
				netip.PrefixFrom(netip.AddrFrom4([4]byte{198, 18, third, 1}), 24),
				netip.MustParsePrefix(fmt.Sprintf("2001:2:0:%x::1/64", i)),
			}},
		})
		p.Generators[0].Ports = append(p.Generators[0].Ports, plan.GeneratorPort{
			Link: name,
			Addresses: []netip.Prefix{
				netip.PrefixFrom(netip.AddrFrom4([4]byte{198, 18, third, 2}), 24),
				netip.MustParsePrefix(fmt.Sprintf("2001:2:0:%x::2/64", i)),
			},
			Networks: []netip.Prefix{
				netip.PrefixFrom(netip.AddrFrom4([4]byte{16, third, 0, 0}), 24),
				netip.MustParsePrefix(fmt.Sprintf("2001:2:0:1%02x::/64", i)),
			},
		})
		if i%2 == 1 {
			p.Directions = append(p.Directions, plan.Direction{From: names[i-1], To: name}, plan.Direction{From: name,
				To: names[i-1]})
		}
	}
	for _, change := range changes {
		change(p)
	}
	return p
}

func dutType(kind string) func(*plan.Plan) { return func(p *plan.Plan) { p.DUT.Type = kind } }

func topologyOf(t *testing.T, p *plan.Plan, o lab.Options) lab.Topology {
	t.Helper()
	topology, err := lab.TopologyOf(p, o)
	if err != nil {
		t.Fatal(err)
	}
	return topology
}

func TestWhatOneMachineCannotBuildIsRefusedWithTheWayOut(t *testing.T) {
	pair := []string{"west", "east"}
	for name, c := range map[string]struct {
		plan    *plan.Plan
		options lab.Options
		want    string
	}{
		"a pod": {planOf(pair, dutType("Pod")), lab.Options{},
			"dut.type: Pod needs a cluster; on this machine it can be Reference, Loopback, or Device with --ports"},
		"two generators": {planOf(pair,
			func(p *plan.Plan) { p.Generators = append(p.Generators, p.Generators[0]) }), lab.Options{},
			"generator.replicas: the plan has 2"},
		"a Device without ports": {planOf(pair, dutType("Device")), lab.Options{},
			"--ports: 0 interfaces for the 2 links: give one for each, in the order west,east"},
		"a Device with a port too few": {planOf(pair, dutType("Device")), lab.Options{Ports: []string{"eth1"}},
			"--ports: 1 interfaces for the 2 links"},
		"a Device with one port twice": {planOf(pair, dutType("Device")), lab.Options{Ports: []string{"eth1", "eth1"}},
			"--ports: eth1 is named twice"},
		"ports for a Reference": {planOf(pair), lab.Options{Ports: []string{"eth1", "eth2"}},
			"--ports: only a Device, or a Loopback's own cables, are reached over real interfaces"},
		"tagged frames to route": {planOf(pair, func(p *plan.Plan) { p.Generators[0].Ports[1].VLAN = 7 }),
			lab.Options{}, "link east: the Reference forwards L3 without VLAN tags"},
		"a ring of links as a Loopback": {planOf([]string{"a", "b", "c"}, dutType("Loopback"),
			func(p *plan.Plan) { p.Directions = []plan.Direction{{From: "a", To: "b"}, {From: "b", To: "c"}} }),
			lab.Options{}, "a Loopback cables links in pairs"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := lab.TopologyOf(c.plan, c.options)
			fault, ok := errors.AsType[*lab.Fault](err)
			if !ok || fault.Reason != lab.BadInput || !strings.Contains(fault.Sentence, c.want) {
				t.Errorf("got %#v, want bad input that says %q", err, c.want)
			}
		})
	}
}

func TestTheTopologyOfAPlan(t *testing.T) {
	t.Run("cables are large enough for the largest frame", func(t *testing.T) {
		p := planOf([]string{"west", "east"}, func(p *plan.Plan) {
			p.Generators[0].Ports[0].Streams = []stream.Stream{{Packet: stream.Packet{Binary: make([]byte, 9212)}}}
		})
		if got := topologyOf(t, p, lab.Options{}).MTU; got != 9198 {
			t.Errorf("MTU %d, want 9198 for a frame of 9216 bytes with FCS", got)
		}
	})
	t.Run("a link named as the kernel names other things gets another interface", func(t *testing.T) {
		links := topologyOf(t, planOf([]string{"lo", "default"}), lab.Options{}).Links
		if links[0].Interface != "l-lo" || links[1].Interface != "l-default" || links[0].Name != "lo" {
			t.Errorf("interfaces %s and %s", links[0].Interface, links[1].Interface)
		}
	})
	t.Run("a Device's links are its ports, in order", func(t *testing.T) {
		links := topologyOf(t, planOf([]string{"west", "east"}, dutType("Device")),
			lab.Options{Ports: []string{"eth7", "eth3"}}).Links
		if links[0].Interface != "eth7" || links[1].Interface != "eth3" {
			t.Errorf("interfaces %s and %s", links[0].Interface, links[1].Interface)
		}
	})
}
