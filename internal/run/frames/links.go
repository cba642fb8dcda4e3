package frames

import (
	"time"

	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/run/runner"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// portOnLink is a generator's port on a link.
type portOnLink struct {
	generator int
	link      string
}

// followLinks reports links that went down or came up since the reading before, between windows too: a window has only what happened within it. What happens from just before the first frame until
// the counters stand still after the last interrupts the run.
func (r *run) followLinks(readings []engine.Reading) {
	for g, reading := range readings {
		for i, planned := range r.Plan.Generators[g].Ports {
			now, found := reading.Ports[r.gens[g].PortOfLink[planned.Link]]
			if !found {
				continue
			}
			port := &r.Report.Generators[g].Ports[i]
			if more := now.LinkFlaps - port.LinkChanges; more > 0 {
				r.Note("the link of %s (generator %s) changed its state %s, and is %s now", planned.Link, r.gens[g].Name, wording.Counted(int(more), "time"), upOrDown(now.LinkUp))
			}
			port.LinkChanges = now.LinkFlaps
			r.watchLink(portOnLink{g, planned.Link}, runner.LinkSeen{Up: now.LinkUp, Changes: now.LinkFlaps, At: time.Since(r.Started)})
		}
	}
}

// watchLink writes down what happened to a link since the reading before while traffic flows.
func (r *run) watchLink(key portOnLink, is runner.LinkSeen) {
	if r.drive.links == nil || r.drive.unwatched {
		return
	}
	if was, known := r.drive.links[key]; known {
		r.LinkBetween(r.gens[key.generator].Name, key.link, was, is)
	}
	r.drive.links[key] = is
}

// forgetLinks leaves out what happens to links until the next reading: the device is reset on purpose.
func (r *run) forgetLinks() { r.drive.links = map[portOnLink]runner.LinkSeen{} }

func upOrDown(up bool) string {
	if up {
		return "up"
	}
	return "down"
}
