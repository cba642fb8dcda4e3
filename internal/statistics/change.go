package statistics

import (
	"math"
	"slices"

	"github.com/aclements/go-moremath/stats"
)

// Change is how a candidate compares with its baseline, as the ratio of the two: 0.97 is 3 % less.
type Change struct {
	// Ratio is the median of all ratios of a candidate's run to a baseline's (Hodges and Lehmann's estimate).
	Ratio float64
	// Low and High enclose the true ratio with a probability of Confidence. High is +Inf, or Low 0, where nothing bounds it.
	Low, High, Confidence float64
}

// pairs are the ratios of each candidate to each baseline, ascending. There is a baseline of 0 that candidates are infinitely more than.
func pairs(candidate, baseline []float64) []float64 {
	ratios := make([]float64, 0, len(candidate)*len(baseline))
	for _, c := range candidate {
		for _, b := range baseline {
			ratios = append(ratios, ratio(c, b))
		}
	}
	slices.Sort(ratios)
	return ratios
}

// ratio of two figures that may be 0 or unbounded.
func ratio(c, b float64) float64 {
	switch {
	case b == 0:
		return math.Inf(1)
	case math.IsInf(b, 1):
		return 0
	}
	return c / b
}

// change compares by ranks alone: no distribution is assumed, only that chance treats candidate and baseline alike. Each end of the interval is
// the one that the runs' own intervals make worst: what is claimed holds wherever in them the truth lies.
//
//	ratios of all pairs, ascending:  ┤k left out├── Low ············ Ratio ············ High ──┤k left out├
func change(candidate, baseline []Run) Change {
	c := estimate(candidate, baseline)
	least, most := pairs(figures(candidate), ends(baseline)), pairs(ends(candidate), figures(baseline))
	k, tail := leftOut(len(candidate), len(baseline))
	c.Low, c.High, c.Confidence = least[k], most[len(most)-1-k], 1-2*tail
	return c
}

// estimate is the change alone, enclosed by nothing.
func estimate(candidate, baseline []Run) Change {
	return Change{Ratio: middle(pairs(figures(candidate), figures(baseline))), High: math.Inf(1)}
}

// worstTail is how probable a wrong claim may be, at either end of an interval.
const worstTail = (1 - confidence) / 2

// enough says that so many runs of either can show a difference at all: that all of one lie above all of the other is one of as many cases as
// there are ways to choose the one among both.
func enough(n, m int) bool {
	ways := 1.0
	for i := 1; i <= n; i++ {
		ways *= float64(m+i) / float64(i)
	}
	return ways*worstTail >= 1
}

// exactUpTo is the size of samples up to which the distribution of ranks is counted out; above it is as good as normal.
const exactUpTo = 50

// leftOut is how many of the ratios may be left out at each end so that what remains still has the confidence that is wanted: the greatest k
// for which Mann and Whitney's U is at most k with a probability (tail) of at most 2.5 %. There must be enough runs.
func leftOut(n, m int) (k int, tail float64) {
	mean, deviation := float64(n*m)/2, math.Sqrt(float64(n*m)*float64(n+m+1)/12)
	k = max(0, int(mean-normal975*deviation)-1)
	if n > exactUpTo || m > exactUpTo {
		return k, stats.StdNormal.CDF((float64(k) + 0.5 - mean) / deviation)
	}
	u := stats.UDist{N1: n, N2: m}
	tail = u.CDF(float64(k))
	for k > 0 && tail > worstTail {
		k--
		tail = u.CDF(float64(k))
	}
	for next := u.CDF(float64(k + 1)); next <= worstTail; next = u.CDF(float64(k + 1)) {
		k, tail = k+1, next
	}
	return k, tail
}

// normal975 is the standard normal distribution's 97.5 % quantile.
const normal975 = 1.959964

// assumedChange compares runs that are too few to show their spread, with one that somebody vouches for: the standard deviation of a run, as a
// share. The runs are then taken as normal around the truth.
func assumedChange(candidate, baseline []Run, spread float64) Change {
	half := normal975 * spread * math.Sqrt(1/float64(len(candidate))+1/float64(len(baseline)))
	c := Change{
		Ratio:      math.Exp(meanLog(figures(candidate)) - meanLog(figures(baseline))),
		Low:        math.Exp(meanLog(figures(candidate)) - meanLog(ends(baseline)) - half),
		High:       math.Exp(meanLog(ends(candidate)) - meanLog(figures(baseline)) + half),
		Confidence: confidence,
	}
	if math.IsNaN(c.Low) {
		c.Low = 0
	}
	if math.IsNaN(c.High) {
		c.High = math.Inf(1)
	}
	return c
}

func meanLog(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += math.Log(v)
	}
	return sum / float64(len(values))
}
