package comparison

import (
	"math"
	"slices"

	"github.com/aclements/go-moremath/stats"

	"github.com/linerate-dev/linerate/internal/statistics"
)

// change is how a candidate compares with its baseline, as the ratio of the two: 0.97 is 3 % less.
type change struct {
	// ratio is the median of all ratios of a candidate's run to a baseline's (Hodges and Lehmann's estimate).
	ratio float64
	// low and high enclose the true ratio with a probability of confidence. high is +Inf, or low 0, where nothing bounds it.
	low, high, confidence float64
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

// changeByRanks compares by ranks alone: no distribution is assumed, only that chance treats candidate and baseline alike. Each end of the interval is
// the one that the runs' own intervals make worst: what is claimed holds wherever in them the truth lies.
//
//	ratios of all pairs, ascending:  ┤k left out├── low ············ ratio ············ high ──┤k left out├
func changeByRanks(candidate, baseline []Run) change {
	c := estimate(candidate, baseline)
	least, most := pairs(lows(candidate), ends(baseline)), pairs(ends(candidate), lows(baseline))
	k, tail := leftOut(len(candidate), len(baseline))
	c.low, c.high, c.confidence = least[k], most[len(most)-1-k], 1-2*tail
	return c
}

// estimate is the change alone, enclosed by nothing.
func estimate(candidate, baseline []Run) change {
	return change{ratio: middle(pairs(lows(candidate), lows(baseline))), high: math.Inf(1)}
}

// worstTail is how probable a wrong claim may be, at either end of an interval.
const worstTail = (1 - statistics.Confidence) / 2

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
func assumedChange(candidate, baseline []Run, spread float64) change {
	half := normal975 * spread * math.Sqrt(1/float64(len(candidate))+1/float64(len(baseline)))
	c := change{
		ratio:      math.Exp(meanLog(lows(candidate)) - meanLog(lows(baseline))),
		low:        math.Exp(meanLog(lows(candidate)) - meanLog(ends(baseline)) - half),
		high:       math.Exp(meanLog(ends(candidate)) - meanLog(lows(baseline)) + half),
		confidence: statistics.Confidence,
	}
	if math.IsNaN(c.low) {
		c.low = 0
	}
	if math.IsNaN(c.high) {
		c.high = math.Inf(1)
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

// gap is how far the change lies from the least ratio allowed, on whichever side, as a natural logarithm, with the runs' own resolution taken
// off; 0 or less: it hides the difference.
func gap(candidate, baseline []Run, least float64) float64 {
	above := math.Log(middle(pairs(lows(candidate), ends(baseline))) / least)
	below := math.Log(least / middle(pairs(ends(candidate), lows(baseline))))
	return max(above, below)
}

// rangeOfNormal is the range in standard deviations that up to ten normal runs exceed in one of a hundred cases at most.
const rangeOfNormal = 5.2

// denies says that runs lie further apart than the spread that is vouched for explains.
func denies(runs []Run, spread float64) bool {
	least, most := math.Inf(1), 0.0
	for _, r := range runs {
		least, most = min(least, r.Low), max(most, r.Low)
	}
	return len(runs) > 1 && most > least*math.Exp(rangeOfNormal*spread)
}

// middle is the median of sorted values, of which there is at least one.
func middle(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
