package statistics

import (
	"math"

	"github.com/aclements/go-moremath/mathx"
)

// SpreadInterval encloses the spread of all possible runs, in percent of their median, from a sample of these runs.
// Each end is wrong with a probability of (1 - Confidence) / 2, if runs are normally distributed around the truth.
// Each value was found on a grid of this width, in the values' unit, and the truth lies up to one width above the
// value. A width of 0 means that the values are exact. Fewer than two values, or a median of 0, show nothing, so
// the interval goes from 0 to infinity.
//
//	s² + width²/12 ≥ what a grid hides: runs of which all are the same may still differ
//	s - width/2·√(n/(n-1)) ≤ what a grid leaves of it: runs around one of its steps look further apart than they are
//	(n-1)·s²/σ² ~ χ² of n-1 degrees of freedom: what chance makes of a sample
func SpreadInterval(values []float64, width float64) (low, high float64) {
	n := len(values)
	median := Summarize(values).Median
	if n < 2 || median == 0 {
		return 0, math.Inf(1)
	}
	free, spread := float64(n-1), math.Sqrt(variance(values))
	lowest, highest := max(0, spread-width/2*math.Sqrt(float64(n)/free)), math.Sqrt(spread*spread+width*width/12)
	percent := func(deviation, probability float64) float64 {
		return 100 * deviation * math.Sqrt(free/chiSquared(free, probability)) / math.Abs(median)
	}
	return percent(lowest, (1+Confidence)/2), percent(highest, (1-Confidence)/2)
}

// chiSquared is the quantile of the χ² distribution, which is the value below which the distribution stays with
// this probability.
func chiSquared(free, p float64) float64 {
	low, high := 0.0, free+100*math.Sqrt(2*free)
	for range 200 { // bisection works because the distribution ascends
		if middle := (low + high) / 2; mathx.GammaInc(free/2, middle/2) < p {
			low = middle
		} else {
			high = middle
		}
	}
	return (low + high) / 2
}
