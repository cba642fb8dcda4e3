package v1alpha1

// LatencySpec is at which loads latency is measured: a trial at each, after the procedure has its result.
type LatencySpec struct {
	// loads are shares of the rate; 0% is 1000 frames/s.
	// +optional
	// +listType=set
	// +kubebuilder:default={"0%","10%","50%","90%"}
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=10
	Loads []Share `json:"loads,omitempty"`

	// goal is the Search's. Default: the first.
	// +optional
	// +kubebuilder:validation:MaxLength=20
	Goal string `json:"goal,omitempty"`

	// trialDuration is each load's.
	// +optional
	// +kubebuilder:default="10s"
	TrialDuration Duration `json:"trialDuration,omitempty"`
}
