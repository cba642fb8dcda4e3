package v1alpha1

// RampSpec is the staircase and what follows it.
//
//	rate
//	 ▲                          ┌─┐ targetRate
//	 │                        ┌─┘ │
//	 │            stepDuration├─┘ │
//	 │                      ┌─┘   │┌┐ ┌──┐┌───┐
//	 │ warmupRate         ┌─┘     ││└┐│  ││   │
//	 │ ┌─────┐          ┌─┘       ││ └┘  ││   │
//	 └─┴─────┴──────────┴─────────┴┴─────┴┴───┴──▶ time
//	   warm-up   rampDuration     refine confirm hold
type RampSpec struct {
	// warmupRate is the load of the warm-up, which fills caches and tables. Default: 1kpps, or targetRate if that
	// is less. Example: 1kpps.
	// +optional
	WarmupRate Rate `json:"warmupRate,omitempty"`

	// warmupDuration is how long the warm-up lasts; 0s: none. Example: 30s.
	// +optional
	// +kubebuilder:default="30s"
	WarmupDuration Duration `json:"warmupDuration,omitempty"`

	// targetRate is the top of the ramp in each direction, as every rate: a share of the line rate, or packets or
	// bits a second, such as 100%, 14.88mpps, 10gbps (layer 2) or 10gbpsl1.
	// +optional
	// +kubebuilder:default="100%"
	TargetRate Rate `json:"targetRate,omitempty"`

	// rampDuration is how long the way to the top takes. Default: 10m, or stepDuration if that is longer. Example: 10m.
	// +optional
	RampDuration Duration `json:"rampDuration,omitempty"`

	// stepDuration is how long each step lasts. Default: 2s, or as rampDuration and settleDuration need. Example: 2s.
	// +optional
	StepDuration Duration `json:"stepDuration,omitempty"`

	// settleDuration is the beginning of each step that isn't judged. Default: 500ms, or a quarter of a shorter
	// stepDuration. Example: 500ms.
	// +optional
	SettleDuration Duration `json:"settleDuration,omitempty"`

	// precision is how narrow the bracket around the saturation is made, relative to its upper end; 0%: it isn't.
	// Example: 0.5%.
	// +optional
	// +kubebuilder:default="0.5%"
	Precision Share `json:"precision,omitempty"`

	// confirmDuration is how long the saturation is held to confirm it; 0s: not at all. Example: 10s.
	// +optional
	// +kubebuilder:default="10s"
	ConfirmDuration Duration `json:"confirmDuration,omitempty"`

	// holdDuration is how long the target rate is held at the end; 0s: not at all. Example: 30s.
	// +optional
	// +kubebuilder:default="30s"
	HoldDuration Duration `json:"holdDuration,omitempty"`

	// stopAtSaturation leaves out the rest of the ramp, and the hold, once saturation is certain.
	// +optional
	StopAtSaturation bool `json:"stopAtSaturation,omitempty"`
}
