package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/linerate-dev/linerate/internal/device/lab"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/pod/collect"
	"github.com/linerate-dev/linerate/internal/pod/job"
	"github.com/linerate-dev/linerate/internal/run/runner"
)

// localKind starts generators of one engine and one kind of traffic on this machine.
type localKind struct {
	// site makes a Plan's site. Its error says what of the Plan or the flags is impossible here.
	site func(p *plan.Plan, o runOptions) (site, error)
	// inLab opens the generator in the lab's child process. Nil means that this kind has no lab.
	inLab func(stderr io.Writer, bench lab.Bench) (lab.Engine, error)
}

// localKinds has all kinds that can send a Plan's load from this machine. Package job has those that a runner's
// pod reaches.
var localKinds = map[plan.Sender]localKind{
	{Traffic: plan.TrafficFrames, Engine: plan.EngineSoftware}: {site: newLabSite, inLab: openSoftware},

	{Traffic: plan.TrafficFrames, Engine: plan.EngineTRex, RunsAlready: true}:     {site: newServersSite},
	{Traffic: plan.TrafficFrames, Engine: plan.EngineSoftware, RunsAlready: true}: {site: newServersSite},

	{Traffic: plan.TrafficSessions, Engine: plan.EngineSoftware}: {site: newSessionsSite, inLab: openEnds},

	{Traffic: plan.TrafficSessions, Engine: plan.EngineSoftware, RunsAlready: true}: {site: newEndsSite},
}

// site is where a Plan is run. It is a lab on this machine, or servers that run already.
type site interface {
	// start makes the generators ready and returns their driver. With force it takes their ports from other owners.
	// stop
	// releases everything that start took.
	start(ctx context.Context, stderr io.Writer, force bool) (driver runner.Driver, stop func(), err error)
	// sharedPorts are sentences about the physical ports that several of the site's interfaces share. They are known
	// after
	// start.
	sharedPorts() []string
}

// siteOf chooses a Plan's site. Its error is bad input.
func siteOf(p *plan.Plan, o runOptions) (site, error) {
	if err := collect.Check(p.Asking(), collect.Folder(o.credentials)); err != nil {
		return nil, err
	}
	if o.sites != nil {
		return o.sites(p)
	}
	kind, local := localKinds[p.Sender()]
	if local {
		return kind.site(p, o)
	}
	if err := job.CheckSender(p.Sender()); err != nil {
		return nil, err
	}
	return nil, errors.New(onlyInPods(p.Engine))
}

// onlyInPods is the error for an engine that can't send from this machine.
func onlyInPods(engine string) string {
	return fmt.Sprintf("engine %s runs in pods, which need a cluster (kubectl apply): use engine Software, or name "+
		"servers that run already in generator.placement.servers", engine)
}
