package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/internal/device/lab"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/pod/collect"
	"github.com/linerate-dev/linerate/internal/run/runner"
)

// generatorKind says how generators of one engine and one kind of traffic are started and reached: on this machine, and from a runner's pod.
type generatorKind struct {
	// onThisMachine makes the site where a Plan is run on this machine, or says what of the Plan or the flags is impossible there; nil: this kind needs pods.
	onThisMachine func(p *plan.Plan, o runOptions) (site, error)
	// inLab opens the generator in the lab's child process; nil: this kind has no lab.
	inLab func(stderr io.Writer, at lab.Bench) (lab.Engine, error)
	// reach connects to all generators of the job's Plan within patience. The caller must disconnect what it returns, also with an error.
	reach func(ctx context.Context, j runnerJob, patience time.Duration) (reachable, error)
}

// generatorKinds are all kinds that can send a Plan's load. No other place in this package lists them.
var generatorKinds = map[plan.Sender]generatorKind{
	{Traffic: plan.TrafficFrames, Engine: plan.EngineTRex}:     {onThisMachine: nil, reach: reachFrames(dialTRex)},
	{Traffic: plan.TrafficFrames, Engine: plan.EngineSoftware}: {onThisMachine: newLabSite, inLab: openSoftware, reach: reachFrames(dialWithKey)},
	{Traffic: plan.TrafficFrames, Engine: plan.EngineExternal}: {onThisMachine: newExternalSite, reach: reachFrames(dialAllowed)},

	{Traffic: plan.TrafficSessions, Engine: plan.EngineSoftware}: {onThisMachine: newSessionsSite, inLab: openEnds, reach: reachSessions},
}

// openInLab opens a generator of any kind in the lab's child process.
func openInLab(stderr io.Writer) lab.OpenEngine {
	return func(_ context.Context, sends plan.Sender, at lab.Bench) (lab.Engine, error) {
		s, known := generatorKinds[sends]
		if !known || s.inLab == nil {
			return nil, fmt.Errorf("engine %q has no lab on this machine for traffic of type %s", sends.Engine, sends.Traffic)
		}
		return s.inLab(stderr, at)
	}
}

// kindOf is the kind that a Plan asks for. A Plan of a newer linerate may ask for one that isn't known here, which is an error.
func kindOf(p *plan.Plan) (generatorKind, error) {
	sends := p.Sender()
	s, known := generatorKinds[sends]
	if known {
		return s, nil
	}
	var can []string
	for k := range generatorKinds {
		if k.Traffic == sends.Traffic {
			can = append(can, k.Engine)
		}
	}
	slices.Sort(can)
	return generatorKind{}, fmt.Errorf("engine %q is not known here for traffic of type %s; this linerate knows %s: use one of these, or the linerate that wrote the plan", sends.Engine, sends.Traffic, strings.Join(can, ", "))
}

// site is where a Plan is run: a lab on this machine, or TRex servers that already run.
type site interface {
	// start makes the generators ready and returns their driver; with force it takes their ports from other owners. stop releases everything that start took.
	start(ctx context.Context, stderr io.Writer, force bool) (driver runner.Driver, stop func(), err error)
	// sharedPorts are sentences about the physical ports that several of the site's interfaces share; they are known after start.
	sharedPorts() []string
}

// siteOf chooses a Plan's site; its error is bad input.
func siteOf(p *plan.Plan, o runOptions) (site, error) {
	if err := collect.Check(p.Asking(), collect.Folder(o.credentials)); err != nil {
		return nil, err
	}
	if o.sites != nil {
		return o.sites(p)
	}
	s, err := kindOf(p)
	switch {
	case err != nil:
		return nil, err
	case s.onThisMachine == nil:
		return nil, errors.New(onlyInPods(p.Engine))
	}
	return s.onThisMachine(p, o)
}

// onlyInPods is the error for an engine that can't send from this machine.
func onlyInPods(engine string) string {
	return fmt.Sprintf("engine %s runs in pods, which need a cluster (kubectl apply): use engine Software, or External for a TRex that already runs", engine)
}

// reachable are a Plan's generators, connected from the runner's pod.
type reachable interface {
	// driver makes their driver, for one run.
	driver(j runnerJob) runner.Driver
	// warnings are sentences about them for the log and the Report, known before anything is sent.
	warnings() []string
	// keepAlive keeps them from stopping by themselves, until stop is called, which returns notes for the Report. A generator that is lost meanwhile ends the run: lost gets an
	// engine.ErrLost.
	keepAlive(ctx context.Context, begin time.Time, log *slog.Logger, lost context.CancelCauseFunc) (stop func() []report.Note)
	// describe adds to the Report where they ran, and what is behind their ports.
	describe(r *report.Report)
	// disconnect closes the connections.
	disconnect()
}
