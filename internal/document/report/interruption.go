package report

import "github.com/linerate-dev/linerate/internal/document/plan"

// Interruption is what kept the device from carrying the traffic of a run for a while, though nothing of the
// procedure asked for that. Either a link was down or changed its state, or nothing came back in a direction that
// had carried as much at another time. A result with an interruption passes no criterion.
type Interruption struct {
	// Link is the link that was down, seen from the port of Generator. It is empty where nothing came back in
	// Direction.
	Link      string `json:"link,omitempty"`
	Generator string `json:"generator,omitempty"`
	// Direction is the direction in which nothing came back, such as "west→east". It is empty where Link was down.
	Direction string `json:"direction,omitempty"`
	// Start is the time from Report.Started to when it was first seen, and Duration for how long it lasted, of
	// several times all together, as exactly as readings are apart.
	Start    plan.Duration `json:"start"`
	Duration plan.Duration `json:"duration"`
	// Times is how often it began. Changes is how often a link changed its state.
	Times   int   `json:"times"`
	Changes int64 `json:"changes,omitempty"`
	// Over says that it had ended before the traffic did.
	Over bool `json:"over,omitempty"`
	// EndsWaited says that the programs of the sessions' ends waited for processors for so long that they may have
	// stood still, and not the device.
	EndsWaited bool `json:"endsWaited,omitempty"`
}
