package v1alpha1

// MaximumOfferedLoadSpec is RFC 2285's forwarding rate at maximum offered load: finite trials at all that the
// line carries, of which the generators may reach less.
type MaximumOfferedLoadSpec struct {
	// rate is asked for. The maximum offered load is what is reached of it. Example: 10kpps.
	// +optional
	// +kubebuilder:default="100%"
	Rate Rate `json:"rate,omitempty"`

	// warmupDuration is the uncounted beginning.
	// +optional
	// +kubebuilder:default="5s"
	WarmupDuration Duration `json:"warmupDuration,omitempty"`

	// trialDuration is each trial's.
	// +optional
	// +kubebuilder:default="60s"
	TrialDuration Duration `json:"trialDuration,omitempty"`

	// trials is how many there are, at the same rate.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	Trials int32 `json:"trials,omitempty"`
}
