package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// LoadTestStatus is what has been observed and measured.
type LoadTestStatus struct {
	// observedGeneration is that of this status; -1: none.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions are Complete and Passed; Accepted, Scheduled, GeneratorsReady and DUTReady until it is complete;
	// Published and Kept of the Report; Reconciling and Stalled.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// phase is the test's state in a word.
	// +optional
	Phase Phase `json:"phase,omitempty"`

	// reason is what the test waits for, what limited its result, or why it failed. Example: LossAboveLimit.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason,omitempty"`

	// attempt counts the sets of pods of the test, from 1.
	// +optional
	Attempt int32 `json:"attempt,omitempty"`

	// startTime: all pods were ready, and activeDeadline began.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// completionTime is when the test was complete.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// pods are the test's, with each link's device.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=520
	Pods []PodStatus `json:"pods,omitempty"`

	// progress is what is being done.
	// +optional
	Progress *Progress `json:"progress,omitempty"`

	// result is what was measured.
	// +optional
	Result *Result `json:"result,omitempty"`

	// summary is the result in one line, all directions together, or the test's place in line.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Summary string `json:"summary,omitempty"`

	// report says where the whole Report is.
	// +optional
	Report *ReportReference `json:"report,omitempty"`

	// operator is what the operator remembers; no interface.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	Operator TestMemory `json:"operator,omitzero"`
}

// Progress is what is being done at the moment. Rates are of all directions together.
type Progress struct {
	// phase is the part of the procedure. Example: Ramping.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Phase string `json:"phase,omitempty"`

	// step counts the loads of the phase, from 1.
	// +optional
	Step int32 `json:"step,omitempty"`

	// steps is how many loads the phase has.
	// +optional
	Steps int32 `json:"steps,omitempty"`

	// percent is how much of the procedure's time is over.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	Percent *int32 `json:"percent,omitempty"`

	// remainingSeconds is about how long it takes.
	// +optional
	RemainingSeconds int64 `json:"remainingSeconds,omitempty"`

	// updateTime is when this was written.
	// +optional
	UpdateTime *metav1.Time `json:"updateTime,omitempty"`

	// run counts the runs of the attempt, from 1.
	// +optional
	Run int32 `json:"run,omitempty"`

	// message is what is done, or waited for, as a sentence.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`

	// variedDirection is the one whose load varies.
	// +optional
	VariedDirection *FlowDirection `json:"variedDirection,omitempty"`

	// intendedPacketsPerSecond is the load.
	// +optional
	IntendedPacketsPerSecond int64 `json:"intendedPacketsPerSecond,omitempty"`

	// offeredPacketsPerSecond is what is sent.
	// +optional
	OfferedPacketsPerSecond int64 `json:"offeredPacketsPerSecond,omitempty"`

	// receivedPacketsPerSecond is what comes back.
	// +optional
	ReceivedPacketsPerSecond int64 `json:"receivedPacketsPerSecond,omitempty"`

	// lossRatio is the worst direction's. Below 0 more came than was sent. Example: 0.03%.
	// +optional
	// +kubebuilder:validation:MaxLength=24
	LossRatio string `json:"lossRatio,omitempty"`

	// goodputBitsPerSecond is the payload of sessions.
	// +optional
	GoodputBitsPerSecond *int64 `json:"goodputBitsPerSecond,omitempty"`
}

// FlowDirection is from a link or the device to another.
type FlowDirection struct {
	// from sends the frames. Example: west.
	// +required
	// +kubebuilder:validation:MaxLength=13
	From string `json:"from"`

	// to receives them. Example: east.
	// +required
	// +kubebuilder:validation:MaxLength=13
	To string `json:"to"`
}
