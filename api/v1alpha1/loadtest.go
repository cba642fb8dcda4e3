package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// LoadTest is one measurement of one device under test (DUT): generators send traffic through it and find, by
// default, the highest rate at which all frames come back. It runs once; a new run is a new object.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=lt,categories=linerate
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Progress",type=integer,JSONPath=`.status.progress.percent`
// +kubebuilder:printcolumn:name="Result",type=string,JSONPath=`.status.summary`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.reason`
// +kubebuilder:printcolumn:name="Passed",type=string,JSONPath=`.status.conditions[?(@.type=="Passed")].status`
// +kubebuilder:printcolumn:name="DUT",type=string,JSONPath=`.spec.dut.type`,priority=1
// +kubebuilder:printcolumn:name="Profile",type=string,JSONPath=`.spec.traffic.profile`,priority=1
// +kubebuilder:printcolumn:name="Engine",type=string,JSONPath=`.spec.generator.engine`,priority=1
// +kubebuilder:printcolumn:name="Node",type=string,JSONPath=`.status.pods[?(@.role=="Generator")].node`,priority=1
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.progress.phase`,priority=1
// +kubebuilder:printcolumn:name="Latency",type=string,JSONPath=`.status.result.latency`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`,priority=1
// +kubebuilder:validation:XValidation:rule="has(self.spec.activeDeadline) == has(oldSelf.spec.activeDeadline) && (!has(self.spec.activeDeadline) || self.spec.activeDeadline == oldSelf.spec.activeDeadline) || !has(self.status) || !has(self.status.startTime)",fieldPath=".spec.activeDeadline",message="activeDeadline can't be changed once the run has begun: stop: true ends the test now, and a longer run is a new LoadTest"
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 40 && self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",fieldPath=".metadata",message="a LoadTest's name has at most 40 lower-case letters, digits and dashes (no dots)"
type LoadTest struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the object's name, labels and the like. The labels linerate.dev/product and
	// linerate.dev/loadtest name the test's row and column in tables of many.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is what to measure, and how. A new run is a new LoadTest (metadata.generateName).
	// +required
	// +kubebuilder:validation:XValidation:rule="has(self.sharedPort) == has(oldSelf.sharedPort) && has(self.criteria) == has(oldSelf.criteria) && has(self.observers) == has(oldSelf.observers) && has(self.baseline) == has(oldSelf.baseline)",message="sharedPort, criteria, observers and baseline can't be added or removed: create a new LoadTest"
	// +kubebuilder:validation:XValidation:rule="!has(oldSelf.stop) || !oldSelf.stop || (has(self.stop) && self.stop)",fieldPath=".stop",message="a stopped test can't be continued: create a new LoadTest"
	Spec LoadTestSpec `json:"spec"`

	// status is what has been observed and measured.
	// +optional
	// +structType=atomic
	// +kubebuilder:default={"observedGeneration":-1}
	Status LoadTestStatus `json:"status,omitzero"`
}

// LoadTestList is a list of LoadTests.
//
// +kubebuilder:object:root=true
type LoadTestList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []LoadTest `json:"items"`
}

