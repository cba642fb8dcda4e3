package v1alpha1

// ProcedureType is a way to vary the load.
//
// +kubebuilder:validation:Enum=Ramp;ConstantLoad;FrameLoss;MaximumOfferedLoad;Search;BackToBack;Soak
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
// +kubebuilder:validation:XValidation:rule="self.type == 'Ramp' || !has(self.ramp)",fieldPath=".ramp",message="set type: Ramp, or remove ramp"
// +kubebuilder:validation:XValidation:rule="self.type == 'ConstantLoad' || !has(self.constantLoad)",fieldPath=".constantLoad",message="set type: ConstantLoad, or remove constantLoad"
// +kubebuilder:validation:XValidation:rule="self.type == 'FrameLoss' || !has(self.frameLoss)",fieldPath=".frameLoss",message="set type: FrameLoss, or remove frameLoss"
// +kubebuilder:validation:XValidation:rule="self.type == 'MaximumOfferedLoad' || !has(self.maximumOfferedLoad)",fieldPath=".maximumOfferedLoad",message="set type: MaximumOfferedLoad, or remove maximumOfferedLoad"
// +kubebuilder:validation:XValidation:rule="self.type == 'Search' || !has(self.search)",fieldPath=".search",message="set type: Search, or remove search"
// +kubebuilder:validation:XValidation:rule="self.type == 'BackToBack' || !has(self.backToBack)",fieldPath=".backToBack",message="set type: BackToBack, or remove backToBack"
// +kubebuilder:validation:XValidation:rule="self.type == 'Soak' || !has(self.soak)",fieldPath=".soak",message="set type: Soak, or remove soak"
// +kubebuilder:validation:XValidation:rule="self.type in ['Ramp', 'Search'] || !has(self.directions) || self.directions == 'Together'",fieldPath=".directions",message="only a ramp or a search varies one direction after another: set type: Ramp or Search, or remove directions"
// +kubebuilder:validation:XValidation:rule="!has(self.otherLoad) || has(self.directions) && self.directions == 'Each'",fieldPath=".otherLoad",message="otherLoad is of the directions that don't vary, and all of them do: set directions: Each, or remove otherLoad"
// +kubebuilder:validation:XValidation:rule="!has(self.reset) || self.type in ['FrameLoss', 'MaximumOfferedLoad', 'Search', 'BackToBack', 'Soak']",fieldPath=".reset",message="the device is reset before each trial, and this type has none: set type: Search, FrameLoss, MaximumOfferedLoad, BackToBack or Soak, or remove reset"
// +kubebuilder:validation:XValidation:rule="!has(self.latency) || self.type in ['Ramp', 'Search', 'ConstantLoad']",fieldPath=".latency",message="latency is measured at shares of a rate that the procedure finds or holds, and this type has none: set type: Search, Ramp or ConstantLoad, or remove latency"
// +kubebuilder:validation:XValidation:rule="!has(self.latency) || !has(self.directions) || self.directions == 'Together'",fieldPath=".latency",message="latency is measured at shares of one rate of all directions, and directions: Each finds one for each: remove directions or latency"
type ProcedureSpec struct {
	// type is how the load is varied. Ramp searches the highest rate that is carried. Search finds the highest load
	// for each of several goals (NDR, PDR). ConstantLoad holds one load. FrameLoss measures the loss at several
	// loads. MaximumOfferedLoad measures what comes back of all that can be sent. BackToBack finds the longest
	// burst without loss. Soak finds the load that loses a small share on average.
	// +optional
	// +kubebuilder:default=Ramp
	Type ProcedureType `json:"type,omitempty"`

	// ramp configures type Ramp. Default: all its defaults.
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

	// directions says whose load a ramp or search varies: that of all directions Together (default; the first that
	// loses frames sets the load of all), or of Each, one after another, and then all at once. Example: Each.
	// +optional
	Directions DirectionsVary `json:"directions,omitempty"`

	// otherLoad is the load of the directions that don't vary, with directions: Each, as a share of the target
	// rate. Default: 0%. Example: 10%.
	// +optional
	OtherLoad Share `json:"otherLoad,omitempty"`

	// reset empties the device's tables before each trial, which begins once the device forwards again. Example:
	// {command: [conntrack, -F]}.
	// +optional
	Reset *ResetSpec `json:"reset,omitempty"`

	// latency measures latency after the result, at shares of the rate that was found or held: of every frame with
	// engine Software, of latency streams with TRex. Both ends of a direction are on one machine. Example:
	// {loads: [0%, 50%, 90%], goal: NDR}.
	// +optional
	Latency *LatencySpec `json:"latency,omitempty"`

	// maxLossRatio is the share of frames that may be lost at a rate that counts as carried; not for Search,
	// BackToBack and Soak. Example: 0.1%.
	// +optional
	// +kubebuilder:default="0.1%"
	MaxLossRatio Share `json:"maxLossRatio,omitempty"`
}
