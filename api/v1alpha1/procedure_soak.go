package v1alpha1

// SoakSpec is an estimate of the critical load, at which the device loses lossRatio on average:
// draft-vpolak-bmwg-plrsearch. Curves of the loss ratio are fitted to all trials, and each next trial is where
// they say that it lies.
//
//	load
//	maxRate ┤┌┐
//	        │││   ┌──┐
//	        │││┌─┐│  │┌───┐     ┌────┐ critical load ± deviation
//	        ││││ ││  ││   │┌───┐│    │
//	        └┴┴┴─┴┴──┴┴───┴┴───┴┴────┴─▶ time
//	         each trial trialGrowth longer
type SoakSpec struct {
	// lossRatio is the share that is lost on average at the load asked for.
	// +optional
	// +kubebuilder:default="0.00001%"
	LossRatio Share `json:"lossRatio,omitempty"`

	// duration is how long all trials send, together.
	// +optional
	// +kubebuilder:default="30m"
	Duration Duration `json:"duration,omitempty"`

	// firstTrialDuration is how long the first trial sends. Default: 5.1s, or duration if that is less. Example: 5.1s.
	// +optional
	FirstTrialDuration Duration `json:"firstTrialDuration,omitempty"`

	// trialGrowth is by how much each trial is longer than the one before. Default: 100ms, or what keeps duration
	// within 500 trials. Example: 100ms.
	// +optional
	TrialGrowth Duration `json:"trialGrowth,omitempty"`

	// minRate is the lowest load, in the unit of maxRate. Default: a hundredth of maxRate.
	// +optional
	MinRate Rate `json:"minRate,omitempty"`

	// maxRate is the highest load.
	// +optional
	// +kubebuilder:default="100%"
	MaxRate Rate `json:"maxRate,omitempty"`

	// warmupDuration is how long the lowest load is sent before anything counts; 0s: none.
	// +optional
	// +kubebuilder:default="5s"
	WarmupDuration Duration `json:"warmupDuration,omitempty"`
}
