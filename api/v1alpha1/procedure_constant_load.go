package v1alpha1

// ConstantLoadSpec is one rate that is held, in windows that are judged apart.
//
//	rate ┤┌─────────┬────────┬────────┬────────┐
//	     ││         │ window │ window │ window │
//	     └┴─────────┴────────┴────────┴────────┴──▶ time
//	       warm-up           duration
type ConstantLoadSpec struct {
	// rate is held. Default: 100%, of Sessions Unlimited. UDP needs one, of payload. Example: 100mbps.
	// +optional
	Rate HeldRate `json:"rate,omitempty"`

	// warmupDuration is the uncounted beginning.
	// +optional
	// +kubebuilder:default="5s"
	WarmupDuration Duration `json:"warmupDuration,omitempty"`

	// duration is after the warm-up. Default: 60s.
	// +optional
	Duration Duration `json:"duration,omitempty"`

	// window is judged apart. Default: 10s.
	// +optional
	Window Duration `json:"window,omitempty"`
}
