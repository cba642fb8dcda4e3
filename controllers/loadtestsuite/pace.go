package loadtestsuite

import (
	"slices"
	"time"
)

const (
	// mostMade is how many tests of a suite are made within madeWithin, which is eight in a second: each begins with what is dearest, and many at once
	// make everything slow for everybody.
	mostMade   = 2
	madeWithin = 250 * time.Millisecond
	// growAtOnce is how many of a suite's tests may be under way before they become more by one each growEvery only.
	growAtOnce = 8
	growEvery  = 500 * time.Millisecond
)

// pace is how fast a suite's tests are made. Those that are made in one crowd end in one crowd, and so do those that take their places:
//
//	under way   ▁▂▃▃▄▄▅▅▆▆▇▇████████  as many as parallelism says
//	            │ │└ two a second     └ in the place of each that ends the next one, eight a second at most
//	            │ └ eight
//	            └ eight a second
type pace struct {
	// made are when tests were made, the last few; grew is when there last were more under way than ever before, and most how many that were.
	made []time.Time
	grew time.Time
	most int
}

// mayMake is how many tests may be made now where so many are under way; and where that is none, from when some may be.
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

// recordMade records that a test was made, with which so many are under way.
func (p *pace) recordMade(underWay int, now time.Time) {
	p.made = append(p.made, now)
	if underWay > p.most {
		p.most, p.grew = underWay, now
	}
}
