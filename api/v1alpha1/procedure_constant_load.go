package v1alpha1

// ConstantLoadSpec is one rate that is held, in windows that are judged apart.
//
//	rate ┤┌─────────┬────────┬────────┬────────┐
//	     ││         │ window │ window │ window │
//	     └┴─────────┴────────┴────────┴────────┴──▶ time
//	       warm-up           duration
type ConstantLoadSpec struct {
	// rate is the load that is held. Of sessions: Unlimited; with Iperf3 or UDP also the payload of each
	// direction, such as 100mbps, with UDP also datagrams (10kpps).
	// +optional
	// +kubebuilder:default="100%"
	Rate HeldRate `json:"rate,omitempty"`

	// warmupDuration is how long the rate is held before anything counts; 0s: none.
	// +optional
	// +kubebuilder:default="5s"
	WarmupDuration Duration `json:"warmupDuration,omitempty"`

	// duration is how long the rate is held after the warm-up. Default: 60s, or window if that is longer. Example: 60s.
	// +optional
	Duration Duration `json:"duration,omitempty"`

	// window is how long each part of duration that is judged apart is. Default: 10s, or as duration needs.
	// Example: 10s.
	// +optional
	Window Duration `json:"window,omitempty"`
}
