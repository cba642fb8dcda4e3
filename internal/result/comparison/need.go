package comparison

import (
	"math"
	"slices"

	"github.com/linerate-dev/linerate/internal/units/statistics"
)

const (
	// recommended is how many runs of each are named where nothing is known of their spread.
	recommended = leastRuns
	// forgiving is how many runs of each side still tell where one of them is far off. Of ten that is a tenth,
	// which keeps them from passing.
	forgiving = 11
	// mostRuns is the greatest number that is named, as nobody makes more.
	mostRuns = 100
	// normal90 is the standard normal distribution's 90 % quantile, with which the runs tell their case in 90 %.
	normal90 = 1.281552
	// medianLoss is how much wider the median of normal runs scatters than their mean, √(π/2).
	medianLoss = 1.2533
)

// needed is how many runs would show whether the candidate has at least this share of the baseline, by claims that
// are wrong with the probability tail. It is zero where not even the largest number that is named would. The
// baseline's number stays where that is not much dearer, because a kept baseline can't be run again.
func needed(candidate, baseline []Run, share, tail float64) Needed {
	spread, fewest := typicalSpread(candidate, baseline)
	if math.IsNaN(spread) {
		return Needed{fewest, max(fewest, len(baseline))}
	}
	candidateSample, baselineSample := sampleOf(candidate), sampleOf(baseline)
	common := candidateSample.common + baselineSample.common
	distance, sure := distanceBeyondAllowed(candidateSample, baselineSample, share)+common,
		studentT(1-tail, math.Inf(1))
	enoughToShow := func(n, m int) bool {
		if !enoughRuns(n, m) {
			return false
		}
		deviation := medianLoss * spread * math.Sqrt(1/float64(n)+1/float64(m))
		chance := sure * (1 + (sure*sure+1)/(4*float64(n+m-2))) * deviation // Student's t, nearly
		return distance >= math.Hypot(chance, common)+normal90*deviation
	}
	needed := Needed{}
	for n := max(fewest, min(len(candidate), len(baseline))+1); n <= mostRuns && needed.Candidate == 0; n++ {
		if m := max(n, len(baseline)); enoughToShow(n, m) {
			needed = Needed{n, m}
		}
	}
	for n := max(fewest, len(candidate)+1); n <= 2*needed.Candidate; n++ {
		if enoughToShow(n, len(baseline)) {
			return Needed{n, len(baseline)}
		}
	}
	return needed
}

// typicalSpread is the standard deviation of runs of either side, as a share, without those far from the rest, and
// the fewest runs that may suffice, which is higher if some lie far from the rest. It is NaN where no side has two
// runs.
func typicalSpread(candidate, baseline []Run) (spread float64, fewest int) {
	fewest = recommended
	sum, free := 0.0, 0
	for _, runs := range [][]Run{candidate, baseline} {
		typical, strays := withoutStrays(runs)
		if strays {
			fewest = forgiving
		}
		if n := len(typical); n > 1 {
			share := statistics.Summarize(typical).SpreadPercent / 100
			sum += share * share * float64(n-1)
			free += n - 1
		}
	}
	return math.Sqrt(sum / float64(free)), fewest // 0/0 is NaN
}

// withoutStrays are the runs' figures without the outliers, and whether there were any.
func withoutStrays(runs []Run) ([]float64, bool) {
	values := lows(runs)
	outliers := statistics.Summarize(values).Outliers
	for i := len(outliers) - 1; i >= 0; i-- {
		values = slices.Delete(values, outliers[i].Run, outliers[i].Run+1)
	}
	return values, len(outliers) > 0
}
