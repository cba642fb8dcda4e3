package report

import (
	"slices"

	"github.com/linerate-dev/linerate/internal/units"
)

// Estimate is the load of a direction that a procedure doesn't hold, but estimates by trials around it. It is the load
// at which the direction loses LossRatio of its frames on average, in packets per second that are offered to it.
type Estimate struct {
	LossRatio units.Ratio `json:"lossRatio"`
	// PacketsPerSecond and Deviation are its mean and its standard deviation. They are empty where an end of the
	// interval is not known.
	PacketsPerSecond Number `json:"packetsPerSecond,omitempty"`
	Deviation        Number `json:"deviation,omitempty"`
	// Low and High are where it lies with at least 95 %. Low is 0 where it may be less than any load that was asked
	// for. High is empty where no load that was offered is known to be above it. Both are empty where the trials show
	// nothing of it.
	Low  Number `json:"low,omitempty"`
	High Number `json:"high,omitempty"`
	// Extrapolated says that so few frames were sent at loads up to High that their loss by itself would not show
	// LossRatio, so the estimate rests on what is assumed of devices.
	Extrapolated bool `json:"extrapolated,omitempty"`
}

// EstimateOf is what may be claimed about a direction's estimated load. Near the generators' own limit no load is
// known to be too much for the device. It is nil where the procedure estimates none.
func (r Answer) EstimateOf(d Direction) *Estimate {
	if d.Estimate == nil || len(r.NearGenerators) == 0 {
		return d.Estimate
	}
	e := *d.Estimate
	e.High, e.PacketsPerSecond, e.Deviation = "", "", ""
	return &e
}

// Estimated says that the result is of a procedure that estimates a load of each direction.
func (r Answer) Estimated() bool {
	return slices.ContainsFunc(r.Directions, func(d Direction) bool { return d.Estimate != nil })
}

// boundedAbove says that some direction's estimated load is known to be below a load that was offered.
func (r Answer) boundedAbove() bool {
	return slices.ContainsFunc(r.Directions, func(d Direction) bool {
		return d.Estimate != nil && d.Estimate.High != ""
	})
}
