package report

import (
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/units"
)

// Evidence is what a window showed besides its counters. Together they are all that its judgement needs, for any
// goal. None of it depends on one.
type Evidence struct {
	// Fault is why the counters say nothing about the device, whatever is asked. It is empty where they are sound.
	Fault string `json:"fault,omitempty"`
	// Calm is how many times between readings had neither burst nor gap, and Gaps how many were gaps. Window.Bursts
	// and Window.Unwatched tell the worst.
	Calm int64 `json:"calm,omitempty"`
	Gaps int64 `json:"gaps,omitempty"`
	// Directions are in the order of Window.Directions.
	Directions []DirectionEvidence `json:"directions"`
}

// DirectionEvidence is that of one direction.
type DirectionEvidence struct {
	// Intended and Offered are those of Direction, not rounded to whole packets. MostOffered is what may have been
	// offered, the edges' uncertainty all in the generators' favour.
	Intended    units.PacketRate `json:"intendedPacketsPerSecond"`
	Offered     units.PacketRate `json:"offeredPacketsPerSecond"`
	MostOffered units.PacketRate `json:"mostOfferedPacketsPerSecond"`
	// Background is what the receiving ports got while nothing was sent, Hidden how much loss it may have replaced
	// in this window. Foreign is how many frames of other people's may have come back, strays included.
	Background units.PacketRate `json:"backgroundPacketsPerSecond,omitempty"`
	Hidden     int64            `json:"hidden,omitempty"`
	Foreign    int64            `json:"foreign,omitempty"`
	// Surplus is of the replicas that got more than they sent, in the Plan's order.
	Surplus []Surplus `json:"surplus,omitempty"`
	// AboveLimit is what of the load a Reference's limit may have taken. It is nil where its limit is unknown, or
	// takes frames of an even load too, or none was lost.
	AboveLimit *AboveLimit `json:"aboveLimit,omitempty"`
	// LostCalm, LostInBursts and LostInGaps are how many frames did not come back in each kind of time between
	// readings, of gaps without those times in which more came back than was sent.
	LostCalm     int64 `json:"lostCalm,omitempty"`
	LostInBursts int64 `json:"lostInBursts,omitempty"`
	LostInGaps   int64 `json:"lostInGaps,omitempty"`
	// CalmLossRatio is the lower median of what was surely lost in calm times, each share rounded up. More than
	// half of these times surely lost more than any limit below it, and than no other limit.
	CalmLossRatio units.Ratio `json:"calmLossRatio,omitempty"`
}

// Surplus is a replica that got more frames than it sent, beyond what edges and other people's frames explain.
type Surplus struct {
	Generator string `json:"generator"` // which got them
	Sent      int64  `json:"sent"`
	Returned  int64  `json:"returned"`
	// Unexplained is what nothing explains of the difference.
	Unexplained int64 `json:"unexplained"`
}

// AboveLimit is how much of what was sent may have come above a Reference's limit. Of an even load the limit takes
// no more.
type AboveLimit struct {
	Limit plan.Limit `json:"limit"`
	// Frames is how many came above it, NearFrames how many above it or so close below that jitter reaches it.
	Frames     int64 `json:"frames"`
	NearFrames int64 `json:"nearFrames"`
}
