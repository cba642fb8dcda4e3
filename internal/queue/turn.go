package queue

import (
	"maps"
	"slices"
)

// turn says whether it is the turn of a test that has nothing.
func (a *arrangement) turn(c *Claim) Turn {
	want := c.wants()
	switch {
	case len(want) == 0:
		return Turn{}
	case !a.possible(c):
		return Turn{Waits: true, Impossible: true, Message: a.neverWords(c)}
	case a.lab.yields(c):
		return Turn{Waits: true, Message: a.yieldWords(c), Brief: yieldBrief, Until: c.RetryAt}
	case c.Stage == Stuck:
		return a.stuck(c, want)
	}
	lack, idle := a.lacks(want), a.idle(want)
	if lack == "" && (a.seat(c, want) || idle) {
		a.grant(c, want)
		return Turn{}
	}
	turn := a.waits(lack, want)
	a.free.add(want, -1)
	for name := range want {
		a.before[name]++
		if a.closed[name] || a.free[name] < 0 {
			a.lacking[name]++
		}
	}
	return turn
}

// stuck is the turn of a test that something else keeps: it is told how it stands, and stands in nobody's way.
func (a *arrangement) stuck(c *Claim, want Devices) Turn {
	lack := a.lacks(want)
	if lack == "" {
		s, answer := a.room.place(c)
		if s.undo(); answer == fits || a.idle(want) {
			return Turn{}
		}
	}
	return a.waits(lack, want)
}

// lacks is the first resource of which there isn't enough; empty: there is of all.
func (a *arrangement) lacks(want Devices) string {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if a.closed[name] || a.free[name] < want[name] {
			return name
		}
	}
	return ""
}

// idle says whether nobody has or gets any of these resources: then the scheduler is asked, whatever is thought of the places here.
func (a *arrangement) idle(want Devices) bool {
	for name := range want {
		if len(a.holders[name]) > 0 || a.before[name] > 0 {
			return false
		}
	}
	return true
}

// possible says whether a claim could be placed with all nodes to itself.
func (a *arrangement) possible(c *Claim) bool {
	shape := c.shape()
	could, known := a.whole[shape]
	if !known {
		want := c.wants()
		_, answer := roomOf(a.lab.Nodes).place(c)
		could = a.total.covers(want) && answer != fitsNot
		a.whole[shape] = could
	}
	return could
}
