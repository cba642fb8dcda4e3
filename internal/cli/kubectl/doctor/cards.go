package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/host/card"
	"github.com/linerate-dev/linerate/internal/units"
)

// CardNeed is what tests on a machine's cards need.
type CardNeed struct {
	TRex       bool     // else the software engine, or a device that the kernel forwards for
	Ports      []string // none means each port that has virtual functions, or could have some
	FrameBytes int      // of the longest frame, FCS included
	Bridge     bool     // the device forwards frames with the source MACs of others
}

// DiagnoseCards checks a machine's cards and their virtual functions in the order in which a person would repair them.
func DiagnoseCards(m card.Machine, need CardNeed) []Finding {
	ports, findings := choosePorts(m, need)
	findings = append(findings, iommu(m, need)...)
	for _, p := range ports {
		faults := slices.Concat(portFaults(p, need), hugepageFaults(m, p, need), driverFaults(p, need),
			functionFaults(p, need))
		if len(faults) == 0 {
			faults = single(OK, "port "+p.Name, describe(p), "")
		}
		findings = append(findings, faults...)
	}
	return append(findings, nodesApart(ports)...)
}

func choosePorts(m card.Machine, need CardNeed) (ports []card.Port, findings []Finding) {
	var names []string
	for _, p := range m.Ports {
		names = append(names, p.Name)
		if slices.Contains(need.Ports, p.Name) || len(need.Ports) == 0 && p.MostFunctions > 0 {
			ports = append(ports, p)
		}
	}
	for _, name := range need.Ports {
		if !slices.Contains(names, name) {
			findings = append(findings, Finding{Fail, "port " + name, "this machine has no such port of a card, but " +
				cmp.Or(strings.Join(names, ", "), "none"),
				"ip link; a port that a pod has, or that vfio-pci drives, isn't seen here"})
		}
	}
	if len(ports) == 0 && len(need.Ports) == 0 {
		findings = single(Fail, "ports", "no card here can make virtual functions",
			"turn SR-IOV on in the firmware (docs/sriov.md, step 1), or name a port to use whole")
	}
	return ports, findings
}

func iommu(m card.Machine, need CardNeed) []Finding {
	const check = "IOMMU"
	switch {
	case m.IOMMUGroups == 0 && need.TRex:
		return single(Fail, check, "it is off, and vfio-pci gives no device to a TRex without it",
			"turn on VT-d or AMD IOMMU in the firmware, and boot with intel_iommu=on iommu=pt (docs/sriov.md, step 1)")
	case m.IOMMUGroups == 0:
		return single(Warn, check, "it is off: the software engine needs none, TRex on vfio-pci does",
			"boot with intel_iommu=on iommu=pt (docs/sriov.md, step 1)")
	case need.TRex && !m.VFIO:
		return single(Fail, check, "it is on, and the driver vfio-pci isn't loaded", "modprobe vfio-pci")
	}
	return single(OK, check, fmt.Sprintf("on, with %d groups", m.IOMMUGroups), "")
}

func describe(p card.Port) string {
	stamps := "its clock stamps no frames"
	if p.Stamps != card.NoStamps {
		stamps = "its clock stamps " + string(p.Stamps)
	}
	return fmt.Sprintf("%s, NUMA node %d, MTU %d, %d of %d virtual functions; %s, and latency is by the machine's clock",
		p.Driver, p.NUMANode, p.MTU, len(p.Functions), p.MostFunctions, stamps)
}

// portFaults are those of the port itself.
func portFaults(p card.Port, need CardNeed) (findings []Finding) {
	fault := func(level Level, message, fix string) {
		findings = append(findings, Finding{level, "port " + p.Name, message, fix})
	}
	switch {
	case !p.AdminUp:
		fault(Fail, "it is down, and a virtual function has no link while its port is down", "ip link set "+p.Name+" up")
	case !p.Carrier:
		fault(Fail, "it is up and has no carrier", "connect its cable, and set the far end up: ethtool "+p.Name)
	}
	if mtu := need.FrameBytes - ethernetBytes; p.MTU < mtu {
		fault(Fail, fmt.Sprintf("its MTU of %d lets frames of %d bytes pass at most, its functions' too, and the test has "+
			"%d", p.MTU, p.MTU+ethernetBytes, need.FrameBytes), fmt.Sprintf("ip link set %s mtu %d", p.Name, mtu))
	}
	switch {
	case len(p.Functions) == 0 && p.MostFunctions == 0:
		fault(Warn, "its card makes no virtual functions, and a test can only use the port whole",
			"turn SR-IOV on in the firmware (docs/sriov.md, step 1)")
	case len(p.Functions) == 0:
		fault(Warn, fmt.Sprintf("it has none of the %d virtual functions that it can have, and a device plugin offers none",
			p.MostFunctions), fmt.Sprintf("echo %d > /sys/class/net/%s/device/sriov_numvfs", min(4, p.MostFunctions), p.Name))
	}
	if p.Pause {
		fault(Warn, "pause frames are on, and slow a sender without loss", "ethtool -A "+p.Name+" rx off tx off; where that "+
			"changes nothing, as on igb: ethtool -A "+p.Name+" autoneg off rx off tx off")
	}
	return findings
}

