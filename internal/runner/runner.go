// Package runner carries out a Plan with the generators it is given, and always returns a Report. It acts and waits; what it does next
// is decided by ramp, what a window is worth by measure, what frames prove by path, and what it all means by analysis.
//
//	describe ─▶ rates ─▶ claim ─▶ address ─▶ path ─▶ silence ─▶ load ─▶ drive ─▶ drain ─▶ release ─▶ analysis
//	   └──────────┴────────┴─── any of them fails, or ctx ends ──────────────┴──────────────▲
//
// Every start of traffic has a finite duration, every call a deadline, every goroutine an owner that waits for it.
package runner

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/linerate-dev/linerate/internal/analysis"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/figures"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/procedures"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// Generator is a generator of the Plan, reachable. The runner claims and releases its ports; closing the engine is the caller's.
type Generator struct {
	// Name is the Plan's name of it.
	Name   string
	Engine engine.Engine
	// PortOfLink is the index of its port on each of the Plan's links.
	PortOfLink map[string]int
	// NextHopMAC is the device's MAC on a link where it is known already; else the Plan's, else it is resolved.
	NextHopMAC map[string]engine.MAC
}

// Options are what a caller may want otherwise. The zero value works.
type Options struct {
	// Producer is linerate's own version, for the Report.
	Producer string
	// Progress is told, about once a second and at each change of phase, how the run is getting on. It is called from the goroutine
	// that called Run, and must not block.
	Progress func(Progress)
	// Force takes ports from another owner.
	Force bool
	// ForceHint is how the caller's user asks for Force, such as "--force": it ends the sentence about ports that somebody else owns.
	ForceHint string
	// Baseline is what relative criteria are compared with; nil: nothing was given.
	Baseline *report.Baseline
	// PaceEvery is how often counters are read within windows, to see how evenly generators send; 0: each 20 ms, or less often where there are
	// many generators.
	PaceEvery time.Duration
	// Limited reads what the Reference's limits counted so far, in the order of the Plan's directions; nil: nobody can. It is asked at the edges of
	// windows, at the same time as the generators, and what it can't tell in time stays unknown.
	Limited func(context.Context) ([]report.Limiter, error)
	// Logger gets state changes at Info and decisions at Debug; nil is silent.
	Logger *slog.Logger
}

// errDeadline is the cause of the end of a run that takes too long.
var errDeadline = errors.New("active deadline exceeded")

// Run carries out the plan and returns its Report, which is never nil, whatever became of the run. When ctx ends, traffic is stopped, the
// ports are given back within bounds of their own, and the Report holds what was measured until then. A cause of its end that is
// engine.ErrLost is the loss of a generator that somebody else noticed.
func Run(ctx context.Context, p *plan.Plan, gens []Generator, opts Options) *report.Report {
	r := newRun(p, gens, opts)
	if p.ActiveDeadline > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, p.ActiveDeadline.Std(), errDeadline)
		defer cancel()
	}
	err := r.carryOut(ctx)
	r.release(ctx)
	r.conclude(ctx, err)
	return r.rep
}

// NotBegun is the Report of a run that could not begin, as when a generator was never reached: a Report is written in any case. Err is
// why, ctx the one that the run would have had.
func NotBegun(ctx context.Context, p *plan.Plan, opts Options, err error) *report.Report {
	r := newRun(p, nil, opts)
	r.conclude(ctx, err)
	return r.rep
}

// run is one run's state. It is used by one goroutine; those it starts for calls in parallel end before the call returns.
type run struct {
	plan      *plan.Plan
	procedure procedure.Procedure
	gens      []Generator // in the Plan's order
	given     []Generator
	opts      Options
	log       *slog.Logger
	rep       *report.Report
	started   time.Time

	described []engine.Description
	lineRates map[string]units.BitRate
	warmups   []units.PacketRate
	full      []units.PacketRate      // per direction: a load of one
	nextHops  []map[string]engine.MAC // per generator and link
	claimed   []bool
	setup     measure.Setup

	drive    drive
	progress Progress
}

func newRun(p *plan.Plan, gens []Generator, opts Options) *run {
	now := time.Now()
	return &run{
		plan: p, procedure: procedures.Of(p.Procedure), given: gens, opts: opts, log: cmp.Or(opts.Logger, slog.New(slog.DiscardHandler)), started: now,
		lineRates: map[string]units.BitRate{},
		rep:       &report.Report{Version: report.Version, Producer: opts.Producer, Plan: p, Started: now, Baseline: opts.Baseline},
	}
}

// carryOut does everything up to the end of traffic, in order; the first error ends it.
func (r *run) carryOut(ctx context.Context) error {
	steps := []func(context.Context) error{
		r.matchGenerators,
		r.describe,
		r.resolveRates,
		r.claim,
		r.address,
		r.provePaths,
		r.listen,
		r.load,
		r.driveLoad,
	}
	for _, step := range steps {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// conclude writes how the run ended and what it means.
func (r *run) conclude(ctx context.Context, err error) {
	r.rep.Ending, r.rep.Message = endingOf(ctx, err, r.drive.began, forceHint(r.opts))
	r.rep.Finished = time.Now()
	r.rep.Result = analysis.Result(r.rep)
	r.rep.Figures = figures.Of(r.rep)
	r.rep.Verdict = analysis.Verdict(r.rep)
	if r.rep.Message != "" {
		r.note("%s: %s", r.rep.Ending, r.rep.Message)
	}
	r.note("result: %s: %s", r.rep.Result.Reason, r.rep.Result.Message)
	r.tell(func(p *Progress) { p.Phase, p.Percent, p.Message = Ended, 100, r.rep.Result.Message })
}
