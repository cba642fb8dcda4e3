package v1alpha1

// Result is what was measured: of a search the highest load at which every direction was carried, else the load
// that was asked for. The Report has all of it.
type Result struct {
	// reason is why the result is what it is. Example: LossAboveLimit.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason,omitempty"`

	// claim is how far the figures go.
	// +optional
	Claim Claim `json:"claim,omitzero"`

	// limitedBy are the directions that limited all. Absent: all, or none.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	LimitedBy []FlowDirection `json:"limitedBy,omitempty"`

	// latency is the longest p99 at each load. Example: p99 24 µs at 50 %, 101 µs at 90 %.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Latency string `json:"latency,omitempty"`

	// figures are of all directions together, then the rate of each; by load, highest first, and by goal.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Figures []Figure `json:"figures,omitempty"`
}

// Claim is how far a result's figures go.
type Claim struct {
	// saturated: the figures are the device's limit.
	// +optional
	Saturated bool `json:"saturated,omitempty"`

	// confirmed: they were held for confirmDuration.
	// +optional
	Confirmed bool `json:"confirmed,omitempty"`

	// lowerBound: the device's limit may be higher.
	// +optional
	LowerBound bool `json:"lowerBound,omitempty"`

	// resolution is how far above them loss begins, at most. Example: 0.5%.
	// +optional
	// +kubebuilder:validation:MaxLength=24
	Resolution string `json:"resolution,omitempty"`

	// shownFor is how long the device carried them. Example: 10s.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	ShownFor string `json:"shownFor,omitempty"`
}

// Figure is a number by its bounds, in its metric's unit. Shares are percentages, such as 0.03%.
type Figure struct {
	// metric is what it counts. Example: PacketsPerSecond.
	// +required
	// +kubebuilder:validation:MaxLength=40
	Metric string `json:"metric"`

	// direction is the figure's. Absent: all together.
	// +optional
	Direction *FlowDirection `json:"direction,omitempty"`

	// goal is the Search's goal. Example: NDR.
	// +optional
	// +kubebuilder:validation:MaxLength=20
	Goal string `json:"goal,omitempty"`

	// load is a share of the highest. Example: 50%.
	// +optional
	// +kubebuilder:validation:MaxLength=40
	Load string `json:"load,omitempty"`

	// low is a lower bound of it. Empty: unknown.
	// +optional
	// +kubebuilder:validation:MaxLength=40
	Low string `json:"low,omitempty"`

	// high is an upper bound, where that isn't low.
	// +optional
	// +kubebuilder:validation:MaxLength=40
	High string `json:"high,omitempty"`

	// open: no upper bound is known.
	// +optional
	Open bool `json:"open,omitempty"`
}

// ReportReference says where a Report is kept.
type ReportReference struct {
	// configMap is the ConfigMap's name. Example: vpp-imix-report.
	// +required
	// +kubebuilder:validation:MaxLength=253
	ConfigMap string `json:"configMap"`

	// digest is the Report's. Example: sha256:9f86d081….
	// +optional
	// +kubebuilder:validation:MaxLength=80
	Digest string `json:"digest,omitempty"`

	// keptReport is the ConfigMap that outlives the LoadTest. Example: vpp-imix-9f86d081884c7d65.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	KeptReport string `json:"keptReport,omitempty"`
}
