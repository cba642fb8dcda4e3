package main

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestWhatATrialCosts: half a second in addition to its length; a trial that ends early also takes the time until its counters are read, and until frames in flight have come back.
func TestWhatATrialCosts(t *testing.T) {
	limited := device{start: func(capacity float64, _ *rand.Rand) running {
		return running{noReset, func(load, _, _ float64) float64 { return excess(load, capacity) }}
	}}
	for _, c := range []struct {
		name                  string
		load, above           float64
		clock                 float64
		stopped               bool
		leastLoss, mostOfLoss float64
	}{
		{"nothing lost", 900, 0, 2.5, false, 0, 0},
		{"lost, and played to its end", 2000, forever, 2.5, false, 0.5, 0.5},
		{"decided by the first reading", 2000, 0, 0.7, true, 0.025, 0.025},
		{"decided by the eighth", 2000, 0.19, 1.4, true, 0.2, 0.2},
		{"decided when it is over anyway", 2000, 0.499, 2.5, false, 0.5, 0.5},
	} {
		l := newSearchBench(limited, 1000, 1)
		sent, lost, stopped := l.play(c.load, 2, c.above)
		if share := float64(lost) / float64(sent); math.Abs(l.clock-c.clock) > 1e-9 || stopped != c.stopped || share < c.leastLoss-1e-3 || share > c.mostOfLoss+1e-3 {
			t.Errorf("%s: %d of %d lost, stopped %v, %g s", c.name, lost, sent, stopped, l.clock)
		}
	}
}
