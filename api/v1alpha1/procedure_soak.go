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
	// lossRatio is lost on average at the load in question.
	// +optional
	// +kubebuilder:default="0.00001%"
	LossRatio Share `json:"lossRatio,omitempty"`

	// duration is that of all trials together.
	// +optional
	// +kubebuilder:default="30m"
	Duration Duration `json:"duration,omitempty"`

	// firstTrialDuration is the first trial's. Default: 5.1s, or duration.
	// +optional
	FirstTrialDuration Duration `json:"firstTrialDuration,omitempty"`

	// trialGrowth is added to each next trial. Default: 100ms, or for 500 trials.
	// +optional
	TrialGrowth Duration `json:"trialGrowth,omitempty"`

	// minRate is the lowest load, in maxRate's unit. Default: maxRate ÷ 100. Example: 1kpps.
	// +optional
	MinRate Rate `json:"minRate,omitempty"`

	// maxRate is the highest load. Example: 10kpps.
	// +optional
	// +kubebuilder:default="100%"
	MaxRate Rate `json:"maxRate,omitempty"`

	// warmupDuration is the uncounted beginning.
	// +optional
	// +kubebuilder:default="5s"
	WarmupDuration Duration `json:"warmupDuration,omitempty"`
}
