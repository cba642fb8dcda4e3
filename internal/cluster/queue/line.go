package queue

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// place is a waiting test's place in line.
type place struct {
	claim *Claim
	// rank is how many older tests of its namespace run, or wait, with a device that this test wants, too.
	rank int
	// began is when a test of its namespace last began with such a device. Zero means that none did.
	began time.Time
}

// inLine puts the waiting claims into the order of the line. The namespace with the fewest running tests comes first,
// then the namespace whose last test began longest ago, then the oldest test. A test that stands before others of its
// namespace counts like one that runs, so namespaces take turns.
//
//	namespace   runs   waits        tests before it   0    1    2
//	   a         a1    a2 a3   ──▶                         a2   a3
//	   b               b4 b5   ──▶                    b4   b5        the line is b4, a2, b5, a3
//
// So a namespace with a thousand tests keeps its neighbours waiting for one of them. Only tests that use the same
// devices count. Younger tests that overtook an older one cost it nothing, and a test that can't go anyway (contends)
// costs the others of its namespace nothing.
func (a *arrangement) inLine() []*Claim {
	var places []place
	ranks, overtaken := map[Tenant]int{}, map[Tenant]bool{}
	for _, c := range a.claims {
		p := place{claim: c}
		for device := range c.wants {
			t := Tenant{c.namespace(), device}
			if !c.waits() && !overtaken[t] && c.Began.After(a.line.Began[t]) {
				a.line.Began[t] = c.Began
			}
			p.rank = max(p.rank, ranks[t])
			if began := a.line.Began[t]; began.After(p.began) {
				p.began = began
			}
		}
		if c.waits() {
			places = append(places, p)
		}
		if c.waits() && !a.contends(c) {
			continue
		}
		for device := range c.wants {
			t := Tenant{c.namespace(), device}
			ranks[t], overtaken[t] = p.rank+1, overtaken[t] || c.waits()
		}
	}
	slices.SortStableFunc(places, func(x, y place) int {
		return cmp.Or(cmp.Compare(x.rank, y.rank), x.began.Compare(y.began))
	})
	claims := make([]*Claim, len(places))
	for i := range places {
		claims[i] = places[i].claim
	}
	return claims
}

// contends says whether a test could go if it were first in line.
func (a *arrangement) contends(c *Claim) bool {
	return c.Stage == Waiting && !c.yields(a.snapshot.Time) && a.isPossible(c)
}

// yields says whether a test that gave its pods back lets others go first now.
func (c *Claim) yields(moment time.Time) bool { return moment.Before(c.RetryAt) }

// recentPeriod is for how long it is remembered that a namespace began a test.
const recentPeriod = 24 * time.Hour

// recentBeginnings is which namespace last began a test when, of a line before, without what was long ago.
func recentBeginnings(snapshot *Snapshot) map[Tenant]time.Time {
	began := make(map[Tenant]time.Time, len(snapshot.Began))
	maps.Copy(began, snapshot.Began)
	maps.DeleteFunc(began, func(_ Tenant, start time.Time) bool { return snapshot.Time.Sub(start) > recentPeriod })
	return began
}
