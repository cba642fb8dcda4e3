package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/ramp"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// startMargin is what traffic may take longer than the procedure's bound, for starting, stopping and reading late.
const startMargin = 15 * time.Second

// stepAllowance is that, per step.
const stepAllowance = 200 * time.Millisecond

// LongestTraffic is the finite duration that traffic is started with: whatever becomes of the runner, generators stop by themselves that
// long after the first start. Preparing takes its time before that: about ten seconds, or as long as next hops take to answer.
func LongestTraffic(p plan.Procedure) time.Duration {
	return ramp.Bound(p) + time.Duration(ramp.MostSteps(p))*stepAllowance + startMargin
}

// drive is the state of the part of a run in which traffic flows.
type drive struct {
	began    bool      // some start was tried: something may be running
	until    time.Time // when traffic stops by itself
	baseline []engine.Reading
	last     []engine.Reading
	intended []units.PacketRate
	step     ramp.Step
	quickest time.Duration    // reading of all counters
	limited  []report.Limiter // what limits counted before traffic began
	thefts   []theft          // one for each generator
}

// driveLoad carries out the procedure's steps until it is done. Whatever happens, it ends with traffic stopped and totals settled, as
// far as the generators can be reached.
func (r *run) driveLoad(ctx context.Context) (err error) {
	baseline, limited, err := r.readEdge(ctx)
	if err != nil {
		return err
	}
	r.drive.limited = limited
	r.drive.baseline, r.drive.last, r.drive.thefts = baseline, baseline, thefts(baseline)
	defer func() { err = errors.Join(err, r.stop(ctx)) }()
	for {
		step := ramp.Next(r.plan.Procedure, r.rep.Windows)
		if step.Reason != "" {
			r.note("%s", step.Reason)
		}
		if step.Done {
			return nil
		}
		if err := r.carryOutStep(ctx, step); err != nil {
			return err
		}
	}
}

// carryOutStep sets the load, waits, reads, and adds one window to the Report.
func (r *run) carryOutStep(ctx context.Context, step ramp.Step) error {
	r.drive.step, r.drive.intended = step, r.intended(step)
	r.tell(func(p *Progress) {
		p.Phase, p.Load, p.Message = step.Phase, step.Load, step.Reason
		p.Step, p.Steps = step.Number, step.Of
		p.IntendedPacketsPerSecond = sum(r.drive.intended).Whole()
	})
	if err := r.setLoad(ctx); err != nil {
		return err
	}
	w, err := r.watch(ctx, step)
	if w == nil {
		return err
	}
	w.Number, w.Phase, w.Load = len(r.rep.Windows)+1, step.Phase, step.Load
	if step.Phase == report.WarmUp {
		w.Load = units.RatioOf(int64(r.warmups[0]), int64(r.targets[0]))
	}
	r.rep.Windows = append(r.rep.Windows, *w)
	r.log.Debug("window", "number", w.Number, "phase", w.Phase, "load", w.Load, "quality", w.Quality, "reason", w.Reason)
	r.tell(func(p *Progress) { p.Window = &r.rep.Windows[len(r.rep.Windows)-1] })
	return err
}

// intended is what each direction is asked to send in a step.
func (r *run) intended(step ramp.Step) []units.PacketRate {
	rates := make([]units.PacketRate, len(r.targets))
	for i := range rates {
		rates[i] = max(1, r.targets[i].Mul(step.Load))
		if step.Phase == report.WarmUp {
			rates[i] = r.warmups[i]
		}
	}
	return rates
}

func sum(rates []units.PacketRate) units.PacketRate {
	var total units.PacketRate
	for _, rate := range rates {
		total += rate
	}
	return total
}

// setLoad starts traffic the first time, and changes its rate after that. Traffic that would end by itself within the step is an error:
// nothing of it would be measured rightly.
func (r *run) setLoad(ctx context.Context) error {
	loads := r.loads(r.drive.intended)
	if !r.drive.began {
		return r.start(ctx, loads)
	}
	if end := time.Now().Add(r.drive.step.Settle + r.drive.step.Judge); end.After(r.drive.until) {
		return fmt.Errorf("the run takes longer than it can, its traffic ends at %s: generators or runner are too slow to answer", r.drive.until.UTC().Format(time.TimeOnly))
	}
	return r.each(ctx, updateTimeout, "change the load of", func(ctx context.Context, g int) error {
		if len(loads[g]) == 0 {
			return nil
		}
		return r.gens[g].Engine.Update(ctx, loads[g])
	})
}

// start sets all generators going at once, and measures how far apart they were.
//
//	generator 0 ──── ready ─┐barrier┌─ Start ├──call──┤
//	generator 1 ── ready ───┘       └─ Start  ├──call──┤
//	                                          ↔ skew of the calls' middles
func (r *run) start(ctx context.Context, loads [][]engine.PortLoad) error {
	bound := LongestTraffic(r.plan.Procedure)
	r.drive.began = true
	r.drive.until = time.Now().Add(bound)
	r.note("traffic starts; whatever becomes of the runner, it stops by itself after %s, at %s", bound.Round(time.Second), r.drive.until.UTC().Format(time.RFC3339))
	middles := make([]time.Time, len(r.gens))
	barrier := newBarrier(len(r.gens))
	err := r.each(ctx, callTimeout, "start", func(ctx context.Context, g int) error {
		barrier.wait()
		if len(loads[g]) == 0 {
			return nil
		}
		called := time.Now()
		err := r.gens[g].Engine.Start(ctx, loads[g], bound)
		middles[g] = called.Add(time.Since(called) / 2)
		return err
	})
	r.reportSkew(middles)
	r.passOnRemarks()
	return err
}

// passOnRemarks notes what generators have to say of what went well.
func (r *run) passOnRemarks() {
	for _, g := range r.gens {
		if e, is := g.Engine.(engine.Remarker); is {
			for _, words := range e.Remarks() {
				r.note("generator %s: %s", g.Name, words)
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
		if !m.IsZero() {
			r.rep.Generators[g].StartSkew = plan.Duration(m.Sub(first))
		}
	}
}
