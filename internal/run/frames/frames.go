package frames

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/internal/host/reception"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/measure/observe"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/run/runner"
	"github.com/linerate-dev/linerate/internal/units"
)

// Generator is a reachable generator of the Plan. The driver claims and releases its ports. The caller closes the
// engine.
type Generator struct {
	// Name is the Plan's name of it.
	Name   string
	Engine engine.Engine
	// PortOfLink is the index of its port on each of the Plan's links.
	PortOfLink map[string]int
	// NextHopMAC is the device's MAC on a link where the caller knows it. Otherwise the Plan's MAC counts, and
	// without one the driver resolves it.
	NextHopMAC map[string]engine.MAC
}

// Options change how a run is driven. The zero value works.
type Options struct {
	// Force takes ports from another owner.
	Force bool
	// PaceEvery is how often counters are read within windows, to see how evenly generators send. 0 means every 10
	// ms, or less often where there are many generators.
	PaceEvery time.Duration
	// Numbered is how many frames are sent in each direction to see whether any comes twice. 0 means the number that
	// the allowed loss ratio requires.
	Numbered int
	// Limited reads what the Reference's limits counted so far, in the order of the Plan's directions, or nil if
	// there are no such counters. It is called at the edges of windows, at the same time as the generators are read.
	// Counters that don't arrive in time stay unknown.
	Limited func(context.Context) ([]report.Limiter, error)
	// Machine reads how long the threads that send and forward frames ran and waited, on the machine of generator and
	// device, or nil if it can't be read. It is called before and after windows, and never within one.
	Machine func(context.Context) (machine.Reading, error)
	// Placement reads where the device on this machine receives frames, or is nil if it can't be read. It is called
	// beside Machine.
	Placement func(context.Context) (reception.Reading, error)
	// Reset empties the device's tables, and says what it did, or is nil if that isn't possible. It is called before
	// each trial if the Plan says so.
	Reset func(context.Context) (action string, err error)
	// Sample begins to sample what the device's processors run, until stop is called. It is nil where the device isn't
	// on this machine.
	Sample func() (stop func() (report.Profile, error), err error)
	// OrphansStopWithin is how long after the runner's death a guard, or the generators' launchers, have stopped its
	// traffic. 0 means that nobody does.
	OrphansStopWithin time.Duration
	// Whereabouts say which machines generators and device are on, for observers.
	observe.Whereabouts
}

// New is the driver of these generators, for one run.
func New(gens []Generator, opts Options) runner.Driver {
	watch := observe.FollowDisturbance(opts.Machine, opts.Placement)
	return &driver{available: gens, opts: opts, machine: &watch}
}

// driver drives one run's generators. Each of its parts answers one question. One goroutine uses the driver.
// Goroutines that it starts for calls in parallel end before the call returns.
type driver struct {
	journal   *runner.Journal
	available []Generator
	opts      Options
	claimed   []bool // by generator

	topology *topology
	fleet    *fleet
	setup    *measure.Setup
	machine  *observe.DisturbanceWatch

	rates      *rates
	resolver   *resolver
	prover     *prover
	background *background

	demand     *demand
	counters   *counters
	links      *links
	silence    *silence
	observers  *observers
	totals     *totals
	samples    *samples
	traffic    *traffic
	standstill *standstill
	flight     *flight
	resetter   *resetter
	judge      *judge

	holds  *holds
	trials *trials
	bursts *bursts
	trains *trains
}

