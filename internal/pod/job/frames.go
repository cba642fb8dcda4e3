package job

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/engine/stl"
	"github.com/linerate-dev/linerate/internal/engine/trex"
	"github.com/linerate-dev/linerate/internal/host/bounded"
	"github.com/linerate-dev/linerate/internal/host/credential"
	"github.com/linerate-dev/linerate/internal/measure/observe"
	"github.com/linerate-dev/linerate/internal/pod/launch"
	"github.com/linerate-dev/linerate/internal/run/frames"
	"github.com/linerate-dev/linerate/internal/run/runner"
)

// reached are the connected generators of a Plan whose traffic is frames, in the Plan's order. A generator is a
// TRex, wherever it runs, or the software engine.
type reached []generatorAt

// generatorAt is one connected generator.
type generatorAt struct {
	site      plan.Site
	engine    *stl.Engine
	heartbeat *launch.HeartbeatConn // sends the heartbeats that its launcher needs, nil if it needs none
	devices   launch.Report         // what its launcher reported of its ports
}

// A dialer makes connections to generators. Nil makes plain ones over TCP.
type dialer func(ctx context.Context, address string) (net.Conn, error)

// dialTRex makes plain connections, as TRex asks for no key.
func dialTRex(plan.Sites) (dialer, error) { return nil, nil }

// dialWithKey proves the attempt's key to our own engine in the test's pods.
func dialWithKey(sites plan.Sites) (dialer, error) {
	return sites.Key.DialerOrPlain(credential.Control), nil
}

// reachFrames reaches generators of frames, by connections of that kind.
func reachFrames(
	dial func(plan.Sites) (dialer, error)) func(context.Context, runnerJob, time.Duration,
) (reachable, error) {
	return func(ctx context.Context, j runnerJob, patience time.Duration) (reachable, error) {
		options, err := j.engineOptions(dial)
		if err != nil {
			return make(reached, len(j.plan.Generators)), err
		}
		return j.reachAll(ctx, options, patience)
	}
}

// reachAll dials all generators at once, each for as long as patience, since a ready pod may become reachable
// only a moment later.
func (j runnerJob) reachAll(ctx context.Context, options stl.Options, patience time.Duration) (reachable, error) {
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	generators := make(reached, len(j.plan.Generators))
	errs := make([]error, len(generators))
	var wg sync.WaitGroup
	for i, g := range j.plan.Generators {
		wg.Go(func() {
			site, err := j.siteOf(g)
			if err == nil {
				generators[i], err = reachOne(bounded, site, j.sites.Key, options)
			}
			if err != nil {
				errs[i] = fmt.Errorf("generator %s: %w", g.Name, err)
			}
		})
	}
	wg.Wait()
	return generators, errors.Join(errs...)
}

// EngineOptions are the options of the connection to a generator that follow from the Plan.
func EngineOptions(p *plan.Plan, wanted *observe.Wanted) stl.Options {
	return stl.Options{Processors: p.Observes(plan.ObserveProcessors), Signs: wanted.OfGenerators}
}

// engineOptions are EngineOptions of the test. They have a user of the test's own, so the generator itself
// knows whose ports it has, and takes them from an earlier run of the test for this one.
func (j runnerJob) engineOptions(dial func(plan.Sites) (dialer, error)) (o stl.Options, err error) {
	o = EngineOptions(j.plan, j.wanted)
	if uid := j.plan.Test.UID; uid != "" {
		o.User, o.Reclaims = trex.UserOfTest+manifests.DigestOfUID(uid), true
	}
	o.Dial, err = dial(j.sites)
	return o, err
}

// siteOf is where a generator runs. A generator that the operator didn't find has the server of its Plan, with
// its ports in the links' order.
func (j runnerJob) siteOf(g plan.Generator) (plan.Site, error) {
	i := slices.IndexFunc(j.sites.Generators, func(s plan.Site) bool { return s.Generator == g.Name })
	if i >= 0 {
		return j.sites.Generators[i], nil
	}
	if g.Server == "" {
		return plan.Site{}, fmt.Errorf("%w: its address isn't known (%s)", engine.ErrIncompatible, delivery.KeySites)
	}
	s := plan.Site{Generator: g.Name, RPC: g.Server, PortOfLink: map[string]int{}}
	for i, link := range j.plan.Links {
		s.PortOfLink[link.Name] = i
	}
	return s, nil
}

// dialPause is the pause between two tries to reach a generator.
const dialPause = time.Second

