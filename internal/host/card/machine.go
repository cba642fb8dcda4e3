package card

import (
	"cmp"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Machine is a machine's network cards, and what their functions need of the machine.
type Machine struct {
	// IOMMUGroups is how many groups the IOMMU made. It makes none while it is off.
	IOMMUGroups int
	// VFIO says that the driver vfio-pci is there.
	VFIO      bool
	Hugepages []Hugepages
	Ports     []Port // by name
}

// Hugepages are the pages of one size on one NUMA node.
type Hugepages struct{ Node, PageKiB, Total, Free int }

// Port is a card's port that the kernel drives. The kernel calls it a physical function.
type Port struct {
	Device
	Interface
	MostFunctions int // that the card can make, 0 for a card without SR-IOV
	Functions     []Function
}

// Function is a virtual function of a port.
type Function struct {
	Device
	Index int // as "ip link set PORT vf INDEX" takes it
	// Interface is nil where this network namespace has none of the function: a pod has it, or no kernel driver has.
	Interface *Interface
	// Settings are what the port sets for the function, nil where the port's driver doesn't report them.
	Settings *Settings
}

// Interface is a network interface of a card, in this network namespace.
type Interface struct {
	Name, MAC string
	MTU       int
	// AdminUp is that it was set up, Carrier that frames can pass.
	AdminUp, Carrier bool
	State
}

// Read reads the machine's cards below root, "/" on a machine. asked is what Ask returned.
func Read(root fs.FS, asked map[string]Answer) Machine {
	t := tree{root}
	m := Machine{IOMMUGroups: len(t.names("sys/kernel/iommu_groups")), VFIO: t.exists("sys/bus/pci/drivers/vfio-pci"),
		Hugepages: t.hugepages()}
	for _, name := range t.names("sys/class/net") {
		device, found := DeviceOf(root, t.pointsTo("sys/class/net/"+name+"/device"))
		if !found || device.PhysicalFunction != "" {
			continue
		}
		p := Port{Device: device, Interface: t.networkInterface(name, asked),
			MostFunctions: int(t.number(path.Join(pciDevices, device.Address, "sriov_totalvfs"), 0))}
		for i := range Functions(root, device.Address) {
			p.Functions = append(p.Functions, t.function(device.Address, i, asked, asked[name].Functions))
		}
		m.Ports = append(m.Ports, p)
	}
	slices.SortFunc(m.Ports, func(a, b Port) int { return cmp.Compare(a.Name, b.Name) })
	return m
}

func (t tree) function(port string, index int, asked map[string]Answer, settings map[int]Settings) Function {
	address := t.pointsTo(path.Join(pciDevices, port, "virtfn"+strconv.Itoa(index)))
	f := Function{Index: index}
	f.Device, _ = DeviceOf(t.FS, address)
	if len(f.Interfaces) > 0 {
		i := t.networkInterface(f.Interfaces[0], asked)
		f.Interface = &i
	}
	if s, found := settings[index]; found {
		f.Settings = &s
	}
	return f
}

// The kernel's flag of an interface that was set up (IFF_UP of linux/if.h).
const flagUp = 1

func (t tree) networkInterface(name string, asked map[string]Answer) Interface {
	dir := "sys/class/net/" + name
	flags, _ := strconv.ParseUint(strings.TrimPrefix(t.text(dir+"/flags"), "0x"), 16, 32) // unreadable is down
	return Interface{Name: name, MAC: t.text(dir + "/address"), MTU: int(t.number(dir+"/mtu", 0)),
		AdminUp: flags&flagUp != 0, Carrier: t.text(dir+"/carrier") == "1", State: asked[name].State}
}

func (t tree) hugepages() (pages []Hugepages) {
	const nodes = "sys/devices/system/node"
	for _, name := range t.names(nodes) {
		node, err := strconv.Atoi(strings.TrimPrefix(name, "node"))
		if err != nil {
			continue
		}
		for _, size := range t.names(path.Join(nodes, name, "hugepages")) {
			kib, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(size, "hugepages-"), "kB"))
			if err != nil {
				continue
			}
			dir := path.Join(nodes, name, "hugepages", size)
			pages = append(pages, Hugepages{Node: node, PageKiB: kib, Total: int(t.number(dir+"/nr_hugepages", 0)),
				Free: int(t.number(dir+"/free_hugepages", 0))})
		}
	}
	return pages
}
