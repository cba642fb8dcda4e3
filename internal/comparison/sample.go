package comparison

import (
	"math"

	"github.com/aclements/go-moremath/stats"
)

// medianBound is the bound of a median that the runs of a sample give, whatever their distribution: the run below which the median lies with a probability of 1 − medianTail,
// interpolated between two runs as Hettmansperger and Sheather do, or the farthest where the runs are too few for that (five have 1 − 1/32).
type medianBound struct {
	// rank counts runs from the end, 0 the farthest; share is how much of the way to the next one, towards the middle, the bound lies.
	rank  int
	share float64
}

func medianBoundOf(n int) medianBound {
	half := stats.BinomialDist{N: n, P: 0.5} // how many of n runs lie beyond the median
	if half.CDF(0) >= medianTail {
		return medianBound{}
	}
	b := medianBound{}
	for half.CDF(float64(b.rank+1)) <= medianTail {
		b.rank++
	}
	tooSure, tooUnsure := half.CDF(float64(b.rank)), half.CDF(float64(b.rank+1))
	of, from := (medianTail-tooSure)/(tooUnsure-tooSure), float64(b.rank+1)
	b.share = (float64(n) - from) * of / (from + (float64(n)-2*from)*of)
	return b
}

// above is how far the bound lies above the sample's median, below how far below it.
func (b medianBound) above(sorted []float64) float64 {
	n := len(sorted)
	return between(sorted[n-1-b.rank], sorted[n-1-min(b.rank+1, n-1)], b.share, middle(sorted))
}

func (b medianBound) below(sorted []float64) float64 {
	return between(sorted[b.rank], sorted[min(b.rank+1, len(sorted)-1)], b.share, middle(sorted))
}

// between is how far a point between two values lies from the middle. Where the values are all the same, and be it without bound, that is no width at all.
func between(far, near, share, middle float64) float64 {
	switch {
	case far == middle:
		return 0
	case math.IsInf(far, 0) || math.IsInf(middle, 0):
		return math.Inf(1)
	}
	return math.Abs(far + share*(near-far) - middle)
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// middle is the median of sorted values, of which there is at least one.
func middle(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// studentT is the quantile of Student's t, and studentCDF what lies below a value of it. With endless degrees of freedom that is the normal distribution.
func studentT(p, freedom float64) float64 {
	if math.IsInf(freedom, 1) {
		return stats.InvCDF(stats.StdNormal)(p)
	}
	return stats.InvCDF(stats.TDist{V: freedom})(p)
}

func studentCDF(t, freedom float64) float64 {
	if math.IsInf(freedom, 1) {
		return stats.StdNormal.CDF(t)
	}
	return stats.TDist{V: freedom}.CDF(t)
}
