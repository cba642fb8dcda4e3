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
	// warmupRate defaults to 1kpps, or targetRate.
	// +optional
	WarmupRate Rate `json:"warmupRate,omitempty"`

	// warmupDuration is the warm-up's; 0s: none.
	// +optional
	// +kubebuilder:default="30s"
	WarmupDuration Duration `json:"warmupDuration,omitempty"`

	// targetRate is the top of the ramp. Every rate is of each direction: packets (10kpps, 14.88mpps), layer-2 bits
	// (1gbps), layer-1 bits (1gbpsl1) or a share of the line rate (95%).
	// +optional
	// +kubebuilder:default="100%"
	TargetRate Rate `json:"targetRate,omitempty"`

	// rampDuration is the way to the top. Default: 10m, or stepDuration.
	// +optional
	RampDuration Duration `json:"rampDuration,omitempty"`

	// stepDuration is each step's. Default: 2s, or as rampDuration needs.
	// +optional
	StepDuration Duration `json:"stepDuration,omitempty"`

	// settleDuration of each step isn't judged. Default: 500ms, or stepDuration ÷ 4.
	// +optional
	SettleDuration Duration `json:"settleDuration,omitempty"`

	// precision is the width of the bracket around the saturation; 0%: not refined.
	// +optional
	// +kubebuilder:default="0.5%"
	Precision Share `json:"precision,omitempty"`

	// confirmDuration holds what was found.
	// +optional
	// +kubebuilder:default="10s"
	ConfirmDuration Duration `json:"confirmDuration,omitempty"`

	// holdDuration holds the target rate at the end.
	// +optional
	// +kubebuilder:default="30s"
	HoldDuration Duration `json:"holdDuration,omitempty"`

	// stopAtSaturation ends the climb where frames are lost, and leaves out the hold.
	// +optional
	StopAtSaturation bool `json:"stopAtSaturation,omitempty"`
}
