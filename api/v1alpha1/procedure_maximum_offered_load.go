package v1alpha1

// MaximumOfferedLoadSpec is RFC 2285's forwarding rate at maximum offered load: finite trials at all that the
// line carries, of which the generators may reach less.
type MaximumOfferedLoadSpec struct {
	// rate is what is asked for; what is reached of it is the maximum offered load.
	// +optional
	// +kubebuilder:default="100%"
	Rate Rate `json:"rate,omitempty"`

	// warmupDuration is how long the rate is sent before anything counts; 0s: none.
	// +optional
	// +kubebuilder:default="5s"
	WarmupDuration Duration `json:"warmupDuration,omitempty"`

	// trialDuration is how long each trial sends.
	// +optional
	// +kubebuilder:default="60s"
	TrialDuration Duration `json:"trialDuration,omitempty"`

	// trials is how many trials there are, all at the same rate.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	Trials int32 `json:"trials,omitempty"`
}
