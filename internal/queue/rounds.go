package queue

import (
	"cmp"
	"slices"
	"time"
)

// Had is a turn that a test of a namespace had, for devices of one resource.
type Had struct {
	Namespace, Resource string
	// Created is when that test was; At is when its turn was.
	Created, At time.Time
}

// place is where a test stands in line.
type place struct {
	claim *Claim
	// round is how many tests of its namespace have their turn before it, each for a device that the next one wants, too.
	round int
	// last is when an older test of its namespace last had a turn for any of its devices; zero: none had.
	last time.Time
}

// inLine are the claims that wait, in the order of the line: it goes round by namespace, and within each it is the oldest's turn.
//
//	namespace   had its last turn   waits, oldest first        round 1       round 2  round 3
//	   b           never            b1                    ──▶    b1 a1 c1     a2 c2     a3
//	   a           at noon          a1 a2 a3
//	   c           at one           c1 c2
//
// So who has a thousand tests in line keeps a neighbour waiting for one of them, and not for all. Rounds are counted by resource: what a namespace wants or had of
// other devices is another line. Of the turns that a namespace had those of older tests count alone: that a younger one passed, with what was left
// over, costs the older one nothing. Who can't go anyway (something else keeps it, it lets others go first, no nodes have what it wants) takes no
// place in a round from its namespace's others.
func (a *arrangement) inLine(oldestFirst []*Claim) []*Claim {
	var places []place
	had, next := turnsOf(a.lab.Had), map[tenant]int{}
	for _, c := range oldestFirst {
		if c.Stage != Waiting && c.Stage != Stuck {
			continue
		}
		p, devices := place{claim: c}, c.devices()
		for _, name := range devices {
			t := tenant{namespaceOf(c.Test), name}
			p.round = max(p.round, next[t])
			if last := had[t].before(c); last.After(p.last) {
				p.last = last
			}
		}
		places = append(places, p)
		if !a.contends(c) {
			continue
		}
		for _, name := range devices {
			next[tenant{namespaceOf(c.Test), name}] = p.round + 1
		}
	}
	slices.SortStableFunc(places, func(x, y place) int { return cmp.Or(cmp.Compare(x.round, y.round), x.last.Compare(y.last)) })
	claims := make([]*Claim, len(places))
	for i := range places {
		claims[i] = places[i].claim
	}
	return claims
}

// contends says whether a test could go if it were first in line.
func (a *arrangement) contends(c *Claim) bool {
	return c.Stage == Waiting && !a.lab.yields(c) && a.shapeOf(c).possible
}

// tenant is a namespace as it wants one resource.
type tenant struct{ namespace, resource string }

// turns are those that a namespace had for one resource: by the age of the tests, the oldest first, when the last turn was of all that are no younger.
type turns []Had

func turnsOf(had []Had) map[tenant]turns {
	of := map[tenant]turns{}
	for _, h := range had {
		t := tenant{h.Namespace, h.Resource}
		of[t] = append(of[t], h)
	}
	for _, all := range of {
		slices.SortFunc(all, func(x, y Had) int { return x.Created.Compare(y.Created) })
		for i := 1; i < len(all); i++ {
			if all[i].At.Before(all[i-1].At) {
				all[i].At = all[i-1].At
			}
		}
	}
	return of
}

// before is when a test that isn't younger than a claim last had its turn, which may have been the claim's own; zero: none had.
func (t turns) before(c *Claim) (last time.Time) {
	n, _ := slices.BinarySearchFunc(t, c.Created, func(h Had, created time.Time) int {
		if h.Created.After(created) {
			return 1
		}
		return -1
	})
	if n > 0 {
		last = t[n-1].At
	}
	return last
}

// Folded are the turns that tell as much of all tests that wait or are still to come, which are younger than those that wait: of each namespace and resource
// those of tests that are no older than its oldest that waits, and one for all others. Which are folded follows from waiting: by namespace when the oldest
// was created that waits there.
func Folded(had []Had, waiting map[string]time.Time) []Had {
	var out []Had
	last := map[tenant]time.Time{}
	for _, h := range had {
		oldest, any := waiting[h.Namespace]
		if any && h.Created.After(oldest) {
			out = append(out, h)
			continue
		}
		if t := (tenant{h.Namespace, h.Resource}); h.At.After(last[t]) {
			last[t] = h.At
		}
	}
	for t, at := range last {
		out = append(out, Had{Namespace: t.namespace, Resource: t.resource, At: at})
	}
	return out
}
