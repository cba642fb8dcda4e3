package frames

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/run/runner"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// links follows whether each port's link is up.
type links struct {
	journal  *runner.Journal
	topology *topology

	latest    map[portOnLink]runner.LinkSeen // nil if nothing was read yet
	unwatched bool                           // links may go down, as the device is being reset or the last frame is back
}

// changedLink is a link that is down, or that changed its state since the previous readings. It is empty if no link
// has.
func (l *links) changedLink(previous map[portOnLink]runner.LinkSeen) string {
	for _, key := range slices.SortedFunc(maps.Keys(l.latest), func(a, b portOnLink) int {
		return cmp.Or(cmp.Compare(a.generator, b.generator), cmp.Compare(a.link, b.link))
	}) {
		if state := l.latest[key]; !state.IsUp || state.Changes != previous[key].Changes {
			return key.link
		}
	}
	return ""
}

// portOnLink is a generator's port on a link.
type portOnLink struct {
	generator int
	link      string
}

// follow reports links that went down or came up since the reading before, between windows too, as a window has only
// what happened within it. What happens from just before the first frame until the counters stand still after the
// last interrupts the run.
func (l *links) follow(readings []engine.Reading) {
	for g, reading := range readings {
		for i, planned := range l.journal.Plan.Generators[g].Ports {
			counted, found := reading.Ports[l.topology.index(g, planned.Link)]
			if !found {
				continue
			}
			port := &l.journal.Report.Generators[g].Ports[i]
			if flaps := counted.LinkFlaps - port.LinkChanges; flaps > 0 {
				l.journal.Note("the link of %s (generator %s) changed its state %s, and is %s now", planned.Link,
					l.topology.names[g], wording.Counted(int(flaps), "time"), upOrDown(counted.LinkUp))
			}
			port.LinkChanges = counted.LinkFlaps
			l.compare(portOnLink{g, planned.Link}, runner.LinkSeen{IsUp: counted.LinkUp, Changes: counted.LinkFlaps,
				Elapsed: time.Since(l.journal.Started)})
		}
	}
}

// compare writes down what happened to a link since the reading before while traffic flows.
func (l *links) compare(key portOnLink, state runner.LinkSeen) {
	if l.latest == nil || l.unwatched {
		return
	}
	if previous, ok := l.latest[key]; ok {
		l.journal.LinkBetween(l.topology.names[key.generator], key.link, previous, state)
	}
	l.latest[key] = state
}

// forget leaves out what happens to links until the next reading, because the device is reset on purpose.
func (l *links) forget() { l.latest = map[portOnLink]runner.LinkSeen{} }

func upOrDown(isUp bool) string {
	if isUp {
		return "up"
	}
	return "down"
}
