package machine

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"

	"sigs.k8s.io/yaml"
)

// MaxMemoryMiB bounds a machine's memory: with 3 GiB the emulated functions' mailbox does not answer (QEMU 10.0.2).
const MaxMemoryMiB = 2048

// Lab is a few machines and the cables between their ports.
type Lab struct {
	Machines []Description `json:"machines"`
	Cables   []Cable       `json:"cables,omitempty"`
}

// Description is one machine.
type Description struct {
	// Name is the machine's host name, emulated by default.
	Name string `json:"name,omitempty"`
	// Processors are 2 by default.
	Processors int `json:"processors,omitempty"`
	// MemoryMiB is 2048 by default, which is also the most.
	MemoryMiB int `json:"memoryMiB,omitempty"`
	// NUMANodes is 1 by default. Processors and memory are spread evenly.
	NUMANodes int `json:"numaNodes,omitempty"`
	// Hugepages is how many pages of 2 MiB each NUMA node has.
	Hugepages int `json:"hugepages,omitempty"`
	// WithoutIOMMU leaves the IOMMU out, so that vfio-pci can't have functions.
	WithoutIOMMU bool `json:"withoutIOMMU,omitempty"`
	// HostNetwork adds an interface, host0, at which this host is 10.0.2.2 (QEMU's user network).
	HostNetwork bool `json:"hostNetwork,omitempty"`
	// Tap adds an interface, tap0, whose other end is the interface of this name on this host, which QEMU makes. It
	// may be moved to another network namespace there.
	Tap string `json:"tap,omitempty"`
	// Ports are ens1f0 and ens1f1 by default, with two functions each.
	Ports []Port `json:"ports,omitempty"`
}

// Port is a physical port, a card of its own.
type Port struct {
	// Name is the interface's, ens1f0, ens1f1, … by default. Its functions are ens1f0v0, ens1f0v1, ….
	Name string `json:"name,omitempty"`
	// Card is a network card's name in QEMU: igb by default, the one with functions. Others are e.g. virtio-net-pci.
	Card string `json:"card,omitempty"`
	// Functions is how many virtual functions the port has, at most 7.
	Functions int `json:"functions,omitempty"`
	// Driver is all functions' driver: igbvf by default, or vfio-pci, or none.
	Driver string `json:"driver,omitempty"`
	// Drivers are single functions' drivers, in order; those that it doesn't list have Driver.
	Drivers []string `json:"drivers,omitempty"`
	// Queues is how many pairs of queues the port's own interface has; by default the driver decides.
	Queues int `json:"queues,omitempty"`
	// NUMANode is the node that the card is on.
	NUMANode int `json:"numaNode,omitempty"`
	// Address is the port's on the PCI bus, such as 3b:00.0, and 3b:00.1 for the second port of the same card; by
	// default the machine chooses.
	Address string `json:"address,omitempty"`
}

// Cable joins two ports, each written MACHINE/PORT, or PORT alone in a lab of one machine.
type Cable [2]string

// defaultPorts is how many ports a machine has whose description has none.
const defaultPorts = 2

// ReadLab reads a lab from a YAML file.
func ReadLab(file string) (Lab, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return Lab{}, err
	}
	var lab Lab
	if err := yaml.UnmarshalStrict(content, &lab); err != nil {
		return Lab{}, fmt.Errorf("%s is no description of machines: %w (docs/machine.md has an example)", file, err)
	}
	return lab, nil
}

// complete fills defaults in, and says what can't be emulated.
func (l Lab) complete() (Lab, error) {
	if len(l.Machines) == 0 {
		l.Machines = []Description{{}}
	}
	machines := make([]Description, len(l.Machines))
	var errs []error
	names := map[string]bool{}
	for i, d := range l.Machines {
		machines[i] = d.withDefaults(i, len(l.Machines))
		errs = append(errs, machines[i].check())
		if names[machines[i].Name] {
			errs = append(errs, fmt.Errorf("two machines are called %s: give each a name of its own", machines[i].Name))
		}
		names[machines[i].Name] = true
	}
	l.Machines = machines
	cables := make([]Cable, len(l.Cables))
	plugged := map[string]bool{}
	for i, cable := range l.Cables {
		for end := range cable {
			port, err := l.find(cable[end])
			if err == nil && plugged[port] {
				err = fmt.Errorf("port %s has two cables: a port takes one", port)
			}
			plugged[port] = true
			cables[i][end] = port
			errs = append(errs, err)
		}
	}
	l.Cables = cables
	return l, errors.Join(errs...)
}

// find is a port's full name.
func (l Lab) find(end string) (string, error) {
	full := end
	if len(l.Machines) == 1 && !strings.Contains(end, "/") {
		full = l.Machines[0].Name + "/" + end
	}
	var all []string
	for _, d := range l.Machines {
		for _, port := range d.Ports {
			if full == d.Name+"/"+port.Name {
				return full, nil
			}
			all = append(all, d.Name+"/"+port.Name)
		}
	}
	return full, fmt.Errorf("a cable ends at %q, which is no port: name one of %s", end, strings.Join(all, ", "))
}

