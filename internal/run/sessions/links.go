package sessions

import (
	"slices"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/run/runner"
)

// watchLinks writes down when links are down or change their state while connections send.
func (r *run) watchLinks() {
	if !r.sending {
		return
	}
	if r.links == nil {
		r.links = make([]*runner.LinkSeen, len(r.places))
	}
	for i, reading := range r.latest {
		carrier := carrierOf(reading.Drops)
		g := slices.IndexFunc(r.Plan.Generators, func(g plan.Generator) bool { _, ok := g.PortOn(r.places[i].Link); return ok })
		if carrier == nil || g < 0 { // the device's own end is no link's: the link's end sees the same cable
			continue
		}
		current := &runner.LinkSeen{IsUp: carrier.Up, Changes: carrier.Changes, Elapsed: r.latestAt.Sub(r.Started)}
		if previous := r.links[i]; previous != nil {
			r.LinkBetween(r.Plan.Generators[g].Name, r.places[i].Link, *previous, *current)
		}
		r.links[i] = current
	}
}

func carrierOf(d *measure.Drops) *measure.Carrier {
	if d == nil {
		return nil
	}
	return d.Carrier
}
