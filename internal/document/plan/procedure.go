package plan

import (
	"encoding/json"
	"time"

	"github.com/linerate-dev/linerate/internal/units"
)

// The types of procedure.
const (
	TypeRamp               = "Ramp"
	TypeConstantLoad       = "ConstantLoad"
	TypeFrameLoss          = "FrameLoss"
	TypeMaximumOfferedLoad = "MaximumOfferedLoad"
	TypeSearch             = "Search"
	TypeBackToBack         = "BackToBack"
	TypeSoak               = "Soak"
	TypeTrains             = "Trains"
)

// Procedure is how the load is varied. Of the members named for a type, the type's is set, and with some types trains.
type Procedure struct {
	Type               string              `json:"type"`
	Ramp               Ramp                `json:"ramp,omitzero"`
	ConstantLoad       *ConstantLoad       `json:"constantLoad,omitempty"`
	FrameLoss          *FrameLoss          `json:"frameLoss,omitempty"`
	MaximumOfferedLoad *MaximumOfferedLoad `json:"maximumOfferedLoad,omitempty"`
	Search             *Search             `json:"search,omitempty"`
	BackToBack         *BackToBack         `json:"backToBack,omitempty"`
	Soak               *Soak               `json:"soak,omitempty"`
	// Trains are the procedure's own, or follow the answer of another type.
	Trains *Trains `json:"trains,omitempty"`
	// EachDirection varies one direction after another. It is nil where all directions climb together.
	EachDirection *EachDirection `json:"eachDirection,omitempty"`
	// Reset has the device's tables emptied before each trial, by its own reset or DUT.ResetCommand. It is nil
	// where nothing is done between trials.
	Reset *Reset `json:"reset,omitempty"`
	// Latency is measured once the procedure has its result. It is nil where latency isn't measured.
	Latency *Latency `json:"latency,omitempty"`
	// Profile has the device's processors sampled in a trial at the answer's load.
	Profile      bool        `json:"profile,omitempty"`
	MaxLossRatio units.Ratio `json:"maxLossRatio"`
}

// Reset bounds how long emptying the device's tables may take, and then how long the device may take to forward
// again. DUT.ResetCommand says what empties them.
type Reset struct {
	Timeout Duration `json:"timeout,omitzero"`
}

// Latency is at which loads latency is measured, by a trial at each.
type Latency struct {
	// Loads are the loads, as shares of the rate that the procedure found or held. 0 is single frames.
	Loads []units.Ratio `json:"loads"`
	// Goal names the procedure's goal whose rate is meant. It is empty where the procedure has no goals.
	Goal          string   `json:"goal,omitempty"`
	TrialDuration Duration `json:"trialDuration"`
}

// Confirmation is how long an answer is held before it counts as confirmed. It is 0 where there is nothing to
// confirm.
func (p Procedure) Confirmation() time.Duration { return p.Ramp.ConfirmDuration.Std() }

// HeldLoad is the one load that a procedure holds. Unlimited is instead of Rate.
type HeldLoad struct {
	Rate      units.Rate
	Unlimited bool
}

// HeldLoad returns false where the procedure holds no single load.
func (p Procedure) HeldLoad() (HeldLoad, bool) {
	if p.ConstantLoad == nil {
		return HeldLoad{}, false
	}
	return HeldLoad{p.ConstantLoad.Rate, p.ConstantLoad.Unlimited}, true
}

// HoldsOneLoad says that the procedure holds a single load, so that its answer counts all that was lost of it.
func (p Procedure) HoldsOneLoad() bool {
	_, holds := p.HeldLoad()
	return holds
}

// SetHeldLoad replaces the load that the procedure holds. The Plan that the procedure was copied from stays as it is.
func (p *Procedure) SetHeldLoad(load HeldLoad) {
	if p.ConstantLoad == nil {
		return
	}
	held := *p.ConstantLoad
	held.Rate, held.Unlimited, p.ConstantLoad = load.Rate, load.Unlimited, &held
}

// OverloadTrial is how long each trial of all that can be sent lasts. It returns false where the procedure sends none.
func (p Procedure) OverloadTrial() (Duration, bool) {
	if p.MaximumOfferedLoad == nil {
		return 0, false
	}
	return p.MaximumOfferedLoad.TrialDuration, true
}

// SetOverloadTrial replaces how long each trial of all that can be sent lasts. The Plan that the procedure was copied
// from stays as it is.
func (p *Procedure) SetOverloadTrial(lasts Duration) {
	if p.MaximumOfferedLoad == nil {
		return
	}
	overload := *p.MaximumOfferedLoad
	overload.TrialDuration, p.MaximumOfferedLoad = lasts, &overload
}

