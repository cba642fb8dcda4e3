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
	"github.com/linerate-dev/linerate/internal/units"
)

const (
	// burstPoll is how often counters are read until a burst has been sent.
	burstPoll = 50 * time.Millisecond
	// burstStart is how long generators may take until they begin to send one.
	burstStart = 5 * time.Second
	// burstRest is how long the device gets no traffic before a burst: its queues are empty then, and the token bucket of a limit is full again.
	burstRest = time.Second
	// stillAfterBurst is for how many polls the counters must stand still after a burst: all of its frames may be in flight at once, for longer than a poll.
	stillAfterBurst = 4
	// mostInAStream is how many frames a finite stream may have.
	mostInAStream = math.MaxUint32
)

// burst sends an exact number of frames in each direction: finite streams, which end by themselves. When the run is cut short, it returns what was read until then as an Invalid window, with the
// error; nil if nothing was read.
//
//	 load │ rest │ counters stand still       all are sent    they stand still again
//	             │      │ start                     │                │
//	─────────────┴────read────── ▐███████████▌ ─────┴─── drain ────read──▶
//	                        its duration: by the generators' own clocks
func (r *run) burst(ctx context.Context, step procedure.Step) (*report.Window, error) {
	moving, err := r.comeToRest(ctx)
	if err != nil {
		return nil, err
	}
	if err := r.loadBursts(ctx, step.Frames); err != nil {
		return nil, err
	}
	if err := bounded.Pause(ctx, burstRest); err != nil {
		return nil, err
	}
	r.machine.ReadBefore(ctx, time.Now().Add(2*observe.Lead))
	before, limited, err := r.readEdge(ctx)
	if err != nil {
		return nil, err
	}
	span := measure.Span{Sending: step.Judge, Bursts: step.Frames, Intended: r.drive.intended, Readings: make([][]engine.Reading, len(r.gens))}
	keep := func(readings []engine.Reading) {
		for g := range readings {
			span.Readings[g] = append(span.Readings[g], readings[g])
		}
	}
	keep(before)
	r.observe(before, limited)
	opened := time.Now()
	if err := r.start(ctx, r.burstLoads(step.Frames), step.Judge+burstStart); err != nil {
		return nil, err
	}
	if err := r.untilSent(ctx, step, before, time.Now().Add(step.Judge+burstStart), keep); err != nil {
		return r.cutShort(span, opened, step, err), err
	}
	complete := func(now []engine.Reading) bool { return r.allReturned(before, now) }
	rest, err := r.awaitStandstill(ctx, stillOnce, complete)
	span.Disturbance = r.machine.ReadAfter(ctx) // a thread that waits later, when no frame moves, disturbs nothing
	if err == nil {
		rest, err = r.awaitStandstill(ctx, stillAfterBurst, complete)
	}
	if err != nil {
		return r.cutShort(span, opened, step, err), err
	}
	keep(rest.readings)
	r.observe(rest.readings, rest.limited)
	r.sample(rest.readings, time.Since(opened))
	span.Limited = since(limited.Each, rest.limited.Each)
	counted := r.setup.Window(span)
	switch why := r.notSent(step.Frames, before, rest.readings); {
	case moving != "":
		counted = counted.Void(moving)
	case !rest.still:
		counted = counted.Void(fmt.Sprintf("the counters did not stand still within %s after the burst: frames of it may still be in flight, or something else sends", drainBound))
	case why != "":
		counted = counted.Void(why)
	}
	w := measure.Judge(counted, r.goal())
	w.Start, w.Took = plan.Duration(opened.Sub(r.Started)), plan.Duration(time.Since(opened))
	r.observed(&w, r.readAtRest(ctx, rest))
	return &w, nil
}

// untilSent waits until the generators have sent the whole burst, or stops them: only then do they report how long it took. If frames are missing at the end, the window says so.
func (r *run) untilSent(ctx context.Context, step procedure.Step, before []engine.Reading, end time.Time, keep func([]engine.Reading)) error {
	for kept := time.Now(); ; {
		if err := bounded.Pause(ctx, burstPoll); err != nil {
			return err
		}
		readings, err := r.read(ctx)
		if err != nil {
			return err
		}
		if time.Since(kept) > sampleEvery {
			keep(readings)
			kept = time.Now()
		}
		switch {
		case r.notSent(step.Frames, before, readings) == "":
			return nil
		case time.Now().After(end): // TRex would send the rest, however late
			return r.stopAll(ctx)
		}
	}
}

// notSent names a direction in which the number of frames sent isn't the burst's; empty: there is none.
func (r *run) notSent(frames []int64, before, now []engine.Reading) string {
	for i, d := range r.setup.Directions {
		if sent := between(d, before, now).Sent.Packets; sent != frames[i] {
			return fmt.Sprintf("%s→%s: the generators sent %d frames of a burst of %d", d.From, d.To, sent, frames[i])
		}
	}
	return ""
}

