package frames

import (
	"context"
	"fmt"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/host/bounded"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/run/runner"
	"github.com/linerate-dev/linerate/internal/units"
)

// drive is the state of the part of a run in which traffic flows.
type drive struct {
	until    time.Time // when the traffic of the latest start ends by itself
	latest   time.Time // when all Held traffic ends by itself at the latest, as was logged before the first frame
	flowing  bool      // Held traffic has been started and not stopped
	baseline []engine.Reading
	last     []engine.Reading
	intended []units.PacketRate
	bursting bool                // ports have the streams of a burst instead of the Plan's
	held     [][]engine.PortLoad // the present load of running traffic, by generator
	step     procedure.Step
	quickest time.Duration    // the shortest time that a reading of all counters took
	limited  []report.Limiter // the limits' counters before traffic began
	thefts   []theft          // one for each generator
	quiet    quiet

	links     map[portOnLink]runner.LinkSeen // at the latest reading; nil: nothing was read yet
	unwatched bool                           // links may go down: the device is being reset, or the last frame is back

	flightJudged bool // the first load has shown whether frames are in flight for longer than a load settles

	flightKnown   bool          // a trial has shown how long frames are in flight:
	longestFlight time.Duration // the longest time so far

	reset     *report.Reset // the device's reset before this step; nil: none
	relearned uint32        // how many marked frames were sent after resets
}

// Take carries out a step. Its window holds what the generators sent, what came back, and the window's quality.
func (r *run) Take(ctx context.Context, step procedure.Step) (*report.Window, error) {
	before := r.drive.intended
	r.drive.step, r.drive.intended, r.drive.reset = step, step.Intended(r.full, r.warmups), nil
	r.opts.Wanted.Judge(true)
	r.Update(func(p *runner.Progress) {
		p.Load, p.IntendedPacketsPerSecond = r.drive.targetShare(), sum(r.drive.intended).Whole()
	})
	if err := r.refuseLongFlight(ctx, step, before); err != nil {
		return nil, err
	}
	w, err := r.measureStep(ctx, step)
	if err != nil && w == nil {
		w, err = r.unsent(ctx, err)
	}
	if w == nil {
		return nil, err
	}
	w.Load, w.Reset = step.Load, r.drive.reset
	if step.Phase == report.WarmUp {
		w.Load = units.RatioOf(int64(r.warmups[0]), int64(r.full[0]))
	}
	return w, err
}

// measureStep measures the step's window; with an error the window may be nil: nothing was read.
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
	return nil, fmt.Errorf("the procedure asks for a step of kind %q, which tests of frames can't carry out", step.Kind)
}

// targetShare is the step's share of the target rate, for people; a warm-up has a rate of its own.
func (d *drive) targetShare() units.Ratio {
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

// hold starts traffic if none flows, at first, after a trial and from rest, and otherwise changes its rate. A direction whose load is zero sends nothing. Traffic that
// would end by itself within the step is an error, as its window would be wrong.
func (r *run) hold(ctx context.Context, step procedure.Step) error {
	loads := r.loads(r.drive.intended)
	if err := r.loadAgain(ctx); err != nil {
		return err
	}
	if end := time.Now().Add(step.Settle + step.Judge); r.Driving && end.After(r.drive.latest) {
		return fmt.Errorf("the run takes longer than its traffic, which ends at %s: generators or runner answer too slowly", r.drive.latest.UTC().Format(time.TimeOnly))
	}
	if step.Rested && r.drive.flowing {
		if _, err := r.endHeld(ctx, stillOnce); err != nil { // what comes back later all the same shows in the window
			return err
		}
	}
	if !r.drive.flowing {
		r.drive.held, r.drive.flowing = loads, true
		lasts := r.longestHeld()
		if held := r.Procedure.Bound().Held; held > 0 {
			lasts = min(lasts, held)
		}
		if err := r.start(ctx, loads, lasts); err != nil {
			return err
		}
		return bounded.Pause(ctx, startDelay)
	}
	before := r.drive.held
	r.drive.held = loads
	return r.change(ctx, before, loads)
}

// longestHeld is how long Held traffic lasts if it isn't stopped: as long as the procedure may take, but no longer than the run may. Traffic that is started again after a trial ends when the traffic
// before it would have ended.
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

// start starts all generators at once, for a finite duration, and measures how far apart their starts were.
//
//	generator 0 ──── ready ─┐barrier┌─ Start ├──call──┤
//	generator 1 ── ready ───┘       └─ Start  ├──call──┤
//	                                          ↔ skew of the calls' middles
func (r *run) start(ctx context.Context, loads [][]engine.PortLoad, lasts time.Duration) error {
	if !r.Driving {
		r.drive.latest = time.Now().Add(r.longestHeld())
		r.announceLatestEnd()
	}
	r.Driving = true
	r.awaitFirstFrames()
	r.drive.until = time.Now().Add(lasts + StartsWithin)
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
	if err != nil {
		return &orderError{err}
	}
	return nil
}

// StartsWithin is the longest time by which a common start is put off, with all its tries.
const StartsWithin = 5 * time.Second

// announceLatestEnd logs, before the first frame, how long generators go on sending if the runner dies.
func (r *run) announceLatestEnd() {
	what, ends := "traffic starts", fmt.Sprintf("it ends by itself after %s, at %s", (time.Until(r.drive.latest)+StartsWithin).Round(time.Second), r.drive.latest.Add(StartsWithin).UTC().Format(time.RFC3339))
	if b := r.Procedure.Bound(); b.EndsByTrial() {
		most := b.Unattended() + StartsWithin
		if r.Plan.Procedure.BackToBack != nil {
			most += burstStart
		}
		what, ends = "each trial is finite", fmt.Sprintf("its traffic ends by itself, after %s at most", most)
	}
	words := fmt.Sprintf("%s; even if the runner dies, %s", what, ends)
	switch late := endsLate(r.drive.baseline); {
	case late && r.opts.OrphansStopWithin > 0:
		words = fmt.Sprintf("%s; even if the runner dies, it is stopped within %s; if nothing can stop it, %s%s", what, r.opts.OrphansStopWithin, ends, orLater)
	case late:
		words += orLater
	}
	r.Note("%s", words)
	r.Update(func(p *runner.Progress) { p.Message = words })
}

// orLater says of a promised end that TRex ends late where its schedule is late.
const orLater = ", or later where the generator can't keep up with the load: it sends all frames that it was asked for"

// passOnRemarks adds the generators' remarks on successful calls to the Report's notes.
func (r *run) passOnRemarks() {
	for _, g := range r.gens {
		if e, is := g.Engine.(engine.Remarker); is {
			for _, words := range e.Remarks() {
				r.Note("generator %s: %s", g.Name, words)
			}
		}
	}
}

// reportSkew reports how much later than the first one each generator started. A generator that sends nothing has no start.
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
