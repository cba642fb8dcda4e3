package v1alpha1

// AxisName is the name of an axis or of one of its values: a DNS label.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=32
// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="a name of an axis or of a value is made of at most 32 lower-case letters, digits and dashes, such as apu6 or 64b"
type AxisName string

// Exclusion names a value of some axes: it is every cell that has all of them.
type Exclusion map[string]AxisName

// Axis is one thing that is varied.
type Axis struct {
	// name is the axis' name. Example: system.
	// +required
	Name AxisName `json:"name"`

	// values are what it is varied to. Example: [{name: apu6}, {name: vpp, patch: {traffic: {profile: IMIX}}}].
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=256
	Values []AxisValue `json:"values"`
}

// AxisValue is one of the values that something is varied to.
type AxisValue struct {
	// name is the value's name; joined with those of the other axes it names the cell. Example: 64b.
	// +required
	Name AxisName `json:"name"`

	// patch changes the template's spec, as a JSON merge patch (RFC 7396): mappings are merged, lists replaced,
	// null removes. Example: {traffic: {frameSize: 64}}.
	// +optional
	Patch Freeform `json:"patch,omitempty"`
}