// ethernetBytes is how much longer a frame is than its packet, FCS included.
const ethernetBytes = 14 + units.FCSBytes

// trexHugepagesMiB is what a TRex on devices needs at least.
const trexHugepagesMiB = 1024

// hugepageFaults looks at the NUMA node of the port, and at all nodes where the port's is unknown.
func hugepageFaults(m card.Machine, p card.Port, need CardNeed) []Finding {
	if !need.TRex {
		return nil
	}
	total, free, pages := 0, 0, 1
	for _, h := range m.Hugepages {
		if p.NUMANode >= 0 && h.Node != p.NUMANode {
			continue
		}
		if total, free = total+h.Total*h.PageKiB/1024, free+h.Free*h.PageKiB/1024; h.PageKiB == 2048 {
			pages = trexHugepagesMiB / 2
		}
	}
	node := max(p.NUMANode, 0)
	check := fmt.Sprintf("hugepages of NUMA node %d", node)
	switch {
	case total < trexHugepagesMiB:
		return single(Fail, check, fmt.Sprintf("it has %d MiB, and a TRex on port %s of that node needs %d", total, p.Name,
			trexHugepagesMiB), fmt.Sprintf("echo %d > /sys/devices/system/node/node%d/hugepages/hugepages-2048kB/"+
			"nr_hugepages, or boot with hugepages; then restart the kubelet (docs/sriov.md, step 1)", pages, node))
	case free < trexHugepagesMiB:
		return single(Warn, check, fmt.Sprintf("others hold all but %d of its %d MiB, and a TRex on port %s needs %d", free,
			total, p.Name, trexHugepagesMiB), "end the programs that hold them: grep -l hugepages /proc/*/maps")
	}
	return nil
}

// driverFaults finds ports none of whose functions has a driver that the engine can use.
func driverFaults(p card.Port, need CardNeed) []Finding {
	var drivers []string
	for _, f := range p.Functions {
		byVFIO, byMellanox := f.Driver == "vfio-pci", f.Driver == "mlx5_core"
		if need.TRex && (byVFIO || byMellanox) || !need.TRex && f.Driver != "" && !byVFIO {
			return nil
		}
		if name := f.Driver; !slices.Contains(drivers, name) {
			drivers = append(drivers, name)
		}
	}
	if len(p.Functions) == 0 {
		return nil
	}
	bound := "bound to " + strings.Join(drivers, ", ")
	if drivers[0] == "" {
		bound = "bound to no driver"
	}
	first := p.Functions[0].Address
	device := "/sys/bus/pci/devices/" + first
	unbind := ""
	if p.Functions[0].Driver != "" {
		unbind = fmt.Sprintf("echo %s > %s/driver/unbind; ", first, device)
	}
	rebind := func(driver string) string {
		return fmt.Sprintf("echo %s > %s/driver_override; %secho %s > /sys/bus/pci/drivers_probe (so for each function)",
			driver, device, unbind, first)
	}
	if need.TRex {
		return single(Fail, "functions of "+p.Name, "they are "+bound+", and TRex needs vfio-pci", rebind("vfio-pci"))
	}
	return single(Fail, "functions of "+p.Name, "they are "+bound+", and the software engine needs their kernel driver",
		"modprobe the card's driver for functions; "+rebind("''"))
}

// roomyRing is how many frames a receive ring should hold. TRex's 512 lose bursts on virtual functions.
const roomyRing = 1024

