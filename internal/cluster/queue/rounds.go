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

// place is a test's place in line.
type place struct {
	claim *Claim
	// round is how many tests of its namespace come before it, each wanting a device that the next one wants, too.
	round int
	// last is when an older test of its namespace last had a turn for any of its devices; zero: none had.
	last time.Time
}

// inLine are the waiting claims in the order of the line: namespaces take turns, each with its oldest claim.
//
//	namespace   had its last turn   waits, oldest first        round 1       round 2  round 3
//	   b           never            b1                    ──▶    b1 a1 c1     a2 c2     a3
//	   a           at noon          a1 a2 a3
//	   c           at one           c1 c2
//
// So a namespace with a thousand tests in line keeps its neighbours waiting for one of them, and not for all. Rounds are counted by resource: other devices have another
// line. Of the turns that a namespace had only those of older tests count: a younger test that overtook with what was left over costs the older one nothing. A test that
// can't go anyway (Stuck, yielding, or no nodes have what it wants) takes no place in a round from its namespace's other tests.
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

// tenant is a namespace that wants one resource.
type tenant struct{ namespace, resource string }

// turns are those that a namespace had for one resource, by the age of its tests, the oldest first: for each test, the last turn of any test that is no younger.
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

// Folded are fewer turns with the same effect on all tests that wait or are still to come: of each namespace and resource the turns of tests that are no older than its
// oldest waiting test, and one turn for all others. waiting is, by namespace, when its oldest waiting test was created.
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
