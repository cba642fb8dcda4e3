package launch

import "fmt"

// Bounds of memory in MiB. TRex takes 1 GiB where nothing is set. Below that its packet pools don't fit two ports.
const (
	leastHugeMiB   = 1024
	mostHugeMiB    = 4096 // without a limit
	plainMiB       = 1024 // for kernel interfaces
	leastPlainMiB  = 512
	aroundPlainMiB = 512 // the process without its packet pools
	onePlainMiB    = 250 // on one CPU TRex makes do with 50 + 100 for each port
)

const mebi = int64(1) << 20

// sizeMemory keeps TRex's packet memory within what the pod may use, which is hugepages for devices and plain
// memory for kernel interfaces.
func sizeMemory(c *Config, o Observed, opts Options) []Fault {
	if _, asked := opts.Extra["limit_memory"]; asked {
		return nil
	}
	if c.Kind == Kernel {
		return plainMemory(c, o)
	}
	best := Hugepages{}
	for _, h := range o.Hugepages {
		if len(h.Mounts) > 0 && (h.usable() > best.usable() || best.usable() == 0 && h.Total > best.Total) {
			best = h
		}
	}
	c.MemoryMiB = best.usable() / mebi
	if best.Limit == Unlimited {
		c.MemoryMiB = min(c.MemoryMiB, mostHugeMiB)
	}
	if c.MemoryMiB >= leastHugeMiB {
		return nil
	}
	return []Fault{hugepageFault(o.Hugepages, best)}
}

// usable is what both the pod's limit and the node's stock allow.
func (h Hugepages) usable() int64 { return min(h.Limit, h.Free*h.PageKiB*1024) }

func hugepageFault(sizes []Hugepages, best Hugepages) Fault {
	var onNode, allowed, mounted bool
	for _, h := range sizes {
		exist := h.Total > 0
		onNode = onNode || exist
		allowed = allowed || exist && h.Limit > 0
		mounted = mounted || exist && h.Limit > 0 && len(h.Mounts) > 0
	}
	switch {
	case !onNode:
		return Fault{NoHugepages, "this node has no hugepages",
			"boot it with hugepagesz=1G hugepages=N, or write to nr_hugepages, and restart kubelet"}
	case !allowed:
		return Fault{NoHugepages, "the pod may use no hugepages",
			"set spec.generator.hugepages, so that the container requests hugepages-1Gi or hugepages-2Mi"}
	case !mounted:
		return Fault{NoHugepages, "no hugepages of a size that the pod may use are mounted in it",
			"mount an emptyDir with medium HugePages at /dev/hugepages"}
	case best.Limit > best.Free*best.PageKiB*1024:
		return Fault{HugepagesTooSmall, fmt.Sprintf("the node has %d MiB of hugepages left, and TRex needs at least %d",
			best.usable()/mebi, leastHugeMiB),
			"free those that others left behind on this node, or reserve more"}
	}
	return Fault{HugepagesTooSmall, fmt.Sprintf("the pod may use %d MiB of hugepages, and TRex needs at least %d",
		best.usable()/mebi, leastHugeMiB), "raise spec.generator.hugepages.total"}
}

func plainMemory(c *Config, o Observed) []Fault {
	c.MemoryMiB = plainMiB
	required := int64(leastPlainMiB)
	if c.Threads == nil {
		c.MemoryMiB, required = onePlainMiB, onePlainMiB
	}
	if o.MemoryLimit == Unlimited {
		return nil
	}
	c.MemoryMiB = min(c.MemoryMiB, o.MemoryLimit/mebi-aroundPlainMiB)
	if c.MemoryMiB >= required {
		return nil
	}
	return []Fault{{MemoryTooSmall, fmt.Sprintf("the pod may use %d MiB of memory, and TRex needs %d",
		o.MemoryLimit/mebi, required+aroundPlainMiB), "raise spec.generator.memory"}}
}
