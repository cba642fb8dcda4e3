package frames

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/host/bounded"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/measure/observe"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/run/runner"
	"github.com/linerate-dev/linerate/internal/units"
)

// bursts measures windows of an exact number of frames.
type bursts struct {
	journal    *runner.Journal
	topology   *topology
	demand     *demand
	setup      *measure.Setup
	balance    *balance
	counters   *counters
	observers  *observers
	samples    *samples
	machine    *observe.DisturbanceWatch
	fleet      *fleet
	traffic    *traffic
	standstill *standstill
	resetter   *resetter
	judge      *judge
}

const (
	// burstPoll is how often counters are read until a burst has been sent.
	burstPoll = 50 * time.Millisecond
	// burstStart is how long generators may take until they begin to send one.
	burstStart = 5 * time.Second
	// burstRest is how long the device gets no traffic before a burst, so that its queues are empty and the token
	// bucket of a limit is full again.
	burstRest = time.Second
	// stillAfterBurst is for how many polls the counters must stand still after a burst. All of its frames may be in
	// flight at once, for longer than a poll.
	stillAfterBurst = 4
	// maxStreamFrames is how many frames a finite stream may have.
	maxStreamFrames = math.MaxUint32
)

// measure sends an exact number of frames in each direction, as finite streams, which end by themselves. When
// the run is cut short, measure returns what was read until then as an Invalid window, with the error, or nil
// if nothing was read.
//
//	 load │ rest │ counters stand still       all are sent    they stand still again
//	             │      │ start                     │                │
//	─────────────┴────read────── ▐███████████▌ ─────┴─── drain ────read──▶
//	                        its duration: by the generators' own clocks
func (b *bursts) measure(ctx context.Context, step procedure.Step) (*report.Window, error) {
	moving, err := b.resetter.comeToRest(ctx)
	if err != nil {
		return nil, err
	}
	if err := b.traffic.loadBursts(ctx, step.Frames); err != nil {
		return nil, err
	}
	if err := bounded.Pause(ctx, burstRest); err != nil {
		return nil, err
	}
	b.machine.ReadBefore(ctx, time.Now().Add(2*observe.Lead))
	first, limited, err := b.counters.readEdge(ctx)
	if err != nil {
		return nil, err
	}
	span := measure.Span{Sending: step.Judge, Bursts: step.Frames, Intended: b.demand.rates,
		Readings: make([][]engine.Reading, len(b.topology.names))}
	keep := func(readings []engine.Reading) {
		for g := range readings {
			span.Readings[g] = append(span.Readings[g], readings[g])
		}
	}
	keep(first)
	b.observers.Observe(first, limited)
	opened := time.Now()
	if err := b.traffic.start(ctx, b.topology.burstLoads(b.demand.rates, step.Frames), step.Judge+
		burstStart); err != nil {
		return nil, err
	}
	if err := b.untilSent(ctx, step, first, time.Now().Add(step.Judge+burstStart), keep); err != nil {
		return b.judge.cutShort(span, opened, step, err), err
	}
	complete := func(latest []engine.Reading) bool { return b.balance.allReturned(first, latest) }
	rest, err := b.standstill.await(ctx, stillOnce, complete)
	span.Disturbance = b.machine.ReadAfter(ctx) // a thread that waits later, when no frame moves, disturbs nothing
	if err == nil {
		rest, err = b.standstill.await(ctx, stillAfterBurst, complete)
	}
	if err != nil {
		return b.judge.cutShort(span, opened, step, err), err
	}
	keep(rest.readings)
	b.observers.Observe(rest.readings, rest.limited)
	b.samples.add(rest.readings, time.Since(opened))
	span.Limited = limitsBetween(limited.Limiters, rest.limited.Limiters)
	counted := b.setup.Window(span)
	switch fault := b.balance.notSent(step.Frames, first, rest.readings); {
	case moving != "":
		counted = counted.Void(moving)
	case !rest.stable:
		counted = counted.Void(fmt.Sprintf("the counters did not stand still within %s after the burst: frames of it "+
			"may still be in flight, or something else sends", drainBound))
	case fault != "":
		counted = counted.Void(fault)
	}
	w := measure.Judge(counted, b.judge.goal())
	w.Start, w.Took = plan.Duration(opened.Sub(b.journal.Started)), plan.Duration(time.Since(opened))
	b.observers.addTo(&w, b.observers.readAtRest(ctx, rest))
	return &w, nil
}

// untilSent waits until the generators have sent the whole burst, or stops them, because only then do they report how
// long the burst took. If frames are missing at the end, the window says so.
func (b *bursts) untilSent(ctx context.Context, step procedure.Step, first []engine.Reading, end time.Time,
	keep func([]engine.Reading)) error {
	for latestKept := time.Now(); ; {
		if err := bounded.Pause(ctx, burstPoll); err != nil {
			return err
		}
		readings, err := b.counters.read(ctx)
		if err != nil {
			return err
		}
		if time.Since(latestKept) > sampleEvery {
			keep(readings)
			latestKept = time.Now()
		}
		switch {
		case b.balance.notSent(step.Frames, first, readings) == "":
			return nil
		case time.Now().After(end): // TRex would send the rest, however late
			return b.fleet.stopAll(ctx, callTimeout)
		}
	}
}

// divide divides frames by weights into shares that add up exactly.
func divide(frames int64, weights []int64) []int64 {
	shares := make([]int64, len(weights))
	for i, part := range units.PacketRate(frames).Apportion(weights...) {
		shares[i] = int64(part)
	}
	return shares
}

// finiteStreams are streams that send that many frames together at a rate, each stream in proportion to its part of
// the rate.
func finiteStreams(streams []stream.Stream, frames int64, rate units.PacketRate) ([]stream.Stream, error) {
	const fine = 1_000_000 // weights are in millionths of a rate's unit
	var finite []stream.Stream
	var weights []int64
	totalRate := 0.0
	for _, s := range streams {
		if !s.Enabled || s.FlowStats.Enabled && s.FlowStats.RuleType == "latency" {
			continue
		}
		if s.Mode.Rate.Type != "pps" {
			return nil, fmt.Errorf("a stream has its rate in %s, so its share of a burst's frames is unknown: give "+
				"the rates of all streams in packets per second (pps)", s.Mode.Rate.Type)
		}
		s.FlowStats = stream.Flow{}
		totalRate += s.Mode.Rate.Value
		finite, weights = append(finite, s), append(weights, int64(math.Round(s.Mode.Rate.Value*fine)))
	}
	if len(finite) == 0 {
		return nil, errors.New("none of its streams has a rate at which to send a burst")
	}
	for i, n := range divide(frames, weights) {
		if n > maxStreamFrames {
			return nil, fmt.Errorf("a burst of %d frames is more than a stream may have (%d): make longest shorter", n,
				uint32(maxStreamFrames))
		}
		finite[i].Mode = stream.Mode{Type: "single_burst", Rate: stream.Rate{Type: "pps",
			Value: rate.PerSecond() * finite[i].Mode.Rate.Value / totalRate}, TotalPackets: uint32(n)}
	}
	return slices.DeleteFunc(finite, func(s stream.Stream) bool { return s.Mode.TotalPackets == 0 }), nil
}
