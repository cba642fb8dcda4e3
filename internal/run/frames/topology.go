package frames

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/measure/path"
	"github.com/linerate-dev/linerate/internal/units"
)

// topology says which generator's port is on which link, and which generators send in a direction. It asks nobody.
//
// A replica's share of a direction leaves by one port and comes back to another. Where a generator has a port on
// every link, both ports are its own. With a generator per link, they are on two machines. Replicas keep their order
// in the Plan, so that the first sender on one link belongs to the first receiver on the other.
//
//	Paired    generator-0: west, east            west→east: generator-0 to itself
//	PerLink   generator-0-west: west             west→east: generator-0-west to generator-0-east
//	          generator-0-east: east
type topology struct {
	plan      *plan.Plan
	names     []string             // of the generators, in the Plan's order
	ports     []map[string]int     // by generator and link
	described []engine.Description // by generator
	// answers are the streams that take the place of the Plan's where a generator answers what arrived, by generator
	// and link.
	answers map[portOnLink][]stream.Stream
}

// portOnLink is a generator's port on a link.
type portOnLink struct {
	generator int
	link      string
}

// port is the description of a generator's port on a link.
func (t *topology) port(g int, link string) (engine.Port, error) {
	index := t.index(g, link)
	for _, p := range t.described[g].Ports {
		if p.Index == index {
			return p, nil
		}
	}
	return engine.Port{}, fmt.Errorf("generator %s has no port %d for link %s: it has %d ports", t.names[g], index,
		link, len(t.described[g].Ports))
}

// cautions are what the generators say of their ports on these links that may keep frames from them.
func (t *topology) cautions(links ...string) (sentences []string) {
	for g, planned := range t.plan.Generators {
		for _, p := range planned.Ports {
			if port, err := t.port(g, p.Link); err == nil && slices.Contains(links, p.Link) {
				sentences = append(sentences, port.Cautions...)
			}
		}
	}
	slices.Sort(sentences)
	return slices.Compact(sentences)
}

// noted is a message with cautions.
func noted(message string, cautions []string) string {
	return strings.Join(append([]string{message}, cautions...), ". Note: ")
}

// allPorts are all of a generator's ports that the plan uses, in ascending order.
func (t *topology) allPorts(g int) []int {
	var ports []int
	for _, p := range t.plan.Generators[g].Ports {
		ports = append(ports, t.index(g, p.Link))
	}
	slices.Sort(ports)
	return ports
}

// forwarding is how the device forwards. Without a device it is L2, as frames come back unchanged.
func (t *topology) forwarding() plan.Forwarding {
	if t.plan.DUT.Loopback() {
		return plan.L2
	}
	return t.plan.DUT.Forwarding
}

// device is the Plan's device, with the way that it really forwards.
func (t *topology) device() plan.DUT {
	d := t.plan.DUT
	d.Forwarding = t.forwarding()
	return d
}

// peerOf is the link with which a link exchanges frames. It is the one that the link sends to, else the one that it
// receives from, else itself.
func (t *topology) peerOf(link string) string {
	for _, d := range t.plan.Directions {
		if d.From == link {
			return d.To
		}
	}
	for _, d := range t.plan.Directions {
		if d.To == link {
			return d.From
		}
	}
	return link
}

func (t *topology) link(name string) plan.Link {
	for _, l := range t.plan.Links {
		if l.Name == name {
			return l
		}
	}
	return plan.Link{Name: name}
}

// planned is a generator's port on a link, as the Plan has it, with the streams that answer what arrived in place of
// the Plan's.
func (t *topology) planned(g int, link string) plan.GeneratorPort {
	for _, p := range t.plan.Generators[g].Ports {
		if p.Link == link {
			if answers, found := t.answers[portOnLink{g, link}]; found {
				p.Streams = answers
			}
			return p
		}
	}
	return plan.GeneratorPort{Link: link}
}

