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

	"github.com/linerate-dev/linerate/internal/lab"
	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/runner"
)

// sender is how the generators of a Plan are made reachable, and what drives them: on this machine, and from a runner's pod.
type sender struct {
	// here is the site where a Plan can be run on this machine, or what of the Plan or the flags can't be had there; nil: pods are needed.
	here func(p *plan.Plan, o runOptions) (site, error)
	// inLab opens, in the lab's child process, what here's site drives; nil: no lab is built for it.
	inLab func(talk io.Writer, at lab.Bench) (lab.Engine, error)
	// reach connects to all generators of the job's Plan within patience. What it returns is there to be left also with an error.
	reach func(ctx context.Context, j runnerJob, patience time.Duration) (reachable, error)
}

// senders are all that can carry a Plan's load out. It is the one place here that knows which there are.
var senders = map[plan.Sender]sender{
	{Traffic: plan.TrafficFrames, Engine: plan.EngineTRex}:     {here: nil, reach: reachFrames},
	{Traffic: plan.TrafficFrames, Engine: plan.EngineSoftware}: {here: labHere, inLab: openSoftware, reach: reachFrames},
	{Traffic: plan.TrafficFrames, Engine: plan.EngineExternal}: {here: externalHere, reach: reachFrames},

	{Traffic: plan.TrafficSessions, Engine: plan.EngineSoftware}: {here: sessionsHere, inLab: openEnds, reach: reachSessions},
}

// openInLab opens what the list has for a lab.
func openInLab(talk io.Writer) lab.OpenEngine {
	return func(_ context.Context, sends plan.Sender, at lab.Bench) (lab.Engine, error) {
		s, known := senders[sends]
		if !known || s.inLab == nil {
			return nil, fmt.Errorf("engine %q has no lab on this machine for traffic of type %s", sends.Engine, sends.Traffic)
		}
		return s.inLab(talk, at)
	}
}

// senderOf is what carries a Plan's load out, or says that nothing here does: a newer linerate's Plan would be measured by something else than it says.
func senderOf(p *plan.Plan) (sender, error) {
	sends := p.Sender()
	s, known := senders[sends]
	if known {
		return s, nil
	}
	var can []string
	for k := range senders {
		if k.Traffic == sends.Traffic {
			can = append(can, k.Engine)
		}
	}
	slices.Sort(can)
	return sender{}, fmt.Errorf("engine %q is not known here for traffic of type %s; this linerate knows %s: use one of these, or the linerate that wrote the plan", sends.Engine, sends.Traffic, strings.Join(can, ", "))
}

// site is where a plan can be run on this machine: it hands out a driver of the plan's generators.
type site interface {
	// enter makes the generators reachable; with force their ports are taken from other owners. leave gives back everything.
	enter(ctx context.Context, talk io.Writer, force bool) (driver runner.Driver, leave func(), err error)
	// shared are the physical ports that several of its interfaces are on, as sentences; known once it was entered.
	shared() []string
}

// siteOf chooses the site; its error is bad input.
func siteOf(p *plan.Plan, o runOptions) (site, error) {
	if o.sites != nil {
		return o.sites(p)
	}
	s, err := senderOf(p)
	switch {
	case err != nil:
		return nil, err
	case s.here == nil:
		return nil, errors.New(onlyInPods(p.Engine))
	}
	return s.here(p, o)
}

// onlyInPods is why an engine can't send from this machine.
func onlyInPods(engine string) string {
	return fmt.Sprintf("engine %s runs in pods, which need a cluster (kubectl apply): use engine Software, or External for a TRex that already runs", engine)
}

// reachable are a Plan's generators as the runner's pod reached them.
type reachable interface {
	// driver drives them, for one run.
	driver(j runnerJob) runner.Driver
	// warnings are what there is to say of them before anything is sent, as sentences, for the log and for the Report.
	warnings() []string
	// watch keeps them from stopping by themselves, where they would, until stop is called, which returns what there is to tell. A generator that is lost meanwhile ends the run by lost, with an
	// engine.ErrLost.
	watch(ctx context.Context, begin time.Time, log *slog.Logger, lost context.CancelCauseFunc) (stop func() []report.Note)
	// describe adds to the Report where they ran, and what lies behind their ports.
	describe(r *report.Report)
	// leave gives up the connections.
	leave()
}
