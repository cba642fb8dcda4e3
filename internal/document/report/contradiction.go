package report

import (
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/units"
)

// ContradictionKind says what a device's answer depends on, as far as the order of what was seen shows.
type ContradictionKind string

// The kinds.
const (
	// frames were lost after an overload, and again none after a lower load or a pause
	LoadBefore ContradictionKind = "LoadBefore"
	Slower     ContradictionKind = "Slower"     // all that was carried came before all that was lost
	Faster     ContradictionKind = "Faster"     // all that was lost came before all that was carried
	NowAndThen ContradictionKind = "NowAndThen" // now one, now the other
)

// Contradiction is that the device carried a load in a direction at one time of a run, and at another lost frames
// of as much. What was measured of it holds for the time that it was measured in.
type Contradiction struct {
	Direction string            `json:"direction"` // "west→east"
	Kind      ContradictionKind `json:"kind"`
	// Carried is the highest such load when it was carried, Lost when least of it came back, and Times in how many
	// stretches of windows it lost frames.
	Carried Look `json:"carried"`
	Lost    Look `json:"lost"`
	Times   int  `json:"times"`
	// Burst is how many frames, and how many bytes with FCS, the device carried at least beyond what it carries
	// right after an overload, where a bucket explains all stretches. It is 0 where none does, or it is unknown.
	Burst units.Traffic `json:"burst,omitzero"`
}

// Limits says that the device carried clearly less at the other time than a direction's figures say, of no more load.
func (c Contradiction) Limits(d Direction) bool {
	const reading, change = 0.001, 0.01 // as loads are read, and as limits scatter
	return c.Direction == d.Name() && float64(c.Lost.OfferedPacketsPerSecond) <= (1+
		reading)*float64(d.Offered.PacketsPerSecond) &&
		float64(c.Lost.ReceivedPacketsPerSecond) <= (1-change)*float64(d.Received.PacketsPerSecond)
}

// Look is a stretch of a window in which a direction's load did not change, between two readings.
type Look struct {
	Window int `json:"window"`
	// Start is the time since Report.Started.
	Start    plan.Duration `json:"start"`
	Duration plan.Duration `json:"duration"`
	// Both are means over the stretch. Of a device that drops large frames rather than small ones, Received is as
	// much less as the bits are.
	OfferedPacketsPerSecond  int64 `json:"offeredPacketsPerSecond"`
	ReceivedPacketsPerSecond int64 `json:"receivedPacketsPerSecond"`
}
