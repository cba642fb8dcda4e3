package frames

import (
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/report"
)

// linkOf is a generator's port on a link.
type linkOf struct {
	generator int
	link      string
}

// linkSeen is the state of a link at the latest reading.
type linkSeen struct {
	up    bool
	flaps int64
	at    time.Duration
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
			key, is := linkOf{g, planned.Link}, linkSeen{counters.LinkUp, counters.LinkFlaps, now}
			if was, known := r.drive.links[key]; known && (was.flaps != is.flaps || !was.up || !is.up) {
				r.interrupted(key, was, is)
			}
			r.drive.links[key] = is
		}
	}
}

// interrupted adds what happened to a link between two readings to the Report.
func (r *run) interrupted(of linkOf, was, is linkSeen) {
	name, all := r.gens[of.generator].Name, &r.Report.Interruptions
	i := slices.IndexFunc(*all, func(one report.Interruption) bool { return one.Link == of.link && one.Generator == name })
	if i < 0 {
		i = len(*all)
		*all = append(*all, report.Interruption{Link: of.link, Generator: name, Start: plan.Duration(is.at)})
	}
	one := &(*all)[i]
	one.Changes += max(0, is.flaps-was.flaps)
	if was.up {
		one.Times++
	} else {
		one.Duration += plan.Duration(is.at - was.at)
	}
	one.Over = is.up
}

// forgetLinks leaves out what happens to links until the next reading: the device is reset on purpose.
func (r *run) forgetLinks() { r.drive.links = map[linkOf]linkSeen{} }
