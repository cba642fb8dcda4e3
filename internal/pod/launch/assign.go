package launch

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/host/card"
)

// assign finds each link's device by its network's name and its interface's, never by the order in which
// devices were handed out.
func assign(o Observed, opts Options) ([]LinkDevice, []Fault) {
	if len(opts.Links) == 0 {
		return nil, []Fault{{NoLinks, "no link was given", "name them with --links FILE or --link NAME=NETWORK"}}
	}
	var devices []LinkDevice
	var faults []Fault
	for _, l := range opts.Links {
		d, fault := deviceOf(o, opts, l)
		if fault != nil {
			faults = append(faults, *fault)
			continue
		}
		devices = append(devices, d)
	}
	return devices, append(faults, usedTwice(devices)...)
}

// deviceOf takes the device from device-info of the link's attachment, else the only device of the link's
// resource, else the kernel's interface.
func deviceOf(o Observed, opts Options, l Link) (LinkDevice, *Fault) {
	network, fault := networkOf(o, opts, l)
	if fault != nil {
		return LinkDevice{}, fault
	}
	if network.Interface == "" {
		network.Interface = l.interfaceName()
	}
	if opts.Kernel {
		return kernelDevice(o, l, network)
	}
	address := network.PCIAddress
	if address == "" && l.Resource != "" {
		if address, fault = onlyDevice(o, opts, l); fault != nil {
			return LinkDevice{}, fault
		}
	}
	if address != "" {
		return pciDevice(o, l, network, address)
	}
	if network.DeviceType != "" && network.DeviceType != "pci" {
		return LinkDevice{}, &Fault{NoDevice, fmt.Sprintf("link %s: network %s gave a device of type %s", l.Name,
			network.Name, network.DeviceType),
			"TRex needs a PCI device or an interface of the kernel; use such a network"}
	}
	return kernelDevice(o, l, network)
}

// networkOf is the link's attachment. A link that names no network has only an interface. Of a network that
// network-status lacks, the pod may still have a device: the plugin host-device returns no interface for a function on
// vfio-pci.
func networkOf(o Observed, opts Options, l Link) (Network, *Fault) {
	if l.Network == "" {
		return Network{}, nil
	}
	candidates := slices.DeleteFunc(slices.Clone(o.Networks),
		func(n Network) bool { return !sameNetwork(n.Name, l.Network, opts.Namespace) })
	if len(candidates) == 0 && !opts.Kernel && len(o.poolOf(l.Resource)) > 0 {
		return Network{Name: l.Network}, nil // Multus writes nothing of a plugin that returned no interface
	}
	if len(candidates) == 0 {
		return Network{}, &Fault{LinkWithoutNetwork,
			fmt.Sprintf("link %s: network %s isn't attached to this pod, which has %s", l.Name, l.Network,
				networkNames(o.Networks)),
			"add it to the pod's annotation k8s.v1.cni.cncf.io/networks, in the right namespace"}
	}
	for _, n := range candidates {
		if n.Interface == l.interfaceName() {
			return n, nil
		}
	}
	if len(candidates) == 1 && (candidates[0].Interface == "" || l.Interface == "") && !contested(opts, l) {
		return candidates[0], nil
	}
	return Network{}, &Fault{AmbiguousLink, fmt.Sprintf("link %s: none of the %d attachments of network %s has an "+
		"interface named %s", l.Name, len(candidates), l.Network, l.interfaceName()),
		"ask for the interface's name in the annotation, or give each link a network of its own"}
}

// contested says whether another link wants the same network, so that the name alone doesn't decide.
func contested(opts Options, l Link) bool {
	return slices.ContainsFunc(opts.Links, func(sibling Link) bool {
		return sibling.Name != l.Name && (sameNetwork(sibling.Network, l.Network, opts.Namespace) ||
			sameNetwork(l.Network, sibling.Network, opts.Namespace))
	})
}

// sameNetwork compares an attachment's name with an asked one, which may leave out the namespace.
func sameNetwork(name, asked, namespace string) bool {
	if name == asked || asked == "" {
		return name == asked
	}
	if namespace != "" {
		return name == namespace+"/"+asked
	}
	_, bare, _ := strings.Cut(name, "/")
	return bare == asked
}

func networkNames(networks []Network) string {
	if len(networks) == 0 {
		return "none"
	}
	var names []string
	for _, n := range networks {
		names = append(names, n.Name)
	}
	return strings.Join(names, ", ")
}

