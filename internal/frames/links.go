package frames

import (
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/wording"
)

// followLinks reports links that went down or came up since the reading before, between windows too: a window has only what happened within it.
func (r *run) followLinks(readings []engine.Reading) {
	for g, reading := range readings {
		for i, planned := range r.Plan.Generators[g].Ports {
			port, now := &r.Report.Generators[g].Ports[i], reading.Ports[r.gens[g].PortOfLink[planned.Link]]
			if more := now.LinkFlaps - port.LinkChanges; more > 0 {
				r.Note("the link of %s (generator %s) changed its state %s, and is %s now", planned.Link, r.gens[g].Name, wording.Counted(int(more), "time"), upOrDown(now.LinkUp))
			}
			port.LinkChanges = now.LinkFlaps
		}
	}
}

func upOrDown(up bool) string {
	if up {
		return "up"
	}
	return "down"
}
