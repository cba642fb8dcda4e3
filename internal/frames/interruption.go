package frames

import (
	"time"

	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/runner"
)

// linkOf is a generator's port on a link.
type linkOf struct {
	generator int
	link      string
}

// watchLinks writes down when links are down or change their state, from just before the first frame until the counters stand still after the last.
func (r *run) watchLinks(readings []engine.Reading) {
	if r.drive.links == nil || r.drive.unwatched {
		return
	}
	now := time.Since(r.Started)
	for g := range readings {
		for _, planned := range r.Plan.Generators[g].Ports {
			counters, found := readings[g].Ports[r.gens[g].PortOfLink[planned.Link]]
			if !found {
				continue
			}
			key, is := linkOf{g, planned.Link}, runner.LinkSeen{Up: counters.LinkUp, Changes: counters.LinkFlaps, At: now}
			if was, known := r.drive.links[key]; known {
				r.LinkBetween(r.gens[g].Name, planned.Link, was, is)
			}
			r.drive.links[key] = is
		}
	}
}

// forgetLinks leaves out what happens to links until the next reading: the device is reset on purpose.
func (r *run) forgetLinks() { r.drive.links = map[linkOf]runner.LinkSeen{} }