// allReturned says whether every frame came back, or was dropped by the generator itself. It is false where there is background traffic, as a foreign frame may then be counted in place of a lost one.
func (r *run) allReturned(before, now []engine.Reading) bool {
	for _, d := range r.setup.Directions {
		if t := between(d, before, now); d.Background+d.Strays > 0 || t.Returned.Packets+t.ReceiveErrors != t.Sent.Packets {
			return false
		}
	}
	return true
}

// loadBursts gives every sending port its share of its direction's burst, divided among the port's streams in proportion to their rates. Latency streams have a rate of
// their own and no end, so they are left out; stamps are left out, too.
func (r *run) loadBursts(ctx context.Context, frames []int64) error {
	r.drive.bursting = true
	return r.each(ctx, callTimeout, "load bursts on", func(ctx context.Context, g int) error {
		for i, d := range r.Plan.Directions {
			if !r.on(g, d.From) {
				continue
			}
			streams, err := finiteStreams(r.planned(g, d.From).Streams, r.shareOf(g, d, frames[i]), r.drive.intended[i].Apportion(r.weights(d)...)[g])
			if err == nil {
				err = r.gens[g].Engine.Load(ctx, r.gens[g].PortOfLink[d.From], streams)
			}
			if err != nil {
				return fmt.Errorf("link %s: %w", d.From, err)
			}
		}
		return nil
	})
}

// burstLoads are the rates of the ports that have a share of the bursts.
func (r *run) burstLoads(frames []int64) [][]engine.PortLoad {
	loads := r.loads(r.drive.intended)
	for i, d := range r.Plan.Directions {
		for g := range loads {
			if r.on(g, d.From) && r.shareOf(g, d, frames[i]) == 0 {
				loads[g] = slices.DeleteFunc(loads[g], func(l engine.PortLoad) bool { return l.Port == r.index(g, d.From) })
			}
		}
	}
	return loads
}

// loadAgain gives the ports the Plan's streams again after a burst.
func (r *run) loadAgain(ctx context.Context) error {
	if !r.drive.bursting {
		return nil
	}
	r.drive.bursting = false
	return r.load(ctx)
}

// weights are the generators' weights in a direction; 0 for those that don't send there.
func (r *run) weights(d plan.Direction) []int64 {
	weights := make([]int64, len(r.gens))
	for g := range r.gens {
		weights[g] = r.planned(g, d.From).Share
	}
	return weights
}

// shareOf is a generator's share of a direction's frames; the shares of all generators add up to them.
func (r *run) shareOf(g int, d plan.Direction, frames int64) int64 {
	return divide(frames, r.weights(d))[g]
}

// divide divides frames by weights into shares that add up exactly.
func divide(frames int64, weights []int64) []int64 {
	out := make([]int64, len(weights))
	for i, part := range units.PacketRate(frames).Apportion(weights...) {
		out[i] = int64(part)
	}
	return out
}

// finiteStreams are streams that send that many frames together at a rate, each stream in proportion to its part of the rate.
func finiteStreams(streams []stream.Stream, frames int64, rate units.PacketRate) ([]stream.Stream, error) {
	const fine = 1_000_000 // weights are in millionths of a rate's unit
	var out []stream.Stream
	var weights []int64
	all := 0.0
	for _, s := range streams {
		if !s.Enabled || s.FlowStats.Enabled && s.FlowStats.RuleType == "latency" {
			continue
		}
		if s.Mode.Rate.Type != "pps" {
			return nil, fmt.Errorf("a stream has its rate in %s, so its share of a burst's frames is unknown: give the rates of all streams in packets per second (pps)", s.Mode.Rate.Type)
		}
		s.FlowStats = stream.Flow{}
		all += s.Mode.Rate.Value
		out, weights = append(out, s), append(weights, int64(math.Round(s.Mode.Rate.Value*fine)))
	}
	if len(out) == 0 {
		return nil, errors.New("none of its streams has a rate at which to send a burst")
	}
	for i, n := range divide(frames, weights) {
		if n > mostInAStream {
			return nil, fmt.Errorf("a burst of %d frames is more than a stream may have (%d): make longest shorter", n, uint32(mostInAStream))
		}
		out[i].Mode = stream.Mode{Type: "single_burst", Rate: stream.Rate{Type: "pps", Value: rate.PerSecond() * out[i].Mode.Rate.Value / all}, TotalPackets: uint32(n)}
	}
	return slices.DeleteFunc(out, func(s stream.Stream) bool { return s.Mode.TotalPackets == 0 }), nil
}
