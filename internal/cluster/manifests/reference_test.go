package manifests

import (
	"net/netip"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/plan"
)

// TestAReferenceHasTheMemoryOfItsRoutes follows a measurement. A million routes of IPv4 behind each of two links took
// 240 MB of kernel memory on Linux 6.18, and 200 000 of IPv6 54 MB.
func TestAReferenceHasTheMemoryOfItsRoutes(t *testing.T) {
	const base = 256
	for _, c := range []struct {
		name        string
		mode        *plan.Mode
		links       int
		address     string
		want, limit int64 // MiB
	}{
		{"plain", nil, 2, "198.18.0.1/24", base, base},
		{"a filter", &plan.Mode{Filter: &plan.FilterMode{Rules: 100_000}}, 2, "198.18.0.1/24", base, base},
		{"testpmd, which sets 256 MiB aside", &plan.Mode{Userspace: &plan.UserspaceMode{}}, 2, "198.18.0.1/24", base +
			256, 2*base + 256},
		{"one route", &plan.Mode{Router: &plan.RouterMode{Routes: 1}}, 2, "198.18.0.1/24", base, base + 1},
		{"a million routes", &plan.Mode{Router: &plan.RouterMode{Routes: 1_000_000}}, 2, "198.18.0.1/24", base + 229,
			base + 2*229},
		{"a million routes, four links", &plan.Mode{Router: &plan.RouterMode{Routes: 1_000_000}}, 4, "198.18.0.1/24",
			base + 2*229, base + 4*229},
		{"a million routes of IPv6", &plan.Mode{Router: &plan.RouterMode{Routes: 1_000_000}}, 2, "2001:2::1/64", base +
			519, base + 2*519},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &plan.Plan{DUT: plan.DUT{Reference: &plan.Reference{Mode: c.mode}}}
			for range c.links {
				link := plan.Link{}
				link.DUT.Addresses = []netip.Prefix{netip.MustParsePrefix(c.address)}
				p.Links = append(p.Links, link)
			}
			if got := memoryOf(p); got < c.want || got > c.limit {
				t.Errorf("%d MiB, want %d to %d", got, c.want, c.limit)
			}
		})
	}
}
