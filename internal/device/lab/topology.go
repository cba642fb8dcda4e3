package lab

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/device/forwarder"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/units"
)

// Kind is what the engine's ports are connected to.
type Kind string

// The kinds of lab, named as dut.type names them.
const (
	Reference Kind = "Reference" // the forwarder, in a namespace of its own
	Loopback  Kind = "Loopback"  // each other, as the two links of a pair are the ends of one cable
	Device    Kind = "Device"    // real interfaces of this machine, cabled to a real device, or to each other
)

// Topology is what to build, the engine's ports in order, and what is at their other ends.
type Topology struct {
	Kind  Kind   `json:"kind"`
	Links []Link `json:"links"`
	// Directions are between links, by name.
	Directions []forwarder.Direction `json:"directions"`
	Forwarding plan.Forwarding       `json:"forwarding,omitempty"`
	Limit      *plan.Limit           `json:"limit,omitempty"`
	Mode       *plan.Mode            `json:"mode,omitempty"`
	// Cores is how many threads may send on each port. Zero is one.
	Cores int `json:"cores,omitempty"`
	// Path is how the software engine sends, as generator.software.path names it. Empty leaves the choice to the
	// engine. Batch is how many live frames the kernel sends as one batch. Zero is the engine's default.
	Path  string `json:"path,omitempty"`
	Batch int    `json:"batch,omitempty"`
	// AcceptsXDP prepares the far ends of the lab's cables for frames that the engine sends by XDP (netif.AcceptXDP).
	AcceptsXDP bool `json:"takesXDP,omitempty"`
	// Sends names the engine and kind of traffic that the child opens on the ports.
	Sends plan.Sender `json:"sends"`
	// Ends gives each link's end a namespace of its own, with a program that speaks TCP, as within one namespace
	// the kernel would take a shorter way between its own addresses than through the device.
	Ends bool `json:"ends,omitempty"`
	// MTU of the virtual cables, so that the largest frame of the plan fits.
	MTU int `json:"mtu"`
	// Largest is the size of the plan's largest frame, in bytes without FCS. Zero leaves the frames to the kernels.
	Largest int `json:"largest,omitempty"`
}

// Link is one of the engine's ports, port N of Links[N].
type Link struct {
	Name string `json:"name"`
	// Interface is the engine's. The forwarder's, in its own namespace, has the same name.
	Interface string        `json:"interface"`
	Speed     units.BitRate `json:"speed,omitempty"` // what the port reports, 0 for the interface's own

	Generator    []netip.Prefix `json:"generator,omitempty"`
	GeneratorMAC forwarder.MAC  `json:"generatorMAC,omitempty"`
	Networks     []netip.Prefix `json:"networks,omitempty"`
	DUT          []netip.Prefix `json:"dut,omitempty"`
	DUTMAC       forwarder.MAC  `json:"dutMAC,omitempty"`
	VLAN         uint16         `json:"vlan,omitempty"`
}

// Options are the settings of a run on this machine that aren't in the Plan.
type Options struct {
	// Ports are the interfaces to use for a Device, one for each link, in the links' order.
	Ports []string
	// Cores, Path and Batch are as in Topology.
	Cores int
	Path  string
	Batch int
	// AcceptsXDP is set where the engine may send by XDP, as the far ends of virtual cables drop such frames
	// unless they are prepared for them.
	AcceptsXDP bool
	// Ends is set where each link has an end of sessions in a namespace of its own, instead of one generator with
	// all ports.
	Ends bool
}

// TopologyOf is what to build for a Plan, or a *Fault of reason BadInput that says why one machine can't.
func TopologyOf(p *plan.Plan, o Options) (Topology, error) {
	if len(p.Generators) != 1 && !o.Ends {
		return Topology{}, badInput("generator.replicas: the plan has %d; on this machine there is one generator: "+
			"set it to 1", len(p.Generators))
	}
	t := Topology{Kind: Kind(p.DUT.Type), Forwarding: p.DUT.Forwarding, MTU: mtuFor(p), Largest: p.LargestFrame(),
		Cores: o.Cores, Path: o.Path, Batch: o.Batch, AcceptsXDP: o.AcceptsXDP, Sends: p.Sender(), Ends: o.Ends}
	if t.Kind == Loopback && len(o.Ports) > 0 {
		t.Kind = Device // the cables are there
	}
	if p.DUT.Reference != nil {
		t.Limit, t.Mode = p.DUT.Reference.Limit, p.DUT.Reference.Mode
	}
	for _, d := range p.Directions {
		t.Directions = append(t.Directions, forwarder.Direction{From: d.From, To: d.To})
	}
	for i, l := range p.Links {
		t.Links = append(t.Links, linkOf(i, l, p.Generators))
	}
	if err := t.check(p, o); err != nil {
		return Topology{}, err
	}
	for i, port := range o.Ports {
		t.Links[i].Interface = port
	}
	return t, nil
}

