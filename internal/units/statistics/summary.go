package statistics

import (
	"math"
	"slices"

	"github.com/aclements/go-moremath/stats"
	"golang.org/x/perf/benchmath"
)

// Confidence is the least confidence of every interval, a median's as a change's.
const Confidence = 0.95

// Summary is what a set of runs shows, in the runs' own unit, except for the spread, which is in percent.
type Summary struct {
	// N is how many runs there are. Where it is 0, all other fields are 0.
	N      int
	Median float64
	// Low and High enclose the true median with a probability of Confidence, whatever the runs' distribution. From
	// 6 runs on that is at least 0.95. Fewer runs can't give that much. Low and High are then the least and the
	// greatest run, and Confidence is the probability that they enclose the median (0.9375 for 5 runs, 0 for 1
	// run).
	Low, High, Confidence float64
	// SpreadPercent is the runs' standard deviation in percent of the median. It is 0 for one run.
	SpreadPercent float64
	// Outliers are runs that lie far from the others. They count all the same.
	Outliers []Outlier
}

// Outlier is a run that lies far from the others.
type Outlier struct {
	// Run is its index among the runs that were summarized.
	Run   int
	Value float64
}

// Summarize says what the runs show. It ignores values that are not finite, and leaves the slice as it is.
func Summarize(values []float64) Summary {
	finite := slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
	if len(finite) == 0 {
		return Summary{}
	}
	sample := benchmath.NewSample(finite, &benchmath.DefaultThresholds) // sorts
	s := Summary{N: len(finite)}
	s.Median, s.Low, s.High, s.Confidence = medianOf(sample)
	s.SpreadPercent = spreadPercent(finite, s.Median)
	s.Outliers = outliersOf(values, finite, s.Median)
	return s
}

// medianOf is the sample's median and the interval of the true one. Too few runs for the wanted confidence get
// their range as the interval, with the confidence of this range. Each run lies above the true median with a
// probability of a half, and the range misses the median where all runs lie above, or none does.
func medianOf(sample *benchmath.Sample) (median, low, high, sure float64) {
	summary := benchmath.AssumeNothing.Summary(sample, Confidence)
	if !math.IsInf(summary.Lo, 0) && !math.IsInf(summary.Hi, 0) {
		return summary.Center, summary.Lo, summary.Hi, summary.Confidence
	}
	n := len(sample.Values)
	return summary.Center, sample.Values[0], sample.Values[n-1], 1 - math.Pow(2, float64(1-n))
}

// Spared is how many of n runs may lie on the other side of a limit while the median is claimed to lie on one side.
// It is the number of runs that the median's interval leaves out at an end, which is 0 up to 8 runs.
func Spared(n int) int {
	return max(0, stats.QuantileCI(n, 0.5, Confidence).LoOrder-1)
}

// spreadPercent is the standard deviation around the mean, as a share of the median.
func spreadPercent(values []float64, median float64) float64 {
	if len(values) < 2 || median == 0 {
		return 0
	}
	return 100 * math.Sqrt(variance(values)) / math.Abs(median)
}

// variance is that of a population, estimated from a sample of at least two.
func variance(values []float64) float64 {
	mean, sum := Mean(values), 0.0
	for _, v := range values {
		sum += (v - mean) * (v - mean)
	}
	return sum / float64(len(values)-1)
}

// Mean is the mean of values, of which there is at least one.
func Mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// Rules for outliers.
const (
	// outlierDeviations is how many times further from the median than the others, robustly, an outlier lies
	// (Iglewicz and Hoaglin's rule).
	outlierDeviations = 3.5
	// normalPerMAD makes a median absolute deviation comparable with a standard deviation.
	normalPerMAD = 1.4826
	// outlierLeast is the least distance of an outlier from the median, as a share of the median. A measurement
	// promises no more than ±1 %, and among runs that agree to the last frame each other run would be an outlier.
	outlierLeast = 0.01
)

// outliersOf finds the values that lie far from the median, in their own order. Of two values neither is the odd one.
func outliersOf(values, sorted []float64, median float64) []Outlier {
	if len(sorted) < 3 {
		return nil
	}
	distances := make([]float64, len(sorted))
	for i, v := range sorted {
		distances[i] = math.Abs(v - median)
	}
	slices.Sort(distances)
	limit := max(outlierDeviations*normalPerMAD*Middle(distances), outlierLeast*math.Abs(median))
	var outliers []Outlier
	for i, v := range values {
		if math.Abs(v-median) > limit && !math.IsInf(v, 0) {
			outliers = append(outliers, Outlier{Run: i, Value: v})
		}
	}
	return outliers
}

// Middle is the median of sorted values, of which there is at least one.
func Middle(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
