package ramp

import "fmt"

// A climb may end without a saturation because nothing could be judged at its top: others had the machine, or the generator sent in bursts. Then the highest clean load is confirmed as the lower
// bound that it is, and the search looks between it and what could not be judged, where the limit may well be. The first load that is seen to lose frames is the lossy end of a bracket like any other.
//
//	0 ───────── lo ─────── third ─── second ────── first ─────── top ──────▶ load
//	          confirmed                lossy: hi       └── unclear ──┘

// mostUnclearLooks is how many loads are looked at below loads that could not be judged. What lies less than a stumble above the answer is not worth it.
const mostUnclearLooks = 4

// unclearLooks is the search of a run without saturation, above its confirmed load.
type unclearLooks struct {
	looked  int    // loads that were looked at
	looking bool   // the next window is the first one: without it, the run is complete
	held    *point // the load that was confirmed before
}

// lookBelowUnclear looks at the next load between the answer and what could not be judged above it; false: there is nothing more to see there.
func (m *machine) lookBelowUnclear() bool {
	lo := m.lo()
	if m.hi != nil || m.Ramp.RefineTo <= 0 || m.looked >= mostUnclearLooks || lo == nil || lo.short || m.searchSpent() {
		return false
	}
	above := m.lowestNotClean(lo)
	if above == nil {
		return false
	}
	at, says := above.asked, "lost frames, and was not looked at again"
	if above.unclear() {
		at, says = lo.asked+(above.asked-lo.asked)/2, "could not be judged"
		if width(lo.asked, above.asked) <= max(stumble, m.Ramp.RefineTo) {
			return false
		}
	}
	m.looked++
	m.marker = "a look below what could not be judged"
	m.look(at, fmt.Sprintf("%s of the target %s: looking at %s", percent(above.asked), says, percent(at)))
	return true
}

// lowestNotClean is the window of the lowest load above lo at which none was clean, an unclear one before one that lost frames; nil: there is none.
func (m *machine) lowestNotClean(lo *point) (lowest *point) {
	for i := range m.points {
		p := &m.points[i]
		if p.clean || p.withdrawn || p.asked <= lo.asked {
			continue
		}
		if lowest == nil || p.asked < lowest.asked || p.asked == lowest.asked && p.unclear() {
			lowest = p
		}
	}
	return lowest
}