// reachOne tries until the generator and its launcher answer, or ctx ends. An answer that isn't a generator's
// ends the tries at once.
func reachOne(ctx context.Context, site plan.Site, key credential.Key, o stl.Options) (g generatorAt, err error) {
	g.site = site
	for {
		g.engine, err = stl.Dial(ctx, site.RPC, o)
		if forbidden, ok := errors.AsType[*notAllowedError](err); ok {
			return g, fmt.Errorf("server %s: %w", site.RPC, forbidden)
		}
		if err == nil || !errors.Is(err, engine.ErrLost) {
			break
		}
		if bounded.Pause(ctx, dialPause) != nil {
			break
		}
	}
	if err != nil || site.Heartbeat == "" {
		return g, err
	}
	for {
		if g.heartbeat, err = launch.DialHeartbeat(ctx, site.Heartbeat, key); err == nil {
			g.devices = g.heartbeat.Report()
			return g, nil
		}
		if bounded.Pause(ctx, dialPause) != nil {
			return g, fmt.Errorf("%w: its launcher can't be reached, and would stop all traffic: %w; does a "+
				"NetworkPolicy keep the runner's pod from that port?", engine.ErrLost, err)
		}
	}
}

// disconnect closes the connections.
func (r reached) disconnect() {
	for _, g := range r {
		if g.engine != nil {
			_ = g.engine.Close()
		}
		if g.heartbeat != nil {
			_ = g.heartbeat.Close()
		}
	}
}

// launchersStop is how long after the runner's death its generators' launchers have stopped the traffic.
const launchersStop = launch.DefaultHeartbeatTimeout + 5*time.Second

// driver makes the driver of these generators. The driver takes ports from other owners where the job may.
func (r reached) driver(j runnerJob) runner.Driver {
	var gens []frames.Generator
	for i, g := range r {
		macs := map[string]engine.MAC{}
		for link, mac := range g.site.NextHopMAC {
			macs[link] = engine.MAC(mac)
		}
		gens = append(gens, frames.Generator{Name: j.plan.Generators[i].Name, Engine: g.engine,
			PortOfLink: g.site.PortOfLink, NextHopMAC: macs})
	}
	options := frames.Options{Force: j.force, Whereabouts: j.whereabouts(), Reset: j.reset()}
	if !slices.ContainsFunc(r, func(g generatorAt) bool { return g.site.Heartbeat == "" }) {
		options.OrphansStopWithin = launchersStop
	}
	return frames.New(gens, options)
}

// keepAlive sends heartbeats to all launchers, so that none stops its traffic, until stop is called, which
// returns notes for the Report. A lost launcher ends the run.
func (r reached) keepAlive(ctx context.Context, begin time.Time, log *slog.Logger,
	lost context.CancelCauseFunc) (stop func() []report.Note) {
	beating, end := context.WithCancel(context.WithoutCancel(ctx))
	var senders sync.WaitGroup
	var notes []report.Note
	var mutex sync.Mutex
	for i, g := range r {
		if g.heartbeat == nil {
			continue
		}
		r[i].heartbeat = nil // SendHeartbeats closes it
		senders.Go(func() {
			err := launch.SendHeartbeats(beating, g.heartbeat, g.site.Heartbeat, func(message string) {
				log.Warn(message, "generator", g.site.Generator)
				mutex.Lock()
				defer mutex.Unlock()
				notes = append(notes, report.Note{Time: plan.Duration(time.Since(begin)), Message: "generator " +
					g.site.Generator + ": " + message})
			})
			if err != nil {
				lost(fmt.Errorf("generator %s: %w: %w", g.site.Generator, engine.ErrLost, err))
			}
		})
	}
	return func() []report.Note {
		end()
		senders.Wait()
		return notes
	}
}

// warnings name the physical ports that generators use and the operator doesn't know of, since the operator
// couldn't keep other tests off them.
func (r reached) warnings() (words []string) {
	for _, g := range r {
		for _, d := range g.devices.Links {
			if d.VirtualFunction && d.PhysicalPort != "" && g.site.PhysicalPort[d.Link] == "" {
				words = append(words, fmt.Sprintf("generator %s: link %s is on a virtual function of port %s, which "+
					"the operator didn't know (no device-info in Multus' network-status): "+
					"nothing kept other tests off that port", g.site.Generator, d.Link, d.PhysicalPort))
			}
		}
	}
	return words
}

// describe adds to the Report where the generators ran, and what lies behind their ports.
func (r reached) describe(document *report.Report) {
	for i := range document.Generators {
		entry, g := &document.Generators[i], r[i]
		entry.Pod, entry.Node, entry.Containers = g.site.Pod, g.site.Node, g.site.Containers
		if m := g.devices.Machine; m.Kernel != "" { // TRex itself reports only its machine's processors
			entry.Processors, entry.Kernel, entry.Hypervisor, entry.Tuning, entry.Allowed = m.Processors, m.Kernel,
				m.Hypervisor, m.Tuning, m.Allowed
		}
		for p := range entry.Ports {
			port := &entry.Ports[p]
			for _, device := range g.devices.Links {
				if device.Link == port.Link {
					port.Network, port.Device, port.PhysicalPort = device.Network, device.PCIAddress,
						device.PhysicalPort
				}
			}
		}
		for _, n := range g.devices.Notices {
			document.Notes = append(document.Notes, report.Note{
				Time:    plan.Duration(document.Finished.Sub(document.Started)),
				Message: "generator " + entry.Name + ": " + n.Notable})
		}
	}
}
