package v1alpha1

// ProcedureType is a way to vary the load.
//
// +kubebuilder:validation:Enum=Ramp;ConstantLoad;FrameLoss;MaximumOfferedLoad;Search;BackToBack;Soak;Trains
type ProcedureType string

// The ways to vary the load. Each has a member of ProcedureSpec of its own.
const (
	// ProcedureRamp climbs a staircase to the target rate and refines what it found.
	ProcedureRamp ProcedureType = "Ramp"
	// ProcedureConstantLoad holds one rate and judges each window of it apart.
	ProcedureConstantLoad ProcedureType = "ConstantLoad"
	// ProcedureFrameLoss measures the frame loss rate at loads from the highest down: RFC 2544, section 26.3.
	ProcedureFrameLoss ProcedureType = "FrameLoss"
	// ProcedureMaximumOfferedLoad measures the forwarding rate at the maximum offered load: RFC 2285, section 3.6.2.
	ProcedureMaximumOfferedLoad ProcedureType = "MaximumOfferedLoad"
	// ProcedureSearch finds for each of several goals, such as NDR and PDR, the highest load that meets it, by
	// finite trials.
	ProcedureSearch ProcedureType = "Search"
	// ProcedureBackToBack finds the longest burst of frames that the device carries without loss, and how much it
	// buffers: RFC 9004.
	ProcedureBackToBack ProcedureType = "BackToBack"
	// ProcedureSoak estimates the load at which a device loses a small share of frames on average, with its
	// uncertainty: draft-vpolak-bmwg-plrsearch.
	ProcedureSoak ProcedureType = "Soak"
	// ProcedureTrains measures how long the device works on a frame, by groups of frames that enter it back to back.
	ProcedureTrains ProcedureType = "Trains"
)

// DirectionsVary is which directions' loads vary at a time.
//
// +kubebuilder:validation:Enum=Together;Each
type DirectionsVary string

// How the loads of several directions vary.
const (
	// DirectionsTogether has all directions climb together: the first that loses frames sets the load of all.
	DirectionsTogether DirectionsVary = "Together"
	// DirectionsEach varies one direction after another, and in the end holds all that was found at once.
	DirectionsEach DirectionsVary = "Each"
)

// ProcedureSpec is how the load is varied: a union, of whose members only the one named for type may be given.
//
// +kubebuilder:validation:XValidation:rule="[{'Ramp':has(self.ramp),'ConstantLoad':has(self.constantLoad),'FrameLoss':has(self.frameLoss),'MaximumOfferedLoad':has(self.maximumOfferedLoad),'Search':has(self.search),'BackToBack':has(self.backToBack),'Soak':has(self.soak)}].all(m,m.all(k,!m[k]||k==self.type))",message="a member is for the type of its name: set type to that, such as type: Search for search, or remove the member"
type ProcedureSpec struct {
	// type is what is asked. Ramp: the highest rate carried. Search: the highest load for each goal, such as NDR and
	// PDR. ConstantLoad: one load, held. FrameLoss: the loss at several loads. MaximumOfferedLoad: what comes back of
	// all that can be sent. BackToBack: the longest burst without loss. Soak: the load that loses a small share.
	// Trains: the time for a frame.
	// +optional
	// +kubebuilder:default=Ramp
	Type ProcedureType `json:"type,omitempty"`

	// ramp configures type Ramp.
	// +optional
	Ramp RampSpec `json:"ramp,omitzero"`

	// constantLoad configures type ConstantLoad.
	// +optional
	ConstantLoad ConstantLoadSpec `json:"constantLoad,omitzero"`

	// frameLoss configures type FrameLoss.
	// +optional
	FrameLoss FrameLossSpec `json:"frameLoss,omitzero"`

	// maximumOfferedLoad configures type MaximumOfferedLoad.
	// +optional
	MaximumOfferedLoad MaximumOfferedLoadSpec `json:"maximumOfferedLoad,omitzero"`

	// search configures type Search.
	// +optional
	Search SearchSpec `json:"search,omitzero"`

	// backToBack configures type BackToBack.
	// +optional
	BackToBack BackToBackSpec `json:"backToBack,omitzero"`

	// soak configures type Soak.
	// +optional
	Soak SoakSpec `json:"soak,omitzero"`

	// trains configures type Trains. After the answer of a Ramp, Search or ConstantLoad it adds TimePerFrame.
	// +optional
	Trains TrainsSpec `json:"trains,omitzero"`

	// directions of a Ramp or Search vary Together (default), or one after another (Each).
	// +optional
	Directions DirectionsVary `json:"directions,omitempty"`

	// otherLoad is what the other directions send with Each, as a share of the target rate. Default: 0%. Example: 10%.
	// +optional
	OtherLoad Share `json:"otherLoad,omitempty"`

	// reset empties the device's tables before each trial; Ramp and ConstantLoad have none. Example: {command:
	// [conntrack, -F]}.
	// +optional
	Reset *ResetSpec `json:"reset,omitempty"`

	// latency is measured last, at shares of the rate that a Ramp, Search or ConstantLoad found or held. Example:
	// {loads: [0%, 50%, 90%], goal: NDR}.
	// +optional
	Latency *LatencySpec `json:"latency,omitempty"`

	// profile samples the device's processors in a trial of its own at the answer's load, and names the functions that
	// take the time. linerate run only. Example: true.
	// +optional
	Profile bool `json:"profile,omitempty"`

	// maxLossRatio is the share that may be lost at a rate that counts as carried. Not for Search, BackToBack and Soak.
	// +optional
	// +kubebuilder:default="0.1%"
	MaxLossRatio Share `json:"maxLossRatio,omitempty"`
}
