package v1alpha1

// Metric is a figure of the result.
//
// +kubebuilder:validation:Enum=LineRatePercent;PacketsPerSecond;Layer1BitsPerSecond;Layer2BitsPerSecond;LossRatio;GoodputBitsPerSecond;RetransmitRatio;RoundTripMicroseconds;DatagramLossRatio;JitterMicroseconds;BackToBackFrames;BufferFrames;BufferMicroseconds;TimePerFrame;LatencyP50;LatencyP90;LatencyP99;LatencyP99.9;LatencyP99.99;LatencyP99.999;LatencyMax;LatencyJitter;Observed
type Metric string

// The metrics: rates of received frames, and LossRatio; sessions' goodput, and two more for each protocol;
// bursts' length, and what the device buffers; latency; and Observed, for any traffic.
const (
	// MetricLineRatePercent is the received layer-1 rate in percent of the line rate: 0 to 100, and more only
	// where lineRate or counters are wrong.
	MetricLineRatePercent Metric = "LineRatePercent"
	// MetricPacketsPerSecond is the received packets per second.
	MetricPacketsPerSecond Metric = "PacketsPerSecond"
	// MetricLayer1BitsPerSecond is the received bits per second with preamble and gap.
	MetricLayer1BitsPerSecond Metric = "Layer1BitsPerSecond"
	// MetricLayer2BitsPerSecond is the received bits per second of frames with FCS.
	MetricLayer2BitsPerSecond Metric = "Layer2BitsPerSecond"
	// MetricLossRatio is the share of the sent frames that did not come back.
	MetricLossRatio Metric = "LossRatio"
	// MetricGoodputBitsPerSecond is the payload of sessions that was received, in bits per second.
	MetricGoodputBitsPerSecond Metric = "GoodputBitsPerSecond"
	// MetricRetransmitRatio is the share of sessions' segments that were sent before.
	MetricRetransmitRatio Metric = "RetransmitRatio"
	// MetricRoundTripMicroseconds is the mean of sessions' smoothed round trips, in microseconds.
	MetricRoundTripMicroseconds Metric = "RoundTripMicroseconds"
	// MetricDatagramLossRatio is the share of sessions' datagrams that did not come.
	MetricDatagramLossRatio Metric = "DatagramLossRatio"
	// MetricJitterMicroseconds is the mean of the receivers' smoothed jitter of datagrams, in microseconds.
	MetricJitterMicroseconds Metric = "JitterMicroseconds"
	// MetricBackToBackFrames is how many frames the longest burst without loss has, on average of the searches of
	// a BackToBack.
	MetricBackToBackFrames Metric = "BackToBackFrames"
	// MetricBufferFrames is how many frames of such a burst the device had buffered at its end.
	MetricBufferFrames Metric = "BufferFrames"
	// MetricBufferMicroseconds is the time in which so many frames arrive in a burst, in microseconds: RFC 9004's
	// corrected buffer time.
	MetricBufferMicroseconds Metric = "BufferMicroseconds"
	// MetricTimePerFrame is how long the device works on a frame, by Trains, in nanoseconds.
	MetricTimePerFrame Metric = "TimePerFrame"
	// MetricLatencyP50 to MetricLatencyP99999 are the times within which so many percent of the frames came back,
	// in nanoseconds.
	MetricLatencyP50    Metric = "LatencyP50"
	MetricLatencyP90    Metric = "LatencyP90"
	MetricLatencyP99    Metric = "LatencyP99"
	MetricLatencyP999   Metric = "LatencyP99.9"
	MetricLatencyP9999  Metric = "LatencyP99.99"
	MetricLatencyP99999 Metric = "LatencyP99.999"
	// MetricLatencyMax is the longest time that a frame took, in nanoseconds.
	MetricLatencyMax Metric = "LatencyMax"
	// MetricLatencyJitter is the mean difference between the times of two frames that followed each other, in
	// nanoseconds.
	MetricLatencyJitter Metric = "LatencyJitter"
	// MetricObserved is what an observer read, in the unit of its series.
	MetricObserved Metric = "Observed"
)

// CriterionDirection says what a criterion is applied to.
//
// +kubebuilder:validation:Enum=Each;Total
type CriterionDirection string

// What a criterion is applied to.
const (
	// DirectionEach applies it to every direction on its own: all must meet it.
	DirectionEach CriterionDirection = "Each"
	// DirectionTotal applies it to the sum of all directions.
	DirectionTotal CriterionDirection = "Total"
)

// ObservedScope says which of an observer's series a criterion is applied to.
//
// +kubebuilder:validation:Enum=Each;All
type ObservedScope string