// onlyDevice is the link's device where the pod has one device of its resource, and no other link wants it.
func onlyDevice(o Observed, opts Options, l Link) (string, *Fault) {
	pool := o.poolOf(l.Resource)
	wanted := 0
	for _, sibling := range opts.Links {
		if sibling.Resource == l.Resource {
			wanted++
		}
	}
	switch {
	case len(pool) == 1 && wanted == 1:
		return pool[0], nil
	case len(pool) == 0:
		return "", &Fault{NoDevice, fmt.Sprintf("link %s: the pod has no device of %s", l.Name, l.Resource),
			"request it on the pod's first container, and see that the node has one"}
	}
	return "", &Fault{AmbiguousLink, fmt.Sprintf("link %s: the pod has %d devices of %s, and network-status doesn't "+
		"say which is whose", l.Name, len(pool), l.Resource),
		"use versions of Multus and the device plugin that write device-info, or give each link a resource of its own"}
}

func pciDevice(o Observed, l Link, n Network, address string) (LinkDevice, *Fault) {
	d, ok := o.Devices[address]
	if !ok {
		return LinkDevice{}, &Fault{NoDevice, fmt.Sprintf("link %s: device %s isn't in /sys/bus/pci/devices", l.Name,
			address),
			"the node lost it: restart the SR-IOV device plugin on this node, and look at the node's PCI devices"}
	}
	kind, fault := kindOf(l, d)
	if fault != nil {
		return LinkDevice{}, fault
	}
	device := LinkDevice{
		Link: l.Name, Network: n.Name, MAC: n.MAC, Kind: kind, PCIAddress: address, Driver: d.Driver,
		NUMANode:     d.NUMANode,
		PhysicalPort: d.Wire(), PhysicalInterface: d.PhysicalInterface, VirtualFunction: d.PhysicalFunction != "",
		SpeedMbps: d.SpeedMbps,
		vendor:    d.Vendor, model: d.Model, group: d.IOMMUGroup,
	}
	if len(d.Interfaces) > 0 {
		device.Interface = d.Interfaces[0]
	}
	return device, nil
}

// kindOf is how TRex gets at a device with the driver that it is bound to.
func kindOf(l Link, d card.Device) (Kind, *Fault) {
	switch d.Driver {
	case "vfio-pci":
		return VFIO, nil
	case "mlx5_core":
		if len(d.Interfaces) == 0 {
			return "", &Fault{InterfaceMissing,
				fmt.Sprintf("link %s: device %s has no network interface in the pod, which mlx5 needs", l.Name,
					d.Address),
				"set deviceType netdevice and isRdma true in the network's node policy"}
		}
		return MLX5, nil
	case "":
		return "", notBound(l, d, "is bound to no driver",
			"bind it to vfio-pci, as deviceType vfio-pci does in the network's node policy")
	}
	return "", notBound(l, d, "is bound to "+d.Driver+", and TRex needs vfio-pci",
		"set deviceType vfio-pci in the network's node policy, or use the kernel's interface (slower)")
}

// notBound is the fault of a device that vfio-pci doesn't have. Without a group of the IOMMU it can't have the device.
func notBound(l Link, d card.Device, problem, fix string) *Fault {
	if d.IOMMUGroup == "" {
		problem += "; the node's IOMMU is off, and vfio-pci takes no device without it"
		fix = "boot the node with its IOMMU on (docs/sriov.md, step 1); then " + fix
	}
	return &Fault{NotBoundToVFIO, fmt.Sprintf("link %s: device %s %s", l.Name, d.Address, problem), fix}
}

func kernelDevice(o Observed, l Link, n Network) (LinkDevice, *Fault) {
	i, ok := o.Interfaces[n.Interface]
	if !ok {
		return LinkDevice{}, &Fault{InterfaceMissing, fmt.Sprintf("link %s: the pod has no interface %s, only %s",
			l.Name, n.Interface, strings.Join(slices.Sorted(maps.Keys(o.Interfaces)), ", ")),
			"ask for that name in the annotation, or name the interface in the links file; a device without an " +
				"interface needs device-info in network-status"}
	}
	device := LinkDevice{Link: l.Name, Network: n.Name, Interface: i.Name, MAC: i.MAC, Kind: Kernel, NUMANode: -1,
		PCIAddress: i.PCIAddress, SpeedMbps: i.SpeedMbps}
	if d, onPCI := o.Devices[i.PCIAddress]; onPCI {
		device.Driver, device.NUMANode, device.PhysicalPort = d.Driver, d.NUMANode, d.Wire()
		device.PhysicalInterface, device.VirtualFunction = d.PhysicalInterface, d.PhysicalFunction != ""
	}
	return device, nil
}

// usedTwice refuses two links on one device.
func usedTwice(devices []LinkDevice) []Fault {
	var faults []Fault
	first := map[string]string{}
	for _, d := range devices {
		if link, used := first[portName(d)]; used {
			faults = append(faults, Fault{AmbiguousLink, fmt.Sprintf("links %s and %s: both got %s", link, d.Link,
				portName(d)),
				"give each a network, or an interface name, of its own"})
		}
		first[portName(d)] = d.Link
	}
	return faults
}
