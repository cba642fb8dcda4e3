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
)

// Procedure is how the load is varied. Of the members named for a type, the type's is set.
type Procedure struct {
	Type               string              `json:"type"`
	Ramp               Ramp                `json:"ramp,omitzero"`
	ConstantLoad       *ConstantLoad       `json:"constantLoad,omitempty"`
	FrameLoss          *FrameLoss          `json:"frameLoss,omitempty"`
	MaximumOfferedLoad *MaximumOfferedLoad `json:"maximumOfferedLoad,omitempty"`
	Search             *Search             `json:"search,omitempty"`
	BackToBack         *BackToBack         `json:"backToBack,omitempty"`
	Soak               *Soak               `json:"soak,omitempty"`
	// Each varies one direction after another, of a ramp. It is nil where all directions climb together.
	Each *Each `json:"each,omitempty"`
	// Reset has the device's tables emptied before each trial, by its own reset or DUT.ResetCommand. It is nil
	// where nothing is done between trials.
	Reset *Reset `json:"reset,omitempty"`
	// Latency is measured once the procedure has its result. It is nil where latency isn't measured.
	Latency      *Latency    `json:"latency,omitempty"`
	MaxLossRatio units.Ratio `json:"maxLossRatio"`
}

// Reset bounds how long emptying the device's tables may take, and then how long the device may take to forward
// again. DUT.ResetCommand says what empties them.
type Reset struct {
	Timeout Duration `json:"timeout,omitzero"`
}

// Latency is at which loads latency is measured, by a trial at each.
type Latency struct {
	// At are the loads, as shares of the rate that the procedure found or held. 0 is single frames.
	At []units.Ratio `json:"at"`
	// Of names the search's goal whose rate is meant. It is empty where the procedure has no goals.
	Of            string   `json:"of,omitempty"`
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

// MarshalJSON writes a ramp with all its fields, zero ones included, as the method's hash depends on them.
func (p Procedure) MarshalJSON() ([]byte, error) {
	if p.Type == TypeRamp || p.Type == "" {
		return json.Marshal(struct {
			Type         string      `json:"type"`
			Ramp         Ramp        `json:"ramp"`
			Each         *Each       `json:"each,omitempty"`
			Latency      *Latency    `json:"latency,omitempty"`
			MaxLossRatio units.Ratio `json:"maxLossRatio"`
		}{p.Type, p.Ramp, p.Each, p.Latency, p.MaxLossRatio})
	}
	type plain Procedure
	return json.Marshal(plain(p))
}
