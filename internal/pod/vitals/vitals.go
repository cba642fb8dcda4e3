package vitals

import (
	"time"

	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/internal/host/signs"
	"github.com/linerate-dev/linerate/internal/measure/observe"
)

// Version is the kind and version of the document Reading. A reader refuses others.
const Version = "linerate.dev/vitals.v1alpha1"

// Port is the TCP port of vital signs, beside those of generators (4501) and their launchers (4502).
const Port = 4504

// path is the only path that vital signs are served at.
const path = "/vitals"

// wanted is the query parameter that names the types of vital signs to read, with commas between them.
const wanted = "signs"

// Reading is a machine's answer. Times are in nanoseconds.
type Reading struct {
	Version string `json:"version"`
	// Clock is the machine's monotonic clock when it answered. At is the same clock when the machine began to read
	// what follows. A reading older than a tenth of a second is not reused. How far At is before Clock has no
	// bound, since a busy machine may take long to read and to answer.
	Clock time.Duration `json:"clock"`
	At    time.Duration `json:"at"`
	// Processors are how each processor spent its time since the machine started. In a pod they are the node's.
	// NoProcessors says why there are none.
	Processors   []machine.Processor `json:"processors,omitempty"`
	NoProcessors string              `json:"noProcessors,omitempty"`
	// Signs are the machine's other vital signs, of the types asked for. In a pod most of them are its node's.
	Signs []signs.Reading `json:"signs,omitempty"`
	// Asked are those types, as a Follower asked for them.
	Asked []string `json:"-"`
	// Limits are what a Reference's limit counted in each direction since it was set up. NoLimits says why there
	// are none though there is a limit.
	Limits   []Limit `json:"limits,omitempty"`
	NoLimits string  `json:"noLimits,omitempty"`
	// Collected are a collector's answers, which replace all of the above but Version and Clock. It is nil in the
	// answer of a device's node.
	Collected *Collected `json:"collected,omitempty"`
}

// Collected are the newest answers that a collector has.
type Collected struct {
	Clock   time.Duration    `json:"clock"` // the collector's when it answered
	Answers []observe.Answer `json:"answers"`
}

// Limit is what a direction's limit counted, in frames.
type Limit struct {
	From    string `json:"from"`
	To      string `json:"to"`
	Passed  int64  `json:"passed"`
	Dropped int64  `json:"dropped"`
}
