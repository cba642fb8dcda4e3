package compile

import (
	"fmt"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/units"
)

// generators answer which generators there are, and what each of their ports sends.
type generators struct {
	*refusals
	spec       *v1alpha1.LoadTestSpec
	engine     engine
	traffic    traffic
	links      *links
	directions *directions
	loads      *loads
	stamps     *stamps
	replicas   int
}

// plan gives each replica its ports, and its share of every direction's flows and rate. With layout PerLink,
// and for ends of sessions, each port of a replica becomes a generator of its own:
//
//	Paired    generator-0: west, east             generator-1: west, east
//	PerLink   generator-0-west: west              generator-1-west: west
//	          generator-0-east: east              generator-1-east: east
func (gs *generators) plan() ([]plan.Generator, []plan.Direction) {
	gs.stamps.check()
	loads := gs.traffic.loads(gs.loads)
	if len(gs.errs) > 0 {
		return nil, nil
	}
	var generators []plan.Generator
	for r := range gs.replicas {
		generators = append(generators, gs.spreadOut(r, gs.replica(r, loads))...)
	}
	if len(gs.errs) > 0 {
		return nil, nil
	}
	var directions []plan.Direction
	for _, d := range gs.directions.entries {
		directions = append(directions, plan.Direction{From: string(d.From), To: string(d.To),
			Mix: loads[string(d.From)].mix})
	}
	return generators, directions
}

// replica is a generator with a port on every link.
func (gs *generators) replica(r int, loads map[string]load) plan.Generator {
	g := plan.Generator{Name: fmt.Sprintf("generator-%d", r), Server: gs.engine.server(&gs.spec.Generator, r, "")}
	for _, l := range gs.links.entries {
		g.Ports = append(g.Ports, port(l, r, loads[l.name]))
	}
	if gs.stamps.stamped() {
		gs.stamps.stamp(g.Ports)
	}
	if gs.stamps.sampled() {
		gs.stamps.sample(g.Ports)
	}
	return g
}

// spreadOut splits replica r into generators by its layout, or its servers.
func (gs *generators) spreadOut(r int, replica plan.Generator) []plan.Generator {
	if !PerLink(gs.spec) {
		return []plan.Generator{replica}
	}
	var parts []plan.Generator
	for _, port := range replica.Ports {
		parts = append(parts, plan.Generator{Name: replica.Name + "-" + port.Link,
			Server: gs.engine.server(&gs.spec.Generator, r, port.Link), Ports: []plan.GeneratorPort{port}})
	}
	return parts
}

// load is what a direction carries, by replica.
type load struct {
	mix     units.Traffic
	streams [][]stream.Stream
	share   []int64
	shareOf int64
}

// port is a replica's port on a link. It has streams and a share only if the link is a direction's source.
func port(l link, replica int, load load) plan.GeneratorPort {
	p := plan.GeneratorPort{
		Link:    l.name,
		VLAN:    l.vlan,
		ShareOf: max(load.shareOf, 1),
	}
	for _, f := range l.families() {
		p.Addresses = append(p.Addresses, f.addresses[replica])
		p.Networks = append(p.Networks, f.networks[replica])
	}
	if load.streams != nil {
		p.Streams, p.Share = load.streams[replica], load.share[replica]
	}
	return p
}
