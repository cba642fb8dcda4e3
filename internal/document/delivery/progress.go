package delivery

import "time"

// ProgressVersion is the kind and version of the document Progress.
const ProgressVersion = "linerate.dev/progress.v1alpha1"

// Progress is how far a run in a cluster is, in a small document that is rewritten during the run. Rates are of all
// directions together.
type Progress struct {
	Version string `json:"version"`
	// Attempt is the test's attempt that the run belongs to. Run is the number of the run within it, which is more
	// than 1 when a runner was lost.
	Attempt int `json:"attempt"`
	Run     int `json:"run"`
	// Runner is the name of the runner's pod, and RunnerUID its UID. They are the fence between a runner and its
	// successor.
	Runner     string    `json:"runner"`
	RunnerUID  string    `json:"runnerUID"`
	UpdateTime time.Time `json:"updateTime"`
	// Phase and the following fields are those of runner.Progress.
	Phase                       string `json:"phase"`
	Step                        int    `json:"step,omitempty"`
	Steps                       int    `json:"steps,omitempty"`
	Varied                      string `json:"varied,omitempty"`
	Percent                     int    `json:"percent"`
	RemainingSeconds            int64  `json:"remainingSeconds,omitempty"`
	IntendedPacketsPerSecond    int64  `json:"intendedPacketsPerSecond"`
	OfferedPacketsPerSecond     int64  `json:"offeredPacketsPerSecond"`
	ReceivedPacketsPerSecond    int64  `json:"receivedPacketsPerSecond"`
	ReceivedLayer1BitsPerSecond int64  `json:"receivedLayer1BitsPerSecond"`
	// of sessions, or nil where it is of frames, or nothing was read yet
	GoodputBitsPerSecond *int64 `json:"goodputBitsPerSecond,omitempty"`
	LossRatio            string `json:"lossRatio,omitempty"`
	Message              string `json:"message,omitempty"`
	// LostRuns says what became of each earlier run of this attempt.
	LostRuns []string `json:"lostRuns,omitempty"`
}
