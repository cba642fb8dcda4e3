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
	// maxRate is tried first. Example: 10kpps.
	// +optional
	// +kubebuilder:default="100%"
	MaxRate Rate `json:"maxRate,omitempty"`

	// minRate is the lowest load, in maxRate's unit. Default: 10%, or maxRate ÷ 10. Example: 1kpps.
	// +optional
	MinRate Rate `json:"minRate,omitempty"`

	// step is between two loads, in maxRate's unit. Default: as minRate's. Example: 1kpps.
	// +optional
	Step Rate `json:"step,omitempty"`

	// warmupDuration is the uncounted beginning.
	// +optional
	// +kubebuilder:default="5s"
	WarmupDuration Duration `json:"warmupDuration,omitempty"`

	// trialDuration is each load's.
	// +optional
	// +kubebuilder:default="60s"
	TrialDuration Duration `json:"trialDuration,omitempty"`

	// cleanTrials is how many loads in a row without loss end the descent; 0: none do.
	// +optional
	// +kubebuilder:default=2
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	CleanTrials *int32 `json:"cleanTrials,omitempty"`
}
