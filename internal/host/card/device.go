package card

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"
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
	// PhysicalInterface is that port's own network interface, where this network namespace has it.
	PhysicalInterface string
	IOMMUGroup        string
	// Interfaces are its network interfaces that are in this network namespace.
	Interfaces []string
	SpeedMbps  int64 // 0 unknown
	// FarInterrupts says that no processor of its NUMA node handles an interrupt of it.
	FarInterrupts bool
}

// Wire is the PCI address of the physical port. Virtual functions of one port share its bandwidth.
func (d Device) Wire() string {
	if d.PhysicalFunction != "" {
		return d.PhysicalFunction
	}
	return d.Address
}

const pciDevices = "sys/bus/pci/devices"

// DeviceOf is the PCI device of an address below root, "/" on a machine. found is false where sysfs has no such device.
func DeviceOf(root fs.FS, address string) (d Device, found bool) {
	t := tree{root}
	dir := path.Join(pciDevices, address)
	if !IsAddress(address) || !t.exists(dir) {
		return Device{}, false
	}
	d = Device{
		Address:          address,
		Driver:           t.pointsTo(dir + "/driver"),
		Vendor:           t.text(dir + "/vendor"),
		Model:            t.text(dir + "/device"),
		NUMANode:         int(t.number(dir+"/numa_node", -1)),
		PhysicalFunction: t.pointsTo(dir + "/physfn"),
		IOMMUGroup:       t.pointsTo(dir + "/iommu_group"),
		Interfaces:       t.names(dir + "/net"),
	}
	d.FarInterrupts = t.farInterrupts(address)
	if physical := t.names(dir + "/physfn/net"); len(physical) > 0 {
		d.PhysicalInterface = physical[0]
	}
	for _, name := range append([]string{d.PhysicalInterface}, d.Interfaces...) {
		if d.SpeedMbps == 0 && name != "" {
			d.SpeedMbps = SpeedMbps(root, name)
		}
	}
	return d, true
}

// farInterrupts compares the processors of a device's interrupts with those that are near the device.
func (t tree) farInterrupts(address string) bool {
	dir := path.Join(pciDevices, address)
	local, handled := processors(t.text(dir+"/local_cpulist")), false
	for _, number := range t.names(dir + "/msi_irqs") {
		for processor := range processors(t.text("proc/irq/" + number + "/effective_affinity_list")) {
			if local[processor] {
				return false
			}
			handled = true
		}
	}
	return handled && len(local) > 0
}

// processors reads a list of the kernel's, such as "0-3,8".
func processors(list string) map[int]bool {
	found := map[int]bool{}
	for part := range strings.SplitSeq(list, ",") {
		first, final, isRange := strings.Cut(part, "-")
		if !isRange {
			final = first
		}
		lowest, errFirst := strconv.Atoi(first)
		highest, errLast := strconv.Atoi(final)
		for i := lowest; errFirst == nil && errLast == nil && i <= highest; i++ {
			found[i] = true
		}
	}
	return found
}

// PortOf is the port that an interface is a virtual function of: its name where this network namespace has it, else its
// PCI address. It is empty for other interfaces.
func PortOf(root fs.FS, name string) string {
	t := tree{root}
	d, _ := DeviceOf(root, t.pointsTo("sys/class/net/"+name+"/device"))
	return cmp.Or(d.PhysicalInterface, d.PhysicalFunction)
}

// FunctionCaution says that the port of a virtual function may drop the function's frames. The port is empty where only
// its node knows it.
func FunctionCaution(function, port string) string {
	return fmt.Sprintf("%s is a virtual function, and what %s sets for it (VLAN, spoof check, MAC, link) may drop frames; "+
		"only its node shows that: run linerate doctor there", function, strings.TrimSpace("its port "+port))
}

// Functions is how many virtual functions the port of a PCI address has.
func Functions(root fs.FS, address string) int {
	return int(tree{root}.number(path.Join(pciDevices, address, "sriov_numvfs"), 0))
}

// SpeedMbps is an interface's link speed in Mb/s. The kernel reports -1, or nothing, where there is none.
func SpeedMbps(root fs.FS, name string) int64 {
	return max(0, tree{root}.number("sys/class/net/"+name+"/speed", 0))
}

var pciAddress = regexp.MustCompile(`^[0-9a-f]{4,}:[0-9a-f]{2}:[01][0-9a-f]\.[0-7]$`)

// IsAddress reports whether a text is a PCI address, such as "0000:3b:02.0".
func IsAddress(text string) bool { return pciAddress.MatchString(text) }
