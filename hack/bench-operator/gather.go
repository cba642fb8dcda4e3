package main

import (
	"time"
)

// With -gather a lab is at work when a crowd comes: tests that hold all devices measure until all others wait
// in line, and then end one after the other, over as long as one of the others takes.
//
//	  holders  ██████████████████████████▙        each of the others takes its turn
//	  others        ╱ in line: all of them ╲
//	tests  ────────┴───────────────────────┴──▶
//	       2 a second   -rate     holders end

const (
	// holderRate is how many of the first ones are applied in a second.
	holderRate = 2.0
	// allInLine is for how long all wait at least.
	allInLine = 15 * time.Second
)

// waves are how LoadTests are applied.
func (o options) waves() []wave {
	if !o.gather {
		return []wave{{o.tests, o.rate}}
	}
	return []wave{{o.scarce, holderRate}, {o.tests - o.scarce, o.rate}}
}

// lasts is how long the traffic of the test of this name lasts.
func (o options) lasts(name string) time.Duration {
	if o.gather {
		for i := range o.scarce {
			if name == testName(i) {
				return o.holds(i)
			}
		}
	}
	return o.duration
}

// holds is how long holder i measures: from when it is applied until all others wait, and for its share of the
// time in which the holders end.
func (o options) holds(i int) time.Duration {
	seconds := float64(o.scarce-i)/holderRate + float64(o.tests-o.scarce)/o.rate
	return time.Duration(seconds*float64(time.Second)) + allInLine + o.duration*time.Duration(i)/time.Duration(o.scarce)
}
