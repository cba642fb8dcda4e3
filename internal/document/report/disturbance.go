package report

import "github.com/linerate-dev/linerate/internal/document/plan"

// Disturbance is what kept threads from running that a window needed, on a machine whose kernel could be asked.
// Frames lost or sent late because of it are no device's weakness. It is read before the window's first edge and
// after its last.
type Disturbance struct {
	// Missing says why the machine did not answer this time, and the threads that carry frames may have waited all
	// the time. It is empty where the machine did.
	Missing string `json:"missing,omitempty"`
	// Over is the time between the two readings, which is the window, and a little before and after it.
	Over plan.Duration `json:"over,omitempty"`
	// Waited is for how long threads that carry frames were ready to run, and others had the processors, all
	// together. Stolen is what the host of a virtual machine took of the processors that carried or sent frames.
	Waited plan.Duration `json:"waited,omitempty"`
	Stolen plan.Duration `json:"stolen,omitempty"`
	// Strangers is how much processor time those had who are neither the generator nor the device.
	Strangers plan.Duration `json:"strangers,omitempty"`
	// Waits are the threads that waited longest, first those that carry frames. Others are the processes that ran
	// longest in that time and are neither the generator nor the device.
	Waits  []Wait  `json:"waits,omitempty"`
	Others []Other `json:"others,omitempty"`
}

// Wait is a thread that waited for a processor.
type Wait struct {
	Thread string `json:"thread"`
	ID     int    `json:"id"`
	// Sends says that the thread is the generator's, which sent late then. Otherwise it carries frames, which are
	// lost where they don't fit into its queues.
	Sends bool `json:"sends,omitempty"`
	// Processor is the one that it ran on last.
	Processor int           `json:"processor"`
	Waited    plan.Duration `json:"waited"`
}

// Other is a process that ran meanwhile.
type Other struct {
	Process string `json:"process"`
	PID     int    `json:"pid"`
	// Processor is the one that it ran on last.
	Processor int           `json:"processor"`
	Ran       plan.Duration `json:"ran"`
}
