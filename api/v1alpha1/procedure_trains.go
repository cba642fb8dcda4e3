package v1alpha1

// TrainsSpec is groups of frames that enter the device back to back, with a pause after each group. The device works a
// group off at its own speed, and the spacing in which its frames leave is the time that the device takes for a frame.
//
//	sent  ▐▐▐▐▐▐▐▐                ▐▐▐▐▐▐▐▐       trains, and a pause
//	came    ▐   ▐   ▐   ▐   ▐       ▐   ▐   ▐    TimePerFrame
type TrainsSpec struct {
	// count is how many trains a set-up sends.
	// +optional
	// +kubebuilder:default=200
	// +kubebuilder:validation:Minimum=20
	// +kubebuilder:validation:Maximum=1000
	Count int32 `json:"count,omitempty"`

	// frames of each train. Default: 3/4 of the receive ring, 192 on veths.
	// +optional
	// +kubebuilder:validation:Minimum=96
	// +kubebuilder:validation:Maximum=1024
	Frames int32 `json:"frames,omitempty"`

	// pause after each train, at least. What the device takes for a train makes it longer.
	// +optional
	// +kubebuilder:default="0.3ms"
	Pause Duration `json:"pause,omitempty"`

	// setUps is how often the trains start anew in each direction.
	// +optional
	// +kubebuilder:default=9
	// +kubebuilder:validation:Minimum=6
	// +kubebuilder:validation:Maximum=50
	SetUps int32 `json:"setUps,omitempty"`
}
