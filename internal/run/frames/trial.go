package frames

import (
	"context"
	"fmt"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/measure/observe"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/run/runner"
)

// try carries out a finite trial as in RFC 2544: frames are counted after all that will come back have come back. Generators end a trial by
// themselves; a stop would cut short those that began a little later. They are stopped only where the trial is decided early, or where they still send when its time is over.
//
//	 counters stand still                              they stand still again
//	      │ start                     each ends by itself       │
//	──read┴──┬────────────── Judge ──────────────┬─── drain ───read──▶
//	          readings about once a second, and for the pace
//
// When the run is cut short, it returns what was read until then as an Invalid window, with the error; nil if nothing was read.
func (r *run) try(ctx context.Context, step procedure.Step) (*report.Window, error) {
	moving, err := r.comeToRest(ctx)
	if err != nil {
		return nil, err
	}
	if err := r.loadAgain(ctx); err != nil {
		return nil, err
	}
	r.machine.ReadBefore(ctx, time.Now().Add(2*observe.Lead))
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
	look := r.newEarlyStop(step, begin, &span, keep)
	if err := r.readTrial(ctx, step, begin, before, look, pace, keep); err != nil {
		return r.cutShort(span, opened, step, err), err
	}
	rest, err := r.awaitStandstill(ctx, look.polls(), func(now []engine.Reading) bool { return r.allBack(step.Judge, before, now) })
	if err != nil {
		return r.cutShort(span, opened, step, err), err
	}
	keep(rest.readings)
	r.observe(rest.readings, rest.limited)
	r.sample(rest.readings, time.Since(begin)) // so that a graph shows the pause until the next trial
	span.Limited = since(limited.Each, rest.limited.Each)
	span.Disturbance = r.machine.ReadAfter(ctx)
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
		counted = counted.Void(fmt.Sprintf("the counters did not stand still within %s after the trial: frames of it may still be in flight, or something else sends", drainBound))
	}
	w := measure.Judge(counted, r.goalOf(span))
	w.Start, w.Took = plan.Duration(opened.Sub(r.Started)), plan.Duration(time.Since(opened))
	r.observed(&w, r.readAtRest(ctx, rest))
	return &w, nil
}

// readTrial reads the counters of a trial that was started until its generators have ended, or it was decided.
func (r *run) readTrial(ctx context.Context, step procedure.Step, begin time.Time, before []engine.Reading, look *earlyStop, pace *measure.Pace, keep func([]engine.Reading)) error {
	began := false
	see := func(now []engine.Reading) {
		if began || !r.allSend(before, now) {
			pace.Add(now)
			return
		}
		began = true // from this reading on it shows for how long each port sends
		keep(now)
	}
	wait := func(moment time.Time) error { return r.untilThen(ctx, moment, !paced(before), see) }
	for _, moment := range moments(begin, step)[1:] { // the first moment is the beginning, and was read before the start
		readings, err := r.readAt(ctx, moment, look, wait)
		if err != nil {
			return err
		}
		if readings == nil {
			return nil
		}
		r.sample(readings, time.Since(begin))
		r.observe(readings, runner.Limits{})
		keep(readings)
	}
	if endsLate(before) {
		return r.awaitEnd(ctx, begin, before, keep)
	}
	return nil
}

// readAt takes a reading at a moment of a trial; nil: the trial was decided before that moment, and ends.
func (r *run) readAt(ctx context.Context, moment time.Time, look *earlyStop, wait func(time.Time) error) ([]engine.Reading, error) {
	decided, err := look.until(ctx, moment, wait)
	if err != nil {
		return nil, err
	}
	if decided {
		return nil, look.end(ctx)
	}
	return r.read(ctx)
}

// comeToRest ends the load that was held until now, and resets the device if the Plan says so. moving is the reason why the next trial is Invalid: the counters didn't stand still; empty: they did.
func (r *run) comeToRest(ctx context.Context) (moving string, err error) {
	stood := true
	if r.drive.flowing {
		rest, err := r.endHeld(ctx, stillOnce)
		if err != nil {
			return "", err
		}
		stood = rest.still
	}
	rested, err := r.resetDevice(ctx)
	switch {
	case err != nil:
		return "", err
	case !stood:
		return fmt.Sprintf("the counters did not stand still within %s before the trial: frames of the load that was held until then may be among those that came back, or something else sends", drainBound), nil
	case !rested:
		return fmt.Sprintf("the counters did not stand still within %s after the device's reset: learning frames may be among those that came back, or something else sends", drainBound), nil
	}
	return "", nil
}

// goalOf is the loss that a trial may have; for a trial that was decided early, the loss that decided it.
func (r *run) goalOf(span measure.Span) measure.Goal {
	g := r.goal()
	if span.Stopped != nil {
		g.MaxLossRatio = min(g.MaxLossRatio, span.Stopped.Limit)
	}
	return g
}

// endHeld stops the traffic that was held until now, and waits for its last frames, so that none of them counts in what comes next.
func (r *run) endHeld(ctx context.Context, polls int) (rest, error) {
	r.drive.flowing = false
	if err := r.stopAll(ctx); err != nil {
		return rest{}, err
	}
	return r.awaitStandstill(ctx, polls, nil)
}
