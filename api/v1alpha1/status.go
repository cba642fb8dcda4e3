package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// LoadTestStatus is what has been observed and measured.
type LoadTestStatus struct {
	// observedGeneration is the generation of the spec that this status is of; -1: none yet.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions are the state in the usual form: Accepted, Complete and Passed, each with its reason.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// progress is what is being done at the moment.
	// +optional
	Progress *Progress `json:"progress,omitempty"`

	// result is what was measured.
	// +optional
	Result *Result `json:"result,omitempty"`

	// summary is the result in one line, all directions together. Example: 654.40 Kpps  2.00 Gbps  99.95% of line rate.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Summary string `json:"summary,omitempty"`

	// report says where the whole Report is.
	// +optional
	Report *ReportReference `json:"report,omitempty"`
}

// Progress is what is being done at the moment.
type Progress struct {
	// step is the part of the procedure. Example: Ramping.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Step string `json:"step,omitempty"`

	// percent is how much of the procedure's time is over.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	Percent *int32 `json:"percent,omitempty"`

	// intended is the load at the moment, per direction, for people. Example: 4.2 Mpps.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Intended string `json:"intended,omitempty"`

	// lossRatio is the worst direction's loss at the moment. Example: "0".
	// +optional
	// +kubebuilder:validation:MaxLength=11
	LossRatio string `json:"lossRatio,omitempty"`
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

	// lossRatio is (offered − received) ÷ offered, in frames. Example: "0.0003".
	// +optional
	// +kubebuilder:validation:MaxLength=11
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
}
