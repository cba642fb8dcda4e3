package v1alpha1

// Result is what was measured: of a search the highest load at which every direction was carried, else the load
// that was asked for.
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

	// message is the reason as a sentence.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`

	// setBy are the directions whose loss limited the load of all. Example: west→east.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MaxLength=40
	SetBy []string `json:"setBy,omitempty"`

	// resolution is how far above these rates the lowest load that lost frames may lie, relative to that load.
	// Example: "0.005".
	// +optional
	// +kubebuilder:validation:MaxLength=11
	Resolution string `json:"resolution,omitempty"`

	// directions are the rates of each direction, all in the same window.
	// +optional
	// +listType=map
	// +listMapKey=from
	// +kubebuilder:validation:MaxItems=8
	Directions []DirectionResult `json:"directions,omitempty"`

	// generators are each generator's share, where there are several.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=512
	Generators []GeneratorResult `json:"generators,omitempty"`

	// sharedPorts are the physical ports that several ends of the links shared, as sentences.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=1024
	SharedPorts []string `json:"sharedPorts,omitempty"`

	// total is the sum over all directions in that window.
	// +optional
	Total *TotalResult `json:"total,omitempty"`

	// latency is the longest p99 at each load. Example: p99 24 µs at 50 %, 101 µs at 90 %.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Latency string `json:"latency,omitempty"`

	// figures are of all directions together, at each load, highest first, or by each goal of a Search; and
	// latency by direction and load, of the slowest frame size.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Figures []Figure `json:"figures,omitempty"`

	// maxReceived is the highest sum that came back, at whatever loss.
	// +optional
	MaxReceived *TotalResult `json:"maxReceived,omitempty"`
}

// Figure is one number, by its lower and upper bound.
type Figure struct {
	// metric is that of a curve, of a Search's goal, of bursts, or of latency.
	// +required
	// +kubebuilder:validation:MaxLength=40
	Metric string `json:"metric"`

	// direction is the one the figure is of. Empty: all together. Example: west→east.
	// +optional
	// +kubebuilder:validation:MaxLength=40
	Direction string `json:"direction,omitempty"`

	// goal is the Search's goal the figure is of. Example: NDR.
	// +optional
	// +kubebuilder:validation:MaxLength=20
	Goal string `json:"goal,omitempty"`

	// load is a share of the highest one, of a latency of the rate found.
	// +optional
	// +kubebuilder:validation:MaxLength=40
	Load string `json:"load,omitempty"`

	// low is a lower bound of the true value.
	// +optional
	// +kubebuilder:validation:MaxLength=40
	Low string `json:"low,omitempty"`

	// high is an upper bound of it. Empty: unknown.
	// +optional
	// +kubebuilder:validation:MaxLength=40
	High string `json:"high,omitempty"`
}

// DirectionResult is one direction's rates.
type DirectionResult struct {
	// from is the link on which the frames were sent.
	// +required
	// +kubebuilder:validation:MaxLength=13
	From string `json:"from"`

	// to is the link on which they came back.
	// +required
	// +kubebuilder:validation:MaxLength=13
	To string `json:"to"`

	// limit is what a search found for this direction by itself. Empty: what the result says of all directions
	// holds for it.
	// +optional
	Limit *DirectionLimit `json:"limit,omitempty"`

	Figures `json:",inline"`
}

// DirectionLimit says whether a direction's rates are the device's limit, an estimate or a lower bound.
type DirectionLimit struct {
	// saturated: the direction lost frames just above its rates. Else they are a lower bound or, with reason
	// LoadEstimated, an estimate.
	// +optional
	Saturated bool `json:"saturated"`

	// reason is LossAboveLimit, or OtherDirection: another one lost frames first.
	// +required
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason"`

	// resolution is how far above its rates the load at which it lost frames may lie, relative to that load.
	// Empty: it lost none. Example: "0.005".
	// +optional
	// +kubebuilder:validation:MaxLength=11
	Resolution string `json:"resolution,omitempty"`
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

	// startSkewMicroseconds is how much later than the first generator it started.
	// +optional
	StartSkewMicroseconds int64 `json:"startSkewMicroseconds"`
}

