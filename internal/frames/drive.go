package frames

import (
	"context"
	"fmt"
	"time"

	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/pause"
	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/runner"
	"github.com/linerate-dev/linerate/internal/units"
)

// drive is the state of the part of a run in which traffic flows.
type drive struct {
	until    time.Time // when traffic of the last start stops by itself
	latest   time.Time // when all Held traffic has stopped by itself, as was told before the first frame
	flowing  bool      // Held traffic was started, and not stopped since
	baseline []engine.Reading
	last     []engine.Reading
	intended []units.PacketRate
	bursting bool                // ports have streams of bursts, and not the Plan's
	held     [][]engine.PortLoad // what running traffic was last told to send, by generator
	step     procedure.Step
	quickest time.Duration    // reading of all counters
	limited  []report.Limiter // what limits counted before traffic began
	thefts   []theft          // one for each generator

	flightKnown   bool          // a trial showed for how long frames are on their way,
	longestFlight time.Duration // at most so

	reset     *report.Reset // before this step; nil: none
	relearned uint32        // frames that were marked after resets
}

// Take has the generators do what the step says. Its window says what they did, what came back, and what that is worth.
func (r *run) Take(ctx context.Context, step procedure.Step) (*report.Window, error) {
	r.drive.step, r.drive.intended, r.drive.reset = step, step.Intended(r.full, r.warmups), nil
	r.opts.Wanted.Judge(true)
	r.Update(func(p *runner.Progress) {
		p.Load, p.IntendedPacketsPerSecond = r.drive.height(), sum(r.drive.intended).Whole()
	})
	w, err := r.measureStep(ctx, step)
	if w == nil {
		return nil, err
	}
	w.Load, w.Reset = step.Load, r.drive.reset
	if step.Phase == report.WarmUp {
		w.Load = units.RatioOf(int64(r.warmups[0]), int64(r.full[0]))
	}
	return w, err
}

// measureStep is the step's window; nil with an error: there is nothing of it.
func (r *run) measureStep(ctx context.Context, step procedure.Step) (*report.Window, error) {
	switch step.Kind {
	case procedure.Held:
		if err := r.hold(ctx, step); err != nil {
			return nil, err
		}
		return r.watch(ctx, step)
	case procedure.Trial:
		return r.try(ctx, step)
	case procedure.Burst:
		return r.burst(ctx, step)
	}
	return nil, fmt.Errorf("the procedure asks for a step of kind %q, which generators of frames can't carry out", step.Kind)
}

// height is the step's share of the full rate, for people; a warm-up has a rate of its own.
func (d *drive) height() units.Ratio {
	if d.step.Phase == report.WarmUp {
		return 0
	}
	return d.step.Load
}

func sum(rates []units.PacketRate) units.PacketRate {
	var total units.PacketRate
	for _, rate := range rates {
		total += rate
	}
	return total
}

// hold starts traffic where none flows, the first time and after a trial, and else changes its rate; in directions whose load is nothing, nothing is sent. Traffic that
// would end by itself within the step is an error: nothing of it would be measured rightly.
func (r *run) hold(ctx context.Context, step procedure.Step) error {
	loads := r.loads(r.drive.intended)
	if err := r.loadAgain(ctx); err != nil {
		return err
	}
	if end := time.Now().Add(step.Settle + step.Judge); r.Driving && end.After(r.drive.latest) {
		return fmt.Errorf("the run takes longer than it can, its traffic ends at %s: generators or runner are too slow to answer", r.drive.latest.UTC().Format(time.TimeOnly))
	}
	if !r.drive.flowing {
		r.drive.held, r.drive.flowing = loads, true
		if err := r.start(ctx, loads, r.longestHeld()); err != nil {
			return err
		}
		return pause.For(ctx, wakes)
	}
	before := r.drive.held
	r.drive.held = loads
	return r.change(ctx, before, loads)
}

// longestHeld is how long Held traffic lasts if nobody ends it: as long as the procedure may take, but no longer than the run may; and what is held anew after a trial as long as what
// was held before.
func (r *run) longestHeld() time.Duration {
	if r.Driving {
		return time.Until(r.drive.latest)
	}
	lasts := r.Procedure.Bound().Whole()
	if deadline := r.Plan.ActiveDeadline.Std(); deadline > 0 {
		lasts = min(lasts, max(0, deadline-time.Since(r.Started))+stopTimeout)
	}
	return lasts
}

// start sets all generators going at once for so long, and measures how far apart they were.
//
//	generator 0 ──── ready ─┐barrier┌─ Start ├──call──┤
//	generator 1 ── ready ───┘       └─ Start  ├──call──┤
//	                                          ↔ skew of the calls' middles
func (r *run) start(ctx context.Context, loads [][]engine.PortLoad, lasts time.Duration) error {
	if !r.Driving {
		r.drive.latest = time.Now().Add(r.longestHeld())
		r.tellUnattended()
	}
	r.Driving = true
	r.drive.until = time.Now().Add(lasts)
	middles := make([]time.Time, len(r.gens))
	barrier := newBarrier(len(r.gens))
	err := r.each(ctx, callTimeout, "start", func(ctx context.Context, g int) error {
		barrier.wait()
		if len(loads[g]) == 0 {
			return nil
		}
		called := time.Now()
		err := r.gens[g].Engine.Start(ctx, loads[g], lasts)
		middles[g] = called.Add(time.Since(called) / 2)
		return err
	})
	r.reportSkew(middles)
	r.passOnRemarks()
	return err
}

// tellUnattended says before the first frame how long generators go on sending if the runner dies.
func (r *run) tellUnattended() {
	words := fmt.Sprintf("traffic starts; whatever becomes of the runner, it stops by itself after %s, at %s", time.Until(r.drive.latest).Round(time.Second), r.drive.latest.UTC().Format(time.RFC3339))
	if b := r.Procedure.Bound(); b.OnlyTrials() {
		words = fmt.Sprintf("each trial is finite; whatever becomes of the runner, generators stop by themselves when theirs ends, after %s at most", b.Trial)
	}
	r.Note("%s", words)
	r.Update(func(p *runner.Progress) { p.Message = words })
}

// passOnRemarks notes what generators have to say of what went well.
func (r *run) passOnRemarks() {
	for _, g := range r.gens {
		if e, is := g.Engine.(engine.Remarker); is {
			for _, words := range e.Remarks() {
				r.Note("generator %s: %s", g.Name, words)
			}
		}
	}
}

// reportSkew reports how much later than the first each generator started; one that sends nothing started at no time.
func (r *run) reportSkew(middles []time.Time) {
	var first time.Time
	for _, m := range middles {
		if !m.IsZero() && (first.IsZero() || m.Before(first)) {
			first = m
		}
	}
	for g, m := range middles {
		if !m.IsZero() { // of several starts the worst counts
			r.Report.Generators[g].StartSkew = max(r.Report.Generators[g].StartSkew, plan.Duration(m.Sub(first)))
		}
	}
}
