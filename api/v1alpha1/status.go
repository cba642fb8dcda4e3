package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// LoadTestStatus is what has been observed and measured.
type LoadTestStatus struct {
	// observedGeneration is the generation of the spec that this status is of; -1: none yet.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions are the state in the usual form, each with its reason: Accepted, Scheduled, GeneratorsReady, DUTReady, Complete and Passed;
	// Reconciling and Stalled while they are true.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// attempt counts the sets of pods that were made for the test, from 1. A new one is made when the test is resumed, when a node refused
	// a pod, when another test was on its physical ports, or when pods that weren't all placed were given back.
	// +optional
	Attempt int32 `json:"attempt,omitempty"`

	// excludedNodes are nodes that refused a pod of the test for want of CPUs, memory or devices on one NUMA node; the next attempt avoids
	// them.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=253
	ExcludedNodes []string `json:"excludedNodes,omitempty"`

	// awaitedPorts are the physical ports that were another test's when the pods of this one were given back: the next ones are made when
	// none of them is.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	AwaitedPorts []NodePort `json:"awaitedPorts,omitempty"`

	// givenBack is there while the test's pods can't all be placed: how often they were given back, and until when others go first.
	// +optional
	GivenBack *GivenBack `json:"givenBack,omitempty"`

	// admittedAt is when Kueue admitted the attempt's pods, where they were in a queue of it; schedulingDeadline counts from then.
	// +optional
	AdmittedAt *metav1.Time `json:"admittedAt,omitempty"`

	// lostRuns counts the runs that were begun and came to nothing: the runner was lost, or the test was suspended. Nothing that was
	// measured in them is part of the result.
	// +optional
	LostRuns int32 `json:"lostRuns,omitempty"`

	// startedAt is when all pods were ready and the measurement could begin; it is what activeDeadline counts from.
	// +optional
	StartedAt *metav1.Time `json:"startedAt,omitempty"`

	// finishedAt is when the test was complete.
	// +optional
	FinishedAt *metav1.Time `json:"finishedAt,omitempty"`

	// pods are the test's pods, and which device each has on which link.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=520
	Pods []PodStatus `json:"pods,omitempty"`

	// progress is what is being done at the moment.
	// +optional
	Progress *Progress `json:"progress,omitempty"`

	// result is what was measured.
	// +optional
	Result *Result `json:"result,omitempty"`

	// summary is the result in one line, all directions together; while the test waits in line it is its place there. Examples: 654.40 Kpps
	// 2.00 Gbps  99.95% of line rate; 3rd in line for intel.com/sriov_west.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Summary string `json:"summary,omitempty"`

	// report says where the whole Report is.
	// +optional
	Report *ReportReference `json:"report,omitempty"`
}

// GivenBack tells of pods that were given back, all of an attempt's at once, because not all of them found nodes, or one of them could not start: they would
// hold what others wait for.
type GivenBack struct {
	// times is how often it happened since the test began, or was resumed.
	// +required
	// +kubebuilder:validation:Minimum=1
	Times int32 `json:"times"`

	// at is when it happened last.
	// +required
	At metav1.Time `json:"at"`

	// until is when the test tries again at the latest; before that it does so if another LoadTest lets devices go that it wants.
	// +required
	Until metav1.Time `json:"until"`

	// reason is why it happened last: Unplaced (not all pods found nodes), or NotStarted (what keeps a pod from starting isn't mended by waiting, such as
	// an image that can't be pulled).
	// +optional
	Reason GivenBackReason `json:"reason,omitempty"`

	// message is what the pods lacked then: it names the pod, and the image where that is it.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`

	// admittedSeconds is for how long attempts that were given back had been admitted by Kueue, all together: schedulingDeadline counts that time, too.
	// +optional
	// +kubebuilder:validation:Minimum=0
	AdmittedSeconds int64 `json:"admittedSeconds,omitempty"`
}

// GivenBackReason is why pods were given back.
//
// +kubebuilder:validation:Enum=Unplaced;NotStarted
type GivenBackReason string

// The reasons why pods are given back.
const (
	GivenBackUnplaced   GivenBackReason = "Unplaced"
	GivenBackNotStarted GivenBackReason = "NotStarted"
)

// PodRole is what a pod is for.
//
// +kubebuilder:validation:Enum=Generator;DUT;Setup;Teardown;Runner
type PodRole string

