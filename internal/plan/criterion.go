package plan

import "github.com/linerate-dev/linerate/internal/units"

// Criterion is one demand on the result: absolute, by Min and Max, decimal strings in the metric's unit; or relative, by MaxRegression.
type Criterion struct {
	Name      string `json:"name"`
	Metric    string `json:"metric"`    // LineRatePercent, PacketsPerSecond, Layer1BitsPerSecond, Layer2BitsPerSecond, LossRatio, ...; Observed
	Direction string `json:"direction"` // Each, Total
	// Goal names the goal of a search whose figure is judged; empty: that of the first one, or the procedure has no goals.
	Goal string `json:"goal,omitempty"`
	// Statistic is what of several runs it speaks of: Median, Worst, Spread; empty: the median, which doesn't pass where many runs lie far from it, on the side that misses.
	Statistic string `json:"statistic,omitempty"`
	Min       string `json:"min,omitempty"`
	Max       string `json:"max,omitempty"`
	// MaxRegression is the share by which the figure may be less than the baseline's; nil: the criterion is absolute.
	MaxRegression *units.Ratio `json:"maxRegression,omitempty"`
	// AssumedSpread is the standard deviation of runs, as a share, that is vouched for where the runs are too few to show it; 0: nobody does.
	AssumedSpread units.Ratio `json:"assumedSpread,omitempty"`
	// Latency is which frames a metric of latency is of; nil: the metric is another.
	Latency *LatencyFigure `json:"latency,omitempty"`
	// Observed is what metric Observed judges, in the unit of that series; nil: the metric is another.
	Observed *ObservedSeries `json:"observed,omitempty"`
}

// LatencyFigure is which frames a criterion of latency speaks of.
type LatencyFigure struct {
	At        units.Ratio `json:"at"`                  // one of the loads of Procedure.Latency
	FrameSize int64       `json:"frameSize,omitempty"` // in bytes, FCS included; 0: each size
}

// ObservedSeries is the vital sign that a criterion of metric Observed speaks of.
type ObservedSeries struct {
	Observer  string `json:"observer"`  // its name
	Series    string `json:"series"`    // "busy"
	Of        string `json:"of"`        // Each, All
	Statistic string `json:"statistic"` // Mean, Max
}

// Which series a criterion speaks of, and which number of them.
const (
	ObservedEach = "Each" // each processor's or direction's
	ObservedAll  = "All"  // that of all of a machine's processors together
	ObservedMean = "Mean" // over all windows of the answer
	ObservedMax  = "Max"  // the most in any of them
)

// What of several runs a criterion speaks of.
const (
	MedianOfRuns = "Median" // alone, however far single runs lie from it
	WorstOfRuns  = "Worst"  // each run must meet it
	SpreadOfRuns = "Spread" // their standard deviation, in percent of their median; Max bounds it
)

// Relative says whether the criterion compares with a baseline.
func (c Criterion) Relative() bool { return c.MaxRegression != nil }
