package plan

import "github.com/linerate-dev/linerate/internal/units"

// Criterion is one demand on the result. It is absolute, by Min and Max, decimal strings in the metric's unit, or
// relative, by MaxRegression.
type Criterion struct {
	Name string `json:"name"`
	// LineRatePercent, PacketsPerSecond, Layer1BitsPerSecond, Layer2BitsPerSecond, LossRatio, ..., or Observed
	Metric    string `json:"metric"`
	Direction string `json:"direction"` // Each, Total
	// Goal names the search's goal whose figure is judged. It is empty for the first goal, or where the procedure
	// has none.
	Goal string `json:"goal,omitempty"`
	// Statistic says what is judged of several runs, as Median, Worst or Spread. Empty is the median, which doesn't
	// pass where many runs lie far from it on the side that misses.
	Statistic string `json:"statistic,omitempty"`
	Min       string `json:"min,omitempty"`
	Max       string `json:"max,omitempty"`
	// MaxRegression is the share by which the figure may be worse than the baseline's. It is nil for an absolute
	// criterion.
	MaxRegression *units.Ratio `json:"maxRegression,omitempty"`
	// MaxWorkRegression is the share by which a frame may take longer than in the baseline (TimePerFrame), where the
	// runs leave a relative criterion of a rate undecided. It is nil where nothing is asked then.
	MaxWorkRegression *units.Ratio `json:"maxWorkRegression,omitempty"`
	// AssumedSpread is the standard deviation of runs, as a share, that the author vouches for where there are too
	// few runs to show it, or 0 for none.
	AssumedSpread units.Ratio `json:"assumedSpread,omitempty"`
	// Latency is which frames a metric of latency judges. It is nil for any other metric.
	Latency *LatencyFigure `json:"latency,omitempty"`
	// Observed is the series that metric Observed judges, in the series' unit. It is nil for any other metric.
	Observed *ObservedSeries `json:"observed,omitempty"`
}

// LatencyFigure is which frames a criterion of latency judges.
type LatencyFigure struct {
	Load      units.Ratio `json:"load"`                // one of the loads of Procedure.Latency
	FrameSize int64       `json:"frameSize,omitempty"` // in bytes, FCS included, or 0 for each size
}

// ObservedSeries is the vital sign that a criterion of metric Observed judges.
type ObservedSeries struct {
	Observer  string `json:"observer"`  // its name
	Series    string `json:"series"`    // "busy"
	Scope     string `json:"scope"`     // Each, All
	Statistic string `json:"statistic"` // Mean, Max
}

// Which of an observer's series a criterion judges, and which number of the series.
const (
	ObservedAll  = "All"  // that of all of a machine's processors together
	ObservedMean = "Mean" // over all windows of the answer
	ObservedMax  = "Max"  // the most in any of them
)

// What a criterion judges of several runs.
const (
	MedianOfRuns = "Median" // alone, however far single runs lie from it
	WorstOfRuns  = "Worst"  // each run must meet it
	SpreadOfRuns = "Spread" // their standard deviation, in percent of their median, which Max bounds
)

// Relative says whether the criterion compares with a baseline.
func (c Criterion) Relative() bool { return c.MaxRegression != nil }
