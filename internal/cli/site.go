package cli

import (
	"context"
	"errors"
	"io"
	"log/slog"

	"github.com/linerate-dev/linerate/internal/device/lab"
	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/engine/softgen/datapath"
	"github.com/linerate-dev/linerate/internal/engine/stl"
	"github.com/linerate-dev/linerate/internal/host/credential"
	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/internal/host/reception"
	"github.com/linerate-dev/linerate/internal/measure/observe"
	"github.com/linerate-dev/linerate/internal/pod/collect"
	"github.com/linerate-dev/linerate/internal/pod/job"
	"github.com/linerate-dev/linerate/internal/run/frames"
	"github.com/linerate-dev/linerate/internal/run/runner"
)

// labSite is a lab on this machine, with the software engine.
type labSite struct {
	plan     *plan.Plan
	topology lab.Topology
	ports    []string
	shared   []string // sentences about physical ports that several interfaces share
	wanted   *observe.Wanted
	// credentials is the folder with observers' credentials.
	credentials string
}

// newLabSite makes the site of a Plan whose generator is the software engine in a lab.
func newLabSite(p *plan.Plan, o runOptions) (site, error) {
	cores, path := o.sending(p)
	topology, err := lab.TopologyOf(p, lab.Options{
		Ports: o.ports, Cores: cores, Path: path, Batch: o.batch, AcceptsXDP: path == string(datapath.PathLive),
	})
	if err == nil {
		err = checkProfile(p, topology.Kind, o.ports)
	}
	return &labSite{
		plan: p, topology: topology, ports: o.ports, wanted: observe.Want(p.Observers, true),
		credentials: o.credentials,
	}, err
}

func (s *labSite) sharedPorts() []string { return s.shared }

// limitCounters reads the counters of the Reference's limits in a lab.
func limitCounters(ctx context.Context, l *lab.Lab) ([]report.Limiter, error) {
	counters, err := l.LimitCounters(ctx)
	limiters := make([]report.Limiter, len(counters))
	for i, c := range counters {
		limiters[i] = report.Limiter{Passed: c.Passed, Dropped: c.Dropped}
	}
	return limiters, err
}

func (s *labSite) start(ctx context.Context, stderr io.Writer, force bool) (runner.Driver, func(), error) {
	var claimed claims
	var err error
	if s.shared, err = claimed.claimInterfaces(s.ports, s.plan.SharedPort); err != nil {
		return nil, nil, err
	}
	claimed.claimMachine(stderr)
	l, err := lab.Start(ctx, s.topology, lab.Host{})
	if err != nil {
		claimed.release()
		return nil, nil, labError(err)
	}
	driven := job.EngineOptions(s.plan, s.wanted)
	driven.Dial = l.Key().Dialer(credential.Control)
	e, err := stl.Dial(ctx, l.Address(), driven)
	if err != nil {
		claimed.release()
		return nil, nil, exit.Worst(exit.NotMeasured("reach the software engine: %w", err), l.Close())
	}
	macs := map[string]engine.MAC{}
	for link, mac := range l.DUTMACs() {
		macs[link] = engine.MAC(mac)
	}
	watch := watchLab(l, s.ports)
	gen := frames.Generator{Name: s.plan.Generators[0].Name, Engine: e, PortOfLink: l.PortOfLink(), NextHopMAC: macs}
	options := s.options(force, l, watch)
	var forget func()
	options.Collector, forget = collectInProcess(ctx, s.plan, s.credentials)
	return frames.New([]frames.Generator{gen}, options), func() {
		forget()
		_ = errors.Join(e.Close(), l.Close())
		claimed.release()
	}, nil
}

// options are the driver's options for an engine and a device on this machine.
func (s *labSite) options(force bool, l *lab.Lab, watch machine.Watch) frames.Options {
	limited := func(ctx context.Context) ([]report.Limiter, error) { return limitCounters(ctx, l) }
	o := frames.Options{
		Force: force, Whereabouts: observe.Whereabouts{OneMachine: true, Wanted: s.wanted}, Limited: limited,
		Machine: watch.Read, Placement: placementOf(l, s.topology, s.ports),
		Reset:  resetCommand(s.plan),
		Sample: func() (func() (report.Profile, error), error) { return sampleDevice(watch) },
	}
	if s.topology.Kind == lab.Reference {
		o.Reset = l.Reset
	}
	return o
}

