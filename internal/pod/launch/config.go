package launch

import (
	"time"

	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/internal/units"
)

// Options are what the test asks for. Only Links has no usable zero value.
type Options struct {
	Links []Link
	// Namespace is the pod's, and that of each link's Network without one.
	Namespace string
	// Cores is how many threads send per pair of ports. Zero is as many as the CPUs allow.
	Cores int
	// Kernel uses the kernel's interfaces through AF_PACKET even where there are devices.
	Kernel bool
	// SharedPort lets two links use virtual functions of one physical port. The result is then that of a shared wire.
	SharedPort bool
	// MTU of the ports. Zero is TRex's own.
	MTU int
	// PortSpeed overrides the speed that ports report. Zero is the ports' own.
	PortSpeed units.BitRate
	// RPCPort and PublisherPort are TRex's TCP ports. Zero is 4501 and 4500.
	RPCPort, PublisherPort int
	// Extra is merged over the configuration last, in maps key by key, everything else as a whole.
	Extra map[string]any
	// Arguments are added to TRex's own.
	Arguments []string
}

// Kind is how TRex drives a port.
type Kind string

// TRex drives all ports of a process in one way.
const (
	VFIO   Kind = "vfio"   // from user space, through vfio-pci
	MLX5   Kind = "mlx5"   // from user space, beside the kernel's mlx5_core
	Kernel Kind = "kernel" // the kernel's interface, through AF_PACKET
)

// LinkDevice is the device of a link, which the launcher reports.
type LinkDevice struct {
	Link       string `json:"link"`
	Network    string `json:"network,omitempty"`
	Interface  string `json:"interface,omitempty"`
	MAC        string `json:"mac,omitempty"`
	Kind       Kind   `json:"kind"`
	PCIAddress string `json:"pciAddress,omitempty"`
	Driver     string `json:"driver,omitempty"`
	NUMANode   int    `json:"numaNode"` // -1 unknown
	// PhysicalPort is the PCI address of the port that the wire is plugged into. It is empty if there is none, or
	// if the pod can't see it.
	PhysicalPort      string `json:"physicalPort,omitempty"`
	PhysicalInterface string `json:"physicalInterface,omitempty"`
	// VirtualFunction means that the device shares the wire's bandwidth with others.
	VirtualFunction bool  `json:"virtualFunction,omitempty"`
	SpeedMbps       int64 `json:"speedMbps,omitempty"`
	// SharesPort means that another link of this pod is on the same physical port.
	SharesPort bool `json:"sharesPort,omitempty"`

	vendor, model, group string
}

// Threads are the CPUs that TRex's threads are pinned to.
type Threads struct {
	Master, Latency int
	Pairs           []PairThreads // one per pair of ports
}

// PairThreads are the sending threads of a pair of ports.
type PairThreads struct {
	Socket int // the NUMA node of the pair's memory
	CPUs   []int
}

// PortInfo is a port's addressing, which is either IP and Gateway, or the MACs.
type PortInfo struct {
	IP, Gateway         string
	Destination, Source string // an empty Source is the device's own
}

// Config is everything that TRex is started with. Port i is Devices[i].
type Config struct {
	Kind       Kind
	Devices    []LinkDevice
	Interfaces []string // an even number, filled by "dummy"
	PortInfo   []PortInfo
	// Cores is TRex's -c. Threads are nil where everything runs on the CPU OneThread.
	Cores          int
	Threads        *Threads
	OneThread      int
	MemoryMiB      int64
	RXDescriptors  int
	MTU            int
	PortSpeedMbps  int64
	RPCPort        int
	PublisherPort  int
	Extra          map[string]any
	Arguments      []string
	Notices        []Notice
	SoftwareFilter bool // CPU cores filter received packets
}

// Report is what a generator reports of itself when it starts. It is the first line that the heartbeat listener
// sends, and the report file.
type Report struct {
	Version string    `json:"version"`
	Pod     string    `json:"pod,omitempty"`
	Node    string    `json:"node,omitempty"` // the Kubernetes node
	Started time.Time `json:"started,omitzero"`
	// Machine is the node, as the pod's kernel reports it.
	Machine machine.Machine `json:"machine,omitzero"`
	Cores   int             `json:"coresPerPortPair"`
	Links   []LinkDevice    `json:"links"`
	Notices []Notice        `json:"notices,omitempty"`
}

// ReportVersion is the document's kind and version.
const ReportVersion = "linerate.dev/generator-devices.v1alpha1"

// Report is the part of the configuration that others need.
func (c Config) Report(pod, node string, started time.Time) Report {
	return Report{Version: ReportVersion, Pod: pod, Node: node, Started: started, Cores: c.Cores, Links: c.Devices,
		Notices: c.Notices}
}
