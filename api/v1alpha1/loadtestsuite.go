package v1alpha1

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// LoadTestSuite is a matrix of measurements: one template, varied along axes, each cell measured as often as is
// asked for. It makes a LoadTest of each, some at a time, and sets what they measured side by side. It runs
// once; a new run is a new object.
//
//	            64b     imix    1518b          the second axis: columns
//	apu6      [ test ] [ test ] [ test ]
//	vpp       [ test ] [ test ] [ test ]  × repetitions
//	the first axis: rows
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=lts,categories=linerate
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.phase`,description="Waiting, Running, Ending, Suspended, Measured, Stopped or Failed"
// +kubebuilder:printcolumn:name="Progress",type=string,JSONPath=`.status.summary`,description="How far it is"
// +kubebuilder:printcolumn:name="Failed",type=integer,JSONPath=`.status.counts.notMeasured`,description="How many tests ended without figures"
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.reason`,description="What it waits for, or why it ended as it did"
// +kubebuilder:printcolumn:name="Passed",type=string,JSONPath=`.status.conditions[?(@.type=="Passed")].status`,description="The criteria's verdict over all cells"
// +kubebuilder:printcolumn:name="Cells",type=integer,JSONPath=`.status.counts.cells`,description="How many combinations of the axes' values there are",priority=1
// +kubebuilder:printcolumn:name="Tests",type=integer,JSONPath=`.status.counts.tests`,description="How many measurements that makes",priority=1
// +kubebuilder:printcolumn:name="Running",type=integer,JSONPath=`.status.counts.running`,description="How many are being measured",priority=1
// +kubebuilder:printcolumn:name="Measured",type=integer,JSONPath=`.status.counts.measured`,description="How many gave figures",priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 26 && self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",fieldPath=".metadata",message="a LoadTestSuite's name has at most 26 lower-case letters, digits and dashes (no dots): the names of its LoadTests are built on it"
// +kubebuilder:validation:XValidation:rule="!has(self.spec.baseline) || !has(self.spec.baseline.suite) || self.spec.baseline.suite != self.metadata.name",fieldPath=".spec.baseline.suite",message="a suite can't be its own baseline: name an earlier one"
type LoadTestSuite struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the object's name, labels and the like.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is what to measure, and how often. A new run is a new LoadTestSuite (metadata.generateName).
	// +required
	// +kubebuilder:validation:XValidation:rule="has(self.axes) == has(oldSelf.axes) && has(self.exclusions) == has(oldSelf.exclusions) && has(self.seed) == has(oldSelf.seed) && has(self.criteria) == has(oldSelf.criteria) && has(self.baseline) == has(oldSelf.baseline) && has(self.calibration) == has(oldSelf.calibration)",message="axes, exclusions, seed, criteria, baseline and calibration can't be added or removed: create a new LoadTestSuite (metadata.generateName makes a new name each time)"
	// +kubebuilder:validation:XValidation:rule="!has(oldSelf.stop) || !oldSelf.stop || (has(self.stop) && self.stop)",fieldPath=".stop",message="a stopped suite can't be continued: create a new LoadTestSuite (metadata.generateName makes a new name each time)"
	Spec LoadTestSuiteSpec `json:"spec"`

	// status is what has been observed and measured.
	// +optional
	// +structType=atomic
	// +kubebuilder:default={"observedGeneration":-1}
	Status LoadTestSuiteStatus `json:"status,omitzero"`
}

// LoadTestSuiteList is a list of LoadTestSuites.
//
// +kubebuilder:object:root=true
type LoadTestSuiteList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []LoadTestSuite `json:"items"`
}

