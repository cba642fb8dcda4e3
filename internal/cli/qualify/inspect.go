package qualify

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/internal/engine/softgen/datapath"
	"github.com/linerate-dev/linerate/internal/host/card"
	"github.com/linerate-dev/linerate/internal/host/ethtool"
	"github.com/linerate-dev/linerate/internal/host/machine"
)

// inspectMachine reads what surrounds the ports, below root, "/" on a machine.
func inspectMachine(root fs.FS) Machine {
	local := machine.Local()
	return Machine{CPUModel: local.CPUModel, Processors: local.Processors, Kernel: local.Kernel,
		Hypervisor: local.Hypervisor, Governors: machine.Governors(root), OnBattery: onBattery(root),
		BalancesInterrupts: balancesInterrupts(root),
		Clock: Clock{Source: text(root, "sys/devices/system/clocksource/clocksource0/current_clocksource"),
			ReadNanoseconds: readingTime(datapath.Now)}}
}

// readingTime is the least of many readings, as a reading may be interrupted.
func readingTime(clock func() time.Duration) int64 {
	least := time.Duration(1<<63 - 1)
	for range 1000 {
		begin := clock()
		least = min(least, clock()-begin)
	}
	return least.Nanoseconds()
}

// onBattery reports whether a battery that feeds the machine discharges. Batteries of mice and keyboards have the scope
// Device.
func onBattery(root fs.FS) bool {
	supplies, _ := fs.Glob(root, "sys/class/power_supply/*") // the pattern is well-formed
	return slices.ContainsFunc(supplies, func(supply string) bool {
		return text(root, supply+"/type") == "Battery" && text(root, supply+"/scope") != "Device" &&
			text(root, supply+"/status") == "Discharging"
	})
}

// balancesInterrupts reports whether a process is called irqbalance.
func balancesInterrupts(root fs.FS) bool {
	names, _ := fs.Glob(root, "proc/[0-9]*/comm") // the pattern is well-formed
	return slices.ContainsFunc(names, func(name string) bool { return text(root, name) == "irqbalance" })
}

// inspectPort reads what a port is, below root and from the kernel, in the calling thread's network namespace.
func inspectPort(root fs.FS, asked map[string]card.Answer, info datapath.Info) (Port, error) {
	facts, err := ethtool.Ask(info.Interface)
	if err != nil {
		return Port{}, err
	}
	p := Port{Name: info.Interface, Driver: info.Driver, Card: info.NIC, Firmware: info.Firmware, NUMANode: -1,
		MTU:       info.MTU,
		SpeedMbps: facts.Link.SpeedMbps, HalfDuplex: facts.Link.HalfDuplex, Autonegotiation: facts.Link.Autonegotiation,
		Medium: facts.Link.Medium, ErrorCorrection: facts.ErrorCorrection, ReceiveQueues: facts.Queues.Receive,
		SendQueues: facts.Queues.Send, ReceiveRing: facts.Rings.Receive, MostReceiveRing: facts.Rings.MostReceive,
		SendRing: facts.Rings.Send, Coalescing: coalescing(facts.Coalesce), Offloads: facts.Offloads,
		PauseFrames: facts.ReceivesPause || facts.SendsPause, ReceiveDrops: info.ReceiveDrops}
	if p.Module, err = ethtool.ModuleOf(p.Name); err != nil {
		p.Module = &ethtool.Module{Kind: "unreadable: " + err.Error()}
	}
	if address := linkedName(root, "sys/class/net/"+p.Name+"/device"); address != "" {
		if device, found := card.DeviceOf(root, address); found {
			p.NUMANode, p.FarInterrupts, p.VirtualFunction = device.NUMANode, device.FarInterrupts,
				device.PhysicalFunction != ""
		}
	}
	answer := asked[p.Name]
	p.Stamps, p.Leftovers = string(answer.Stamps), leftovers(p.Name, answer)
	return p, nil
}

// coalescing is in the words of ethtool -C.
func coalescing(c ethtool.Coalesce) string {
	if !c.Known {
		return ""
	}
	words := []string{fmt.Sprintf("rx-usecs %d", c.ReceiveMicroseconds)}
	if c.ReceiveFrames > 0 {
		words = append(words, fmt.Sprintf("rx-frames %d", c.ReceiveFrames))
	}
	if c.AdaptiveReceive {
		words = append(words, "adaptive-rx on")
	}
	return strings.Join(words, ", ")
}

// leftovers are what others left on a port.
func leftovers(name string, a card.Answer) (left []Leftover) {
	add := func(is bool, what, remedy string) {
		if is {
			left = append(left, Leftover{what, strings.ReplaceAll(remedy, "NAME", name)})
		}
	}
	add(a.XDP != 0, "an XDP program, which gets each frame first", "ip link set NAME xdp off")
	add(a.Filters > 0, "filters of tc", "tc qdisc del dev NAME clsact")
	add(a.Master != "", "it is in "+a.Master+", a bridge or bond", "ip link set NAME nomaster")
	add(len(a.Addresses) > 0, "addresses, for which this machine's kernel answers", "ip address flush dev NAME")
	add(a.Promiscuous, "promiscuous mode, which takes frames of others", "ip link set NAME promisc off")
	return left
}

func text(root fs.FS, file string) string {
	content, err := fs.ReadFile(root, file)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(content))
}

func linkedName(root fs.FS, link string) string {
	destination, err := fs.ReadLink(root, link)
	if err != nil {
		return ""
	}
	return path.Base(destination)
}
