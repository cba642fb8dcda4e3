package loadtestsuite

import (
	"slices"
	"time"
)

const (
	// maxMade is how many tests of a suite are made within madeWithin, which is eight a second. Each begins
	// with its most expensive requests, and many at once slow everything down.
	maxMade    = 2
	madeWithin = 250 * time.Millisecond
	// growAtOnce is how many of a suite's tests may be started at full pace. Beyond that, one more may be under
	// way every growEvery.
	growAtOnce = 8
	growEvery  = 500 * time.Millisecond
)

// pace is how fast a suite's tests are made. Tests that are made in one crowd end in one crowd, and so do their
// successors.
//
//	under way   ▁▂▃▃▄▄▅▅▆▆▇▇████████  as many as parallelism says
//	            │ │└ two a second     └ in the place of each that ends the next one, eight a second at most
//	            │ └ eight
//	            └ eight a second
type pace struct {
	// created are the times when the last few tests were created. grew is when more were under way than ever
	// before, and peak is how many these were.
	created []time.Time
	grew    time.Time
	peak    int
}

// mayMake is how many tests may be made now, with so many under way. If that is none, earliest is the time from
// which some may be.
func (p *pace) mayMake(underWay int, now time.Time) (tests int, earliest time.Time) {
	p.peak = max(p.peak, underWay)
	p.created = slices.DeleteFunc(p.created, func(t time.Time) bool { return !now.Before(t.Add(madeWithin)) })
	if len(p.created) >= maxMade {
		return 0, p.created[0].Add(madeWithin)
	}
	tests = maxMade - len(p.created)
	if places := max(growAtOnce, p.peak) - underWay; places > 0 {
		return min(tests, places), time.Time{}
	}
	if next := p.grew.Add(growEvery); now.Before(next) {
		return 0, next
	}
	return 1, time.Time{}
}

// recordMade records that a test was made, and how many are under way with it.
func (p *pace) recordMade(underWay int, now time.Time) {
	p.created = append(p.created, now)
	if underWay > p.peak {
		p.peak, p.grew = underWay, now
	}
}
