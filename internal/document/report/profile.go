package report

import "github.com/linerate-dev/linerate/internal/document/plan"

// Profile is what the device's processors ran during a trial at the answer's load (procedure.profile).
type Profile struct {
	// Window is the trial's number.
	Window int `json:"window"`
	// Missing is why nothing was sampled. All else is empty then.
	Missing string `json:"missing,omitempty"`
	// Processors were sampled, SamplesPerSecond times a second each, for Duration.
	Processors       int           `json:"processors,omitempty"`
	SamplesPerSecond int           `json:"samplesPerSecond,omitempty"`
	Duration         plan.Duration `json:"duration,omitempty"`
	// Samples are all that were taken. Idle found a processor that ran nothing, Generator one that sent or counted the
	// test's frames, and Others other programs. The rest are the device's, and in Stacks.
	Samples   int64 `json:"samples,omitempty"`
	Idle      int64 `json:"idle,omitempty"`
	Generator int64 `json:"generator,omitempty"`
	Others    int64 `json:"others,omitempty"`
	// Frames came back meanwhile.
	Frames int64 `json:"frames,omitempty"`
	// Lost are samples whose stack, or a part of it, the kernel had no room for.
	Lost int64 `json:"lost,omitempty"`
	// Stacks are the device's, folded: "softirq;handle_softirqs;net_rx_action;…;fib_table_lookup 41", the outermost
	// function first, and the number of samples. Rare ones are "[other]", with their innermost function.
	Stacks []string `json:"stacks,omitempty"`
	// Programs are the files whose functions are in Stacks.
	Programs []ProfiledProgram `json:"programs,omitempty"`
}

// ProfiledProgram is a file with code. Build identifies it: "go:" or "gnu:" and its build's id, or "sha256:" and the
// file's digest.
type ProfiledProgram struct {
	Path  string `json:"path"`
	Build string `json:"build,omitempty"`
}
