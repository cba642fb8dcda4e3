package v1alpha1

// BackToBackSpec is RFC 9004's back-to-back frames: bursts of an exact number of frames, as fast as the
// generators send, of which the device has to carry each frame. The longest such burst is searched for several
// times, each time anew.
//
//	length
//	  longest ┤ ┌┐
//	          │ ││        both lost
//	          │ ││ ┌┐      ┌┐    ┌┐
//	          │ ││ ││ ┌┐┌┐ ││ ┌┐ ││   the longest without loss
//	          └─┴┴─┴┴─┴┴┴┴─┴┴─┴┴─┴┴──▶ bursts
//	             one search   the next
type BackToBackSpec struct {
	// rate is the bursts'. Example: 10kpps.
	// +optional
	// +kubebuilder:default="100%"
	Rate Rate `json:"rate,omitempty"`

	// warmupDuration is the uncounted beginning.
	// +optional
	// +kubebuilder:default="5s"
	WarmupDuration Duration `json:"warmupDuration,omitempty"`

	// trialDuration is that of the overload before the bursts. Default: 10s, or 5 × maxBurstDuration.
	// +optional
	TrialDuration Duration `json:"trialDuration,omitempty"`

	// throughput is known, in each direction. Default: what the trial shows. Example: 9.9kpps.
	// +optional
	Throughput Rate `json:"throughput,omitempty"`

	// maxBurstDuration is the longest burst's, as time. Default: 2s, or trialDuration ÷ 5.
	// +optional
	MaxBurstDuration Duration `json:"maxBurstDuration,omitempty"`

	// resolution is how exact a burst's length is.
	// +optional
	// +kubebuilder:default="1%"
	Resolution Share `json:"resolution,omitempty"`

	// repetitions of the search; RFC 2544 wants 50.
	// +optional
	// +kubebuilder:default=20
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	Repetitions int32 `json:"repetitions,omitempty"`
}
