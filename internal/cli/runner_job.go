package cli

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/delivery"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/observe"
	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/progress"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/runner"
	"github.com/linerate-dev/linerate/internal/wording"
)

// runnerJob is what a runner was given.
type runnerJob struct {
	plan  *plan.Plan
	sites plan.Sites
	// baseline is what relative criteria are compared with; nil: nothing.
	baseline *report.Baseline
	// force takes ports from another owner.
	force bool
	// device is the device's node, for observers; it is asked while the job runs.
	device deviceNode
	// wanted is what observers want to know of machines.
	wanted *observe.Wanted
	// collector asks over the network, for observers; it is heard while the job runs.
	collector collectorPod
}

// mayForce says whether the ports may be taken from another owner. Those of the test's own pods may: only an earlier runner can have them.
// A server that runs elsewhere is somebody else's too, so its ports are taken only where an earlier run of this very test may have left them.
func mayForce(p *plan.Plan, attempt, run int) bool {
	return !p.GeneratorsRunAlready() || attempt > 1 || run > 1
}

// measure reaches the generators, carries out the Plan, and always returns a Report.
func (j runnerJob) measure(ctx context.Context, o runnerOptions, log *slog.Logger, tell func(runner.Progress)) *report.Report {
	begin := time.Now()
	options := runner.Options{Producer: producer(), ForceHint: "in TRex's console: acquire --force, then release", Logger: log, Progress: logWindows(log, tell), Baseline: j.baseline,
		Surroundings: j.tellDevice}
	sender, err := senderOf(j.plan)
	if err != nil {
		return runner.NotBegun(ctx, j.plan, options, err)
	}
	reached, err := sender.reach(ctx, j, o.patience)
	defer reached.leave()
	options.Surroundings = func(r *report.Report) {
		j.tellDevice(r)
		reached.describe(r)
	}
	if err != nil {
		return runner.NotBegun(ctx, j.plan, options, err)
	}
	for _, words := range reached.warnings() {
		log.Warn(words)
	}
	j.device = j.askDevice(ctx)
	defer j.device.leave()
	j.collector = j.askCollector(ctx)
	defer j.collector.leave()
	watched, lost := context.WithCancelCause(ctx)
	defer lost(nil)
	stop := reached.watch(watched, begin, log, lost)
	r := runner.Run(watched, j.plan, reached.driver(j), options)
	r.Notes = append(r.Notes, stop()...)
	markShared(r, j.sites.SharedPorts)
	for _, words := range reached.warnings() {
		r.Notes = append(r.Notes, report.Note{Message: words})
	}
	slices.SortStableFunc(r.Notes, func(a, b report.Note) int { return cmp.Compare(a.At, b.At) })
	return r
}

// tellDevice says in the Report what ran as the device, and where.
func (j runnerJob) tellDevice(r *report.Report) { r.Device = j.sites.Device }

// markShared says in the Report that ends of the links shared physical ports.
func markShared(r *report.Report, ports []string) {
	r.Result.SharedPorts = ports
	for _, s := range ports {
		r.Notes = append(r.Notes, report.Note{Message: s + "; spec.sharedPort allows it: the figures are of ends that share its bandwidth"})
	}
}

// logWindows logs each finished window as one line, and passes the progress on.
func logWindows(log *slog.Logger, tell func(runner.Progress)) func(runner.Progress) {
	logged := 0
	return func(p runner.Progress) {
		if w := p.Window; w != nil && w.Number > logged {
			logged = w.Number
			if measure.OfSessions(*w) {
				log.Info("window", "number", w.Number, "phase", w.Phase, "goodput", wording.BitRate(measure.SumSessions(w.Directions).GoodputBitsPerSecond), "quality", w.Quality, "reason", w.Reason)
				tell(p)
				return
			}
			log.Info("window", "number", w.Number, "phase", w.Phase, "asked", progress.Rate(p.IntendedPacketsPerSecond), "sent", progress.Rate(offered(w)),
				"received", progress.Rate(received(w)), "quality", w.Quality, "reason", w.Reason)
		}
		tell(p)
	}
}

func offered(w *report.Window) (total int64) {
	for _, d := range w.Directions {
		total += d.Offered.PacketsPerSecond
	}
	return total
}

func received(w *report.Window) (total int64) {
	for _, d := range w.Directions {
		total += d.Received.PacketsPerSecond
	}
	return total
}

// deliveredProgress is a run's progress as it travels.
func deliveredProgress(p runner.Progress) delivery.Progress {
	d := delivery.Progress{
		Phase: string(p.Phase), Step: p.Step, Steps: p.Steps, Varied: p.Varied, Percent: p.Percent, RemainingSeconds: int64(p.Remaining.Seconds()),
		IntendedPacketsPerSecond: p.IntendedPacketsPerSecond, OfferedPacketsPerSecond: p.OfferedPacketsPerSecond,
		ReceivedPacketsPerSecond: p.ReceivedPacketsPerSecond, ReceivedLayer1BitsPerSecond: p.ReceivedLayer1BitsPerSecond,
		GoodputBitsPerSecond: p.GoodputBitsPerSecond, Message: p.Message,
	}
	if p.OfferedPacketsPerSecond > 0 {
		d.LossRatio = p.LossRatio.String()
	}
	return d
}
