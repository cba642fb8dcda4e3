package job

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/measure/observe"
	"github.com/linerate-dev/linerate/internal/run/runner"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// runnerJob is what a runner has to do, the Plan, and where its parts run.
type runnerJob struct {
	plan  *plan.Plan
	sites plan.Sites
	// baseline is what relative criteria compare with, nil if there is none.
	baseline *report.Baseline
	// force takes ports from another owner.
	force bool
	// device is the device's node, for observers. Its vital signs are polled while the job runs.
	device deviceNode
	// wanted is what observers need from machines.
	wanted *observe.Wanted
	// collector reads observers from the network. It is polled while the job runs.
	collector collectorPod
}

// mayForce says whether the ports may be taken from any owner. Ports of the test's own pods may, as only an
// earlier runner of the test can own them. A server that runs elsewhere has other users, too, and takes ports
// only from an earlier run of this very test (engineOptions).
func mayForce(p *plan.Plan) bool { return !p.GeneratorsRunAlready() }

// measure reaches the generators, carries out the Plan, and always returns a Report.
func (j runnerJob) measure(ctx context.Context, o Options, log *slog.Logger,
	onProgress func(runner.Progress)) *report.Report {
	begin := time.Now()
	options := runner.Options{Producer: "linerate " + o.Version,
		ForceHint: "in TRex's console: acquire --force, then release", Logger: log,
		Progress: logWindows(log, onProgress), Baseline: j.baseline,
		Surroundings: j.addDevice}
	if err := CheckSender(j.plan.Sender()); err != nil {
		return runner.NotBegun(ctx, j.plan, options, err)
	}
	reached, err := reachers[j.plan.Sender()](ctx, j, o.Patience)
	defer reached.disconnect()
	options.Surroundings = func(r *report.Report) {
		j.addDevice(r)
		reached.describe(r)
	}
	if err != nil {
		return runner.NotBegun(ctx, j.plan, options, err)
	}
	for _, words := range reached.warnings() {
		log.Warn(words)
	}
	j.device = j.followDevice(ctx)
	defer j.device.stop()
	j.collector = j.followCollector(ctx)
	defer j.collector.stop()
	watched, lost := context.WithCancelCause(ctx)
	defer lost(nil)
	stop := reached.keepAlive(watched, begin, log, lost)
	r := runner.Run(watched, j.plan, reached.driver(j), options)
	r.Notes = append(r.Notes, stop()...)
	MarkShared(r, j.sites.SharedPorts)
	for _, words := range reached.warnings() {
		r.Notes = append(r.Notes, report.Note{Message: words})
	}
	slices.SortStableFunc(r.Notes, func(a, b report.Note) int { return cmp.Compare(a.Time, b.Time) })
	return r
}

// addDevice adds to the Report what ran as the device, and where.
func (j runnerJob) addDevice(r *report.Report) { r.Device = j.sites.Device }

// MarkShared adds a note to the Report for each physical port that several links' ends shared.
func MarkShared(r *report.Report, ports []string) {
	r.Answer.SharedPorts = ports
	for _, s := range ports {
		r.Notes = append(r.Notes, report.Note{Message: s +
			"; spec.sharedPort allows it: the ends shared its bandwidth while this was measured"})
	}
}

// logWindows logs each finished window as one line, and passes the progress to onProgress.
func logWindows(log *slog.Logger, onProgress func(runner.Progress)) func(runner.Progress) {
	logged := 0
	return func(p runner.Progress) {
		if w := p.Window; w != nil && w.Number > logged {
			logged = w.Number
			if measure.OfSessions(*w) {
				log.Info("window", "number", w.Number, "phase", w.Phase, "goodput",
					wording.BitRate(measure.SumSessions(w.Directions).GoodputBitsPerSecond), "quality", w.Quality,
					"reason", w.Reason)
				onProgress(p)
				return
			}
			log.Info("window", "number", w.Number, "phase", w.Phase, "asked",
				wording.PacketRate(p.IntendedPacketsPerSecond), "sent", wording.PacketRate(offered(w)),
				"received", wording.PacketRate(received(w)), "quality", w.Quality, "reason", w.Reason)
		}
		onProgress(p)
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

// deliveredProgress is a run's progress as the ConfigMap holds it.
func deliveredProgress(p runner.Progress) delivery.Progress {
	d := delivery.Progress{
		Phase: string(p.Phase), Step: p.Step, Steps: p.Steps, Varied: p.Varied, Percent: p.Percent,
		RemainingSeconds:         int64(p.Remaining.Seconds()),
		IntendedPacketsPerSecond: p.IntendedPacketsPerSecond, OfferedPacketsPerSecond: p.OfferedPacketsPerSecond,
		ReceivedPacketsPerSecond:    p.ReceivedPacketsPerSecond,
		ReceivedLayer1BitsPerSecond: p.ReceivedLayer1BitsPerSecond,
		GoodputBitsPerSecond:        p.GoodputBitsPerSecond, Message: wording.JoinNonEmpty("; ", p.Message, p.Unread),
	}
	if p.OfferedPacketsPerSecond > 0 {
		d.LossRatio = p.LossRatio.String()
	}
	return d
}
