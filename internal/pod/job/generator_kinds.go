package job

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/run/runner"
)

// A reacher connects to all generators of the job's Plan within patience. The caller must disconnect what it
// returns, also with an error.
type reacher func(ctx context.Context, j runnerJob, patience time.Duration) (reachable, error)

// reachers say how the generators of each engine and kind of traffic are reached from the runner's pod. No
// other place in this package lists them.
var reachers = map[plan.Sender]reacher{
	{Traffic: plan.TrafficFrames, Engine: plan.EngineTRex}:     reachFrames(dialTRex),
	{Traffic: plan.TrafficFrames, Engine: plan.EngineSoftware}: reachFrames(dialWithKey),

	{Traffic: plan.TrafficFrames, Engine: plan.EngineTRex, RunsAlready: true}:     reachFrames(dialAllowed),
	{Traffic: plan.TrafficFrames, Engine: plan.EngineSoftware, RunsAlready: true}: reachFrames(dialAllowed),

	{Traffic: plan.TrafficSessions, Engine: plan.EngineSoftware}:                    reachSessions,
	{Traffic: plan.TrafficSessions, Engine: plan.EngineSoftware, RunsAlready: true}: reachNoEnds,
}

// CheckSender is an error where this linerate knows no such engine for that kind of traffic. A newer linerate
// may have made the Plan.
func CheckSender(sender plan.Sender) error {
	if _, ok := reachers[sender]; ok {
		return nil
	}
	var engines []string
	for k := range reachers {
		if k.Traffic == sender.Traffic && k.RunsAlready == sender.RunsAlready {
			engines = append(engines, k.Engine)
		}
	}
	slices.Sort(engines)
	return fmt.Errorf("engine %q is not known here for traffic of type %s; this linerate knows %s: use one of these, "+
		"or the linerate that wrote the plan", sender.Engine, sender.Traffic, strings.Join(engines, ", "))
}

// reachable are a Plan's generators, connected from the runner's pod.
type reachable interface {
	// driver makes their driver, for one run.
	driver(j runnerJob) runner.Driver
	// warnings are sentences about them for the log and the Report, known before anything is sent.
	warnings() []string
	// keepAlive keeps the generators from stopping by themselves, until stop is called, which returns notes for
	// the Report. A lost generator ends the run by calling lost with an engine.ErrLost.
	keepAlive(ctx context.Context, begin time.Time, log *slog.Logger,
		lost context.CancelCauseFunc) (stop func() []report.Note)
	// describe adds to the Report where they ran, and what is behind their ports.
	describe(r *report.Report)
	// disconnect closes the connections.
	disconnect()
}