// Goals are what loads must meet. Nil means that the procedure has none by a name.
func (p Procedure) Goals() []Goal {
	if p.Search == nil {
		return nil
	}
	return p.Search.Goals
}

// ForGoal is the procedure as if the named goal were its only one. It is the procedure itself where no goal has this
// name.
func (p Procedure) ForGoal(name string) Procedure {
	for _, g := range p.Goals() {
		if g.Name == name {
			search := *p.Search
			search.Goals = []Goal{g}
			p.Search, p.MaxLossRatio = &search, g.LossRatio
		}
	}
	return p
}

// WithoutWarmUp is the procedure without its warm-up, for all directions but the first.
func (p Procedure) WithoutWarmUp() Procedure {
	p.Ramp.WarmupDuration = 0
	if p.Search != nil {
		search := *p.Search
		search.WarmupDuration, p.Search = 0, &search
	}
	return p
}

// TargetField names the field with the highest load that the procedure may ask for. It is empty where there is none.
func (p Procedure) TargetField() string {
	return map[string]string{"": "procedure.ramp.targetRate", TypeRamp: "ramp.targetRate", TypeSearch: "search.maxRate",
		TypeSoak: "soak.maxRate", TypeConstantLoad: "constantLoad.rate", TypeFrameLoss: "frameLoss.maxRate"}[p.Type]
}

// TrainsFollow says that trains follow the answer of a procedure of another type.
func (p Procedure) TrainsFollow() bool { return p.Trains != nil && p.Type != TypeTrains }

// MarshalJSON writes a ramp with all its fields, zero ones included, as the method's hash depends on them.
func (p Procedure) MarshalJSON() ([]byte, error) {
	if p.Type == TypeRamp || p.Type == "" {
		return json.Marshal(struct {
			Type          string         `json:"type"`
			Ramp          Ramp           `json:"ramp"`
			Trains        *Trains        `json:"trains,omitempty"`
			EachDirection *EachDirection `json:"eachDirection,omitempty"`
			Latency       *Latency       `json:"latency,omitempty"`
			Profile       bool           `json:"profile,omitempty"`
			MaxLossRatio  units.Ratio    `json:"maxLossRatio"`
		}{p.Type, p.Ramp, p.Trains, p.EachDirection, p.Latency, p.Profile, p.MaxLossRatio})
	}
	type plain Procedure
	return json.Marshal(plain(p))
}

// Ramp is the staircase, with warm-up, steps to the target, refinement below saturation, confirmation, and hold.
type Ramp struct {
	WarmupRate     units.Rate `json:"warmupRate"`
	WarmupDuration Duration   `json:"warmupDuration"`
	TargetRate     units.Rate `json:"targetRate"`
	RampDuration   Duration   `json:"rampDuration"`
	StepDuration   Duration   `json:"stepDuration"`
	SettleDuration Duration   `json:"settleDuration"`
	// width of the last bracket relative to its upper end, or 0 for no refinement
	Precision units.Ratio `json:"precision"`
	// RefineDuration is for how long refinement and confirmation may go on looking. A first confirmation may end later.
	// With 0 only the number of their windows is bounded.
	RefineDuration   Duration `json:"refineDuration,omitzero"`
	ConfirmDuration  Duration `json:"confirmDuration"`
	HoldDuration     Duration `json:"holdDuration"`
	StopAtSaturation bool     `json:"stopAtSaturation"`
}

// EachDirection is a ramp or search of each direction by itself, one after another, while the others are held.
type EachDirection struct {
	// Directions are those of the Plan, such as "west→east", in its order. A procedure gets nothing else from a
	// Plan.
	Directions []string `json:"directions"`
	// OtherLoad is the load at which the directions that don't vary are held, as a share of the target. With 0
	// nothing is sent in them.
	OtherLoad units.Ratio `json:"otherLoad"`
}

// ConstantLoad holds one rate, and judges each window separately, so a disturbed window doesn't void the others.
type ConstantLoad struct {
	Rate units.Rate `json:"rate,omitzero"`
	// Unlimited is instead of Rate. It is all that the ends of sessions can send, as far as congestion control lets
	// them.
	Unlimited bool `json:"unlimited,omitempty"`
	// DirectionRates are instead of Rate in some directions, by their names ("west→east").
	DirectionRates map[string]units.Rate `json:"directionRates,omitempty"`

	WarmupDuration Duration `json:"warmupDuration"` // at the rate itself, before the first window, not judged
	Duration       Duration `json:"duration"`       // of all windows together
	Window         Duration `json:"window"`
}