// Prepare does everything before the first step, in order. The first error ends it.
func (r *driver) Prepare(ctx context.Context, journal *runner.Journal) error {
	r.journal = journal
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if journal.Plan.Procedure.Reset != nil && r.opts.Reset == nil {
		return errors.New("the plan says to reset the device before each trial, and this run has no way to do it: " +
			"use the same linerate for operator and runner")
	}
	if err := r.matchGenerators(); err != nil {
		return err
	}
	r.assemble()
	for _, step := range []func(context.Context) error{
		r.checkSampling,
		r.describe,
		r.trains.check,
		r.rates.resolve,
		r.prepareMeasure,
		r.claim,
		r.resolver.address,
		r.prover.provePaths,
		r.prover.proveNoRepeats,
		r.background.measure,
		r.traffic.load,
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

// assemble makes the run's parts, and gives each what its question needs.
func (r *driver) assemble() {
	j, t := r.journal, r.topology
	r.setup, r.demand = &measure.Setup{}, &demand{}
	r.fleet.topology = t
	r.resolver.journal, r.resolver.topology, r.resolver.fleet = j, t, r.fleet
	r.rates = &rates{journal: j, topology: t, line: map[string]units.BitRate{}}
	r.prover = &prover{journal: j, topology: t, fleet: r.fleet, resolver: r.resolver, frames: r.opts.Numbered}
	r.judge = &judge{journal: j, setup: r.setup}
	r.links = &links{Links: runner.Links{Journal: j}, topology: t}
	r.totals = &totals{journal: j, setup: r.setup, demand: r.demand}
	r.silence = &silence{journal: j, setup: r.setup, totals: r.totals}
	r.counters = &counters{journal: j, topology: t, fleet: r.fleet, links: r.links, silence: r.silence,
		limited: r.opts.Limited}
	r.observers = &observers{Observers: runner.Observers{Journal: j, Whereabouts: r.opts.Whereabouts},
		counters: r.counters}
	r.background = &background{journal: j, topology: t, counters: r.counters, observers: r.observers, rates: r.rates,
		setup: r.setup, judge: r.judge}
	r.samples = &samples{journal: j, topology: t, setup: r.setup, demand: r.demand, rates: r.rates, totals: r.totals,
		silence: r.silence, judge: r.judge}
	balance := &balance{setup: r.setup, demand: r.demand}
	r.standstill = &standstill{counters: r.counters, observers: r.observers, balance: balance}
	timing := &timing{journal: j, topology: t, fleet: r.fleet, setup: r.setup, demand: r.demand}
	r.traffic = &traffic{journal: j, topology: t, fleet: r.fleet, demand: r.demand, timing: timing, silence: r.silence,
		totals: r.totals, standstill: r.standstill, orphansStopWithin: r.opts.OrphansStopWithin}
	r.flight = &flight{journal: j, traffic: r.traffic, totals: r.totals}
	r.resetter = &resetter{journal: j, demand: r.demand, traffic: r.traffic, counters: r.counters, links: r.links,
		silence: r.silence, prover: r.prover, standstill: r.standstill, totals: r.totals, device: r.opts.Reset}
	pace := &pace{topology: t, counters: r.counters, silence: r.silence, interval: r.opts.PaceEvery}
	r.holds = &holds{journal: j, topology: t, demand: r.demand, setup: r.setup, counters: r.counters, pace: pace,
		observers: r.observers, samples: r.samples, totals: r.totals, timing: timing,
		machine: r.machine, judge: r.judge}
	r.trials = &trials{journal: j, topology: t, demand: r.demand, setup: r.setup, balance: balance,
		counters: r.counters, pace: pace, observers: r.observers, samples: r.samples, totals: r.totals,
		timing: timing, machine: r.machine, flight: r.flight, fleet: r.fleet, traffic: r.traffic,
		standstill: r.standstill, resetter: r.resetter, judge: r.judge}
	r.bursts = &bursts{journal: j, topology: t, demand: r.demand, setup: r.setup, balance: balance,
		counters: r.counters, observers: r.observers, samples: r.samples, machine: r.machine,
		fleet: r.fleet, traffic: r.traffic, standstill: r.standstill, resetter: r.resetter, judge: r.judge}
	r.trains = &trains{journal: j, topology: t, fleet: r.fleet, traffic: r.traffic, setup: r.setup,
		counters: r.counters, observers: r.observers, totals: r.totals, longest: map[[2]int]time.Duration{}}
}

// readFirst takes the readings from which totals are counted.
func (r *driver) readFirst(ctx context.Context) error {
	r.links.Forget()
	readings, limited, err := r.counters.readEdge(ctx)
	if err != nil {
		return err
	}
	r.journal.WatchMachine(ctx, r.machine)
	r.observers.Observe(readings, limited)
	r.totals.limited = limited.Limiters
	r.totals.baseline, r.totals.latest, r.samples.thefts = readings, readings, thefts(readings)
	r.silence.begin(readings)
	return nil
}

// Measure carries out a step. Its window holds what the generators sent, what came back, and the window's quality.
func (r *driver) Measure(ctx context.Context, step procedure.Step) (*report.Window, error) {
	previous := r.demand.rates
	r.demand.step, r.demand.rates, r.resetter.latest = step, step.Intended(r.rates.full, r.rates.warmups), nil
	r.observers.Whereabouts.Wanted.Judge(true)
	r.journal.Update(func(p *runner.Progress) {
		p.Load, p.IntendedPacketsPerSecond = r.demand.share(), sum(r.demand.rates).Whole()
	})
	if err := r.flight.refuseLong(ctx, step, previous); err != nil {
		return nil, err
	}
	w, err := r.window(ctx, step)
	if err != nil && w == nil {
		w, err = r.unsent(ctx, err)
	}
	if w == nil {
		return nil, err
	}
	w.Load, w.Reset, r.journal.Placed = step.Load, r.resetter.latest, r.machine.Placement()
	if step.Phase == report.WarmUp {
		w.Load = units.RatioOf(int64(r.rates.warmups[0]), int64(r.rates.full[0]))
	}
	return w, err
}

// window measures the step's window. With an error the window is nil if nothing was read.
func (r *driver) window(ctx context.Context, step procedure.Step) (*report.Window, error) {
	switch step.Kind {
	case procedure.Hold:
		if err := r.traffic.hold(ctx, step); err != nil {
			return nil, err
		}
		return r.holds.measure(ctx, step)
	case procedure.Trial:
		if step.Phase == report.Profiled {
			return r.profiled(ctx, step)
		}
		return r.trials.measure(ctx, step)
	case procedure.Burst:
		return r.bursts.measure(ctx, step)
	case procedure.Train:
		return r.trains.measure(ctx, step)
	}
	return nil, fmt.Errorf("the procedure asks for a step of kind %q, which tests of frames can't carry out", step.Kind)
}

// Stop ends the traffic of all generators that can be reached, also when ctx has ended, waits for the last frames,
// and writes the totals.
func (r *driver) Stop(ctx context.Context) error {
	if !r.journal.Driving {
		return nil
	}
	patience := stopTimeout
	if ctx.Err() == nil {
		patience = callTimeout
	}
	stopping, cancel := runner.Afterwards(ctx, patience)
	defer cancel()
	err := r.fleet.stopAll(stopping, patience)
	if err != nil {
		later := ""
		if endsLate(r.totals.baseline) {
			later = orLater
		}
		r.journal.Note("not all traffic could be stopped; it ends by itself by %s%s: %v",
			r.traffic.endsAt.UTC().Format(time.RFC3339), later, err)
	}
	r.journal.Enter(runner.Draining, "waiting for the last frames")
	r.drain(ctx)
	r.observers.observeIdle(ctx)
	r.observers.Complete()
	return err
}

// drain waits until the counters stand still, and writes the totals.
func (r *driver) drain(ctx context.Context) {
	ctx, cancel := runner.Afterwards(ctx, drainBound+readTimeout)
	defer cancel()
	rest, err := r.standstill.await(ctx, stillOnce, nil)
	if err != nil {
		r.journal.Note("the totals are not final, they end with the last sample: %v", err)
		r.totals.write(r.totals.latest, nil, false)
		return
	}
	r.links.unwatched = true
	r.observers.Observe(rest.readings, rest.limited)
	r.totals.write(rest.readings, rest.limited.Limiters, rest.stable)
	r.readNumbers(ctx)
}

// readNumbers reports what became of frames with sequence numbers, where the profile has latency streams.
func (r *driver) readNumbers(ctx context.Context) {
	byGenerator := make([]map[uint32]engine.LatencyStats, len(r.topology.names))
	err := r.fleet.callAll(ctx, callTimeout, "read the sequence numbers of",
		func(ctx context.Context, g int) (err error) {
			byGenerator[g], err = r.fleet.engines[g].Latency(ctx)
			return err
		})
	if err != nil {
		r.journal.Note("whether frames came twice is not known: %v", err)
		return
	}
	for g, stats := range byGenerator {
		for _, id := range slices.Sorted(maps.Keys(stats)) {
			s := stats[id]
			r.journal.Report.Numbered = append(r.journal.Report.Numbered,
				report.Numbered{Generator: r.topology.names[g],
					FlowID: id, Sent: s.Sent, Received: s.Received, Missing: s.Dropped, Twice: s.Duplicate,
					OutOfOrder: s.OutOfOrder})
		}
	}
}

// Release gives the ports back, whatever became of the run.
func (r *driver) Release(ctx context.Context) {
	if r.claimed == nil {
		return
	}
	ctx, cancel := runner.Afterwards(ctx, stopTimeout)
	defer cancel()
	err := r.fleet.callAll(ctx, stopTimeout, "release the ports of", func(ctx context.Context, g int) error {
		if !r.claimed[g] {
			return nil
		}
		return r.fleet.engines[g].Release(ctx)
	})
	if err != nil {
		r.journal.Note("not all ports could be given back: %v", err)
	}
}

// orderError is that generators did not start traffic, or change its load, as they were told.
type orderError struct{ err error }

func (e *orderError) Error() string { return e.err.Error() }
func (e *orderError) Unwrap() error { return e.err }

// unsent is the Invalid window of a step whose load could not be sent because a link is down, or went down just
// before. That is no generator's fault, and the procedure goes on as after any Invalid window. Where no link explains
// the error, unsent returns the error.
func (r *driver) unsent(ctx context.Context, cause error) (*report.Window, error) {
	if _, refused := errors.AsType[*orderError](cause); !refused {
		return nil, cause
	}
	previous, opened := maps.Clone(r.links.Latest), time.Now()
	first, err := r.counters.read(ctx)
	if err != nil {
		return nil, cause
	}
	link := r.links.changedLink(previous)
	if link == "" {
		return nil, cause
	}
	r.traffic.flowing = false
	if err := r.fleet.stopAll(ctx, callTimeout); err != nil { // those that had started
		return nil, err
	}
	rest, err := r.standstill.await(ctx, stillOnce, nil)
	if err != nil {
		return nil, err
	}
	r.observers.Observe(rest.readings, rest.limited)
	r.samples.add(rest.readings, time.Since(opened))
	span := measure.Span{Intended: r.demand.rates, Readings: measure.Pairwise(first, rest.readings)}
	w := measure.Judge(r.setup.Window(span).Void(fmt.Sprintf("the link %s was down, and no traffic could be started",
		link)), r.judge.goal())
	w.Start = plan.Duration(opened.Sub(r.journal.Started))
	r.observers.addTo(&w, 0)
	return &w, nil
}