// functionRule is a fault that virtual functions of a port may have.
type functionRule struct {
	level  Level
	faulty func(p card.Port, f card.Function, need CardNeed) bool
	// message follows the functions' names. fix is what a person does for one function, and inCluster what makes the
	// network's plugin do it for each pod.
	message   string
	fix       func(p card.Port, f card.Function, need CardNeed) string
	inCluster string
}

// setting repairs what the port sets for a function.
func setting(words string) func(card.Port, card.Function, CardNeed) string {
	return func(p card.Port, f card.Function, _ CardNeed) string {
		return fmt.Sprintf("ip link set %s vf %d %s", p.Name, f.Index, words)
	}
}

// command repairs a function's own interface, whose name replaces NAME.
func command(words string) func(card.Port, card.Function, CardNeed) string {
	return func(_ card.Port, f card.Function, _ CardNeed) string {
		return strings.ReplaceAll(words, "NAME", f.Interface.Name)
	}
}

// onSettings and onInterface are for rules about what may be unknown.
func onSettings(faulty func(s card.Settings, need CardNeed) bool) func(card.Port, card.Function, CardNeed) bool {
	return func(_ card.Port, f card.Function, need CardNeed) bool {
		return f.Settings != nil && faulty(*f.Settings, need)
	}
}

func onInterface(faulty func(i card.Interface) bool) func(card.Port, card.Function, CardNeed) bool {
	return func(_ card.Port, f card.Function, _ CardNeed) bool { return f.Interface != nil && faulty(*f.Interface) }
}

var functionRules = []functionRule{
	{Fail, onSettings(func(s card.Settings, _ CardNeed) bool { return s.Disabled }),
		"their link is disabled by the port", setting("state auto"), ""},
	{Fail, func(p card.Port, f card.Function, _ CardNeed) bool {
		return f.Interface != nil && f.Interface.AdminUp && !f.Interface.Carrier && p.AdminUp && p.Carrier
	}, "they are up and have no carrier, though their port has one",
		command("ip link set NAME down; ip link set NAME up; else unbind and bind the driver again"), ""},
	{Fail, sharesMAC, "another function of the port, or the port, has the same MAC, and the card gives it their frames",
		setting("mac 02:… (one that no other has)"), ""},
	{Fail, func(_ card.Port, f card.Function, _ CardNeed) bool {
		return f.Settings != nil && f.Interface != nil && f.Settings.SpoofCheck && isSet(f.Settings.MAC) &&
			f.Settings.MAC != f.Interface.MAC
	}, "their interface has another MAC than the port set, and the spoof check drops what they send",
		func(p card.Port, f card.Function, need CardNeed) string {
			return setting("mac "+f.Interface.MAC)(p, f, need)
		}, ""},
	{Fail, onSettings(func(s card.Settings, need CardNeed) bool { return need.Bridge && s.SpoofCheck }),
		"the spoof check is on, and drops what a bridge forwards: frames with the source MACs of others",
		setting("spoofchk off"), `"spoofchk": "off" in the device's network`},
	{Warn, onSettings(func(s card.Settings, _ CardNeed) bool { return s.VLAN > 0 }),
		"the port puts them into a VLAN: they reach no function of another one, and their own tags may be dropped",
		setting("vlan 0"), ""},
	{Warn, onSettings(func(s card.Settings, _ CardNeed) bool { return s.MaxMbps > 0 }),
		"the port limits what they send, and a test would measure that limit", setting("max_tx_rate 0"), ""},
	{Warn, onSettings(func(s card.Settings, need CardNeed) bool { return need.TRex && !s.Trust }),
		"they aren't trusted, and some cards refuse them the promiscuous mode that TRex asks for",
		setting("trust on"), `"trust": "on" in the network`},
	{Fail, func(p card.Port, f card.Function, _ CardNeed) bool {
		return f.Interface != nil && f.Interface.MTU > p.MTU
	},
		"their MTU is larger than the port's, which drops longer frames",
		func(p card.Port, f card.Function, _ CardNeed) string {
			return fmt.Sprintf("ip link set %s mtu %d", p.Name, f.Interface.MTU)
		}, ""},
	{Fail, func(p card.Port, f card.Function, need CardNeed) bool {
		mtu := need.FrameBytes - ethernetBytes
		return f.Interface != nil && f.Interface.MTU < mtu && p.MTU >= mtu
	}, "their MTU is too small for the test's frames, though the port's isn't",
		func(_ card.Port, f card.Function, need CardNeed) string {
			return fmt.Sprintf("ip link set %s mtu %d", f.Interface.Name, need.FrameBytes-ethernetBytes)
		}, ""},
	{Warn, func(_ card.Port, f card.Function, _ CardNeed) bool { return f.FarInterrupts },
		"processors of another NUMA node handle their interrupts", func(_ card.Port, f card.Function, _ CardNeed) string {
			return fmt.Sprintf("for i in $(ls /sys/bus/pci/devices/%s/msi_irqs); do cat /sys/bus/pci/devices/%s/local_cpulist > "+
				"/proc/irq/$i/smp_affinity_list; done", f.Address, f.Address)
		}, ""},
	{Warn, onInterface(func(i card.Interface) bool { return i.Ring > 0 && i.Ring < min(roomyRing, i.MostRing) }),
		"their receive rings are short, and the driver may hide what found no room in a burst",
		func(_ card.Port, f card.Function, _ CardNeed) string {
			return fmt.Sprintf("ethtool -G %s rx %d", f.Interface.Name, f.Interface.MostRing)
		}, ""},
	{Warn, onInterface(func(i card.Interface) bool { return i.XDP != 0 }),
		"an XDP program that somebody left is on them, and gets each frame first", command("ip link set NAME xdp off"), ""},
	{Warn, onInterface(func(i card.Interface) bool { return i.Filters > 0 }),
		"filters of tc that somebody left are on them", command("tc qdisc del dev NAME clsact"), ""},
	{Warn, onInterface(func(i card.Interface) bool { return i.Promiscuous }),
		"they are promiscuous, and take frames of others", command("ip link set NAME promisc off"), ""},
	{Warn, onInterface(func(i card.Interface) bool { return len(i.Addresses) > 0 }),
		"they have addresses, for which this machine's kernel answers", command("ip address flush dev NAME"), ""},
	{Warn, onInterface(func(i card.Interface) bool { return i.Master != "" }),
		"they are in a bridge or bond of this machine", command("ip link set NAME nomaster"), ""},
}

