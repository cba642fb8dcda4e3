package v1alpha1

// CalibrationSpec has the generators of a suite measured by themselves first, without the device: how much of
// each traffic they send and take over a cable. A figure close to that may be the generator's limit, and is
// reported as a lower bound.
type CalibrationSpec struct {
	// margin: a figure closer than this to what the generators reach by themselves is a lower bound. Example: 10%.
	// +optional
	// +kubebuilder:default="10%"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^[0-9]{1,3}([.][0-9]{1,7})?%$') || double(self.replace('%', '')) < 100.0",message="margin must be below 100%, such as 10%: at 100% every figure would be the generator's"
	Margin Share `json:"margin,omitempty"`

	// trialDuration is how long the generators send by themselves. Example: 5s.
	// +optional
	// +kubebuilder:default="5s"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^([0-9]{1,6}([.][0-9]{1,9})?(ms|s|m|h))+$') || (duration(self) >= duration('1s') && duration(self) <= duration('10m'))",message="trialDuration must be between 1s and 10m"
	TrialDuration Duration `json:"trialDuration,omitempty"`

	// maxAge lets a calibration of an earlier suite in the namespace be used instead, if it is no older, and of
	// the same traffic by the same generators in the same place. Default: none is used. Example: 24h.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!self.matches('^([0-9]{1,6}([.][0-9]{1,9})?(ms|s|m|h))+$') || (duration(self) >= duration('1m') && duration(self) <= duration('8760h'))",message="maxAge must be between 1m and 8760h (a year)"
	MaxAge Duration `json:"maxAge,omitempty"`

	// network is the NetworkAttachmentDefinition of all links during calibration, in a cluster: a wire that joins
	// both ends of each direction. Default: the links' own. Example: wire.
	// +optional
	Network NetworkName `json:"network,omitempty"`
}
