package launch

import (
	"io/fs"
	"maps"
	"math"
	"slices"

	"github.com/linerate-dev/linerate/internal/host/card"
)

// Unlimited means that there is no limit.
const Unlimited = int64(math.MaxInt64)

// Observed is everything about the pod that Decide needs. Decide reads nothing else.
type Observed struct {
	// Networks are the pod's attachments, as Multus wrote them.
	Networks []Network
	// Pools are the PCI addresses of each PCIDEVICE_ variable, by the variable's name.
	Pools map[string][]string
	// Devices are the PCI devices that Networks, Pools and Interfaces name, by PCI address.
	Devices map[string]card.Device
	// Interfaces are the kernel's network interfaces in the pod, by name.
	Interfaces map[string]Interface
	// CPUs are those that this process may run on.
	CPUs []CPU
	// MilliCPU is the bandwidth limit (CFS quota) in thousandths of a CPU.
	MilliCPU int64
	// MemoryLimit is the memory cgroup's, in bytes, without hugepages.
	MemoryLimit int64
	Hugepages   []Hugepages
	Rights      Rights
	// VFIO are the names below /dev/vfio, RDMA those below /dev/infiniband.
	VFIO, RDMA []string
}

// CPU is a logical CPU.
type CPU struct {
	ID   int
	Node int // NUMA node
	// Core is the lowest CPU that shares its physical core.
	Core int
}

// Hugepages are the pages of one size.
type Hugepages struct {
	PageKiB int64
	Free    int64 // pages that the node has left
	Total   int64 // pages that the node has
	Limit   int64 // bytes that the cgroup allows
	Mounts  []string
}

// Rights are what the kernel lets the process do.
type Rights struct {
	Root                      bool // effective user id 0
	IPCLock, NetAdmin, NetRaw bool // effective capabilities
}

// Observe reads the pod. root is its "/", environment as os.Environ gives it, networks what NetworkStatus.Await
// returned. What can't be read counts as absent, and Decide names it if it is needed.
func Observe(root fs.FS, environment []string, networks []Network) Observed {
	t := tree{root}
	mounts := t.mounts()
	groups := t.cgroups(mounts)
	o := Observed{
		Networks:    networks,
		Pools:       devicePools(environment),
		Devices:     map[string]card.Device{},
		Interfaces:  t.interfaces(),
		CPUs:        t.cpus(groups),
		MilliCPU:    groups.milliCPU(),
		MemoryLimit: groups.limit("memory", "memory.limit_in_bytes", "memory.max"),
		Hugepages:   t.hugepages(groups, mounts),
		Rights:      t.rights(),
		VFIO:        t.names("/dev/vfio"),
		RDMA:        t.names("/dev/infiniband"),
	}
	for _, address := range o.addresses() {
		if d, ok := card.DeviceOf(root, address); ok {
			o.Devices[address] = d
		}
	}
	return o
}

// addresses are all PCI addresses that something names.
func (o Observed) addresses() []string {
	set := map[string]bool{}
	for _, n := range o.Networks {
		set[n.PCIAddress] = true
	}
	for _, pool := range o.Pools {
		for _, address := range pool {
			set[address] = true
		}
	}
	for _, i := range o.Interfaces {
		set[i.PCIAddress] = true
	}
	delete(set, "")
	return slices.Sorted(maps.Keys(set))
}
