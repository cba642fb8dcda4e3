package plan_test

import (
	"encoding/json"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate-dev/linerate/internal/document/plan"
)

// TestLinksOf: of two generators on west, and one that is on east only.
func TestLinksOf(t *testing.T) {
	p := &plan.Plan{
		Test: plan.Test{Name: "t"}, DUT: plan.DUT{Forwarding: plan.L3},
		Links: []plan.Link{
			{Name: "west", DUT: plan.DUTEnd{Addresses: prefixes("198.18.0.1/24"), MAC: "02:00:5e:00:53:01"}},
			{Name: "east"},
		},
		Generators: []plan.Generator{
			{Name: "generator-0", Ports: []plan.GeneratorPort{{Link: "west", Addresses: prefixes("198.18.0.2/24"), Networks: prefixes("16.0.0.0/24"), VLAN: 7}}},
			{Name: "generator-1", Ports: []plan.GeneratorPort{{Link: "east"}, {Link: "west", Addresses: prefixes("198.18.0.3/24"), Networks: prefixes("16.0.1.0/24"), VLAN: 7}}},
		},
	}
	got, err := json.Marshal(plan.LinksOf(p))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"version":"linerate.dev/links.v1alpha1","test":"t","forwarding":"L3","links":[` +
		`{"name":"west","interface":"west","addresses":["198.18.0.1/24"],"vlan":7,"generators":[` +
		`{"name":"generator-0","address":"198.18.0.2","networks":["16.0.0.0/24"]},` +
		`{"name":"generator-1","address":"198.18.0.3","networks":["16.0.1.0/24"]}],"macAddress":"02:00:5e:00:53:01"},` +
		`{"name":"east","interface":"east","vlan":0,"generators":[{"name":"generator-1"}]}]}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	t.Run("the links read back as they were", func(t *testing.T) {
		var back plan.Links
		if err := json.Unmarshal(got, &back); err != nil {
			t.Fatal(err)
		}
		again, err := json.Marshal(back)
		if err != nil || string(again) != string(got) {
			t.Errorf("%s, %v", again, err)
		}
	})
}

func TestPortOn(t *testing.T) {
	g := plan.Generator{Ports: []plan.GeneratorPort{{Link: "west", VLAN: 1}, {Link: "east", VLAN: 2}}}
	if p, ok := g.PortOn("east"); !ok || p.VLAN != 2 {
		t.Errorf("%+v, %v", p, ok)
	}
	if p, ok := g.PortOn("north"); ok {
		t.Errorf("%+v", p)
	}
}

func prefixes(text string) []netip.Prefix { return []netip.Prefix{netip.MustParsePrefix(text)} }
