package report

import "github.com/linerate-dev/linerate/internal/document/plan"

// SentBurst is one burst of a direction.
type SentBurst struct {
	// Frames is how many the generators were asked for, all together.
	Frames int64 `json:"frames"`
	// Sending is how long they took, by the generators' own clocks, and of several generators the longest. From the
	// first frame to the last there is a gap less than there are frames, so that this is as much longer as makes
	// Frames ÷ Sending the rate. It is 0 where they don't tell it, and the rate is taken to be the one asked for.
	Sending plan.Duration `json:"sending,omitempty"`
}
