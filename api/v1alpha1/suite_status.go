package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// LoadTestSuiteStatus is what has been observed and measured.
type LoadTestSuiteStatus struct {
	// observedGeneration is the generation of the spec that this status is of; -1: none yet.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions are the state in the usual form, each with its reason: Accepted, Complete and Passed; Reconciling and Stalled while they are
	// true.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// counts are how many tests there are, and how far they are.
	// +optional
	Counts SuiteCounts `json:"counts,omitzero"`

	// startedAt is when the first test was made.
	// +optional
	StartedAt *metav1.Time `json:"startedAt,omitempty"`

	// finishedAt is when the suite was complete.
	// +optional
	FinishedAt *metav1.Time `json:"finishedAt,omitempty"`

	// updatedAt is when the counts, and a small suite's table, were written last: at most each 10 s, or when the suite's state changes.
	// +optional
	UpdatedAt *metav1.Time `json:"updatedAt,omitempty"`

	// table sets side by side what was measured, a row for each cell. A suite of more than 64 cells has it when it is over; until then, and of
	// the cells after the first 256 always, only the report has them.
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

	// runsDigest is the digest of the runs that a complete suite was judged by, over all ConfigMaps that they are in (NAME-suite-runs-…): who compares with the
	// suite, or judges a gate by it, holds those to it. Example: sha256:9f86d081….
	// +optional
	// +kubebuilder:validation:MaxLength=80
	RunsDigest string `json:"runsDigest,omitempty"`

	// storedRuns vouch for what the operator stored of ended tests, while the suite goes on: it reads that back when it is started anew, and believes only what is
	// vouched for here. A suite that a release before these were written began has none until its status is next written.
	// +optional
	StoredRuns *StoredRuns `json:"storedRuns,omitempty"`
}

// StoredRuns vouch for the ConfigMaps that a suite's ended tests are stored in (NAME-suite-runs-…), which whoever edits the namespace may change.
type StoredRuns struct {
	// pages are those that these ConfigMaps make, in their order: the first is NAME-suite-runs-0, with NAME-suite-runs-0-1 and so on where one is full.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	Pages []StoredPage `json:"pages,omitempty"`
}

// StoredPage vouches for a page: it is believed with either digest, so that it may be written before or after this.
type StoredPage struct {
	// digest is that of the runs that the page had when this was written: SHA-256, in base64. Empty: it had none.
	// +optional
	// +kubebuilder:validation:MaxLength=43
	Digest string `json:"digest,omitempty"`

	// next is the digest of the runs that the page is to have next. Empty: nothing is to be added.
	// +optional
	// +kubebuilder:validation:MaxLength=43
	Next string `json:"next,omitempty"`

	// ended are which of the page's tests these are, as bits in base64: a test that is among them, in no page that is believed, and gone, counts as not measured.
	// +optional
	// +kubebuilder:validation:MaxLength=300
	Ended string `json:"ended,omitempty"`
}

// SuiteCounts are how many tests a suite has. waiting, running, measured and notMeasured add up to tests.
type SuiteCounts struct {
	// cells is how many combinations of the axes' values are measured.
	// +optional
	Cells int32 `json:"cells"`

	// tests is how many measurements that makes: cells × repetitions.
	// +optional
	Tests int32 `json:"tests"`

	// waiting is how many weren't begun yet, or wait for their devices.
	// +optional
	Waiting int32 `json:"waiting"`

	// running is how many are being measured.
	// +optional
	Running int32 `json:"running"`

	// measured is how many gave figures.
	// +optional
	Measured int32 `json:"measured"`

	// notMeasured is how many ended without figures, for good.
	// +optional
	NotMeasured int32 `json:"notMeasured"`

	// retried is how many tests were repeated because they had ended without a measurement, or because their generators were disturbed.
	// +optional
	Retried int32 `json:"retried"`
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
	// VerdictUndecided: what was measured carries neither.
	VerdictUndecided SuiteVerdict = "Undecided"
)

// SuiteRow is what was measured in a cell: medians over its repetitions, all directions together.
type SuiteRow struct {
	// cell is the cell's name: its values, joined. Example: apu6-64b.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Cell string `json:"cell"`

	// values are the cell's value of each axis; the generators by themselves have one more, which says so.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=5
	Values []CellValue `json:"values,omitempty"`

	// runs is how many measurements the figures are of.
	// +optional
	Runs int32 `json:"runs"`

	// packetsPerSecond is the median of what was received, in packets per second.
	// +optional
	PacketsPerSecond int64 `json:"packetsPerSecond,omitempty"`

	// layer1BitsPerSecond is the median of what was received, in bits per second on the wire, with preamble and gap.
	// +optional
	Layer1BitsPerSecond int64 `json:"layer1BitsPerSecond,omitempty"`

	// lineRatePercent is the median of what was received, in percent of what the links can carry. Example: "99.95".
	// +optional
	// +kubebuilder:validation:MaxLength=11
	LineRatePercent string `json:"lineRatePercent,omitempty"`

	// goodputBitsPerSecond is the median of the payload that was received, in bits per second, where traffic is sessions: then none of the rates above is there.
	// +optional
	GoodputBitsPerSecond *int64 `json:"goodputBitsPerSecond,omitempty"`

	// spreadPercent is how far the packet rates, or goodputs, of the repetitions differ, in percent of the median: what stands behind ± in tables. Empty: one
	// measurement can't tell. Example: "0.3".
	// +optional
	// +kubebuilder:validation:MaxLength=24
	SpreadPercent string `json:"spreadPercent,omitempty"`

	// lowerBound: the device's limit lies at the figures or above, as the generator was its own limit or the target was reached.
	// +optional
	LowerBound bool `json:"lowerBound,omitempty"`

	// unconfirmed is of how many of the runs the figures were to be confirmed by a longer window, and weren't.
	// +optional
	Unconfirmed int32 `json:"unconfirmed,omitempty"`

	// verdict is the criteria's judgement: Passed, Failed or Undecided. Empty: there are none, or not all repetitions are in yet, its own or its
	// baseline's, which message says then.
	// +optional
	Verdict SuiteVerdict `json:"verdict,omitempty"`

	// message is what else is to be said: the figures behind the verdict, tests without a measurement, repeated tests.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Message string `json:"message,omitempty"`

	// tests are the names of the cell's LoadTests, the last ones of more than 8.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MaxLength=40
	Tests []string `json:"tests,omitempty"`
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
