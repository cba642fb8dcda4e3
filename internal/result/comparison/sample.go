package comparison

import (
	"math"

	"github.com/aclements/go-moremath/mathx"
	"github.com/aclements/go-moremath/stats"
	"github.com/linerate-dev/linerate/internal/units/statistics"
)

// medianBound is the bound of a median that the runs of a sample give, whatever their distribution. The median lies
// below this run with a probability of 1 − medianTail. The bound is interpolated between two runs as Hettmansperger
// and Sheather do, or is the farthest run where the runs are too few for that (five have 1 − 1/32).
type medianBound struct {
	// rank counts runs from the end, 0 the farthest. share is how much of the way to the next one, towards the
	// middle, the bound lies.
	rank  int
	share float64
}

func medianBoundOf(n int) medianBound {
	// Each run lies beyond the median with a probability of a half. The count of runs that do is added up from
	// where that begins to be likely at all. With thousands of runs, all that is farther is less than a float64
	// holds.
	k := max(0, n/2-int(15*math.Sqrt(float64(n))))
	exactly := math.Exp2(mathx.Lchoose(n, k)*math.Log2E - float64(n)) // k of them do
	fewer, atMost := 0.0, exactly
	if atMost >= medianTail {
		return medianBound{}
	}
	for atMost <= medianTail {
		exactly *= float64(n-k) / float64(k+1)
		fewer, atMost = atMost, atMost+exactly
		k++
	}
	weight, position := (medianTail-fewer)/(atMost-fewer), float64(k)
	return medianBound{rank: k - 1, share: (float64(n) - position) * weight / (position +
		(float64(n)-2*position)*weight)}
}

// reachAbove is how far the bound lies above the sample's median, and below how far below it.
func (b medianBound) reachAbove(sorted []float64) float64 {
	n := len(sorted)
	return distanceFromMiddle(sorted[n-1-b.rank], sorted[n-1-min(b.rank+1, n-1)], b.share, statistics.Middle(sorted))
}

func (b medianBound) reachBelow(sorted []float64) float64 {
	return distanceFromMiddle(sorted[b.rank], sorted[min(b.rank+1, len(sorted)-1)], b.share, statistics.Middle(sorted))
}

// distanceFromMiddle is how far a point between two values lies from the middle. Where the values are the same,
// even without bound, it is 0.
func distanceFromMiddle(far, inner, share, middle float64) float64 {
	switch {
	case far == middle:
		return 0
	case math.IsInf(far, 0) || math.IsInf(middle, 0):
		return math.Inf(1)
	}
	return math.Abs(far + share*(inner-far) - middle)
}

// studentT is the quantile of Student's t for a p above a half, and studentCDF the probability below a value. With
// infinite degrees of freedom it is the normal distribution.
//
// Above its middle the distribution is concave, and wider than the normal one. From the normal quantile on, each of
// Newton's steps comes nearer and none goes beyond.
func studentT(p, freedom float64) float64 {
	t := stats.InvCDF(stats.StdNormal)(p)
	if math.IsInf(freedom, 1) {
		return t
	}
	student := stats.TDist{V: freedom}
	for range 100 {
		step := (p - student.CDF(t)) / student.PDF(t)
		if !(math.Abs(step) > 1e-15*t) {
			break
		}
		t += step
	}
	return t
}

func studentCDF(t, freedom float64) float64 {
	if math.IsInf(freedom, 1) {
		return stats.StdNormal.CDF(t)
	}
	return stats.TDist{V: freedom}.CDF(t)
}
