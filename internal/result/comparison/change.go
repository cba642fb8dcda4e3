package comparison

import (
	"math"
	"slices"

	"github.com/linerate-dev/linerate/internal/units/statistics"
)

// change is how a candidate compares with its baseline, as the ratio of the two medians, so 0.97 is 3 % less.
type change struct {
	// ratio is that of the medians of the runs, a run being the middle of its interval.
	ratio float64
	// low and high enclose the true ratio with a probability of confidence. high is +Inf, or low 0, where nothing
	// bounds it.
	low, high, confidence float64
}

// sample is what the runs of a candidate, or of a baseline, show of their device. Figures are natural logarithms,
// so that a ratio of devices is a difference.
type sample struct {
	// lows are what each run's truth is taken for by a claim that is the harder to make the less that is, and highs
	// by one that is the harder to make the more that is. Both ascend. For a run that resolved its limit both are
	// the middle of its interval. For a lower bound the high is +Inf.
	lows, highs []float64
	// common is how far the truth may lie from the middles in all runs alike.
	common float64
}

// sampleOf reads the runs. The errors of their intervals' middles count as independent only as far as that shows.
// An error that stays within ±h has a mean and a variance with mean² + variance at most h². So the part that the
// middles do not vary by may be common to all of them, as with a search that takes the same steps each time.
//
//	common = √(h² − s²)    h: half an interval (root of the mean square); s: how far the median's nearer bound lies from it
//
// That bound is taken for s as it sees no strays, which show no independence of the others, and comes nearer the
// more runs there are. The median of many runs that all found one of few values is no better known than these.
func sampleOf(runs []Run) sample {
	var s sample
	var middles []float64
	squares := 0.0
	for _, r := range runs {
		low, high := math.Log(r.Low), math.Log(r.High)
		if r.Low > 0 && !math.IsInf(r.High, 1) {
			half := (high - low) / 2
			squares += half * half
			low = (low + high) / 2
			high = low
			middles = append(middles, low)
		}
		s.lows, s.highs = append(s.lows, low), append(s.highs, high)
	}
	slices.Sort(s.lows)
	slices.Sort(s.highs)
	if n := float64(len(middles)); n > 0 {
		slices.Sort(middles)
		bound := medianBoundOf(len(middles))
		chance := min(bound.reachAbove(middles), bound.reachBelow(middles))
		s.common = math.Sqrt(max(0, squares/n-chance*chance))
	}
	return s
}

// method is how so many runs of a candidate are compared with so many of a baseline. It depends on nothing else.
type method struct {
	candidate, baseline medianBound
	// usual is Student's t for as many degrees of freedom as both sides have together.
	usual float64
}

// worstTail is how probable a wrong claim may be, at either end of an interval.
const worstTail = (1 - statistics.Confidence) / 2

// medianTail is how probable it may be that a median lies beyond its own bound. It is less than worstTail because
// adding two bounds by their squares is an approximation that not every shape of runs keeps. Simulation showed how
// much less is needed (docs/statistics.md).
const medianTail = 0.015

// leastRuns of each side are compared by what they show themselves. With fewer, all lie on one side of their own
// median too often.
const leastRuns = FewestRuns

// FewestRuns is the fewest runs of each side that show a difference by themselves.
const FewestRuns = 5

func enoughRuns(n, m int) bool { return n >= leastRuns && m >= leastRuns }

func methodOf(n, m int) method {
	return method{medianBoundOf(n), medianBoundOf(m), studentT(1-worstTail, float64(n+m-2))}
}

// gap is how far one sample lies above another, by some estimate, as a logarithm. It has the estimate's standard
// error, and the degrees of freedom of that error.
type gap struct{ distance, deviation, freedom float64 }

// gap between two sides takes the values of each that make it hardest to tell them apart, in ascending order. The
// bounds' distances from the medians are independent errors. Their squares add up (Newcombe, and Zou and Donner),
// with the degrees of freedom that Satterthwaite gives them. Where one side has nearly all of the error, the sum is
// known as badly as that.
//
//	      below                        above
//	──┼───median───┤bound     bound├───median───┼──▶
//	               └ √( a²  +  b² ) ┘
func (m method) gap(low, high []float64, lower, upper medianBound) gap {
	a, b := lower.reachAbove(low), upper.reachBelow(high)
	a, b = a*a, b*b
	if math.IsInf(a+b, 1) { // too many runs of a side have no bound
		return gap{distance: math.NaN()}
	}
	g := gap{distance: statistics.Middle(high) - statistics.Middle(low), deviation: math.Sqrt(a+b) / m.usual}
	if g.deviation > 0 {
		g.freedom = (a + b) * (a + b) / (a*a/float64(len(low)-1) + b*b/float64(len(high)-1))
	}
	return g
}