// burstLoads are the rates of the ports that have a share of the bursts.
func (t *topology) burstLoads(rates []units.PacketRate, frames []int64) [][]engine.PortLoad {
	loads := t.loads(rates)
	for i, d := range t.plan.Directions {
		for g := range loads {
			if t.hasPort(g, d.From) && t.shareOf(g, d, frames[i]) == 0 {
				loads[g] = slices.DeleteFunc(loads[g],
					func(l engine.PortLoad) bool { return l.Port == t.index(g, d.From) })
			}
		}
	}
	return loads
}

// weights are the generators' weights in a direction, and 0 for those that don't send there.
func (t *topology) weights(d plan.Direction) []int64 {
	weights := make([]int64, len(t.names))
	for g := range t.names {
		weights[g] = t.planned(g, d.From).Share
	}
	return weights
}

// shareOf is a generator's share of a direction's frames. The shares of all generators add up to these frames.
func (t *topology) shareOf(g int, d plan.Direction, frames int64) int64 {
	return divide(frames, t.weights(d))[g]
}

// hasPort says whether a generator has a port on a link.
func (t *topology) hasPort(g int, link string) bool {
	for _, p := range t.plan.Generators[g].Ports {
		if p.Link == link {
			return true
		}
	}
	return false
}

// partner is the generator at the other end of a replica, which has the port on the far link.
func (t *topology) partner(g int, link, far string) (int, error) {
	if t.hasPort(g, far) {
		return g, nil
	}
	place := 0 // of g among the generators that are on link, and not on far
	for i := range g {
		if t.hasPort(i, link) && !t.hasPort(i, far) {
			place++
		}
	}
	for i := range t.names {
		if t.hasPort(i, far) && !t.hasPort(i, link) {
			if place == 0 {
				return i, nil
			}
			place--
		}
	}
	return 0, fmt.Errorf("generator %s on link %s has no counterpart on link %s", t.names[g], link, far)
}

// index is the number of a generator's port on a link. The generator must have one there.
func (t *topology) index(g int, link string) int { return t.ports[g][link] }

// mac is the MAC of a generator's port on a link.
func (t *topology) mac(g int, link string) (engine.MAC, error) {
	p, err := t.port(g, link)
	return p.MAC, err
}

// senders are the generators that send in a direction, in the Plan's order.
func (t *topology) senders(d plan.Direction) []int {
	var senders []int
	for g := range t.names {
		if t.hasPort(g, d.From) {
			senders = append(senders, g)
		}
	}
	return senders
}

// loads are the loads of each generator's ports, whose sum in each direction is exactly the direction's rate. A port
// that sends nothing isn't among them.
func (t *topology) loads(rates []units.PacketRate) [][]engine.PortLoad {
	loads := make([][]engine.PortLoad, len(t.names))
	for i, d := range t.plan.Directions {
		weights := t.weights(d)
		for g, part := range rates[i].Apportion(weights...) {
			if weights[g] > 0 && part > 0 {
				loads[g] = append(loads[g], engine.PortLoad{Port: t.index(g, d.From), Rate: part})
			}
		}
	}
	return loads
}

// linkOf is the link of the port that captured a frame. It is empty if the link is none of the test's.
func (t *topology) linkOf(s path.Arrival) string {
	for g, name := range t.names {
		for _, p := range t.plan.Generators[g].Ports {
			if name == s.Generator && t.index(g, p.Link) == s.Port {
				return p.Link
			}
		}
	}
	return ""
}

// linkWith is the link on which a generator has the address. It is empty if none has it.
func (t *topology) linkWith(a netip.Addr) string {
	for _, g := range t.plan.Generators {
		for _, p := range g.Ports {
			if slices.ContainsFunc(p.Addresses, func(prefix netip.Prefix) bool { return prefix.Addr() == a }) {
				return p.Link
			}
		}
	}
	return ""
}

// linksOfPorts are the links that each generator's ports are on.
func (t *topology) linksOfPorts() []map[int]string {
	links := make([]map[int]string, len(t.names))
	for g := range t.names {
		links[g] = map[int]string{}
		for _, planned := range t.plan.Generators[g].Ports {
			links[g][t.index(g, planned.Link)] = planned.Link
		}
	}
	return links
}