// FrameLoss is RFC 2544 section 26.3. It has finite trials from the highest load down, and the share of frames lost
// at each.
type FrameLoss struct {
	MaxRate        units.Rate `json:"maxRate"`
	MinRate        units.Rate `json:"minRate"`
	Step           units.Rate `json:"step"`
	WarmupDuration Duration   `json:"warmupDuration"` // a trial at To, not judged
	TrialDuration  Duration   `json:"trialDuration"`
	// CleanTrials ends the descent after so many successive trials without loss. With 0 it goes down to To.
	CleanTrials int `json:"cleanTrials,omitempty"`
}

// MaximumOfferedLoad is RFC 2285's forwarding rate at maximum offered load. It has finite trials at all that the
// line carries, of which the generators may reach less.
type MaximumOfferedLoad struct {
	Rate           units.Rate `json:"rate"`
	WarmupDuration Duration   `json:"warmupDuration"` // a trial at the same rate, not judged
	TrialDuration  Duration   `json:"trialDuration"`
	Trials         int        `json:"trials"`
}

// BackToBack is RFC 9004's back-to-back frames. It searches several times for the longest burst without loss, after
// a trial at the same rate.
type BackToBack struct {
	Rate           units.Rate `json:"rate"`
	WarmupDuration Duration   `json:"warmupDuration"` // a trial at the same rate, not judged
	TrialDuration  Duration   `json:"trialDuration"`
	// of each direction, in packets per second, or zero where the trial shows how fast the device forwards
	Throughput       units.Rate `json:"throughput,omitzero"`
	MaxBurstDuration Duration   `json:"maxBurstDuration"` // of a burst, at the rate that generators reach
	// of the lengths with and without loss in the end, relative to the first
	Resolution  units.Ratio `json:"resolution"`
	Repetitions int         `json:"repetitions"` // of the search
}

// Soak is draft-vpolak-bmwg-plrsearch. It estimates the load at which LossRatio of the frames is lost on average,
// by trials of growing length.
type Soak struct {
	LossRatio          units.Ratio `json:"lossRatio"`
	Duration           Duration    `json:"duration"` // of all trials together
	FirstTrialDuration Duration    `json:"firstTrialDuration"`
	TrialGrowth        Duration    `json:"trialGrowth"` // from trial to trial
	MinRate            units.Rate  `json:"minRate"`
	MaxRate            units.Rate  `json:"maxRate"`
	WarmupDuration     Duration    `json:"warmupDuration"` // a trial at MinRate, not judged
}

// Trains are groups of frames that enter the device back to back, in one direction after another.
type Trains struct {
	// Directions are those of the Plan, such as "west→east", in its order.
	Directions []string `json:"directions"`
	Count      int      `json:"count"`            // of each set-up
	Frames     int      `json:"frames,omitempty"` // of each train, or 0 for as many as the ports' rings hold safely
	Pause      Duration `json:"pause"`            // after each train
	SetUps     int      `json:"setUps"`           // of each direction
}

// FramesWithoutLoss ÷ r is how many frames without loss show, with 95 % confidence, that the loss ratio is below r,
// since e⁻³ < 5 %.
const FramesWithoutLoss = 3

// FramesNeeded is how many frames it takes to say anything about the loss ratio.
func (s Soak) FramesNeeded() int64 {
	return (FramesWithoutLoss*int64(units.One) + int64(s.LossRatio) - 1) / max(1, int64(s.LossRatio))
}

// Search finds, for each of several goals, the highest load that meets it, by finite trials, as
// draft-ietf-bmwg-mlrsearch has them or decided sooner.
type Search struct {
	Classification string     `json:"classification"` // one of the classifications
	Preset         string     `json:"preset,omitempty"`
	MinRate        units.Rate `json:"minRate"`
	MaxRate        units.Rate `json:"maxRate"`
	WarmupDuration Duration   `json:"warmupDuration"` // a trial at MinRate or MaxRate ÷ 1000, not judged
	// Goals are what loads must meet. The result's own figures are the first goal's.
	Goals []Goal `json:"goals"`
}

// Goal is what a load must meet. Of trials that last FinalTrialDuration each, and DurationSum together, at most
// ExceedRatio lose more than LossRatio.
type Goal struct {
	Name               string      `json:"name"`
	LossRatio          units.Ratio `json:"lossRatio"` // of the worst direction
	FinalTrialDuration Duration    `json:"finalTrialDuration"`
	DurationSum        Duration    `json:"durationSum"`
	ExceedRatio        units.Ratio `json:"exceedRatio"`
	Width              units.Ratio `json:"width"` // of the bounds in the end, relative to the upper one
}

// How a search's trials decide whether a load meets a goal.
const (
	ClassifyRFC9971    = "RFC9971"
	ClassifySequential = "Sequential"
)
