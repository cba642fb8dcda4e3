package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// LoadTest is one measurement of one device under test (DUT): a generator sends traffic through it over two or
// more links, ramps it up, and finds the highest rate at which all frames come back. It runs once; a new run is
// a new object.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=lt,categories=linerate
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.phase`,description="Waiting, Starting, Running, Ending, Suspended, Measured, Stopped or Failed"
// +kubebuilder:printcolumn:name="Progress",type=integer,JSONPath=`.status.progress.percent`,description="How many percent of the run are done"
// +kubebuilder:printcolumn:name="Result",type=string,JSONPath=`.status.summary`,description="What came back in packets per second, and as a share of the line rate"
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.reason`,description="What it waits for, what limited the result, or why it failed"
// +kubebuilder:printcolumn:name="Passed",type=string,JSONPath=`.status.conditions[?(@.type=="Passed")].status`,description="The criteria's verdict"
// +kubebuilder:printcolumn:name="DUT",type=string,JSONPath=`.spec.dut.type`,description="What is tested",priority=1
// +kubebuilder:printcolumn:name="Profile",type=string,JSONPath=`.spec.traffic.profile`,description="What traffic it is tested with",priority=1
// +kubebuilder:printcolumn:name="Engine",type=string,JSONPath=`.spec.generator.engine`,description="What sends the traffic",priority=1
// +kubebuilder:printcolumn:name="Node",type=string,JSONPath=`.status.pods[?(@.role=="Generator")].node`,description="Where the first generator runs",priority=1
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.progress.phase`,description="What the run does",priority=1
// +kubebuilder:printcolumn:name="Latency",type=string,JSONPath=`.status.result.latency`,description="The longest p99 at each load",priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`,priority=1
// +kubebuilder:validation:XValidation:rule="self.spec.activeDeadline == oldSelf.spec.activeDeadline || !has(self.status) || !has(self.status.startTime)",fieldPath=".spec.activeDeadline",message="activeDeadline can't be changed once the run has begun, as the runner has it by then: stop: true ends the test now, and a longer run is a new LoadTest"
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 40 && self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",fieldPath=".metadata",message="a LoadTest's name has at most 40 lower-case letters, digits and dashes (no dots): the names of all that belongs to it are built on it"
type LoadTest struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the object's name, labels and the like. The labels linerate.dev/product and
	// linerate.dev/loadtest name the test's row and column in tables of many.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is what to measure, and how. A new run is a new LoadTest (metadata.generateName). The order of links
	// decides the default directions, and which port is wired to which link.
	// +required
	// +kubebuilder:validation:XValidation:rule="has(self.sharedPort) == has(oldSelf.sharedPort) && has(self.criteria) == has(oldSelf.criteria) && has(self.observers) == has(oldSelf.observers) && has(self.baseline) == has(oldSelf.baseline)",message="sharedPort, criteria, observers and baseline can't be added or removed: create a new LoadTest (metadata.generateName makes a new name each time)"
	// +kubebuilder:validation:XValidation:rule="!has(oldSelf.stop) || !oldSelf.stop || (has(self.stop) && self.stop)",fieldPath=".stop",message="a stopped test can't be continued: create a new LoadTest (metadata.generateName makes a new name each time)"
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
	// suspend true gives the pods back; once it is false again, the run starts from its beginning. In a cluster only.
	// +optional
	Suspend bool `json:"suspend,omitempty"`

	// stop true ends the test for good and keeps what was measured. In a cluster only.
	// +optional
	Stop bool `json:"stop,omitempty"`

	// generator is what sends and receives the traffic. Default: engine Software.
	// +optional
	// +kubebuilder:default={engine: Software, replicas: 1}
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="generator can't be changed: create a new LoadTest (metadata.generateName makes a new name each time)"
	Generator GeneratorSpec `json:"generator,omitzero"`

	// dut is the device under test. Example: {type: Reference}.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="dut can't be changed: create a new LoadTest (metadata.generateName makes a new name each time)"
	DUT DUTSpec `json:"dut"`

	// links are the wires between the generator and the DUT: two or more, with dut.role Endpoint one.
	// Example: [{name: west, lineRate: 1gbps}, {name: east, lineRate: 1gbps}].
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:XValidation:rule="self.map(l, l) == oldSelf.map(l, l)",message="links can't be changed: create a new LoadTest (metadata.generateName makes a new name each time)"
	Links []LinkSpec `json:"links"`

	// sharedPort says whether ends of the links may be on one physical port, as virtual functions are: Refused
	// (default) or Allowed. They share its bandwidth, and frames may never reach a wire; the result says so.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="sharedPort can't be changed: create a new LoadTest (metadata.generateName makes a new name each time)"
	SharedPort SharedPort `json:"sharedPort,omitempty"`

	// traffic is what is sent, and which way. Default: IMIX both ways between two links.
	// +optional
	// +kubebuilder:default={profile: IMIX}
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="traffic can't be changed: create a new LoadTest (metadata.generateName makes a new name each time)"
	Traffic TrafficSpec `json:"traffic,omitzero"`

	// procedure is how the load is varied. Default: a ramp to 100 % of line rate.
	// +optional
	// +kubebuilder:default={type: Ramp, ramp: {}}
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="procedure can't be changed: create a new LoadTest (metadata.generateName makes a new name each time)"
	Procedure ProcedureSpec `json:"procedure,omitzero"`

	// criteria make the verdict: all met, the test has passed. Example: [{name: line-rate, metric:
	// LineRatePercent, min: 95%}].
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="criteria can't be changed: create a new LoadTest (metadata.generateName makes a new name each time)"
	Criteria []Criterion `json:"criteria,omitempty"`

	// observers read vital signs beside the traffic, such as how busy processors are. Example: [{name: cpu, observed:
	// Generator, type: Processors}].
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="observers can't be changed: create a new LoadTest (metadata.generateName makes a new name each time)"
	Observers []Observer `json:"observers,omitempty"`

	// baseline is what criteria with maxRegression compare with. Default: the run's --baseline. Example:
	// {loadTest: vpp-main}.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="baseline can't be changed: create a new LoadTest (metadata.generateName makes a new name each time)"
	Baseline *BaselineSpec `json:"baseline,omitempty"`

	// activeDeadline ends the run, counted from its start (in a cluster from all pods ready), and keeps what was
	// measured. It must exceed the procedure's time. It can't be changed once the run has started. Example: 1h.
	// +optional
	// +kubebuilder:default="1h"
	ActiveDeadline Duration `json:"activeDeadline,omitempty"`

	// schedulingDeadline ends the test if its pods don't all run so long after it was created, resumed, or
	// admitted by Kueue. Default: none. Example: 2h.
	// +optional
	SchedulingDeadline Duration `json:"schedulingDeadline,omitempty"`

	// ttlAfterFinished deletes the LoadTest and its Report so long after its end; one that Argo CD or Flux track
	// stays, without Report and pods. Default: never. Example: 168h.
	// +optional
	TTLAfterFinished Duration `json:"ttlAfterFinished,omitempty"`

	// podRetention keeps the pods of a test that ended badly, with their devices: Never (default) or OnFailure. They
	// go with the LoadTest, and end activeDeadline + readyDelay + 24 h after their start.
	// +optional
	PodRetention PodRetention `json:"podRetention,omitempty"`

	// reportRetention deletes the Report with the LoadTest (WithTest, default), or keeps a copy in a ConfigMap
	// (Keep; status.report.keptReport), which the operator prunes by number and age.
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