// The roles.
const (
	RoleGenerator PodRole = "Generator"
	RoleDUT       PodRole = "DUT"
	RoleSetup     PodRole = "Setup"
	RoleTeardown  PodRole = "Teardown"
	RoleRunner    PodRole = "Runner"
)

// PodStatus is one pod of the test.
type PodStatus struct {
	// name is the pod's name.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// role is what the pod is for.
	// +required
	Role PodRole `json:"role"`

	// node is where it runs.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Node string `json:"node,omitempty"`

	// state is what it is doing, in a word or two. Example: Ready.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	State string `json:"state,omitempty"`

	// links are its interfaces on the test's links.
	// +optional
	// +listType=map
	// +listMapKey=link
	// +kubebuilder:validation:MaxItems=8
	Links []PodLink `json:"links,omitempty"`

	// containers are those of the device's pod, with the images that they run, and then its template's init containers: they may bring what is measured.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	Containers []PodContainer `json:"containers,omitempty"`
}

// PodContainer is a container of the device's pod, and what runs in it: the evidence of which device was measured.
type PodContainer struct {
	// name is the container's name.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`

	// image is the image that the pod asks for. Example: lab/vpp:25.10.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Image string `json:"image,omitempty"`

	// imageID is the image that it was given, by its digest, as the node's container runtime says. Example: docker.io/lab/vpp@sha256:9f86d081….
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	ImageID string `json:"imageID,omitempty"`
}

// PodLink is a pod's interface on a link.
type PodLink struct {
	// link is the link's name.
	// +required
	// +kubebuilder:validation:MaxLength=13
	Link string `json:"link"`

	// device is the device behind it, where it has one of its own. Example: 0000:03:02.1.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Device string `json:"device,omitempty"`

	// macAddress is its MAC address.
	// +optional
	// +kubebuilder:validation:MaxLength=17
	MACAddress string `json:"macAddress,omitempty"`

	// physicalPort is the node's port behind it, where that may have others behind it, too, as virtual functions have: they share its
	// bandwidth. Example: 0000:03:00.0.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	PhysicalPort string `json:"physicalPort,omitempty"`
}

// NodePort is a physical port of a node.
type NodePort struct {
	// node is the node's name.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Node string `json:"node"`

	// port is the port's PCI address, or a switch's name of it. Example: 0000:03:00.0.
	// +required
	// +kubebuilder:validation:MaxLength=128
	Port string `json:"port"`
}

// Progress is what is being done at the moment.
type Progress struct {
	// step is the part of the procedure. Example: Ramping.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Step string `json:"step,omitempty"`

	// run counts the runs of the attempt, from 1: more than 1 when a runner was lost and the next one began anew.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Run int32 `json:"run,omitempty"`

	// at is when this was written: at most each 10 s, or when the step changes.
	// +optional
	At *metav1.Time `json:"at,omitempty"`

	// percent is how much of the procedure's time is over.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	Percent *int32 `json:"percent,omitempty"`

	// intended is the load at the moment, per direction, for people. Example: 4.2 Mpps.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Intended string `json:"intended,omitempty"`

	// received is what comes back at the moment, all directions together, for people. Example: 8.4 Mpps.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Received string `json:"received,omitempty"`

	// lossRatio is the worst direction's loss at the moment. Example: "0".
	// +optional
	// +kubebuilder:validation:MaxLength=11
	LossRatio string `json:"lossRatio,omitempty"`

	// message is what is being done, or waited for, as a sentence.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
}

// Result is what was measured: the highest load at which every direction was carried.
type Result struct {
	// saturated: the rates are the device's limit, not a lower bound.
	// +optional
	Saturated bool `json:"saturated"`

	// confirmed: the rates were held for the confirmation's duration.
	// +optional
	Confirmed bool `json:"confirmed"`

	// reason is why the result is what it is. Example: LossAboveLimit.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason,omitempty"`

	// message is the reason as a sentence with its figures.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`

	// resolution is how far the next load above, at which frames were lost, may be away, relative to it. Example: "0.005".
	// +optional
	// +kubebuilder:validation:MaxLength=11
	Resolution string `json:"resolution,omitempty"`

	// directions are the rates of each direction, all of one moment.
	// +optional
	// +listType=map
	// +listMapKey=from
	// +kubebuilder:validation:MaxItems=8
	Directions []DirectionResult `json:"directions,omitempty"`

	// generators are each generator's own share of it, where there is more than one.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=512
	Generators []GeneratorResult `json:"generators,omitempty"`

	// sharedPorts are the physical ports that several ends of the links were on (spec.sharedPort Allowed), as sentences: the figures are of
	// ends that shared a port's bandwidth.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=1024
	SharedPorts []string `json:"sharedPorts,omitempty"`

	// total is the sum over all directions at that moment.
	// +optional
	Total *TotalResult `json:"total,omitempty"`

	// maxReceived is the highest sum that came back at any loss.
	// +optional
	MaxReceived *TotalResult `json:"maxReceived,omitempty"`
}

