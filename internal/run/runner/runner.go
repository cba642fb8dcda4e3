package runner

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/procedure/procedures"
	"github.com/linerate-dev/linerate/internal/result/analysis"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/result/findings"
)

// Driver carries out the steps of one run. It is used by one goroutine.
type Driver interface {
	// Prepare does all that comes before the first step, and writes what it finds into the journal, which is the
	// driver's from then on.
	Prepare(ctx context.Context, journal *Journal) error
	// Measure sends the step's load, and measures its window. It returns the window with its Load, or with an error
	// what was measured of the window, or nil. The runner fills in Number and Phase.
	Measure(ctx context.Context, step procedure.Step) (*report.Window, error)
	// Stop ends all traffic that can be reached, also when ctx has ended, and settles the Report's totals, within
	// bounds of its own. It is called after Prepare went well, whatever became of the steps.
	Stop(ctx context.Context) error
	// Release gives back what Prepare took, whatever became of the run, also when ctx has ended, within a bound of
	// its own. It is called in any case.
	Release(ctx context.Context)
}

// Options are what a caller may want otherwise. The zero value works.
type Options struct {
	// Producer is linerate's own version, for the Report.
	Producer string
	// Progress is told, about once a second and at each change of phase, how the run is getting on. It is called
	// from the goroutine that called Run, and must not block.
	Progress func(Progress)
	// ForceHint is how the caller's user asks for ports that another client owns, such as "--force". It ends the
	// sentence about them.
	ForceHint string
	// Baseline is what relative criteria are compared with, or nil if nothing was given.
	Baseline *report.Baseline
	// Surroundings adds to the Report what the driver doesn't know of where the run was, which are nodes, devices,
	// and what is behind ports. It is called once, when the run is over, before it is judged. It is nil if there is
	// nothing to add.
	Surroundings func(*report.Report)
	// Logger gets state changes at Info and decisions at Debug. Nil is silent.
	Logger *slog.Logger
}

// errDeadline is the cause of the end of a run that takes too long.
var errDeadline = errors.New("active deadline exceeded")

// Run carries out the plan and returns its Report, which is never nil, whatever became of the run. When ctx
// ends, traffic is stopped, what was taken is given back within bounds of their own, and the Report holds what
// was measured until then. A cause of its end that is engine.ErrLost is the loss of a generator that somebody
// else noticed.
func Run(ctx context.Context, p *plan.Plan, driver Driver, opts Options) *report.Report {
	r := newRun(p, opts)
	if p.ActiveDeadline > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, p.ActiveDeadline.Std(), errDeadline)
		defer cancel()
	}
	err := r.carryOut(ctx, driver)
	driver.Release(ctx)
	r.conclude(ctx, err)
	return r.Report
}

// NotBegun is the Report of a run that could not begin, as when a generator was never reached. A Report is written in
// any case. Err is the reason, and ctx the one that the run would have had.
func NotBegun(ctx context.Context, p *plan.Plan, opts Options, err error) *report.Report {
	r := newRun(p, opts)
	r.conclude(ctx, err)
	return r.Report
}

// run is one run.
type run struct {
	*Journal
	forceHint    string
	surroundings func(*report.Report)
	placements   map[int]*report.Placement // by window
}

func newRun(p *plan.Plan, opts Options) *run {
	started := time.Now()
	return &run{forceHint: opts.ForceHint, surroundings: opts.Surroundings, placements: map[int]*report.Placement{},
		Journal: &Journal{
			Plan: p, Procedure: procedures.New(p.Procedure), Started: started,
			Log: cmp.Or(opts.Logger, slog.New(slog.DiscardHandler)), listener: opts.Progress,
			Report: &report.Report{Version: report.Version, Producer: opts.Producer, Plan: p, Started: started,
				Baseline: opts.Baseline},
		}}
}

// carryOut prepares, and carries out the procedure's steps until it is done. Once anything may be sent, it ends
// with traffic stopped and totals settled, as far as the generators can be reached.
func (r *run) carryOut(ctx context.Context, driver Driver) (err error) {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := driver.Prepare(ctx, r.Journal); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, driver.Stop(ctx)) }()
	for {
		step := r.Procedure.Next(r.Report.Windows)
		if step.Reason != "" {
			r.Note("%s", step.Reason)
		}
		if step.End {
			return nil
		}
		if r.outOfTime(step) {
			r.Note("activeDeadline leaves no time for another window; the run ends with what it has found")
			return nil
		}
		if err := r.measure(ctx, driver, step); err != nil {
			return r.unlessAnswered(ctx, step, err)
		}
	}
}

// unlessAnswered is the error of a step, or nil where the deadline cut the step short and the run has an answer without
// it.
func (r *run) unlessAnswered(ctx context.Context, step procedure.Step, err error) error {
	if errors.Is(context.Cause(ctx), errDeadline) && r.outOfTime(step) {
		r.Note("activeDeadline cut the last window short; the run ends with what it has found")
		return nil
	}
	return err
}

func (r *run) outOfTime(step procedure.Step) bool {
	return procedure.OutOfTime(r.Procedure, step, r.Report.Windows, time.Since(r.Started), r.Plan.ActiveDeadline.Std())
}

// measure adds one step's window to the Report.
func (r *run) measure(ctx context.Context, driver Driver, step procedure.Step) error {
	p := &r.progress // told by the driver, together with the load
	p.Phase, p.Message, p.Step, p.Steps, p.Varied = step.Phase, step.Reason, step.Number, step.Total, step.Varied
	r.Placed = nil
	w, err := driver.Measure(ctx, step)
	if w == nil {
		return err
	}
	w.Number, w.Phase, w.Varied = len(r.Report.Windows)+1, step.Phase, step.Varied
	if r.Placed != nil {
		r.Placed.Window, r.Placed.Judged = w.Number, w.Duration
		r.placements[w.Number] = r.Placed
	}
	r.Report.Windows = append(r.Report.Windows, *w)
	r.Log.Debug("window", "number", w.Number, "phase", w.Phase, "load", w.Load, "quality", w.Quality, "reason",
		w.Reason)
	r.Update(func(p *Progress) { p.Window = &r.Report.Windows[len(r.Report.Windows)-1] })
	return err
}

// conclude writes how the run ended and what it means.
func (r *run) conclude(ctx context.Context, err error) {
	rep := r.Report
	rep.Ending, rep.Message = endingOf(ctx, err, r.Driving, remedies{r.Plan, r.forceHint})
	rep.Fault = faultOf(rep.Ending, err)
	rep.Finished = time.Now()
	if r.surroundings != nil {
		r.surroundings(rep)
	}
	rep.Environment = report.EnvironmentOf(rep)
	rep.Interruptions = append(rep.Interruptions, analysis.Outages(rep)...)
	rep.Contradictions = analysis.Contradictions(rep)
	rep.Answer = analysis.Answer(rep)
	rep.Figures = figures.Of(rep)
	rep.Verdict = analysis.Verdict(rep)
	rep.Placement = r.placements[findings.DecidingWindow(rep)]
	rep.Findings = findings.Of(rep)
	if rep.Message != "" {
		r.Note("%s: %s", rep.Ending, rep.Message)
	}
	r.Note("result: %s: %s", rep.Answer.Reason, rep.Answer.Message)
	for _, e := range rep.Answer.Evidence {
		r.Note("evidence: %s", e)
	}
	r.Update(func(p *Progress) { p.Phase, p.Percent, p.Message = Ended, 100, rep.Answer.Message })
}