// LoadTestSuiteSpec is what to measure, and how often. The shortest one names a template: then it is one cell.
//
// +kubebuilder:validation:XValidation:rule="!has(self.axes) || (size(self.axes) > 0 ? size(self.axes[0].values) : 1) * (size(self.axes) > 1 ? size(self.axes[1].values) : 1) * (size(self.axes) > 2 ? size(self.axes[2].values) : 1) * (size(self.axes) > 3 ? size(self.axes[3].values) : 1) * self.repetitions <= 10000",fieldPath=".axes",message="the axes' values and the repetitions multiply to more than 10000 tests: split the suite, or use fewer repetitions"
// +kubebuilder:validation:XValidation:rule="!has(self.exclusions) || self.exclusions.all(e, e.all(n, has(self.axes) && self.axes.exists(a, a.name == n && a.values.exists(v, v.name == e[n]))))",fieldPath=".exclusions",message="an exclusion names axes and one value of each, such as [{system: apu6, frames: 64b}]: one of these axes or values doesn't exist"
// +kubebuilder:validation:XValidation:rule="!has(self.baseline) || !has(self.baseline.axis) || !has(self.baseline.value) || (has(self.axes) && self.axes.exists(a, a.name == self.baseline.axis && a.values.exists(v, v.name == self.baseline.value)))",fieldPath=".baseline",message="baseline names one of spec.axes and one of its values, such as {axis: image, value: main}"
// +kubebuilder:validation:XValidation:rule="!has(self.seed) || self.order == 'Shuffled'",fieldPath=".seed",message="seed is what order Shuffled is drawn by: remove it, or set order: Shuffled"
type LoadTestSuiteSpec struct {
	// suspend true starts no further tests; those that were started go on.
	// +optional
	Suspend bool `json:"suspend,omitempty"`

	// stop true ends the suite for good and keeps what was measured.
	// +optional
	Stop bool `json:"stop,omitempty"`

	// template is the LoadTest that all cells begin with.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="template can't be changed: create a new LoadTestSuite (metadata.generateName makes a new name each time)"
	Template LoadTestTemplate `json:"template"`

	// axes are what is varied: each combination of their values is a cell. The first axis makes the tables' rows,
	// the others the columns. Example: [{name: system, values: [{name: apu6}, {name: vpp}]}].
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=4
	// +kubebuilder:validation:XValidation:rule="self == oldSelf && self.map(a, a.name) == oldSelf.map(a, a.name) && self.map(a, a.values.map(v, v.name)) == oldSelf.map(a, a.values.map(v, v.name))",message="axes can't be changed: create a new LoadTestSuite (metadata.generateName makes a new name each time)"
	Axes []Axis `json:"axes,omitempty"`

	// exclusions leaves out every cell that has all the values of an entry. Example: [{system: apu6, frames: 64b}].
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinProperties=1
	// +kubebuilder:validation:items:MaxProperties=4
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="exclusions can't be changed: create a new LoadTestSuite (metadata.generateName makes a new name each time)"
	Exclusions []Exclusion `json:"exclusions,omitempty"`

	// calibration first measures the generators by themselves, over a cable in the device's place, with each
	// traffic of the suite. {} has all defaults. Default: none. Example: {margin: 10%}.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="calibration can't be changed: create a new LoadTestSuite (metadata.generateName makes a new name each time)"
	Calibration *CalibrationSpec `json:"calibration,omitempty"`

	// repetitions is how often each cell is measured; the spread of its figures is that of its repetitions. Example: 5.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="repetitions can't be changed: create a new LoadTestSuite (metadata.generateName makes a new name each time)"
	Repetitions int32 `json:"repetitions,omitempty"`

	// parallelism is how many tests may be under way; those that wait for devices count. Example: 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	Parallelism int32 `json:"parallelism,omitempty"`

	// order is how tests follow each other. Shuffled (default): all cells, then all once more, in drawn orders of
	// which half are the others' reverses, so that drift looks like no difference. Interleaved: in the same order
	// each time. ByCell: all repetitions of a cell, then the next cell.
	// +optional
	// +kubebuilder:default=Shuffled
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="order can't be changed: create a new LoadTestSuite (metadata.generateName makes a new name each time)"
	Order SuiteOrder `json:"order,omitempty"`

	// seed draws the order of Shuffled. Default: made of the suite's name; the suite's report has it. Example: 7.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2147483647
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="seed can't be changed: create a new LoadTestSuite (metadata.generateName makes a new name each time)"
	Seed int64 `json:"seed,omitempty"`

	// failurePolicy says what follows a test that ended unmeasured for good: Continue (default) or Stop, which
	// starts nothing further.
	// +optional
	// +kubebuilder:default=Continue
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="failurePolicy can't be changed: create a new LoadTestSuite (metadata.generateName makes a new name each time)"
	FailurePolicy FailurePolicy `json:"failurePolicy,omitempty"`

	// invalidRetries is how often tests of a cell may be repeated that ended unmeasured, on a disturbed machine, or
	// with a lower bound where the cell's others measured more. Example: 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=8
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="invalidRetries can't be changed: create a new LoadTestSuite (metadata.generateName makes a new name each time)"
	InvalidRetries *int32 `json:"invalidRetries,omitempty"`

	// criteria make the verdict on each cell, over its repetitions; all cells passed, the suite has passed.
	// Example: [{name: line-rate, metric: LineRatePercent, min: 95%}].
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="criteria can't be changed: create a new LoadTestSuite (metadata.generateName makes a new name each time)"
	Criteria []Criterion `json:"criteria,omitempty"`

	// baseline is what criteria with maxRegression compare with: the cells of a value, measured in turns with the
	// others, or an earlier suite ({suite: nightly-1}). Example: {axis: image, value: main}.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="baseline can't be changed: create a new LoadTestSuite (metadata.generateName makes a new name each time)"
	Baseline *SuiteBaselineSpec `json:"baseline,omitempty"`

	// placement says on which nodes the suite's tests run. Example: {sameNodes: true}.
	// +optional
	// +kubebuilder:default={}
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="placement can't be changed: create a new LoadTestSuite (metadata.generateName makes a new name each time)"
	Placement SuitePlacementSpec `json:"placement,omitzero"`

	// ttlAfterFinished deletes the suite, its LoadTests and all Reports so long after its end. Default: never.
	// Example: 720h.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!self.matches('^([0-9]{1,6}([.][0-9]{1,9})?(ms|s|m|h))+$') || duration(self) <= duration('8760h')",message="ttlAfterFinished must be at most 8760h"
	TTLAfterFinished Duration `json:"ttlAfterFinished,omitempty"`

	// historyLimit is how many finished LoadTests are kept, with their Reports. The suite keeps the figures of
	// all. Example: 100.
	// +optional
	// +kubebuilder:default=1000
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10000
	HistoryLimit *int32 `json:"historyLimit,omitempty"`
}

