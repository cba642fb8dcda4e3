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
	// rate is what bursts are asked for. Results are of the rate that is reached.
	// +optional
	// +kubebuilder:default="100%"
	Rate Rate `json:"rate,omitempty"`

	// warmupDuration is how long the rate is sent before anything counts; 0s: none.
	// +optional
	// +kubebuilder:default="5s"
	WarmupDuration Duration `json:"warmupDuration,omitempty"`

	// trialDuration is how long the trial before the bursts lasts: it shows how fast the overloaded device forwards.
	// Default: 10s, or five times maxBurstDuration where that is no less. Example: 10s.
	// +optional
	TrialDuration Duration `json:"trialDuration,omitempty"`

	// throughput is the device's in each direction, known from another test. Default: what the trial shows.
	// Example: 9.9kpps.
	// +optional
	Throughput Rate `json:"throughput,omitempty"`

	// maxBurstDuration is the longest burst, as time at the rate that is reached: less than trialDuration.
	// Default: 2s, or a fifth of a trialDuration that is no longer. Example: 2s.
	// +optional
	MaxBurstDuration Duration `json:"maxBurstDuration,omitempty"`

	// resolution is how near the longest burst without loss and the shortest with loss come, relative to the latter.
	// +optional
	// +kubebuilder:default="1%"
	Resolution Share `json:"resolution,omitempty"`

	// repetitions is how many times the longest burst is searched for. RFC 2544 wants 50.
	// +optional
	// +kubebuilder:default=20
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	Repetitions int32 `json:"repetitions,omitempty"`
}