// LoadTestSpec is what to measure, and how. The shortest one names what is tested, two links and their line rate.
//
//	generator ──── west ────▶ ┌─────┐ ──── east ────▶ generator
//	          ◀─── west ───── │ DUT │ ◀─── east ─────
//	                          └─────┘
//
// +kubebuilder:validation:XValidation:rule="!has(self.traffic.directions) || self.traffic.directions.all(d, [d.from, d.to].all(n, self.links.exists(l, l.name == n) || n == 'dut' && self.dut.?role.orValue('Forwarder') == 'Endpoint'))",fieldPath=".traffic.directions",message="from and to must each be the name of one of spec.links (or dut, for dut.role Endpoint)"
// +kubebuilder:validation:XValidation:rule="(size(self.links) == 1) == (self.dut.?role.orValue('Forwarder') == 'Endpoint')",fieldPath=".links",message="a device forwards between two links or more, and one of role Endpoint has one: add a link, or set dut.role"
// +kubebuilder:validation:XValidation:rule="size(self.links) <= 2 || has(self.traffic.directions)",fieldPath=".traffic.directions",message="with more than two links say which way traffic flows, such as [{from: west, to: east}, {from: north, to: south}]"
// +kubebuilder:validation:XValidation:rule="!self.generator.?placement.servers.hasValue() || self.dut.type != 'Reference'",fieldPath=".dut.type",message="servers that run already can't be wired to the built-in Reference: use dut.type Device (or Loopback, without a device)"
type LoadTestSpec struct {
	// suspend gives the pods back. The run starts anew once it is false. In a cluster.
	// +optional
	Suspend bool `json:"suspend,omitempty"`

	// stop ends the test, and keeps what was measured.
	// +optional
	Stop bool `json:"stop,omitempty"`

	// generator sends and receives.
	// +optional
	// +kubebuilder:default={engine: Software, replicas: 1}
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="generator can't be changed: create a new LoadTest"
	Generator GeneratorSpec `json:"generator,omitzero"`

	// dut is the device under test. Example: {type: Reference}.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="dut can't be changed: create a new LoadTest"
	DUT DUTSpec `json:"dut"`

	// links are the wires between generator and DUT: 2 to 8, or 1 with dut.role Endpoint. Their order is the ports'.
	// Example: [{name: west, lineRate: 1gbps}, {name: east, lineRate: 1gbps}].
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:XValidation:rule="self.map(l, l) == oldSelf.map(l, l)",message="links can't be changed: create a new LoadTest"
	Links []LinkSpec `json:"links"`

	// sharedPort: two ends on one physical port are Refused (default), or Allowed and noted in the result.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="sharedPort can't be changed: create a new LoadTest"
	SharedPort SharedPort `json:"sharedPort,omitempty"`

	// traffic is what is sent. Default: IMIX both ways.
	// +optional
	// +kubebuilder:default={profile: IMIX}
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="traffic can't be changed: create a new LoadTest"
	Traffic TrafficSpec `json:"traffic,omitzero"`

	// procedure varies the load. Its member named as the type is its settings, such as {type: Search, search: {}}. {}
	// or no member: all defaults.
	// +optional
	// +kubebuilder:default={type: Ramp, ramp: {}}
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="procedure can't be changed: create a new LoadTest"
	Procedure ProcedureSpec `json:"procedure,omitzero"`

	// criteria make the verdict. Each has min, max or both, or else maxRegression. Example: [{name: line-rate, metric:
	// LineRatePercent, min: 95%}].
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="criteria can't be changed: create a new LoadTest"
	Criteria []Criterion `json:"criteria,omitempty"`

	// observers read vital signs beside the traffic. Example: [{name: cpu, observed: Generator, type: Processors}].
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="observers can't be changed: create a new LoadTest"
	Observers []Observer `json:"observers,omitempty"`

	// baseline is what maxRegression compares with: loadTest or reports. Default: --baseline. Example: {loadTest:
	// vpp-main}.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="baseline can't be changed: create a new LoadTest"
	Baseline *BaselineSpec `json:"baseline,omitempty"`

	// activeDeadline ends the run and keeps what was measured. Default: the longest that the procedure may take, at
	// least 1h. It can't be changed in the run. Example: 2h.
	// +optional
	ActiveDeadline Duration `json:"activeDeadline,omitempty"`

	// schedulingDeadline ends a test whose pods don't all run so long after its creation or Kueue's admission.
	// Default: none. Example: 2h.
	// +optional
	SchedulingDeadline Duration `json:"schedulingDeadline,omitempty"`

	// ttlAfterFinished deletes the LoadTest and its Report so long after its end. Default: never. Example: 168h.
	// +optional
	TTLAfterFinished Duration `json:"ttlAfterFinished,omitempty"`

	// podRetention OnFailure keeps the pods of a test that ended badly, with their devices, until activeDeadline +
	// readyDelay + 24 h after their start. Default: Never.
	// +optional
	PodRetention PodRetention `json:"podRetention,omitempty"`

	// reportRetention Keep keeps a copy of the Report beyond the LoadTest, until it is pruned. Default: WithTest.
	// +optional
	ReportRetention ReportRetention `json:"reportRetention,omitempty"`
}

// PodRetention says which pods stay when a test is over.
//
// +kubebuilder:validation:Enum=Never;OnFailure
type PodRetention string

// What is kept.
const (
	// PodRetentionNever gives all pods and their devices back.
	PodRetentionNever PodRetention = "Never"
	// PodRetentionOnFailure keeps the pods of a test that wasn't measured, to look into them.
	PodRetentionOnFailure PodRetention = "OnFailure"
)

// SharedPort says what becomes of a test with two ends on one physical port.
//
// +kubebuilder:validation:Enum=Refused;Allowed
type SharedPort string

// What becomes of it.
const (
	// SharedPortRefused ends the test before it begins.
	SharedPortRefused SharedPort = "Refused"
	// SharedPortAllowed measures, and marks the result.
	SharedPortAllowed SharedPort = "Allowed"
)
