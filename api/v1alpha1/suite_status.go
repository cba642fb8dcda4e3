package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// LoadTestSuiteStatus is what has been observed and measured.
type LoadTestSuiteStatus struct {
	// observedGeneration is the generation of the spec that this status is of; -1: none yet.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions are Complete and Passed; Accepted until it is complete; Reconciling and Stalled while they are true.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// phase is the suite's state in a word.
	// +optional
	Phase Phase `json:"phase,omitempty"`

	// reason is what the suite waits for, or why it ended as it did. Example: PartlyMeasured.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason,omitempty"`

	// counts are how many tests there are, and how far they are.
	// +optional
	Counts SuiteCounts `json:"counts,omitzero"`

	// startTime is when the first test was made.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// completionTime is when the suite was complete.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// updateTime is when counts and table of a suite that isn't over were last written.
	// +optional
	UpdateTime *metav1.Time `json:"updateTime,omitempty"`

	// table has a row for each of the first 256 cells; more than 64 it has when the suite is over.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	Table []SuiteRow `json:"table,omitempty"`

	// summary is how far it is, in one line. Example: 12 of 40 measured.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Summary string `json:"summary,omitempty"`

	// report says where the whole table is.
	// +optional
	Report *ReportReference `json:"report,omitempty"`

	// operator is what the operator remembers from one look to the next. It isn't an interface: what it has changes
	// with the operator's version.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	Operator SuiteMemory `json:"operator,omitzero"`
}

// SuiteCounts are how many tests a suite has. waiting, running, measured and notMeasured add up to tests.
type SuiteCounts struct {
	// cells is how many combinations of the axes' values are measured.
	// +optional
	Cells int32 `json:"cells"`

	// tests is cells × repetitions.
	// +optional
	Tests int32 `json:"tests"`

	// waiting is how many haven't begun, or wait for devices.
	// +optional
	Waiting int32 `json:"waiting,omitempty"`

	// running is how many are being measured.
	// +optional
	Running int32 `json:"running"`

	// measured is how many gave figures.
	// +optional
	Measured int32 `json:"measured"`

	// notMeasured is how many ended without figures, for good.
	// +optional
	NotMeasured int32 `json:"notMeasured"`

	// retried is how many were repeated.
	// +optional
	Retried int32 `json:"retried,omitempty"`
}

// SuiteVerdict is the criteria's judgement on a cell.
//
// +kubebuilder:validation:Enum=Passed;Failed;Undecided
type SuiteVerdict string

// The verdicts.
const (
	// VerdictPassed: all criteria are met.
	VerdictPassed SuiteVerdict = "Passed"
	// VerdictFailed: one isn't.
	VerdictFailed SuiteVerdict = "Failed"
	// VerdictUndecided: what was measured isn't enough for either.
	VerdictUndecided SuiteVerdict = "Undecided"
)

// SuiteRow is what was measured in a cell: medians over its repetitions, all directions together.
type SuiteRow struct {
	// cell is the cell's name: its values, joined. Example: apu6-64b.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Cell string `json:"cell"`

	// runs is how many measurements the figures come from.
	// +optional
	Runs int32 `json:"runs"`

	// packetsPerSecond is the median received, in packets per second.
	// +optional
	PacketsPerSecond int64 `json:"packetsPerSecond,omitempty"`

	// lineRatePercent is the median received, in percent of what the links can carry. Example: "99.95".
	// +optional
	// +kubebuilder:validation:MaxLength=11
	LineRatePercent string `json:"lineRatePercent,omitempty"`

	// goodputBitsPerSecond is the median payload received, with traffic Sessions.
	// +optional
	GoodputBitsPerSecond *int64 `json:"goodputBitsPerSecond,omitempty"`

	// spreadPercent is how far the repetitions differ, in percent of the median. Empty: there is one. Example: "0.3".
	// +optional
	// +kubebuilder:validation:MaxLength=24
	SpreadPercent string `json:"spreadPercent,omitempty"`

	// lowerBound: the device's limit is these figures or more.
	// +optional
	LowerBound bool `json:"lowerBound,omitempty"`

	// unconfirmed is how many runs' figures weren't confirmed by a longer window, although the procedure asks for that.
	// +optional
	Unconfirmed int32 `json:"unconfirmed,omitempty"`

	// verdict is the criteria's. Empty: there are none, or message says what is still to come.
	// +optional
	Verdict SuiteVerdict `json:"verdict,omitempty"`

	// message explains the row where its figures need it.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Message string `json:"message,omitempty"`
}

// CellValue is a cell's value of an axis.
type CellValue struct {
	// axis is the axis' name. Example: system.
	// +required
	Axis AxisName `json:"axis"`

	// value is the value's name. Example: apu6.
	// +required
	Value AxisName `json:"value"`
}
