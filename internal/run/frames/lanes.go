package frames

import (
	"fmt"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/engine"
)

// A replica's share of a direction leaves by one port and comes back to another. Where a generator has a port on every link, both ports are its own; with
// a generator per link, they are on two machines. Replicas keep their order in the Plan, so that the first sender on one link belongs to
// the first receiver on the other.
//
//	Paired    generator-0: west, east            west→east: generator-0 to itself
//	PerLink   generator-0-west: west             west→east: generator-0-west to generator-0-east
//	          generator-0-east: east

// on says whether a generator has a port on a link.
func (r *run) on(g int, link string) bool {
	for _, p := range r.Plan.Generators[g].Ports {
		if p.Link == link {
			return true
		}
	}
	return false
}

// partner is the generator at the other end of a replica: the one that has the port on the far link.
func (r *run) partner(g int, link, far string) (int, error) {
	if r.on(g, far) {
		return g, nil
	}
	place := 0 // of g among the generators that are on link, and not on far
	for i := range g {
		if r.on(i, link) && !r.on(i, far) {
			place++
		}
	}
	for i := range r.gens {
		if r.on(i, far) && !r.on(i, link) {
			if place == 0 {
				return i, nil
			}
			place--
		}
	}
	return 0, fmt.Errorf("generator %s on link %s has no counterpart on link %s", r.gens[g].Name, link, far)
}

// index is the number of a generator's port on a link; the generator must have one there.
func (r *run) index(g int, link string) int { return r.gens[g].PortOfLink[link] }

// mac is the MAC of a generator's port on a link.
func (r *run) mac(g int, link string) (engine.MAC, error) {
	p, err := r.port(g, link)
	return p.MAC, err
}

// senders are the generators that send in a direction, in the Plan's order.
func (r *run) senders(d plan.Direction) []int {
	var senders []int
	for g := range r.gens {
		if r.on(g, d.From) {
			senders = append(senders, g)
		}
	}
	return senders
}
