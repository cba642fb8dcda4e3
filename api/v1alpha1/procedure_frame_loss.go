package v1alpha1

// FrameLossSpec is the frame loss curve of RFC 2544, section 26.3: a finite trial at each load, from the highest down.
//
//	load
//	maxRate ┤ ┌─┐
//	        │ │ │ step
//	        │ │ │ ┌─┐
//	        │ │ │ │ │ ┌─┐
//	minRate ┤ │ │ │ │ │ │ ┌─┐   or after cleanTrials trials without loss
//	        └─┴─┴─┴─┴─┴─┴─┴─┴──▶ time
//	         trialDuration
type FrameLossSpec struct {
	// maxRate is the highest load, tried first.
	// +optional
	// +kubebuilder:default="100%"
	MaxRate Rate `json:"maxRate,omitempty"`

	// minRate is the lowest load, in the unit of maxRate. Default: 10%, or a tenth of maxRate where that is no more,
	// or has another unit. Example: 10%.
	// +optional
	MinRate Rate `json:"minRate,omitempty"`

	// step is how much each load is below the one before, in the unit of maxRate. Default: as of minRate.
	// Example: 10%.
	// +optional
	Step Rate `json:"step,omitempty"`

	// warmupDuration is how long the lowest load is sent before anything counts; 0s: none.
	// +optional
	// +kubebuilder:default="5s"
	WarmupDuration Duration `json:"warmupDuration,omitempty"`

	// trialDuration is how long each load is sent.
	// +optional
	// +kubebuilder:default="60s"
	TrialDuration Duration `json:"trialDuration,omitempty"`

	// cleanTrials ends the descent after so many successive trials without loss; 0: never.
	// +optional
	// +kubebuilder:default=2
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	CleanTrials *int32 `json:"cleanTrials,omitempty"`
}
