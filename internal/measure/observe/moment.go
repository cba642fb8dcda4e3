package observe

import (
	"context"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/internal/host/signs"
)

// Moment is all that was read at one moment. Observers take their values from a Moment, and ask nobody themselves.
type Moment struct {
	// At is the time since the run started.
	At time.Duration
	// Readings are the generators', in the order of Setup.Generators. They are nil where generators weren't asked.
	Readings []engine.Reading
	// Limited is what a Reference's limit on this machine counted, in the order of Setup.Directions. It is nil
	// where the limit wasn't asked, or didn't answer.
	Limited []report.Limiter
	// Asked and Answered are the times between which the limits counted.
	Asked, Answered time.Duration
	// Device is the newest reading of the device's node. It is nil where nobody asks that node.
	Device *MachineReading
	// Collected is the collector's newest answer. It is nil where there is no collector.
	Collected *Collected

	behind       []time.Duration // by how much each generator's clock is behind the run's
	deviceBehind time.Duration

	collectorBehind time.Duration
}

// timeOf is the time since the run started at which a generator's clock showed this.
func (m Moment) timeOf(generator int, clock time.Duration) time.Duration {
	return clock + m.behind[generator]
}

// MachineReading is the newest answer of a machine that is asked over the network again and again while traffic
// runs.
type MachineReading struct {
	// Age is how long ago the answer arrived.
	Age time.Duration
	// Clock is the machine's own clock when it answered. At is the same clock when it read what follows.
	Clock, At time.Duration
	// Processors are the machine's. NoProcessors says why the answer has none.
	Processors   []machine.Processor
	NoProcessors string
	// Signs are the machine's other vital signs, of the types that it was Asked for.
	Signs []signs.Reading
	Asked []string
	// Limited is what a Reference's limit counted, in the order of Setup.Directions. NoLimited says why the answer
	// lacks it.
	Limited   []report.Limiter
	NoLimited string
	// Missing says why the machine doesn't answer now, though it may have before. It is empty while the machine
	// answers.
	Missing string
}

// Setup is what stays the same for a run.
type Setup struct {
	Generators []string
	// Links are the links that each generator's ports are on, by the ports' numbers.
	Links      []map[int]string
	Directions []plan.Direction
	Whereabouts
}

// Whereabouts say on which machines generators and device run, and who reads the device's.
type Whereabouts struct {
	// Device returns the newest reading of the device's node, without waiting. It is nil where nobody asks that
	// node.
	Device func() MachineReading
	// OneMachine says that generators and device are on one machine, so any generator's readings are the device's,
	// too. The caller must say so. Otherwise a device that nobody asks counts as missing, since a generator's
	// reading shown as the device's would be a wrong number.
	OneMachine bool
	// Nodes are the cluster's nodes that the generators run on, by the generators' names. A generator without an
	// entry runs outside of the cluster. DeviceNode is the device's, and empty for a device outside of the cluster.
	// Both are empty with OneMachine.
	Nodes      map[string]string
	DeviceNode string
	// Wanted are the vital signs that generators and the device's node are asked for beside their counters, or nil
	// for none.
	Wanted *Wanted
	// Refresh asks the device's node at once, and waits for its answer until the context ends. It is nil where
	// nobody asks that node.
	Refresh func(context.Context)
	// Collector returns the collector's newest answer, without waiting. It is nil where there is no collector.
	Collector func() Collected
}

// DeviceReading is the newest reading of the device's node, for a Moment. It is nil where nobody asks that node.
func (w Whereabouts) DeviceReading() *MachineReading {
	if w.Device == nil {
		return nil
	}
	return new(w.Device())
}

// mostRefresh bounds the wait for an answer between two windows. It is most of the time that may pass between them.
const mostRefresh = 150 * time.Millisecond

// RefreshDevice asks the device's node anew, if the node is asked at all, and waits for the answer, mostRefresh at
// most.
func (w Whereabouts) RefreshDevice(ctx context.Context) {
	if w.Refresh == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, mostRefresh)
	defer cancel()
	w.Refresh(ctx)
}

// Moment is the Moment at this time since the run started, with the newest readings of the device's node and the
// collector.
func (w Whereabouts) Moment(moment time.Duration) Moment {
	return Moment{At: moment, Device: w.DeviceReading(), Collected: w.Collected()}
}

// Collected is the collector's newest answer, for a Moment. It is nil where there is no collector.
func (w Whereabouts) Collected() *Collected {
	if w.Collector == nil {
		return nil
	}
	return new(w.Collector())
}
