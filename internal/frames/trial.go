package frames

import (
	"context"
	"fmt"
	"time"

	"github.com/linerate-dev/linerate/internal/disturbance"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/runner"
)

// try carries out a finite trial: RFC 2544's, in which all frames that will ever come back have come back before they are counted. Generators end it by
// themselves; they are not stopped, for a stop would cut short those that began a little later. They are only where the trial is decided before its time.
//
//	 counters stand still                              they stand still again
//	      │ start                     each ends by itself       │
//	──read┴──┬────────────── Judge ──────────────┬─── drain ───read──▶
//	          readings about once a second, and for the pace
//
// When the run is cut short, what was read until then is kept as an Invalid window, with the error; nil if there is nothing of it.
func (r *run) try(ctx context.Context, step procedure.Step) (*report.Window, error) {
	moving, err := r.comeToRest(ctx)
	if err != nil {
		return nil, err
	}
	if err := r.loadAgain(ctx); err != nil {
		return nil, err
	}
	r.machine.Before(ctx, time.Now().Add(2*disturbance.Lead))
	before, limited, err := r.readEdge(ctx)
	if err != nil {
		return nil, err
	}
	pace := r.setup.Pace(r.drive.intended)
	span := measure.Span{Sending: step.Judge, Varied: step.Varied, Intended: r.drive.intended, Readings: make([][]engine.Reading, len(r.gens)), Pace: pace}
	keep := func(readings []engine.Reading) {
		pace.Add(readings)
		for g := range readings {
			span.Readings[g] = append(span.Readings[g], readings[g])
		}
	}
	keep(before)
	followed := r.follow(ctx)
	r.observe(before, limited)
	opened := time.Now()
	if err := r.start(ctx, r.loads(r.drive.intended), step.Judge); err != nil {
		return nil, err
	}
	begin := time.Now()
	r.drive.until = begin.Add(step.Judge)
	look := r.lookOut(step, begin, &span, keep)
	wait := func(moment time.Time) error { return r.untilThen(ctx, moment, pace, !paced(before)) }
	for _, moment := range moments(begin, step)[1:] { // the first is the beginning, which was read before the start
		readings, err := r.readAt(ctx, moment, look, wait)
		if err != nil {
			return r.cutShort(span, opened, step, err), err
		}
		if readings == nil {
			break
		}
		r.sample(readings, time.Since(begin))
		r.observe(readings, runner.Limits{})
		keep(readings)
	}
	rest, err := r.awaitStandstill(ctx, look.polls(), func(now []engine.Reading) bool { return r.allBack(step.Judge, before, now) })
	if err != nil {
		return r.cutShort(span, opened, step, err), err
	}
	keep(rest.readings)
	r.observe(rest.readings, rest.limited)
	r.sample(rest.readings, time.Since(begin)) // so that a graph shows the pause until the next trial
	span.Limited = since(limited.Each, rest.limited.Each)
	span.Disturbance = r.machine.Since(ctx)
	span.Latency = r.latency(followed, r.follow(ctx))
	span.Unstamped = r.unstamped(before, rest.readings, span.Latency)
	if rest.still {
		r.drive.learnFlight(r.setup, span)
	}
	counted := r.setup.Window(span)
	switch {
	case moving != "":
		counted = counted.Void(moving)
	case !rest.still:
		counted = counted.Void(fmt.Sprintf("the counters did not stand still within %s after the trial: frames of it may be on their way, or somebody else sends", drainBound))
	}
	w := measure.Judge(counted, r.goalOf(span))
	w.Start, w.Took = plan.Duration(opened.Sub(r.Started)), plan.Duration(time.Since(opened))
	r.observed(&w, r.readAtRest(ctx, rest))
	return &w, nil
}

// readAt takes a reading at a moment of a trial; nil: what the trial shows was decided before, and it ends.
func (r *run) readAt(ctx context.Context, moment time.Time, look *lookout, wait func(time.Time) error) ([]engine.Reading, error) {
	decided, err := look.until(ctx, moment, wait)
	if err != nil {
		return nil, err
	}
	if decided {
		return nil, look.end(ctx)
	}
	return r.read(ctx)
}

// comeToRest ends the load that was held until now and resets the device, where it is to be. moving says why a trial that follows counts for nothing: counters that didn't stand still; empty: they did.
func (r *run) comeToRest(ctx context.Context) (moving string, err error) {
	stood, err := r.endHeld(ctx)
	if err != nil {
		return "", err
	}
	rested, err := r.resetDevice(ctx)
	switch {
	case err != nil:
		return "", err
	case !stood:
		return fmt.Sprintf("the counters did not stand still within %s before the trial: frames of the load that was held until then may be among those that came back, or somebody else sends", drainBound), nil
	case !rested:
		return fmt.Sprintf("the counters did not stand still within %s after the device's reset: learning frames may be among those that came back, or somebody else sends", drainBound), nil
	}
	return "", nil
}

// goalOf is what a trial is judged by: of one that was decided before its time, no more loss than decided it.
func (r *run) goalOf(span measure.Span) measure.Goal {
	g := r.goal()
	if span.Stopped != nil {
		g.MaxLossRatio = min(g.MaxLossRatio, span.Stopped.Above)
	}
	return g
}

// endHeld stops traffic that was held until now, and waits until the last of its frames has come back or never will, so that none of them is counted as the trial's. It says whether
// counters stand still.
func (r *run) endHeld(ctx context.Context) (stands bool, err error) {
	if !r.drive.flowing {
		return true, nil
	}
	r.drive.flowing = false
	if err := r.stopAll(ctx); err != nil {
		return false, err
	}
	rest, err := r.awaitStandstill(ctx, stillOnce, nil)
	return rest.still, err
}