// Which series it is applied to.
const (
	// ObservedOfEach applies it to the series of each processor or direction: all must meet it.
	ObservedOfEach ObservedScope = "Each"
	// ObservedOfAll applies it to the series of all of a machine's processors together.
	ObservedOfAll ObservedScope = "All"
)

// ObservedStatistic says which number of a series is judged.
//
// +kubebuilder:validation:Enum=Mean;Max
type ObservedStatistic string

// Which number it is.
const (
	// ObservedMean is the mean over all windows of the answer.
	ObservedMean ObservedStatistic = "Mean"
	// ObservedMax is the most in any of them: of a counter the highest of the windows' rates, of a gauge the
	// highest value.
	ObservedMax ObservedStatistic = "Max"
)

// ObservedSeries is the vital sign that a criterion judges, in the windows that the result's figures come from.
type ObservedSeries struct {
	// observer is one's name. Example: cpu.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Observer string `json:"observer"`

	// series is in docs/criteria.md. Example: busy.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Series string `json:"series"`

	// scope is Each processor or direction, or All.
	// +optional
	// +kubebuilder:default=Each
	Scope ObservedScope `json:"scope,omitempty"`

	// statistic is the Mean or the Max.
	// +optional
	// +kubebuilder:default=Mean
	Statistic ObservedStatistic `json:"statistic,omitempty"`
}

// LatencyFigure is which frames a criterion of latency judges.
type LatencyFigure struct {
	// load is one of latency.loads. Example: 90%.
	// +required
	Load Share `json:"load"`

	// frameSize is bytes with FCS. Example: 64.
	// +optional
	// +kubebuilder:validation:Minimum=64
	// +kubebuilder:validation:Maximum=9216
	FrameSize int32 `json:"frameSize,omitempty"`
}

// CriterionStatistic says which statistic of several runs a criterion judges.
//
// +kubebuilder:validation:Enum=Median;Worst;Spread
type CriterionStatistic string

// The statistics of several runs.
const (
	// StatisticMedian is the median of the runs, however far single runs lie from it.
	StatisticMedian CriterionStatistic = "Median"
	// StatisticWorst is the worst run, so that each run must meet the criterion.
	StatisticWorst CriterionStatistic = "Worst"
	// StatisticSpread is how far the runs lie apart: their standard deviation in percent of their median.
	StatisticSpread CriterionStatistic = "Spread"
)

// Criterion is one demand.
//
// +kubebuilder:validation:XValidation:rule="has(self.min) || has(self.max) || has(self.maxRegression)",message="a criterion needs min, max or both; or maxRegression, to compare with a baseline"
type Criterion struct {
	// name identifies it in the verdict. Example: imix-line-rate.
	// +required
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`
	Name string `json:"name"`

	// metric is the figure judged (docs/criteria.md). Latencies are in nanoseconds.
	// +required
	Metric Metric `json:"metric"`

	// direction is Each by itself, or all in Total.
	// +optional
	// +kubebuilder:default=Each
	Direction CriterionDirection `json:"direction,omitempty"`

	// goal of a Search. Default: the first.
	// +optional
	// +kubebuilder:validation:MaxLength=20
	Goal string `json:"goal,omitempty"`

	// statistic of a suite's runs is the Median (default), the Worst, or the Spread in percent. Example: Worst.
	// +optional
	Statistic CriterionStatistic `json:"statistic,omitempty"`

	// latency is for metrics of latency, which need procedure.latency. Example: {load: 90%, frameSize: 64}.
	// +optional
	Latency *LatencyFigure `json:"latency,omitempty"`

	// observed is for metric Observed, which needs it. Example: {observer: cpu, series: busy}.
	// +optional
	Observed *ObservedSeries `json:"observed,omitempty"`

	// min is the least that passes, in the metric's unit. Example: 95%, or "150000".
	// +optional
	Min Threshold `json:"min,omitempty"`

	// max is the most that passes, in the metric's unit. Example: 0.1%, or "24000".
	// +optional
	Max Threshold `json:"max,omitempty"`

	// maxRegression is how much worse than the baseline it may be. Example: 2%.
	// +optional
	MaxRegression Share `json:"maxRegression,omitempty"`

	// maxWorkRegression is how much longer a frame may take where the rate is undecided. Example: 3%.
	// +optional
	MaxWorkRegression Share `json:"maxWorkRegression,omitempty"`

	// assumedSpread is the lab's known standard deviation, for fewer than 5 runs. Example: 0.5%.
	// +optional
	AssumedSpread Share `json:"assumedSpread,omitempty"`
}

// Relative says whether the criterion compares with a baseline.
func (c Criterion) Relative() bool { return c.MaxRegression != "" }
