package compile

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/trex/stream"
	"github.com/linerate-dev/linerate/internal/units"
)

// defaultRPCPort is where TRex listens.
const defaultRPCPort = ":4501"

// generators gives each replica its ports, and its share of every direction's flows and rate. A replica that is spread over pods, one per
// link, is as many generators of one port each:
//
//	Paired    generator-0: west, east             generator-1: west, east
//	PerLink   generator-0-west: west              generator-1-west: west
//	          generator-0-east: east              generator-1-east: east
func (c *compiler) generators() ([]plan.Generator, []plan.Direction) {
	loads := c.loads()
	if len(c.errs) > 0 {
		return nil, nil
	}
	var generators []plan.Generator
	for r := range c.replicas() {
		generators = append(generators, c.spreadOut(c.replica(r, loads))...)
	}
	var directions []plan.Direction
	for _, d := range c.directions {
		directions = append(directions, plan.Direction{From: string(d.From), To: string(d.To), Mix: loads[string(d.From)].mix})
	}
	return generators, directions
}

// replica has a port on every link.
func (c *compiler) replica(r int, loads map[string]load) plan.Generator {
	g := plan.Generator{Name: fmt.Sprintf("generator-%d", r), Server: c.server(r)}
	for _, l := range c.links {
		g.Ports = append(g.Ports, port(l, r, loads[l.name]))
	}
	return g
}

// spreadOut parts a replica as its layout says.
func (c *compiler) spreadOut(replica plan.Generator) []plan.Generator {
	if c.spec.Generator.Layout != v1alpha1.LayoutPerLink {
		return []plan.Generator{replica}
	}
	var parts []plan.Generator
	for _, port := range replica.Ports {
		parts = append(parts, plan.Generator{Name: replica.Name + "-" + port.Link, Ports: []plan.GeneratorPort{port}})
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

// port is a replica's port on a link. A link that is no direction's source has neither streams nor a share.
func port(l link, replica int, load load) plan.GeneratorPort {
	p := plan.GeneratorPort{
		Link:      l.name,
		Addresses: []netip.Prefix{l.addresses[replica]},
		Networks:  []netip.Prefix{l.networks[replica]},
		VLAN:      l.vlan,
		ShareOf:   max(load.shareOf, 1),
	}
	if load.streams != nil {
		p.Streams, p.Share = load.streams[replica], load.share[replica]
	}
	return p
}

// server is an External replica's address, with its port.
func (c *compiler) server(replica int) string {
	if c.spec.Generator.Engine != v1alpha1.EngineExternal {
		return ""
	}
	path := specPath().Child("generator", "external", "servers").Index(replica)
	server := string(c.spec.Generator.External.Servers[replica])
	host, number, found := cutPort(server)
	if !found {
		return host + defaultRPCPort
	}
	if len(number) > 5 || len(number) == 5 && number > "65535" {
		c.refuse(path, server, fmt.Sprintf("port %s doesn't exist: use 1 to 65535, such as %s%s", number, host, defaultRPCPort))
	}
	return server
}

// cutPort parts host:port. The host of an IPv6 address keeps its brackets.
func cutPort(server string) (host, number string, found bool) {
	i := strings.LastIndexByte(server, ':')
	if i < 0 || strings.HasSuffix(server, "]") {
		return server, "", false
	}
	return server[:i], server[i+1:], true
}
