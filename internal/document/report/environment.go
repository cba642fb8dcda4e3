package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/plan"
)

// Environment is what must be the same for two figures to be compared, beside the way in which they were measured
// (the Plan's method), which is what generated, on which machines, through which network cards. It follows from the
// Report's other members, and travels in one block with what is kept of a run. A member that is empty isn't known.
type Environment struct {
	// Linerate is the version of linerate that measured, such as "linerate v0.2.0".
	Linerate   string                 `json:"linerate,omitempty"`
	Generators []GeneratorEnvironment `json:"generators,omitempty"`
	// Device is the machine that the device under test ran on. It is nil where it isn't known, or is the
	// generator's own.
	Device *Machine `json:"device,omitempty"`
	// DeviceMode is the real device that a Reference was, and the kernel that it ran on, such as "router, 1000
	// routes; Linux 6.12". It is empty where it had no mode.
	DeviceMode string `json:"deviceMode,omitempty"`
	// DeviceImages are what the device's pod ran. There are none where it was no pod, or its images aren't known.
	DeviceImages []plan.Container `json:"deviceImages,omitempty"`
}

// GeneratorEnvironment is a generator, its machine and its ports.
type GeneratorEnvironment struct {
	Name    string `json:"name"`
	Product string `json:"product,omitempty"` // "TRex"
	// Version is the product's. It is empty for linerate's own products.
	Version string `json:"version,omitempty"`
	// Cores is how many cores of the machine the generator sends with.
	Cores   int               `json:"cores,omitempty"`
	Machine Machine           `json:"machine,omitzero"`
	Ports   []PortEnvironment `json:"ports,omitempty"`
	// Images are what its pod ran. There are none where it was no pod, or its images aren't known.
	Images []plan.Container `json:"images,omitempty"`
}

// PortEnvironment is a generator's port on a link.
type PortEnvironment struct {
	Link string `json:"link"`
	// NIC is the network card's model, or its PCI ids, such as "8086:1593". It is empty where it isn't known, or
	// the port is a virtual one.
	NIC      string `json:"nic,omitempty"`
	Firmware string `json:"firmware,omitempty"`
	Driver   string `json:"driver,omitempty"`
	// how frames are sent and received, as "AF_XDP + eBPF", or of sessions "TCP sockets"
	Path string `json:"path,omitempty"`
	// ReceiveDrops says whether the port tells of frames that it had no room for, where it doesn't tell of all, as
	// "hidden" or "unknown".
	ReceiveDrops string `json:"receiveDrops,omitempty"`
	// CongestionControl is what sessions that are sent from here used, such as "cubic".
	CongestionControl string `json:"congestionControl,omitempty"`
}

// Machine is what a generator or a device runs on.
type Machine struct {
	// Node is the Kubernetes node's name, or the machine's own where there is no cluster.
	Node       string `json:"node,omitempty"`
	CPUModel   string `json:"cpuModel,omitempty"`
	Processors int    `json:"processors,omitempty"` // of the whole machine
	Kernel     string `json:"kernel,omitempty"`     // its release, such as "6.1.0-18-amd64"
	Hypervisor string `json:"hypervisor,omitempty"` // "none" on bare metal
	// Tuning is how it is set up, as far as figures depend on it, with frequency governor, isolated processors,
	// NUMA nodes, and the kernel's command line.
	Tuning string `json:"tuning,omitempty"`
	// Allowed are the processors that the process may run on, such as "2-7". A pod may have others at each start,
	// so that nothing is compared by them.
	Allowed string `json:"allowed,omitempty"`
}

// EnvironmentPart is a part of an environment, by the name that allowDifferent has for it.
type EnvironmentPart string

// These are the parts. Where one of the first six differs, no change of the device is claimed unless allowDifferent
// has it, because each of them moves figures by itself. The others are told. docs/history.md has the reasons.
const (
	// its product, its version unless that is linerate's own, and of sessions the congestion control
	PartGenerator EnvironmentPart = "Generator"
	PartPath      EnvironmentPart = "Path" // how frames get from the generator to the network card, and back
	PartNIC       EnvironmentPart = "NIC"  // the network card's model and firmware
	PartDriver    EnvironmentPart = "Driver"
	PartNode      EnvironmentPart = "Node"
	PartProcessor EnvironmentPart = "Processor" // the CPU's model, and how many processors the machine has

	PartHypervisor EnvironmentPart = "Hypervisor"
	PartKernel     EnvironmentPart = "Kernel"
	// frequency governor, isolated processors, NUMA nodes, the kernel's command line
	PartTuning   EnvironmentPart = "Tuning"
	PartCores    EnvironmentPart = "Cores"
	PartLinerate EnvironmentPart = "Linerate"
	PartImage    EnvironmentPart = "Image" // what the generators' pods ran
)

// PartsToAllow are those that allowDifferent may have, in the order of what matters most.
func PartsToAllow() []EnvironmentPart {
	return []EnvironmentPart{PartGenerator, PartPath, PartNIC, PartDriver, PartNode, PartProcessor}
}