func (d Description) withDefaults(index, machines int) Description {
	if d.Name == "" {
		d.Name = "emulated"
		if machines > 1 {
			d.Name = fmt.Sprintf("emulated-%d", index+1)
		}
	}
	setDefault(&d.Processors, 2)
	setDefault(&d.MemoryMiB, MaxMemoryMiB)
	setDefault(&d.NUMANodes, 1)
	ports := make([]Port, len(d.Ports))
	copy(ports, d.Ports)
	if d.Ports == nil {
		for range defaultPorts {
			ports = append(ports, Port{Functions: 2})
		}
	}
	for i := range ports {
		setDefault(&ports[i].Name, fmt.Sprintf("ens1f%d", i))
		setDefault(&ports[i].Card, withFunctions)
		setDefault(&ports[i].Driver, "igbvf")
	}
	d.Ports = ports
	return d
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// withFunctions is the only card of QEMU with virtual functions that Linux has drivers for in this form.
const withFunctions = "igb"

var (
	hostName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,40}[a-z0-9])?$`)
	portName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,11}$`) // with v and a digit an interface's name of at most 15
	tapName  = regexp.MustCompile(`^[a-z][-a-z0-9]{0,14}$`)
	address  = regexp.MustCompile(`^[2-9a-e][0-9a-f]:00\.[01]$`)
	cardName = regexp.MustCompile(`^[a-z0-9][-a-z0-9]*$`)
)

func (d Description) check() error {
	var errs []error
	refuse := func(refused bool, format string, args ...any) {
		if refused {
			errs = append(errs, fmt.Errorf("machine %s: "+format, append([]any{d.Name}, args...)...))
		}
	}
	refuse(!hostName.MatchString(d.Name), "the name must be lower-case letters, digits and hyphens")
	refuse(d.MemoryMiB > MaxMemoryMiB, "memoryMiB %d: give at most %d, as the functions of the emulated card don't "+
		"answer in a machine with more", d.MemoryMiB, MaxMemoryMiB)
	refuse(d.MemoryMiB < 512, "memoryMiB %d: give at least 512", d.MemoryMiB)
	refuse(d.Processors < 1 || d.Processors > 16, "processors %d: give 1 to 16", d.Processors)
	refuse(d.NUMANodes < 1 || d.NUMANodes > 4, "numaNodes %d: give 1 to 4", d.NUMANodes)
	refuse(d.NUMANodes > d.Processors, "numaNodes %d with processors %d: give each node a processor", d.NUMANodes,
		d.Processors)
	refuse(d.Hugepages < 0, "hugepages %d: give 0 or more", d.Hugepages)
	refuse(2*d.Hugepages*d.NUMANodes > d.MemoryMiB-384, "hugepages %d on each of %d nodes are %d MiB of %d: leave "+
		"384 MiB for the system", d.Hugepages, d.NUMANodes, 2*d.Hugepages*d.NUMANodes, d.MemoryMiB)
	refuse(d.Tap != "" && !tapName.MatchString(d.Tap), "tap %q: give an interface's name of at most 15 lower-case "+
		"letters, digits and hyphens", d.Tap)
	refuse(len(d.Ports) > 8, "%d ports: give at most 8", len(d.Ports))
	names := map[string]bool{}
	for _, port := range d.Ports {
		refuse(names[port.Name], "two ports are called %s: give each a name of its own", port.Name)
		names[port.Name] = true
		refuse(port.Address != "" && names[port.Address], "two ports have the address %s: give each one of its own",
			port.Address)
		names[port.Address] = true
		first, second := strings.CutSuffix(port.Address, ".1")
		refuse(second && !names[first+".0"], "port %s at %s: list the port at %s.0 of the same card before it", port.Name,
			port.Address, first)
		if err := port.check(d); err != nil {
			refuse(true, "port %s: %w", port.Name, err)
		}
	}
	return errors.Join(errs...)
}

func (p Port) check(d Description) error {
	var errs []error
	refuse := func(refused bool, format string, args ...any) {
		if refused {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	refuse(!portName.MatchString(p.Name), "the name must be a lower-case letter and up to 11 letters and digits")
	refuse(!cardName.MatchString(p.Card), "card %q: give a name that qemu-system-x86_64 -device help lists", p.Card)
	refuse(p.Functions < 0 || p.Functions > 7, "functions %d: the card has at most 7", p.Functions)
	refuse(p.Functions > 0 && p.Card != withFunctions, "functions %d: only the card %s has functions, not %s",
		p.Functions, withFunctions, p.Card)
	refuse(len(p.Drivers) > p.Functions, "%d drivers for %d functions: give a driver for each function, or fewer",
		len(p.Drivers), p.Functions)
	refuse(p.NUMANode < 0 || p.NUMANode >= d.NUMANodes, "numaNode %d: the machine has the nodes 0 to %d; raise numaNodes",
		p.NUMANode, d.NUMANodes-1)
	refuse(p.Address != "" && !address.MatchString(p.Address), "address %q: give one such as 3b:00.0, and 3b:00.1 for the "+
		"card's second port, on a bus from 20 to ef", p.Address)
	for i := range p.Functions {
		switch driver := p.driver(i); driver {
		case "igbvf", "none":
		case vfio:
			refuse(d.WithoutIOMMU, "driver %s needs an IOMMU: drop withoutIOMMU, or name another driver", vfio)
		default:
			refuse(true, "driver %q: give igbvf, %s or none", driver, vfio)
		}
	}
	queues := 8
	if p.Functions > 0 {
		queues = 2
	}
	refuse(p.Queues < 0 || p.Queues > queues, "queues %d: the card has at most 8, and 2 beside functions", p.Queues)
	return errors.Join(errs...)
}

const vfio = "vfio-pci"

// driver is one function's.
func (p Port) driver(function int) string {
	if function < len(p.Drivers) && p.Drivers[function] != "" {
		return p.Drivers[function]
	}
	return p.Driver
}

// mac is the address of a port (function -1) or of one of its functions. All machines of a lab have different ones.
func mac(machine, port, function int) string {
	return fmt.Sprintf("02:00:00:%02x:%02x:%02x", machine+1, port, function+1)
}