// DirectionResult is one direction's rates.
type DirectionResult struct {
	// from is the name of the link on which the frames were sent.
	// +required
	// +kubebuilder:validation:MaxLength=13
	From string `json:"from"`

	// to is the name of the link on which they came back.
	// +required
	// +kubebuilder:validation:MaxLength=13
	To string `json:"to"`

	Figures `json:",inline"`
}

// GeneratorResult is one generator's share of the result.
type GeneratorResult struct {
	// name is the generator's name. Example: generator-0.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`

	// offeredPacketsPerSecond is what it sent, over all its ports.
	// +optional
	OfferedPacketsPerSecond int64 `json:"offeredPacketsPerSecond"`

	// receivedPacketsPerSecond is what came back to it, over all its ports.
	// +optional
	ReceivedPacketsPerSecond int64 `json:"receivedPacketsPerSecond"`

	// startSkewMicroseconds is how much later than the first generator this one started.
	// +optional
	StartSkewMicroseconds int64 `json:"startSkewMicroseconds"`
}

// TotalResult is all directions' rates together.
type TotalResult struct {
	Figures `json:",inline"`
}

// Figures are the three rates that tell what happened, and what follows from them.
type Figures struct {
	// intended is what was asked for.
	// +optional
	Intended FlowRate `json:"intended"`

	// offered is what was sent.
	// +optional
	Offered FlowRate `json:"offered"`

	// received is what came back.
	// +optional
	Received FlowRate `json:"received"`

	// lossRatio is (offered − received) ÷ offered, in frames; less than 0 where more came back than was sent in the window. Example: "0.0003".
	// +optional
	// +kubebuilder:validation:MaxLength=24
	LossRatio string `json:"lossRatio,omitempty"`

	// lineRatePercent is received layer-1 bits in percent of what the links can carry; at most 100. Example: "99.95".
	// +optional
	// +kubebuilder:validation:MaxLength=11
	LineRatePercent string `json:"lineRatePercent,omitempty"`
}

// FlowRate is a rate in its three usual units.
type FlowRate struct {
	// packetsPerSecond is the rate in packets per second.
	// +optional
	PacketsPerSecond int64 `json:"packetsPerSecond"`

	// layer1BitsPerSecond is the rate in bits per second on the wire, with preamble and gap.
	// +optional
	Layer1BitsPerSecond int64 `json:"layer1BitsPerSecond"`

	// layer2BitsPerSecond is the rate in bits per second of frames with FCS.
	// +optional
	Layer2BitsPerSecond int64 `json:"layer2BitsPerSecond"`
}

// ReportReference says where a Report is kept.
type ReportReference struct {
	// configMap is the name of the ConfigMap, in the LoadTest's namespace. Example: vpp-imix-report.
	// +required
	// +kubebuilder:validation:MaxLength=253
	ConfigMap string `json:"configMap"`

	// digest is the Report's digest. Example: sha256:9f86d081….
	// +optional
	// +kubebuilder:validation:MaxLength=80
	Digest string `json:"digest,omitempty"`

	// kept is the name of the ConfigMap that keeps the Report beyond the LoadTest, where spec.reportRetention is Keep. Example:
	// vpp-imix-9f86d081884c7d65.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Kept string `json:"kept,omitempty"`

	// notKept is why there is no such ConfigMap although spec.reportRetention is Keep.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	NotKept string `json:"notKept,omitempty"`

	// keepTriedSince is since when the API server doesn't take that ConfigMap for reasons of the moment, such as an admission webhook that is away. It is
	// tried for five minutes before the LoadTest is complete without; then notKept says why.
	// +optional
	KeepTriedSince *metav1.Time `json:"keepTriedSince,omitempty"`
}