// TotalResult is all directions' rates together.
type TotalResult struct {
	Figures `json:",inline"`
}

// Figures are the three rates of frames (intended, offered, received) and what follows from them, or the
// figures of sessions.
type Figures struct {
	// intended is what was asked for.
	// +optional
	Intended FlowRate `json:"intended,omitzero"`

	// offered is what was sent.
	// +optional
	Offered FlowRate `json:"offered,omitzero"`

	// received is what came back.
	// +optional
	Received FlowRate `json:"received,omitzero"`

	// sessions are the figures of sessions, with traffic Sessions.
	// +optional
	Sessions *SessionsResult `json:"sessions,omitempty"`

	// lossRatio is (offered − received) ÷ offered, in frames; negative: more came back than was sent in the
	// window. Example: "0.0003".
	// +optional
	// +kubebuilder:validation:MaxLength=24
	LossRatio string `json:"lossRatio,omitempty"`

	// lineRatePercent is received layer-1 bits in percent of what the links can carry. Example: "99.95".
	// +optional
	// +kubebuilder:validation:MaxLength=20
	LineRatePercent string `json:"lineRatePercent,omitempty"`
}

// SessionsResult are the figures of sessions.
type SessionsResult struct {
	// goodputBitsPerSecond is the payload that was read.
	// +optional
	GoodputBitsPerSecond int64 `json:"goodputBitsPerSecond"`

	// retransmittedSegments are TCP's.
	// +optional
	RetransmittedSegments int64 `json:"retransmittedSegments"`

	// datagrams are UDP's.
	// +optional
	Datagrams *DatagramsResult `json:"datagrams,omitempty"`

	// retransmitRatio is their share. Empty: something else than the device may have caused some. Example: "0.0003".
	// +optional
	// +kubebuilder:validation:MaxLength=24
	RetransmitRatio string `json:"retransmitRatio,omitempty"`

	// roundTripMicroseconds is the mean smoothed round trip. Empty: unknown, or something else than the device may
	// have caused it.
	// +optional
	RoundTripMicroseconds int64 `json:"roundTripMicroseconds,omitempty"`
}

// DatagramsResult is what became of UDP's datagrams. Sent is the sender's count, the others are the receiver's.
type DatagramsResult struct {
	// sent is how many were sent.
	// +optional
	Sent int64 `json:"sent"`

	// received is how many came, each counted once.
	// +optional
	Received int64 `json:"received"`

	// lost is how many didn't come.
	// +optional
	Lost int64 `json:"lost"`

	// lossRatio is lost ÷ (received + lost). Empty: something else than the device may have lost some. Example: "0.01".
	// +optional
	// +kubebuilder:validation:MaxLength=24
	LossRatio string `json:"lossRatio,omitempty"`

	// jitterMicroseconds is the mean smoothed jitter. Empty: unknown, or something else than the device may have
	// caused it.
	// +optional
	JitterMicroseconds *int64 `json:"jitterMicroseconds,omitempty"`
}

// FlowRate is a rate in its three usual units.
type FlowRate struct {
	// packetsPerSecond is in packets per second.
	// +optional
	PacketsPerSecond int64 `json:"packetsPerSecond"`

	// layer1BitsPerSecond is with preamble and gap.
	// +optional
	Layer1BitsPerSecond int64 `json:"layer1BitsPerSecond"`

	// layer2BitsPerSecond is of frames with FCS.
	// +optional
	Layer2BitsPerSecond int64 `json:"layer2BitsPerSecond"`
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

	// keptReport is the ConfigMap that outlives the LoadTest, with spec.reportRetention Keep. Example:
	// vpp-imix-9f86d081884c7d65.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	KeptReport string `json:"keptReport,omitempty"`
}
