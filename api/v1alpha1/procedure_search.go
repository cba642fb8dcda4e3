package v1alpha1

// SearchClassification says how trials decide whether a load meets a goal.
//
// +kubebuilder:validation:Enum=RFC9971;Sequential
type SearchClassification string

// How trials decide.
const (
	// ClassifyRFC9971 is multiple loss ratio search as draft-ietf-bmwg-mlrsearch has it, to be published as RFC 9971.
	ClassifyRFC9971 SearchClassification = "RFC9971"
	// ClassifySequential decides a load once its trials are one-sided enough, and ends a trial once its loss is
	// decided: faster, and conformant to no standard.
	ClassifySequential SearchClassification = "Sequential"
)

// SearchPreset is a set of goals that a standard names.
//
// +kubebuilder:validation:Enum=RFC2544;TST009
type SearchPreset string

// The presets.
const (
	// PresetRFC2544 is one goal: nothing is lost in one trial of 60 s.
	PresetRFC2544 SearchPreset = "RFC2544"
	// PresetTST009 is one goal: nothing is lost in most trials of 60 s, of which there are two or three (ETSI GS
	// NFV-TST 009, binary search with loss verification). Their durationSum is 130s: of 120s one bad trial, which
	// takes more than 60 s with its drain, would be more than half, and decide alone.
	PresetTST009 SearchPreset = "TST009"
)

// SearchSpec is a search for the highest load that meets each of several goals, by finite trials:
// draft-ietf-bmwg-mlrsearch.
//
//	load
//	     │ ┌┐                          each trial is sent, drained and counted by itself
//	     │ ││┌┐      ┌┐┌┐
//	 PDR ┤ ││││  ┌┐┌┐││││
//	 NDR ┤ ││││┌┐││││││││┌┐┌┐┌┐
//	     └─┴┴┴┴┴┴┴┴┴┴┴┴┴┴┴┴┴┴┴┴──▶ time
type SearchSpec struct {
	// classification is RFC9971, or Sequential (faster).
	// +optional
	// +kubebuilder:default=RFC9971
	Classification SearchClassification `json:"classification,omitempty"`

	// preset is a standard's goal instead of goals.
	// +optional
	Preset SearchPreset `json:"preset,omitempty"`

	// goals are met by loads; the result is the first's. Default: NDR (no loss) and PDR (at most 0.5%).
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=4
	Goals []SearchGoal `json:"goals,omitempty"`

	// minRate is the lowest load, in maxRate's unit. Default: maxRate ÷ 1000000. Example: 1kpps.
	// +optional
	MinRate Rate `json:"minRate,omitempty"`

	// maxRate is the highest load. Example: 10kpps.
	// +optional
	// +kubebuilder:default="100%"
	MaxRate Rate `json:"maxRate,omitempty"`

	// warmupDuration is the uncounted beginning.
	// +optional
	// +kubebuilder:default="5s"
	WarmupDuration Duration `json:"warmupDuration,omitempty"`
}

// SearchGoal is what a load must meet.
type SearchGoal struct {
	// name is the goal's. Example: NDR.
	// +required
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9]([-_.A-Za-z0-9]{0,18}[A-Za-z0-9])?$`
	Name string `json:"name"`

	// lossRatio may be lost in a trial, in the worst direction. Example: 0.5%.
	// +optional
	// +kubebuilder:default="0%"
	LossRatio Share `json:"lossRatio,omitempty"`

	// finalTrialDuration is of trials that decide.
	// +optional
	// +kubebuilder:default="1s"
	FinalTrialDuration Duration `json:"finalTrialDuration,omitempty"`

	// durationSum is that of all trials at a load. Default: 21s, or finalTrialDuration.
	// +optional
	DurationSum Duration `json:"durationSum,omitempty"`

	// exceedRatio of a load's trials may lose more than lossRatio.
	// +optional
	// +kubebuilder:default="50%"
	ExceedRatio Share `json:"exceedRatio,omitempty"`

	// width is how exact its load is.
	// +optional
	// +kubebuilder:default="0.5%"
	Width Share `json:"width,omitempty"`
}