func linkOf(i int, l plan.Link, generators []plan.Generator) Link {
	link := Link{
		Name: l.Name, Interface: interfaceName(l.Name), Speed: l.LineRate, DUT: l.DUT.Addresses,
		GeneratorMAC: forwarder.MAC{2, 0x6c, 0x72, 0, byte(i), 2}, DUTMAC: forwarder.MAC{2, 0x6c, 0x72, 0, byte(i), 1},
	}
	for _, g := range generators {
		if port, ok := g.PortOn(l.Name); ok {
			link.Generator, link.Networks, link.VLAN = port.Addresses, port.Networks, port.VLAN
		}
	}
	return link
}

// interfaceName is the link's own name, unless the kernel has another use for it.
func interfaceName(link string) string {
	if slices.Contains([]string{"lo", "all", "default"}, link) {
		return "l-" + link
	}
	return link
}

// mtuFor is large enough for the plan's largest frame, and never smaller than Ethernet's own.
func mtuFor(p *plan.Plan) int {
	const ethernetMTU = 1500
	return max(ethernetMTU, p.LargestFrame()-ethernetHeaderBytes)
}

const (
	ethernetHeaderBytes = 14
	tagBytes            = 4
	fcsBytes            = units.FCSBytes
)

// tagBytes is how long the link's VLAN tag is.
func (l Link) tagBytes() int {
	if l.VLAN == 0 {
		return 0
	}
	return tagBytes
}

func (t Topology) check(p *plan.Plan, o Options) error {
	if t.Kind != Device && len(o.Ports) > 0 {
		return badInput("--ports: only a Device, or a Loopback's own cables, are reached over real interfaces, and "+
			"dut.type is %s: leave --ports out, or set dut.type to Device", t.Kind)
	}
	switch t.Kind {
	case Reference:
		if t.Forwarding == plan.Nothing && !t.Ends {
			return badInput("dut.role: only sessions end at the device: set traffic.type to Sessions")
		}
		return checkTags(p)
	case Loopback:
		return t.checkPairs()
	case Device:
		return t.checkPorts(o.Ports)
	default:
		return badInput("dut.type: %s needs a cluster; on this machine it can be Reference, Loopback, or Device "+
			"with --ports", t.Kind)
	}
}

func checkTags(p *plan.Plan) error {
	for _, g := range p.Generators {
		for _, port := range g.Ports {
			if port.VLAN != 0 && p.DUT.Forwarding != plan.L2 {
				return badInput("link %s: the Reference forwards %s without VLAN tags: leave vlan out, or use "+
					"forwarding L2", port.Link, p.DUT.Forwarding)
			}
		}
	}
	return nil
}

func (t Topology) checkPairs() error {
	for _, d := range t.Directions {
		for _, o := range t.Directions {
			if (o.From == d.To && o.To != d.From) || (o.To == d.From && o.From != d.To) {
				return badInput("directions %s to %s and %s to %s: a Loopback cables links in pairs: use both ways "+
					"between the same two links", d.From, d.To, o.From, o.To)
			}
		}
	}
	return nil
}

func (t Topology) checkPorts(ports []string) error {
	names := make([]string, len(t.Links))
	for i, l := range t.Links {
		names[i] = l.Name
	}
	if len(ports) != len(t.Links) {
		return badInput("--ports: %d interfaces for the %d links: give one for each, in the order %s", len(ports),
			len(t.Links), strings.Join(names, ","))
	}
	for i, port := range ports {
		if slices.Contains(ports[:i], port) {
			return badInput("--ports: %s is named twice: each link needs an interface of its own", port)
		}
	}
	return nil
}

// forwarderSpec is the forwarder's part of the topology. A limit is the only thing that loses. Without a limit
// the forwarder is overloaded like a device.
func (t Topology) forwarderSpec() forwarder.Spec {
	spec := forwarder.Spec{Forwarding: t.Forwarding, Limit: t.Limit, OwnCPU: t.Limit == nil, AcceptsXDP: t.AcceptsXDP ||
		t.sendsByXDP()}
	byName := make(map[string]string, len(t.Links))
	for _, l := range t.Links {
		byName[l.Name] = l.Interface
		spec.Links = append(spec.Links, forwarder.Link{
			Interface: l.Interface, Addresses: l.DUT, Generator: addresses(l.Generator), GeneratorMAC: l.GeneratorMAC,
			Networks: l.Networks,
		})
	}
	spec.Mode = t.Mode.ForInterfaces(byName)
	for _, d := range t.Directions {
		spec.Directions = append(spec.Directions, forwarder.Direction{From: byName[d.From], To: byName[d.To]})
	}
	return spec
}

// sendsByXDP says whether the forwarder sends by XDP, so that the far ends of its cables must be prepared for that.
func (t Topology) sendsByXDP() bool { return t.Mode != nil && t.Mode.XDP != nil }

// tunnels says whether the device is two gateways, each in a namespace of its own.
func (t Topology) tunnels() bool { return t.Mode != nil && t.Mode.Tunnel != nil }

func addresses(prefixes []netip.Prefix) []netip.Addr {
	list := make([]netip.Addr, len(prefixes))
	for i, p := range prefixes {
		list[i] = p.Addr()
	}
	return list
}

// String is the topology in a word and its links, for logs.
func (t Topology) String() string {
	names := make([]string, len(t.Links))
	for i, l := range t.Links {
		names[i] = l.Name
	}
	return fmt.Sprintf("%s(%s)", t.Kind, strings.Join(names, ","))
}
