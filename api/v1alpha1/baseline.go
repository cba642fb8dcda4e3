package v1alpha1

// EnvironmentPart is a part of it.
//
// +kubebuilder:validation:Enum=Generator;Path;NIC;Driver;Node;Processor
type EnvironmentPart string

// BaselineSpec says what criteria with maxRegression compare with: exactly one of its members is set. What is
// compared must have been measured in the same way (links, traffic, procedure, line rates): else the criterion
// is undecided, and its message names what differs. It is also undecided where the baseline doesn't exist, or
// wasn't measured.
//
// +kubebuilder:validation:XValidation:rule="[has(self.loadTest), has(self.reports)].filter(x, x).size() == 1",message="a baseline is one of loadTest and reports"
type BaselineSpec struct {
	// loadTest is a measured one's name. Example: vpp-main.
	// +optional
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?$`
	LoadTest string `json:"loadTest,omitempty"`

	// reports are kept Reports, one a run; 5 make a good baseline. Example: [{configMap: vpp-main-report}].
	// +optional
	// +listType=map
	// +listMapKey=configMap
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	Reports []ReportRef `json:"reports,omitempty"`

	// allowedDifferences are parts of the environment that may differ. Example: [Node].
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=6
	AllowedDifferences []EnvironmentPart `json:"allowedDifferences,omitempty"`
}

// ReportRef names a kept Report.
type ReportRef struct {
	// configMap is its name. Example: vpp-main-report.
	// +required
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$`
	ConfigMap string `json:"configMap"`

	// digest is the Report's (status.report).
	// +optional
	// +kubebuilder:validation:Pattern=`^sha256:[0-9a-f]{64}$`
	Digest string `json:"digest,omitempty"`
}

// SuiteBaselineSpec names what the cells of a suite are compared with. With axis and value these are cells of the
// same suite: each is compared with the cell that differs from it in this axis only. With suite they are cells of
// an earlier suite: each is compared with the cell that has the same values of the same axes.
//
// +kubebuilder:validation:XValidation:rule="has(self.axis) == has(self.value) && has(self.axis) != has(self.suite)",message="a baseline is either axis and value, such as {axis: image, value: main}, or suite, such as {suite: nightly-1}"
type SuiteBaselineSpec struct {
	// axis is the axis' name. Example: image.
	// +optional
	Axis AxisName `json:"axis,omitempty"`

	// value is the value's name. Example: main.
	// +optional
	Value AxisName `json:"value,omitempty"`

	// suite is a LoadTestSuite of the namespace that is complete when this one ends. Example: nightly-1.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=26
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="a LoadTestSuite's name is made of lower-case letters, digits and dashes, such as nightly-1"
	Suite string `json:"suite,omitempty"`

	// allowedDifferences is as a LoadTest's baseline.allowedDifferences. Example: [Node].
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=6
	AllowedDifferences []EnvironmentPart `json:"allowedDifferences,omitempty"`
}
