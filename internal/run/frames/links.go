package frames

import (
	"cmp"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/run/runner"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// links follows whether each port's link is up.
type links struct {
	runner.Links
	topology  *topology
	unwatched bool // links may go down, as the device is being reset or the last frame is back
}

// changedLink is a link that is down, or that changed its state since the previous readings. It is empty if no link
// has.
func (l *links) changedLink(previous map[runner.GeneratorLink]runner.LinkSeen) string {
	for _, g := range l.Journal.Plan.Generators {
		ports := slices.SortedFunc(slices.Values(g.Ports), func(a, b plan.GeneratorPort) int {
			return cmp.Compare(a.Link, b.Link)
		})
		for _, port := range ports {
			key := runner.GeneratorLink{Generator: g.Name, Link: port.Link}
			if state, ok := l.Latest[key]; ok && (!state.IsUp || state.Changes != previous[key].Changes) {
				return port.Link
			}
		}
	}
	return ""
}

// follow reports links that went down or came up since the reading before, between windows too, as a window has only
// what happened within it. What happens from just before the first frame until the counters stand still after the
// last interrupts the run.
func (l *links) follow(readings []engine.Reading) {
	for g, reading := range readings {
		for i, planned := range l.Journal.Plan.Generators[g].Ports {
			counted, found := reading.Ports[l.topology.index(g, planned.Link)]
			if !found {
				continue
			}
			port := &l.Journal.Report.Generators[g].Ports[i]
			if flaps := counted.LinkFlaps - port.LinkChanges; flaps > 0 {
				l.Journal.Note("the link of %s (generator %s) changed its state %s, and is %s now", planned.Link,
					l.topology.names[g], wording.Counted(int(flaps), "time"), upOrDown(counted.LinkUp))
			}
			port.LinkChanges = counted.LinkFlaps
			if !l.unwatched {
				l.Follow(l.topology.names[g], planned.Link, runner.LinkSeen{IsUp: counted.LinkUp,
					Changes: counted.LinkFlaps, Elapsed: time.Since(l.Journal.Started)})
			}
		}
	}
}

func upOrDown(isUp bool) string {
	if isUp {
		return "up"
	}
	return "down"
}
