package frames

import (
	"context"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/measure/observe"
	"github.com/linerate-dev/linerate/internal/run/runner"
	"github.com/linerate-dev/linerate/internal/units"
)

// Generator is a generator of the Plan, reachable. The driver claims and releases its ports; closing the engine is the caller's.
type Generator struct {
	// Name is the Plan's name of it.
	Name   string
	Engine engine.Engine
	// PortOfLink is the index of its port on each of the Plan's links.
	PortOfLink map[string]int
	// NextHopMAC is the device's MAC on a link where it is known already; else the Plan's, else it is resolved.
	NextHopMAC map[string]engine.MAC
}

// Options change how a run is driven. The zero value works.
type Options struct {
	// Force takes ports from another owner.
	Force bool
	// PaceEvery is how often counters are read within windows, to see how evenly generators send; 0: every 10 ms, or less often where there are
	// many generators.
	PaceEvery time.Duration
	// Numbered is how many frames are sent in each direction to see whether any comes twice; 0: the number that the allowed loss ratio requires.
	Numbered int
	// Limited reads what the Reference's limits counted so far, in the order of the Plan's directions; nil: there are no such counters. It is called at the edges of
	// windows, at the same time as the generators are read; counters that don't arrive in time stay unknown.
	Limited func(context.Context) ([]report.Limiter, error)
	// Machine reads how long the threads that send and forward frames ran and waited, on the machine of generator and device; nil: it can't be read. It is called before and after
	// windows, and never within one.
	Machine func(context.Context) (machine.Reading, error)
	// Reset empties the device's tables, and says what it did; nil: it isn't possible. It is called before each trial if the Plan says so.
	Reset func(context.Context) (did string, err error)
	// OrphansStopWithin is how long after the runner's death somebody else has stopped its traffic: a guard, or the generators' launchers; 0: nobody does.
	OrphansStopWithin time.Duration
	// Whereabouts say which machines generators and device are on, for observers.
	observe.Whereabouts
}

// New is the driver of these generators, for one run.
func New(gens []Generator, opts Options) runner.Driver {
	return &run{given: gens, opts: opts, machine: observe.FollowDisturbance(opts.Machine), lineRates: map[string]units.BitRate{}}
}

// run is the state of one run's generators. It is used by one goroutine; those it starts for calls in parallel end before the call returns.
type run struct {
	*runner.Journal
	gens  []Generator // in the Plan's order
	given []Generator
	opts  Options

	described []engine.Description
	lineRates map[string]units.BitRate
	warmups   []units.PacketRate
	full      []units.PacketRate      // per direction: a load of one
	nextHops  []map[string]engine.MAC // per generator and link
	claimed   []bool
	setup     measure.Setup
	stamped   []stamped
	upkeep    bool // the test's own streams look like link upkeep, or go to groups, so no returning frame can be told to be a stray

	machine observe.DisturbanceWatch
	vitals  *observe.Log
	drive   drive
}

// Prepare does everything before the first step, in order; the first error ends it.
func (r *run) Prepare(ctx context.Context, journal *runner.Journal) error {
	r.Journal = journal
	for _, step := range []func(context.Context) error{
		r.mayReset,
		r.matchGenerators,
		r.describe,
		r.resolveRates,
		r.claim,
		r.address,
		r.provePaths,
		r.seekRepeats,
		r.listen,
		r.load,
		r.readFirst,
	} {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// readFirst takes the readings from which totals are counted.
func (r *run) readFirst(ctx context.Context) error {
	r.forgetLinks()
	readings, limited, err := r.readEdge(ctx)
	if err != nil {
		return err
	}
	if err := r.machine.Begin(ctx); err != nil {
		r.Note("disturbances of this machine can't be read: %v", err)
	}
	r.observe(readings, limited)
	r.drive.limited = limited.Each
	r.drive.baseline, r.drive.last, r.drive.thefts = readings, readings, thefts(readings)
	r.beginQuiet(readings)
	return nil
}
