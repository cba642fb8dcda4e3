package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/linerate-dev/linerate/internal/delivery"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/engine/stl"
	"github.com/linerate-dev/linerate/internal/frames"
	"github.com/linerate-dev/linerate/internal/launch"
	"github.com/linerate-dev/linerate/internal/pause"
	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/runner"
)

// reached are the generators of frames of a Plan, in its order, connected: TRex, wherever it runs, and the software engine.
type reached []generatorAt

// generatorAt is one of them.
type generatorAt struct {
	site    plan.Site
	engine  *stl.Engine
	heart   *launch.Heart // nil where its launcher wants no beats
	devices launch.Report // what its launcher said of its ports
}

// reachFrames dials all generators at once, each with patience: a pod that is ready may still take a moment to be routed to.
func reachFrames(ctx context.Context, j runnerJob, patience time.Duration) (reachable, error) {
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	all := make(reached, len(j.plan.Generators))
	errs := make([]error, len(all))
	var wg sync.WaitGroup
	for i, g := range j.plan.Generators {
		wg.Go(func() {
			site, err := j.siteOf(g)
			if err == nil {
				all[i], err = reachOne(bounded, site, engineOptions(j.plan, j.wanted))
			}
			if err != nil {
				errs[i] = fmt.Errorf("generator %s: %w", g.Name, err)
			}
		})
	}
	wg.Wait()
	return all, errors.Join(errs...)
}

// siteOf is where a generator is: as the operator found it, else where the Plan says that it runs already, its ports in the links' order.
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

// dialPause is between two tries to reach a generator.
const dialPause = time.Second

// reachOne tries until the generator answers, its launcher too, or ctx ends. What answers and is no generator is not tried again.
func reachOne(ctx context.Context, site plan.Site, o stl.Options) (g generatorAt, err error) {
	g.site = site
	for {
		if g.engine, err = stl.Dial(ctx, site.RPC, o); err == nil || !errors.Is(err, engine.ErrLost) {
			break
		}
		if pause.For(ctx, dialPause) != nil {
			break
		}
	}
	if err != nil || site.Heartbeat == "" {
		return g, err
	}
	for {
		if g.heart, err = launch.Connect(ctx, site.Heartbeat); err == nil {
			g.devices = g.heart.Report()
			return g, nil
		}
		if pause.For(ctx, dialPause) != nil {
			return g, fmt.Errorf("%w: its launcher can't be reached, and would stop all traffic: %w; can the runner's pod reach that port?", engine.ErrLost, err)
		}
	}
}

// leave gives up the connections.
func (all reached) leave() {
	for _, g := range all {
		if g.engine != nil {
			_ = g.engine.Close()
		}
		if g.heart != nil {
			_ = g.heart.Close()
		}
	}
}

// driver drives them; their ports are taken from other owners where the job may.
func (all reached) driver(j runnerJob) runner.Driver {
	var gens []frames.Generator
	for i, g := range all {
		macs := map[string]engine.MAC{}
		for link, mac := range g.site.NextHopMAC {
			macs[link] = engine.MAC(mac)
		}
		gens = append(gens, frames.Generator{Name: j.plan.Generators[i].Name, Engine: g.engine, PortOfLink: g.site.PortOfLink, NextHopMAC: macs})
	}
	return frames.New(gens, frames.Options{Force: j.force, Whereabouts: j.whereabouts(), Reset: j.reset()})
}

// watch keeps all launchers from stopping traffic, until stop is called, which returns what there is to tell. A launcher that is lost ends
// the run.
func (all reached) watch(ctx context.Context, begin time.Time, log *slog.Logger, lost context.CancelCauseFunc) (stop func() []report.Note) {
	beating, end := context.WithCancel(context.WithoutCancel(ctx))
	var hearts sync.WaitGroup
	var notes []report.Note
	var mutex sync.Mutex
	for i, g := range all {
		if g.heart == nil {
			continue
		}
		all[i].heart = nil // it is the pulse's to close
		hearts.Go(func() {
			err := launch.Pulse(beating, g.heart, g.site.Heartbeat, func(what string) {
				log.Warn(what, "generator", g.site.Generator)
				mutex.Lock()
				defer mutex.Unlock()
				notes = append(notes, report.Note{At: plan.Duration(time.Since(begin)), Message: "generator " + g.site.Generator + ": " + what})
			})
			if err != nil {
				lost(fmt.Errorf("generator %s: %w: %w", g.site.Generator, engine.ErrLost, err))
			}
		})
	}
	return func() []report.Note {
		end()
		hearts.Wait()
		return notes
	}
}

// warnings say which ports generators are on that nobody told the operator of: it couldn't keep other tests off them.
func (all reached) warnings() (words []string) {
	for _, g := range all {
		for _, d := range g.devices.Links {
			if d.VirtualFunction && d.PhysicalPort != "" && g.site.PhysicalPort[d.Link] == "" {
				words = append(words, fmt.Sprintf("generator %s: link %s is on a virtual function of port %s, of which the operator wasn't told (no device-info in Multus' network-status): "+
					"nothing kept other tests off that port", g.site.Generator, d.Link, d.PhysicalPort))
			}
		}
	}
	return words
}

// describe adds to the Report where the generators ran, and what lies behind their ports.
func (all reached) describe(r *report.Report) {
	for i := range r.Generators {
		entry, g := &r.Generators[i], all[i]
		entry.Pod, entry.Node, entry.Containers = g.site.Pod, g.site.Node, g.site.Containers
		if m := g.devices.Machine; m.Kernel != "" { // TRex itself tells of no machine but its processors
			entry.Processors, entry.Kernel, entry.Hypervisor, entry.Tuning, entry.Allowed = m.Processors, m.Kernel, m.Hypervisor, m.Tuning, m.Allowed
		}
		for p := range entry.Ports {
			port := &entry.Ports[p]
			for _, device := range g.devices.Links {
				if device.Link == port.Link {
					port.Network, port.Device, port.PhysicalPort = device.Network, device.PCIAddress, device.PhysicalPort
				}
			}
		}
		for _, n := range g.devices.Notices {
			r.Notes = append(r.Notes, report.Note{At: plan.Duration(r.Finished.Sub(r.Started)), Message: "generator " + entry.Name + ": " + n.What})
		}
	}
}
