package forwarder_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/device/forwarder"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/test/rigs/netnstest"
)

func TestASpecThatCannotBeSetUpIsRefusedBeforeAnythingIsTouched(t *testing.T) {
	links := []forwarder.Link{{Interface: "west"}, {Interface: "east"}, {Interface: "south"}}
	ways := func(names ...string) []forwarder.Direction {
		var ds []forwarder.Direction
		for i := 0; i < len(names); i += 2 {
			ds = append(ds, forwarder.Direction{From: names[i], To: names[i+1]})
		}
		return ds
	}
	limit := func(l plan.Limit) forwarder.Spec {
		return forwarder.Spec{Forwarding: plan.L3, Links: links, Directions: ways("west", "east"), Limit: &l}
	}
	for name, c := range map[string]struct {
		spec forwarder.Spec
		want string
	}{
		"no forwarding": {forwarder.Spec{}, `forwarding "": want L3, L2 or MACRewrite`},
		"an interface twice": {forwarder.Spec{Forwarding: plan.L3, Links: append(links, links[0])},
			"interface west: named twice"},
		"a direction to nowhere": {forwarder.Spec{Forwarding: plan.L3, Links: links,
			Directions: ways("west", "north")}, "direction west to north: give two different links"},
		"a direction back": {forwarder.Spec{Forwarding: plan.L3, Links: links,
			Directions: ways("west", "west")}, "direction west to west: give two different links"},
		"two directions from one link": {forwarder.Spec{Forwarding: plan.L3, Links: links,
			Directions: ways("west", "east", "west", "south")}, "a link may be the source of one direction"},
		"a bridge of three links": {forwarder.Spec{Forwarding: plan.L2, Links: links,
			Directions: ways("west", "east", "east", "south")}, "forwarding L2 joins links in pairs"},
		"rewriting to an unknown MAC": {forwarder.Spec{Forwarding: plan.MACRewrite, Links: links,
			Directions: ways("west", "east")}, "link east: forwarding MACRewrite needs the generator's MAC address"},
		"a limit of packets and of bits": {limit(plan.Limit{PacketsPerSecond: 1, Layer2BitsPerSecond: 1e6}),
			"not both"},
		"a limit of nothing": {limit(plan.Limit{}), "limit: 0 packets/s is outside 1 to 500000000"},
		"a limit of too few bits": {limit(plan.Limit{Layer2BitsPerSecond: 7999}),
			"limit: 7999 bits/s is under the smallest, 8000"},
		"a negative burst": {limit(plan.Limit{PacketsPerSecond: 1, Burst: plan.Duration(-time.Second)}),
			"limit: burst -1s is negative"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := forwarder.Configure(t.Context(), nil, c.spec)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestAMissingInterfaceIsNamed(t *testing.T) {
	netnstest.Root(t)
	_, err := forwarder.Configure(t.Context(), netnstest.New(t), forwarder.Spec{Forwarding: plan.L3,
		Links: []forwarder.Link{{Interface: "nosuch0"}}})
	if err == nil || !strings.Contains(err.Error(), "link nosuch0: no interface of that name here") {
		t.Errorf("got %v", err)
	}
}

func TestAMACIsWrittenWithColons(t *testing.T) {
	for _, text := range []string{`{"interface":"a","generatorMAC":"02:00:00:00:00:01"}`, `{"interface":"a"}`} {
		var l forwarder.Link
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != text {
			t.Errorf("got %s, want %s", got, text)
		}
	}
}