func isSet(mac string) bool { return mac != "" && strings.Trim(mac, "0:") != "" }

// sharesMAC reports whether the card has the function's MAC twice.
func sharesMAC(p card.Port, f card.Function, _ CardNeed) bool {
	if f.Settings == nil || !isSet(f.Settings.MAC) {
		return false
	}
	return p.MAC == f.Settings.MAC || slices.ContainsFunc(p.Functions, func(sibling card.Function) bool {
		return sibling.Index != f.Index && sibling.Settings != nil && sibling.Settings.MAC == f.Settings.MAC
	})
}

// functionFaults has one finding for each rule, with all functions that break it.
func functionFaults(p card.Port, need CardNeed) (findings []Finding) {
	for _, rule := range functionRules {
		var names, fixes []string
		for _, f := range p.Functions {
			if rule.faulty(p, f, need) {
				names, fixes = append(names, nameOf(f)), append(fixes, rule.fix(p, f, need))
			}
		}
		if len(names) == 0 {
			continue
		}
		fix := strings.Join(slices.Compact(fixes), "; ")
		if rule.inCluster != "" {
			fix += "; in a cluster: " + rule.inCluster
		}
		findings = append(findings, Finding{rule.level, "functions of " + p.Name, firstOf(names) + ": " + rule.message,
			fix})
	}
	return findings
}

// nameOf is a function's interface, or its number where it has none here.
func nameOf(f card.Function) string {
	if f.Interface != nil {
		return fmt.Sprintf("vf %d (%s)", f.Index, f.Interface.Name)
	}
	return fmt.Sprintf("vf %d (%s)", f.Index, f.Address)
}

// nodesApart finds ports on different NUMA nodes.
func nodesApart(ports []card.Port) []Finding {
	var words []string
	differ := false
	for _, p := range ports {
		differ = differ || p.NUMANode != ports[0].NUMANode
		words = append(words, fmt.Sprintf("%s is on node %d", p.Name, p.NUMANode))
	}
	if !differ {
		return nil
	}
	return single(Warn, "NUMA nodes", strings.Join(words, ", ")+": a pod's processors and memory are far from one of "+
		"them, and topologyManagerPolicy: single-numa-node refuses the pod", "use ports of one node, or "+
		"topologyManagerPolicy: best-effort, which costs throughput (docs/sriov.md, step 4)")
}
