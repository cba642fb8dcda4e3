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

	// attempt counts the sets of pods that were made for the test, from 1: a new one is made when it is resumed, when a node refused a pod or another test was on its ports, or when pods that weren't all placed were given back.
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

	// summary is the result in one line, or the place in line while the test waits. Examples: 654.40 Kpps 2.00 Gbps  99.95% of line rate; 3rd in line for intel.com/sriov_west.
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

	// at is when this was written: at most each 15 s while a test runs.
	// +optional
	At *metav1.Time `json:"at,omitempty"`

	// percent is how much of the procedure's time is over.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	Percent *int32 `json:"percent,omitempty"`

	// intended is the load at the moment, per direction, for people; where one direction varies by itself that of all together. Example: 4.2 Mpps.
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

	// number is which step of the procedure this is, from 1, where steps are counted.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Number int32 `json:"number,omitempty"`

	// of is how many steps there are, where steps are counted.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Of int32 `json:"of,omitempty"`

	// varied is the direction whose load varies by itself. Example: west→east.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Varied string `json:"varied,omitempty"`

	// remainingSeconds is about how long the run still takes.
	// +optional
	// +kubebuilder:validation:Minimum=0
	RemainingSeconds int64 `json:"remainingSeconds,omitempty"`

	// intendedPacketsPerSecond is the load at the moment, all directions together.
	// +optional
	// +kubebuilder:validation:Minimum=0
	IntendedPacketsPerSecond int64 `json:"intendedPacketsPerSecond,omitempty"`

	// offeredPacketsPerSecond is what is really sent, all directions together.
	// +optional
	// +kubebuilder:validation:Minimum=0
	OfferedPacketsPerSecond int64 `json:"offeredPacketsPerSecond,omitempty"`

	// receivedPacketsPerSecond is what comes back, all directions together.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ReceivedPacketsPerSecond int64 `json:"receivedPacketsPerSecond,omitempty"`

	// goodputBitsPerSecond is what sessions carry of payload, all directions together; left out: frames are sent, or nothing was read yet.
	// +optional
	// +kubebuilder:validation:Minimum=0
	GoodputBitsPerSecond *int64 `json:"goodputBitsPerSecond,omitempty"`
}
