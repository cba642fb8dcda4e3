package fabric

import (
	"crypto/sha256"
	"fmt"
	"net"
	"regexp"

	"github.com/linerate-dev/linerate/test/rigs/fabric/vf"
)

// Spec is a whole fabric.
type Spec struct {
	// Name distinguishes fabrics on one machine. It is up to 32 lower-case letters, digits and -.
	Name  string
	Nodes []Node
	Wires []Wire
	// MTU of all ports. 0 means 1500.
	MTU int
}

// Node is a machine that ports are in.
type Node struct {
	Name string
	// Namespace is the path of the node's network namespace, such as /proc/PID/ns/net or a bind mount.
	Namespace string
	// Root is where the node's file system is seen from here, as in /proc/PID/root. Lay then writes the inventory to
	// vf.StateDir below it. With "" Lay writes none.
	Root string
}

// Wire joins ports.
type Wire struct {
	// Name of at most 8 lower-case letters and digits, with which the names of the wire's interfaces begin.
	Name  string
	Ports []Port
}

// Port is a network card's port in a node.
type Port struct {
	Node string
	// Resource is what pods request to get one of its functions, as in linerate.dev/sriov-west. Several ports may
	// be of one.
	Resource string
	// Functions is how many virtual functions the port has, 1 to 64.
	Functions int
	// NUMA is the node's NUMA node that the card is in, -1 if unknown. With one that the machine doesn't have, a
	// kubelet with the topologyManagerPolicy single-numa-node refuses pods (TopologyAffinityError).
	NUMA int
	// Shared has device-info name the physical port of the functions, as that of cards does whose functions share a
	// port's bandwidth. LoadTests then keep off each other, also where they are on different functions. Otherwise
	// device-info names no port, which is the truth, as veths share nothing but the CPU.
	Shared bool
}

const (
	maxFunctions = 64 // eight PCI devices of eight functions
	maxPorts     = 200
	firstBus     = 0x03
	defaultMTU   = 1500
)

var (
	fabricName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}$`)
	wireName   = regexp.MustCompile(`^[a-z][a-z0-9]{0,7}$`)
)

// Across is the usual lab. Each wire has one port in each node, of the resource ResourceOf names.
func Across(name string, nodes []Node, functions int, wires ...string) Spec {
	s := Spec{Name: name, Nodes: nodes}
	for _, w := range wires {
		wire := Wire{Name: w}
		for _, n := range nodes {
			wire.Ports = append(wire.Ports, Port{Node: n.Name, Resource: ResourceOf(w), Functions: functions, NUMA: -1})
		}
		s.Wires = append(s.Wires, wire)
	}
	return s
}

// ResourceOf is what Across names the resource of a wire's ports.
func ResourceOf(wire string) string { return "linerate.dev/sriov-" + wire }

// Check names the first thing that can't be laid.
func (s Spec) Check() error {
	if !fabricName.MatchString(s.Name) {
		return fmt.Errorf("fabric %q: a name is 1 to 32 lower-case letters, digits and -", s.Name)
	}
	nodes := map[string]bool{}
	for _, n := range s.Nodes {
		if n.Name == "" || n.Namespace == "" || nodes[n.Name] {
			return fmt.Errorf("fabric %s: node %q: each needs a name of its own and the path of a network namespace",
				s.Name, n.Name)
		}
		nodes[n.Name] = true
	}
	wires, ports := map[string]bool{}, 0
	for _, w := range s.Wires {
		if !wireName.MatchString(w.Name) || wires[w.Name] {
			return fmt.Errorf("fabric %s: wire %q: each needs a name of its own, of 1 to 8 lower-case letters and "+
				"digits, beginning with a letter", s.Name, w.Name)
		}
		wires[w.Name] = true
		ports += len(w.Ports)
		for i, p := range w.Ports {
			if !nodes[p.Node] {
				return fmt.Errorf("fabric %s: wire %s: port %d: there is no node %q", s.Name, w.Name, i, p.Node)
			}
			if p.Functions < 1 || p.Functions > maxFunctions {
				return fmt.Errorf("fabric %s: wire %s: port %d: %d functions: 1 to %d are possible", s.Name, w.Name, i,
					p.Functions, maxFunctions)
			}
		}
	}
	if ports > maxPorts {
		return fmt.Errorf("fabric %s: %d ports: at most %d have PCI addresses", s.Name, ports, maxPorts)
	}
	for _, n := range s.Nodes {
		if err := s.Inventory(n.Name).Check(); err != nil {
			return fmt.Errorf("fabric %s: node %s: %w", s.Name, n.Name, err)
		}
	}
	return nil
}

// Inventory is what a node has.
func (s Spec) Inventory(node string) vf.Inventory {
	var i vf.Inventory
	indexes := map[string]int{}
	for _, p := range s.ports() {
		if p.Node != node {
			continue
		}
		if _, ok := indexes[p.Resource]; !ok {
			indexes[p.Resource] = len(i.Resources)
			i.Resources = append(i.Resources, vf.Resource{Name: p.Resource})
		}
		pool := &i.Resources[indexes[p.Resource]]
		pool.Devices = append(pool.Devices, p.devices...)
	}
	return i
}

// port is a Port with what follows from its place in the Spec.
type port struct {
	Port
	wire    string
	name    string // "westp0"
	devices []vf.Device
}

func (s Spec) ports() []port {
	var ports []port
	for _, w := range s.Wires {
		for i, p := range w.Ports {
			ports = append(ports, s.port(w.Name, i, len(ports), p))
		}
	}
	return ports
}

func (s Spec) port(wire string, index, bus int, p Port) port {
	complete := port{Port: p, wire: wire, name: fmt.Sprintf("%sp%d", wire, index)}
	mtu := s.MTU
	if mtu == 0 {
		mtu = defaultMTU
	}
	for k := range p.Functions {
		name := fmt.Sprintf("%sv%d", complete.name, k)
		complete.devices = append(complete.devices, vf.Device{
			ID:         fmt.Sprintf("0000:%02x:%02x.%d", firstBus+bus, 2+k/8, k%8),
			PF:         fmt.Sprintf("0000:%02x:00.0", firstBus+bus),
			SharesPort: p.Shared, Interface: name, NUMA: p.NUMA, MAC: s.mac(name), MTU: mtu,
			Wire: vf.Wire{Bridge: wire, Namespace: wiresNumber},
		})
	}
	return complete
}

// mac is a function's own MAC. It is locally administered, the same whenever the fabric is laid, and unique on the
// machine.
func (s Spec) mac(name string) string {
	sum := sha256.Sum256([]byte(s.Name + "/" + name))
	return net.HardwareAddr{0x02, 0x4c, sum[0], sum[1], sum[2], sum[3]}.String()
}
