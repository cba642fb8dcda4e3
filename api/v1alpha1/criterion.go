package v1alpha1

// Metric is a figure of the result.
//
// +kubebuilder:validation:Enum=LineRatePercent;PacketsPerSecond;Layer1BitsPerSecond;Layer2BitsPerSecond;LossRatio
type Metric string

// The metrics. All but LossRatio are of what was received.
const (
	// MetricLineRatePercent is the received layer-1 rate in percent of the line rate, 0 to 100.
	MetricLineRatePercent Metric = "LineRatePercent"
	// MetricPacketsPerSecond is the received packets per second.
	MetricPacketsPerSecond Metric = "PacketsPerSecond"
	// MetricLayer1BitsPerSecond is the received bits per second with preamble and gap.
	MetricLayer1BitsPerSecond Metric = "Layer1BitsPerSecond"
	// MetricLayer2BitsPerSecond is the received bits per second of frames with FCS.
	MetricLayer2BitsPerSecond Metric = "Layer2BitsPerSecond"
	// MetricLossRatio is the share of the sent frames that did not come back, 0 to 1.
	MetricLossRatio Metric = "LossRatio"
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

// Criterion is one demand on the result.
//
// +kubebuilder:validation:XValidation:rule="has(self.min) || has(self.max)",message="a criterion needs min, max or both"
// +kubebuilder:validation:XValidation:rule="!has(self.min) || !has(self.max) || !self.min.matches('^[0-9]{1,15}([.][0-9]{1,9})?$') || !self.max.matches('^[0-9]{1,15}([.][0-9]{1,9})?$') || double(self.min) <= double(self.max)",fieldPath=".max",message="max must not be less than min"
// +kubebuilder:validation:XValidation:rule="self.metric != 'LineRatePercent' || [has(self.min) ? self.min : '0', has(self.max) ? self.max : '0'].all(v, !v.matches('^[0-9]{1,15}([.][0-9]{1,9})?$') || double(v) <= 100.0)",message="LineRatePercent is between 0 and 100 (of all that the links can carry)"
// +kubebuilder:validation:XValidation:rule="self.metric != 'LossRatio' || [has(self.min) ? self.min : '0', has(self.max) ? self.max : '0'].all(v, !v.matches('^[0-9]{1,15}([.][0-9]{1,9})?$') || double(v) <= 1.0)",message="LossRatio is between 0 and 1: write 0.1 % as \"0.001\""
type Criterion struct {
	// name identifies the criterion in the verdict. Example: imix-line-rate.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="a criterion's name is made of lower-case letters, digits and dashes, such as imix-line-rate"
	Name string `json:"name"`

	// metric is the figure that is judged: LineRatePercent, PacketsPerSecond, Layer1BitsPerSecond, Layer2BitsPerSecond or LossRatio.
	// +required
	Metric Metric `json:"metric"`

	// direction says whether Each direction must meet it (default), or their Total.
	// +optional
	// +kubebuilder:default=Each
	Direction CriterionDirection `json:"direction,omitempty"`

	// min is the least that passes, in the metric's unit. Example: "95".
	// +optional
	Min Decimal `json:"min,omitempty"`

	// max is the most that passes, in the metric's unit. Example: "0.001".
	// +optional
	Max Decimal `json:"max,omitempty"`
}
