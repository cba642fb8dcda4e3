package report

import "github.com/linerate-dev/linerate/internal/document/plan"

// BackToBackBurst is one burst of a direction.
type BackToBackBurst struct {
	// Frames is how many the generators were asked for, all together.
	Frames int64 `json:"frames"`
	// Sending is how long they took, by the generators' own clocks, and of several generators the longest. From the
	// first frame to the last there is a gap less than there are frames, so that this is as much longer as makes
	// Frames ÷ Sending the rate. It is 0 where they don't tell it, and the rate is taken to be the one asked for.
	Sending plan.Duration `json:"sending,omitempty"`
}

// BackToBackFrames is what bursts show of a direction (RFC 9004).
type BackToBackFrames struct {
	// Searches are the ends of each search, in the order in which they were made. A search without any length
	// without loss has Clean 0.
	Searches []BurstSearch `json:"searches"`
	// Unclear is how many searches had no end, as bursts could not be judged.
	Unclear int `json:"unclear,omitempty"`
	// OfferedPacketsPerSecond is how fast the longest bursts were sent, and ForwardedPacketsPerSecond how fast the
	// device forwarded them, by the trial before, without what it had buffered, or by the throughput that the Plan
	// has. It is empty where that can't be told, nor what the device held.
	OfferedPacketsPerSecond   Number `json:"offeredPacketsPerSecond"`
	ForwardedPacketsPerSecond Number `json:"forwardedPacketsPerSecond,omitempty"`
	// Timed says that OfferedPacketsPerSecond was measured of the bursts themselves. Otherwise it is the trial's.
	Timed bool `json:"timed,omitempty"`
	// Frames is the average of the searches' longest bursts without loss, and Deviation their standard deviation.
	Frames    BurstFigure `json:"frames"`
	Deviation Number      `json:"deviation,omitempty"`
	// ImpliedMicroseconds is how long such a burst takes. Buffer is how many of its frames the device held at its
	// end. BufferMicroseconds is how long these take, RFC 9004's corrected buffer time, at the rate at which the
	// bursts were sent.
	ImpliedMicroseconds BurstFigure `json:"impliedMicroseconds"`
	Buffer              BurstFigure `json:"buffer"`
	BufferMicroseconds  BurstFigure `json:"bufferMicroseconds"`
}

// BurstFigure is an interval. Low follows from the longest bursts without loss, High from the shortest with loss.
// High is empty where no burst lost frames.
type BurstFigure struct {
	Low  Number `json:"low"`
	High Number `json:"high,omitempty"`
}

// BurstSearch is how one search for the longest burst without loss ended.
type BurstSearch struct {
	// Clean is how many frames the longest burst without loss had, and Lossy how many the shortest above it with
	// loss, or 0 for none.
	Clean int64 `json:"clean"`
	Lossy int64 `json:"lossy,omitempty"`
	// Bursts is how many bursts the search took.
	Bursts int `json:"bursts"`
}
