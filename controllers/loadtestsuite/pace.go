package loadtestsuite

import (
	"slices"
	"time"
)

const (
	// mostMade is how many tests of a suite are made within madeWithin: eight a second. Each begins with its most expensive requests, and many at once
	// slow everything down.
	mostMade   = 2
	madeWithin = 250 * time.Millisecond
	// growAtOnce is how many of a suite's tests may be started at full pace; beyond that, one more may be under way every growEvery.
	growAtOnce = 8
	growEvery  = 500 * time.Millisecond
)

// pace is how fast a suite's tests are made. Tests that are made in one crowd end in one crowd, and so do their successors:
//
//	under way   ▁▂▃▃▄▄▅▅▆▆▇▇████████  as many as parallelism says
//	            │ │└ two a second     └ in the place of each that ends the next one, eight a second at most
//	            │ └ eight
//	            └ eight a second
type pace struct {
	// made are the times when the last few tests were made; grew is when more were under way than ever before, and most how many these were.
	made []time.Time
	grew time.Time
	most int
}

// mayMake is how many tests may be made now, with so many under way; if none, from when on some may be.
func (p *pace) mayMake(underWay int, now time.Time) (tests int, from time.Time) {
	p.most = max(p.most, underWay)
	p.made = slices.DeleteFunc(p.made, func(at time.Time) bool { return !now.Before(at.Add(madeWithin)) })
	if len(p.made) >= mostMade {
		return 0, p.made[0].Add(madeWithin)
	}
	tests = mostMade - len(p.made)
	if places := max(growAtOnce, p.most) - underWay; places > 0 {
		return min(tests, places), time.Time{}
	}
	if next := p.grew.Add(growEvery); now.Before(next) {
		return 0, next
	}
	return 1, time.Time{}
}

// recordMade records that a test was made, and that so many are under way with it.
func (p *pace) recordMade(underWay int, now time.Time) {
	p.made = append(p.made, now)
	if underWay > p.most {
		p.most, p.grew = underWay, now
	}
}