// SuitePlacementSpec says on which nodes the tests of a suite run.
type SuitePlacementSpec struct {
	// sameNodes runs cells that are compared on the nodes of the first of their runs, or of the earlier suite's.
	// Default: true with a baseline, unless its allowedDifferences has Node. Example: false.
	// +optional
	SameNodes *bool `json:"sameNodes,omitempty"`
}

// OnSameNodes says that cells which are compared run on the same nodes.
func (s *LoadTestSuiteSpec) OnSameNodes() bool {
	if sameNodes := s.Placement.SameNodes; sameNodes != nil {
		return *sameNodes
	}
	return s.Baseline != nil && !slices.Contains(s.Baseline.AllowedDifferences, "Node")
}

// LoadTestTemplate is what the LoadTests of a suite have in common.
type LoadTestTemplate struct {
	// metadata are labels and annotations of the LoadTests.
	// +optional
	Metadata TemplateMetadata `json:"metadata,omitzero"`

	// spec is a LoadTest's, without suspend, stop and ttlAfterFinished; each cell's, with its patches, is checked
	// as strictly. Example: {dut: {type: Reference}, links: [{name: west, lineRate: 1gbps}, {name: east, lineRate:
	// 1gbps}]}.
	// +required
	Spec Freeform `json:"spec"`
}

// TemplateMetadata are labels and annotations of LoadTests to be made.
type TemplateMetadata struct {
	// labels are added to each LoadTest. Example: {team: routing}.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(k, size(k) <= 317 && size(self[k]) <= 63)",message="a label's name has at most 317 characters and its value at most 63: put longer texts into annotations"
	// +kubebuilder:validation:XValidation:rule="self.all(k, k in ['linerate.dev/product', 'linerate.dev/loadtest'] || !k.startsWith('linerate.dev/'))",message="labels that begin with linerate.dev/ are linerate's own, but for linerate.dev/product and linerate.dev/loadtest: choose another name"
	Labels map[string]TemplateText `json:"labels,omitempty"`

	// annotations are added to each LoadTest. Example: {change: "1234"}.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(k, size(k) <= 317 && !k.startsWith('linerate.dev/'))",message="annotations that begin with linerate.dev/ are linerate's own, and none has a name longer than 317 characters: choose another name"
	Annotations map[string]TemplateText `json:"annotations,omitempty"`
}

// TemplateText is a label's or an annotation's value.
//
// +kubebuilder:validation:MaxLength=4096
type TemplateText string

// SuiteOrder is how the tests of a suite follow each other.
//
// +kubebuilder:validation:Enum=Shuffled;Interleaved;ByCell
type SuiteOrder string

// The orders.
const (
	// OrderShuffled measures every cell once, then every cell once more, in orders that are drawn, half of them
	// the reverses of the others.
	OrderShuffled SuiteOrder = "Shuffled"
	// OrderInterleaved measures every cell once, then every cell once more in the same order.
	OrderInterleaved SuiteOrder = "Interleaved"
	// OrderByCell measures all repetitions of a cell, then the next cell.
	OrderByCell SuiteOrder = "ByCell"
)

// FailurePolicy says what follows when a test ends without a measurement.
//
// +kubebuilder:validation:Enum=Continue;Stop
type FailurePolicy string

// The policies.
const (
	// FailureContinue goes on with the other tests.
	FailureContinue FailurePolicy = "Continue"
	// FailureStop starts nothing further.
	FailureStop FailurePolicy = "Stop"
)
