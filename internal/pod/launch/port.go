package launch

import (
	"io/fs"
	"path"
	"regexp"

	"github.com/linerate-dev/linerate/internal/host/card"
)

// Port is the physical port behind a device, which the wire is plugged into.
type Port struct {
	// Device is the PCI address of the pod's device, empty if it isn't on PCI.
	Device string
	// Name is the port's name on its node, the PCI address of the physical function or, of a switch's port,
	// "SWITCH/PORT". It is empty if there is no port, or if it can't be seen.
	Name string
	// Shared says that the device is one of several on this port, which share its bandwidth.
	Shared bool
}

// FindPorts finds the physical port behind each link. As for TRex, a link's attachment is found by its network
// and interface, or by its interface alone if the link names no network.
func FindPorts(root fs.FS, networks []Network, links []Link) []Port {
	ports := make([]Port, len(links))
	for i, l := range links {
		network, fault := networkOf(Observed{Networks: networks}, Options{Links: links}, l)
		if fault != nil || l.Network == "" {
			network = attachedAs(networks, l.interfaceName())
		}
		ports[i] = FindPort(root, network, l.interfaceName())
	}
	return ports
}

// attachedAs is the attachment with this interface, zero if Multus reported none.
func attachedAs(networks []Network, name string) Network {
	for _, n := range networks {
		if n.Interface == name && !n.Default {
			return n
		}
	}
	return Network{}
}

// FindPort finds the physical port behind an attachment. network is Multus' report of it, the zero value if
// there is none. name is its interface in the pod, and root the pod's "/". The kernel's information comes
// first, since whoever may change pods can write the annotation with Multus' report. In this order:
//
//	sysfs device of the interface       a virtual function that the kernel has, by its physfn
//	sysfs device on the auxiliary bus   a scalable function, by the PCI function that it was made of
//	sysfs phys_switch_id                a port's representor, which has no wire of its own but the port's
//	sysfs physfn of device-info's       a virtual function that has left the kernel (VFIO), by its PCI address
//	device-info pf-pci-address          of a device that sysfs doesn't know
func FindPort(root fs.FS, network Network, name string) Port {
	t := tree{root}
	dir := path.Join("/sys/class/net", name)
	device := t.pointsTo(dir + "/device")
	if card.IsAddress(device) {
		if p, ok := t.portOf(device); ok {
			return p
		}
		return Port{Device: device}
	}
	if parent := t.auxiliaryParent(device); parent != "" {
		return Port{Name: t.wireOf(parent), Shared: true}
	}
	if port, shared := switchPort(t.text(dir+"/phys_switch_id"), t.text(dir+"/phys_port_name")); port != "" {
		return Port{Name: port, Shared: shared}
	}
	if p, ok := t.portOf(network.PCIAddress); ok {
		return p
	}
	if network.PCIAddress == "" {
		return Port{} // without a device there is no port
	}
	p := Port{Device: network.PCIAddress, Name: network.PhysicalFunction}
	p.Shared = p.Name != "" && (p.Name != p.Device || card.Functions(t.FS, p.Name) > 0)
	return p
}

// portOf is the physical port of a PCI function that sysfs knows.
func (t tree) portOf(address string) (Port, bool) {
	d, ok := card.DeviceOf(t.FS, address)
	if !ok {
		return Port{}, false
	}
	return Port{Device: address, Name: d.Wire(), Shared: d.PhysicalFunction != "" || card.Functions(t.FS, address) > 0}, true
}

// wireOf is the physical port of a PCI function.
func (t tree) wireOf(address string) string {
	if d, ok := card.DeviceOf(t.FS, address); ok {
		return d.Wire()
	}
	return address
}

// auxiliaryParent is the PCI function that a device of the auxiliary bus, such as mlx5_core.sf.4, was made of,
// empty for other devices.
func (t tree) auxiliaryParent(name string) string {
	if name == "" {
		return ""
	}
	destination, err := fs.ReadLink(t.FS, inside(path.Join("/sys/bus/auxiliary/devices", name)))
	if err != nil {
		return ""
	}
	if parent := path.Base(path.Dir(destination)); card.IsAddress(parent) {
		return parent
	}
	return ""
}

// representor is the kernel's name of a function behind a switch's port, such as pf0vf3, pf1sf8 or c1pf0vf3
// (kernel, Documentation/networking/switchdev).
var representor = regexp.MustCompile(`^((?:c\d+)?pf\d+)(?:vf|sf)\d+$`)

// switchPort is the port of a switch that an interface is, or stands for.
func switchPort(id, name string) (port string, shared bool) {
	if id == "" || name == "" {
		return "", false
	}
	if parts := representor.FindStringSubmatch(name); parts != nil {
		return id + "/" + parts[1], true
	}
	return id + "/" + name, false
}
