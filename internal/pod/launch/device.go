package launch

import (
	"io/fs"
	"path"
	"regexp"
)

// Device is a PCI device as sysfs shows it.
type Device struct {
	Address  string
	Driver   string // that it is bound to, such as "vfio-pci", "mlx5_core" or "iavf", "" for none
	Vendor   string // "0x8086"
	Model    string // the device id, "0x1889"
	NUMANode int    // -1 unknown
	// PhysicalFunction is the PCI address of the port that the device is a virtual function of, else empty.
	PhysicalFunction string
	// PhysicalInterface is that port's own network interface, where the pod may see it.
	PhysicalInterface string
	IOMMUGroup        string
	// Interfaces are its network interfaces that are in the pod.
	Interfaces []string
	SpeedMbps  int64 // 0 unknown
}

// wire is the PCI address of the physical port. Virtual functions of one port share its bandwidth.
func (d Device) wire() string {
	if d.PhysicalFunction != "" {
		return d.PhysicalFunction
	}
	return d.Address
}

// Interface is a network interface of the kernel, in the pod.
type Interface struct {
	Name       string
	MAC        string
	MTU        int64
	SpeedMbps  int64 // 0 unknown, as of most virtual interfaces
	PCIAddress string
}

const pciDevices = "/sys/bus/pci/devices"

func (t tree) device(address string) (Device, bool) {
	dir := path.Join(pciDevices, address)
	if !t.exists(dir) {
		return Device{}, false
	}
	d := Device{
		Address:          address,
		Driver:           t.pointsTo(dir + "/driver"),
		Vendor:           t.text(dir + "/vendor"),
		Model:            t.text(dir + "/device"),
		NUMANode:         int(t.number(dir+"/numa_node", -1)),
		PhysicalFunction: t.pointsTo(dir + "/physfn"),
		IOMMUGroup:       t.pointsTo(dir + "/iommu_group"),
		Interfaces:       t.names(dir + "/net"),
	}
	if physical := t.names(dir + "/physfn/net"); len(physical) > 0 {
		d.PhysicalInterface = physical[0]
	}
	for _, name := range append([]string{d.PhysicalInterface}, d.Interfaces...) {
		if d.SpeedMbps == 0 && name != "" {
			d.SpeedMbps = t.speed(name)
		}
	}
	return d, true
}

func (t tree) interfaces() map[string]Interface {
	found := map[string]Interface{}
	for _, name := range t.names("/sys/class/net") {
		dir := path.Join("/sys/class/net", name)
		i := Interface{Name: name, MAC: t.text(dir + "/address"), MTU: t.number(dir+"/mtu", 0),
			SpeedMbps: t.speed(name)}
		if address := t.pointsTo(dir + "/device"); isPCIAddress(address) {
			i.PCIAddress = address
		}
		found[name] = i
	}
	return found
}

// speed is an interface's link speed in Mb/s. The kernel reports -1, or nothing, where there is none.
func (t tree) speed(name string) int64 {
	return max(0, t.number("/sys/class/net/"+name+"/speed", 0))
}

var pciAddress = regexp.MustCompile(`^[0-9a-f]{4,}:[0-9a-f]{2}:[01][0-9a-f]\.[0-7]$`)

func isPCIAddress(s string) bool { return pciAddress.MatchString(s) }

// DriverOf is the kernel's driver of a PCI device, or, where the address is empty, of an interface's device. It
// is empty where there is none.
func DriverOf(root fs.FS, address, name string) string {
	t := tree{root}
	if isPCIAddress(address) {
		return t.pointsTo(path.Join(pciDevices, address, "driver"))
	}
	return t.pointsTo(path.Join("/sys/class/net", name, "device", "driver"))
}