// placementOf reads where the device receives frames. It is nil for one that isn't on this machine.
func placementOf(l *lab.Lab, t lab.Topology, ports []string) func(context.Context) (reception.Reading, error) {
	var links []string
	for _, link := range t.Links {
		links = append(links, link.Name)
	}
	switch t.Kind {
	case lab.Reference:
		return l.Placement
	case lab.Device:
		return lab.FarPlacement(ports, links)
	case lab.Loopback:
	}
	return nil
}

// watchLab has the processes of this machine whose processor time is read. They are the engine's, and those that
// forward between the ports.
func watchLab(l *lab.Lab, ports []string) machine.Watch {
	watch := machine.Watch{Generator: l.PID()}
	if far, err := lab.FarEndOf(ports); err == nil {
		watch.Device = func(pid int) bool { return far.Holds(pid) || l.Forwards(pid) }
	}
	return watch
}

// labError adds the exit code to a lab's fault.
func labError(err error) error {
	if f, ok := errors.AsType[*lab.Fault](err); ok && f.Reason == lab.BadInput {
		return exit.BadInput("%w", err)
	}
	return exit.NotMeasured("%w", err)
}

// serversSite is generators that run already.
type serversSite struct {
	plan        *plan.Plan
	credentials string
	secretFile  string
}

// newServersSite makes the site of a Plan whose generators run already. It refuses --ports, which names ports
// of this machine.
func newServersSite(p *plan.Plan, o runOptions) (site, error) {
	if len(o.ports) > 0 {
		return nil, errors.New("--ports: servers that run already have ports of their own: leave --ports out")
	}
	if p.Procedure.Profile {
		return nil, errNoDeviceHere
	}
	return serversSite{p, o.credentials, o.secretFile}, nil
}

// sharedPorts is empty, since servers elsewhere don't report which ports they share.
func (s serversSite) sharedPorts() []string { return nil }

func (s serversSite) start(ctx context.Context, _ io.Writer, force bool) (runner.Driver, func(), error) {
	var gens []frames.Generator
	var guards []*guard
	stop := func() {
		for _, g := range gens {
			_ = g.Engine.Close()
		}
		for _, g := range guards {
			g.end()
		}
	}
	for _, g := range s.plan.Generators {
		// TRex doesn't report on its machine
		e, key, err := dialServer(ctx, g.Server, s.secretFile, job.EngineOptions(s.plan, nil))
		if err != nil {
			stop()
			return nil, nil, exit.NotMeasured("generator %s: %w", g.Name, err)
		}
		ports := map[string]int{}
		for i, p := range g.Ports {
			ports[p.Link] = i
		}
		gens = append(gens, frames.Generator{Name: g.Name, Engine: e, PortOfLink: ports})
		guarding, err := startGuard(g.Server, key, e.Session(), len(g.Ports))
		if err != nil {
			stop()
			return nil, nil, exit.NotMeasured("generator %s: %w", g.Name, err)
		}
		guards = append(guards, guarding)
	}
	options := s.options(force)
	var forget func()
	options.Collector, forget = collectInProcess(ctx, s.plan, s.credentials)
	return frames.New(gens, options), func() {
		forget()
		stop()
	}, nil
}

// options assume that each server has a machine of its own, whose name is unknown here. An observer of
// generators' nodes reads each machine, and one of the device's node reads none.
func (s serversSite) options(force bool) frames.Options {
	return frames.Options{Force: force, Reset: resetCommand(s.plan), OrphansStopWithin: guardStops}
}

// logger logs decisions if verbose is set. Nil means that it isn't.
func logger(w io.Writer, verbose bool) *slog.Logger {
	if !verbose {
		return nil
	}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// collectInProcess starts a collector in this process, for a run on this machine. latest returns its newest
// answers. It is nil if no observer reads from the network.
func collectInProcess(ctx context.Context, p *plan.Plan, credentials string) (latest func() observe.Collected,
	stop func()) {
	asking := p.Asking()
	if len(asking) == 0 {
		return nil, func() {}
	}
	c := collect.Start(ctx, asking, collect.Folder(credentials))
	return c.Newest, c.Close
}