// chance is the probability with which a gap no wider than edge would show as much. An error that may be common to
// all runs of a sample is no chance and is never averaged away, so a gap within it claims nothing.
func (g gap) chance(edge, common float64) float64 {
	d := g.distance - edge
	switch {
	case !(d > common): // NaN, too
		return 1
	case g.deviation == 0 || math.IsInf(d, 1):
		return 0
	}
	return 1 - studentCDF(math.Sqrt(d*d-common*common)/g.deviation, g.freedom)
}

// reach is how much narrower the gap may be than it appears, except with the probability tail.
func (g gap) reach(tail, common float64) float64 {
	if g.deviation == 0 {
		return common
	}
	return math.Hypot(studentT(1-tail, g.freedom)*g.deviation, common)
}

// lossGap is how far the candidate lies below the baseline, and over how far above, each as far as a claim may assume.
func (m method) lossGap(candidate, baseline sample) gap {
	return m.gap(candidate.highs, baseline.lows, m.candidate, m.baseline)
}

func (m method) gainGap(candidate, baseline sample) gap {
	return m.gap(baseline.highs, candidate.lows, m.baseline, m.candidate)
}

// chances are those of both claims, that the candidate has less than the least ratio that is allowed, and that it
// has not.
func chances(loss, gain gap, minRatio, common float64) Chance {
	edge := math.Log(minRatio)
	return Chance{Failed: loss.chance(-edge+rounding, common), Passed: gain.chance(edge-rounding, common)}
}

// rounding is how far logarithms of equal ratios may differ, so that a change of exactly what is allowed is allowed.
const rounding = 1e-12

// changeWithin is the change with its interval, which is the part that none of the claims reaches.
func changeWithin(ratio float64, loss, gain gap, tail, common float64) change {
	return change{ratio: ratio, confidence: 1 - 2*tail,
		low: bound(gain.distance, -gain.reach(tail, common), 0), high: bound(-loss.distance, loss.reach(tail, common),
			math.Inf(1))}
}

// estimate is the change alone, without an interval.
func estimate(candidate, baseline sample) change {
	return change{ratio: math.Exp(statistics.Middle(candidate.lows) - statistics.Middle(baseline.lows)),
		high: math.Inf(1)}
}

// bound is an end of an interval, as a ratio, or unknown where nothing bounds it.
func bound(value, reach, unknown float64) float64 {
	if math.IsNaN(value) {
		return unknown
	}
	return math.Exp(value + reach)
}

// assumedGap is the gap of runs that are too few to show their spread, with a spread that the user vouches for, the
// standard deviation of a run as a share. The runs then count as normally distributed around the truth, and their
// common error is subtracted whole, as nothing shows it to vary.
func assumedGap(low, high []float64, spread, common float64) gap {
	return gap{statistics.Mean(high) - statistics.Mean(low) - common, spread * math.Sqrt(1/float64(len(low))+
		1/float64(len(high))), math.Inf(1)}
}

// distanceBeyondAllowed is how far the change lies from the least ratio allowed, on either side, less everything
// that more runs do not narrow. Where it is 0 or less, that hides the difference.
func distanceBeyondAllowed(candidate, baseline sample, minRatio float64) float64 {
	far := math.Inf(-1)
	for _, distance := range []float64{
		statistics.Middle(baseline.lows) - statistics.Middle(candidate.highs) + math.Log(minRatio),
		statistics.Middle(candidate.lows) - statistics.Middle(baseline.highs) - math.Log(minRatio),
	} {
		if !math.IsNaN(distance) {
			far = max(far, distance)
		}
	}
	return far - candidate.common - baseline.common
}

// rangeOfNormal is the range, in standard deviations, that up to ten normally distributed runs exceed in at most
// one of a hundred cases.
const rangeOfNormal = 5.2

// spreadDenied says that runs lie further apart than the spread that the user vouches for explains.
func spreadDenied(runs []Run, spread float64) bool {
	lowest, highest := math.Inf(1), 0.0
	for _, r := range runs {
		lowest, highest = min(lowest, r.Low), max(highest, r.Low)
	}
	return len(runs) > 1 && highest > lowest*math.Exp(rangeOfNormal*spread)
}
