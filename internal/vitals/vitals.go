// Package vitals tells, over the pods' network, how a machine fares on which a device under test is: how its processors spend their time, and what a Reference's limit
// counted. The device's pod, or one beside it, serves; the runner asks, beside the traffic.
//
//	runner ── GET /vitals?signs=Memory,Load, eight times a second ─▶ server, on one address of its pod's
//	       ◀── Reading, as JSON ──
//
// That is read-only, knows no authentication and has nothing to keep secret but how busy a machine is. What a collector was told (package collect) is told by the same server
// to who shows the test's token. The same server has the device reset for who shows a token
// (package reset), where the test asks for it.
package vitals

import (
	"time"

	"github.com/linerate-dev/linerate/internal/observe"
	"github.com/linerate-dev/linerate/internal/processors"
	"github.com/linerate-dev/linerate/internal/signs"
)

// Version is the kind and version of the document Reading; a reader refuses others.
const Version = "linerate.dev/vitals.v1alpha1"

// Port is the TCP port that vital signs are told on: beside those of generators (4501) and their launchers (4502).
const Port = 4504

// path is the only one that there is.
const path = "/vitals"

// wanted is the parameter that names the types of vital signs which are asked for, with commas between them.
const wanted = "signs"

// Reading is what a machine tells. Times are in nanoseconds.
type Reading struct {
	Version string `json:"version"`
	// Clock is the machine's monotonic clock when it answered, At when it began to read what follows. A reading that is older than a tenth of a second when it is asked for is
	// taken anew; how far At is before Clock has no bound, since a busy machine may take long over both.
	Clock time.Duration `json:"clock"`
	At    time.Duration `json:"at"`
	// Processors are how each of them spent its time since the machine started; in a pod those of its node. NoProcessors says why there are none.
	Processors   []processors.Processor `json:"processors,omitempty"`
	NoProcessors string                 `json:"noProcessors,omitempty"`
	// Signs are what the machine tells of itself besides, of the types that were asked for. In a pod most is its node's.
	Signs []signs.Told `json:"signs,omitempty"`
	// Limits are what a Reference's limit counted in each direction since it was set up. NoLimits says why there are none though there is a limit.
	Limits   []Limit `json:"limits,omitempty"`
	NoLimits string  `json:"noLimits,omitempty"`
	// Collected is what a collector was told, instead of all of the above but Version and Clock; nil: it is a device's node.
	Collected *Collected `json:"collected,omitempty"`
}

// Collected is what others told a collector.
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
