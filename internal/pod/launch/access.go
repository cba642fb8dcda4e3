package launch

import (
	"fmt"
	"slices"
	"strings"
)

// oneDriver refuses what one TRex process can't drive together.
func oneDriver(c *Config, _ Observed, _ Options) []Fault {
	first := c.Devices[0]
	for _, d := range c.Devices[1:] {
		if d.Kind != first.Kind || d.vendor != first.vendor {
			return []Fault{{MixedDrivers, fmt.Sprintf("links %s and %s: %s and %s", first.Link, d.Link, describe(first),
				describe(d)),
				"TRex drives all its ports with one driver; use the same kind of NIC and deviceType on all links"}}
		}
		if d.model != first.model {
			c.Notices = append(c.Notices, Notice{MixedDevices,
				fmt.Sprintf("links %s and %s: NICs of different models (%s and %s)", first.Link, d.Link, first.model,
					d.model)})
		}
	}
	return nil
}

func describe(d LinkDevice) string {
	if d.Kind == Kernel {
		return "the kernel's interface " + d.Interface
	}
	return strings.TrimSpace(fmt.Sprintf("%s on %s %s", d.PCIAddress, d.Driver, d.vendor))
}

// oneWireEach marks links that share a physical port, and refuses them unless that is allowed.
func oneWireEach(c *Config, _ Observed, opts Options) []Fault {
	var faults []Fault
	for i := range c.Devices {
		d := &c.Devices[i]
		for j := range i {
			earlier := &c.Devices[j]
			if d.PhysicalPort == "" || d.PhysicalPort != earlier.PhysicalPort {
				continue
			}
			d.SharesPort, earlier.SharesPort = true, true
			problem := fmt.Sprintf("links %s and %s: both are on the physical port %s", earlier.Link, d.Link,
				wireName(*d))
			if opts.SharedPort {
				c.Notices = append(c.Notices, Notice{SharedPort, problem})
				continue
			}
			faults = append(faults, Fault{SharedPort, problem,
				"frames between them may never reach a wire; use networks on two ports, or allow it with " +
					"sharedPort: Allowed"})
		}
	}
	return faults
}

func wireName(d LinkDevice) string {
	if d.PhysicalInterface == "" {
		return d.PhysicalPort
	}
	return d.PhysicalPort + " (" + d.PhysicalInterface + ")"
}

// rightsSuffice names what the container's security context lacks.
func rightsSuffice(c *Config, o Observed, _ Options) []Fault {
	var missing []string
	if !o.Rights.IPCLock {
		missing = append(missing, "IPC_LOCK")
	}
	if !o.Rights.NetAdmin && c.Kind != VFIO {
		missing = append(missing, "NET_ADMIN")
	}
	if !o.Rights.NetRaw && c.Kind != VFIO {
		missing = append(missing, "NET_RAW")
	}
	var faults []Fault
	if !o.Rights.Root {
		faults = append(faults, Fault{MissingRight, "the container doesn't run as user 0, which TRex demands",
			"set securityContext.runAsUser: 0; it needn't be privileged"})
	}
	if len(missing) > 0 {
		faults = append(faults, Fault{MissingRight, "the container lacks the capabilities " +
			strings.Join(missing, ", "),
			"add them to securityContext.capabilities.add; the namespace's Pod Security level must be " +
				"privileged for that"})
	}
	return faults
}

// deviceFiles names device nodes that the device plugin should have put into the pod.
func deviceFiles(c *Config, o Observed, _ Options) []Fault {
	switch c.Kind {
	case VFIO:
		return vfioFiles(c, o)
	case MLX5:
		if !slices.ContainsFunc(o.RDMA, func(name string) bool { return strings.HasPrefix(name, "uverbs") }) {
			return []Fault{{NoRDMA, "/dev/infiniband holds no uverbs device",
				"set isRdma: true in the network's node policy, so that the device plugin adds it"}}
		}
	case Kernel:
	}
	return nil
}

func vfioFiles(c *Config, o Observed) []Fault {
	if !slices.Contains(o.VFIO, "vfio") {
		return []Fault{{NoVFIO, "/dev/vfio/vfio isn't in the pod",
			"request the devices on this very container; is the IOMMU on (intel_iommu=on iommu=pt) and vfio-pci " +
				"loaded on the node?"}}
	}
	var faults []Fault
	for _, d := range c.Devices {
		group := d.group
		if group == "" || slices.Contains(o.VFIO, group) || slices.Contains(o.VFIO, "noiommu-"+group) {
			continue
		}
		faults = append(faults, Fault{NoIOMMUGroup,
			fmt.Sprintf("link %s: /dev/vfio/%s, the IOMMU group of %s, isn't in the pod", d.Link, group, d.PCIAddress),
			"request its device on this very container, not on another one of the pod"})
	}
	return faults
}