// NeedsLeave says that no change is claimed where this part differs, unless somebody allows it.
func (p EnvironmentPart) NeedsLeave() bool { return slices.Contains(PartsToAllow(), p) }

// EnvironmentParts are parts by their names.
func EnvironmentParts[S ~string](names []S) []EnvironmentPart {
	var parts []EnvironmentPart
	for _, name := range names {
		parts = append(parts, EnvironmentPart(name))
	}
	return parts
}

// EnvironmentDifference is one thing that isn't the same for the runs of a candidate and for those of its baseline.
type EnvironmentDifference struct {
	Part EnvironmentPart `json:"part"`
	// What names it in a sentence, as "NIC driver of west and east".
	What string `json:"what"`
	// Was is what it was for the baseline's runs, and Is what it is for the candidate's, with several values where
	// runs of one side differ. It is empty where it isn't known.
	Was string `json:"was,omitempty"`
	Is  string `json:"is,omitempty"`
}

// Known says that both sides are known, so that they do differ.
func (d EnvironmentDifference) Known() bool { return d.Was != "" && d.Is != "" }

// String is the difference in a sentence, as "NIC driver of west: veth, then ice".
func (d EnvironmentDifference) String() string {
	if d.Was == d.Is {
		return d.What + ": " + d.Was + " on either side"
	}
	return d.What + ": " + cmp.Or(d.Was, "not known") + ", then " + cmp.Or(d.Is, "not known")
}

// These are linerate's own products, which generate frames, and are the ends of sessions.
const (
	ownEngine = "linerate software engine"
	ownEnds   = "linerate sessions"
)

// EnvironmentOf is the environment that follows from the Report's generators and device. It is nil where no generator
// was reached.
func EnvironmentOf(r *Report) *Environment {
	if len(r.Generators) == 0 {
		return nil
	}
	e := &Environment{Linerate: r.Producer}
	for _, g := range r.Generators {
		e.Generators = append(e.Generators, generatorEnvironment(g))
	}
	if r.Device != nil && r.Device.Node != "" {
		e.Device = deviceMachine(r.Device, e.Generators)
	}
	if r.Device != nil {
		e.DeviceImages = r.Device.Containers
	}
	e.DeviceMode = deviceMode(r, e)
	return e
}

// deviceMode is the mode and its kernel, which is that of the device's machine, or, where there is no other, of the
// generator's.
func deviceMode(r *Report, e *Environment) string {
	if r.Plan == nil || r.Plan.DUT.Mode() == nil {
		return ""
	}
	kernel := e.Generators[0].Machine.Kernel
	if r.Device != nil {
		kernel = ""
		if e.Device != nil {
			kernel = e.Device.Kernel
		}
	}
	if kernel == "" {
		return r.Plan.DUT.Mode().String()
	}
	return r.Plan.DUT.Mode().String() + "; Linux " + kernel
}

func generatorEnvironment(g Generator) GeneratorEnvironment {
	environment := GeneratorEnvironment{Name: g.Name, Cores: g.Cores, Images: g.Containers,
		Machine: Machine{Node: g.Node, CPUModel: g.CPUModel, Processors: g.Processors, Kernel: g.Kernel,
			Hypervisor: g.Hypervisor, Tuning: g.Tuning, Allowed: g.Allowed}}
	environment.Product, environment.Version = productOf(g.Product)
	if g.Node == "" && g.Pod == "" {
		environment.Machine.Node = g.Hostname // a pod's is its own name, which says nothing of where it ran
	}
	for _, p := range g.Ports {
		drops := p.ReceiveDrops
		if drops == "counted" {
			drops = ""
		}
		environment.Ports = append(environment.Ports, PortEnvironment{ReceiveDrops: drops, Link: p.Link, NIC: p.NIC,
			Firmware: p.Firmware, Driver: p.Driver, Path: p.Path, CongestionControl: p.CongestionControl})
	}
	return environment
}

// productOf parts "TRex v3.06" into product and version. The version of what is linerate's own is linerate's, which
// the environment has apart.
func productOf(text string) (product, version string) {
	product, version = text, ""
	if i := strings.LastIndex(text, " v"); i >= 0 {
		product, version = text[:i], text[i+1:]
	}
	for _, reserved := range []string{ownEngine, ownEnds} {
		if strings.HasPrefix(text, reserved) {
			return reserved, ""
		}
	}
	return product, version
}

// deviceMachine is the machine of the device's node, as its pod told, or a generator on the same node.
func deviceMachine(d *plan.Device, generators []GeneratorEnvironment) *Machine {
	if m := d.Machine; m != nil {
		return &Machine{Node: d.Node, CPUModel: m.CPUModel, Processors: m.Processors, Kernel: m.Kernel,
			Hypervisor: m.Hypervisor, Tuning: m.Tuning, Allowed: m.Allowed}
	}
	for _, g := range generators {
		if g.Machine.Node == d.Node {
			m := g.Machine
			return &m
		}
	}
	return &Machine{Node: d.Node}
}
