package qualify

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/cli/kubectl/doctor"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// weaknesses are the findings of all rules, the gravest first.
func weaknesses(d *Document) (findings []doctor.Finding) {
	findings = ofMachine(d.Machine)
	for _, p := range d.Ports {
		findings = append(findings, ofPort(p)...)
	}
	if len(d.Ports) == 2 {
		findings = append(findings, ofBoth(d.Ports[0], d.Ports[1])...)
	}
	for _, direction := range d.Directions {
		findings = append(findings, ofDirection(d, direction)...)
	}
	rank := map[doctor.Level]int{doctor.Fail: 0, doctor.Unknown: 1, doctor.Warn: 2}
	slices.SortStableFunc(findings, func(a, b doctor.Finding) int { return cmp.Compare(rank[a.Level], rank[b.Level]) })
	return findings
}

// list collects findings of one subject.
type list struct {
	check    string
	findings []doctor.Finding
}

func (l *list) add(found bool, level doctor.Level, message, fix string) {
	if found {
		l.findings = append(l.findings, doctor.Finding{Level: level, Check: l.check, Message: message, Fix: fix})
	}
}

// slowClocks are sources that take a microsecond or more to read, or tick too seldom.
var slowClocks = []string{"hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit"}

// slowReading is how long a reading of the clock may take, in ns. A generator reads it before each frame.
const slowReading = 300

func ofMachine(m Machine) []doctor.Finding {
	l := list{check: "machine"}
	l.add(m.OnBattery, doctor.Warn, "it runs on battery, and saves power", "connect it to mains")
	var saving []string
	for _, name := range m.Governors {
		if name != "performance" {
			saving = append(saving, name)
		}
	}
	l.add(len(saving) > 0, doctor.Warn, "the frequency governor of its processors is "+strings.Join(saving, " and ")+
		", and they slow down between frames", "cpupower frequency-set -g performance")
	l.add(m.BalancesInterrupts, doctor.Warn, "irqbalance runs, and moves interrupts to other processors during a trial",
		"systemctl stop irqbalance")
	l.add(m.Hypervisor != "" && m.Hypervisor != "none", doctor.Warn,
		"it is a virtual machine ("+m.Hypervisor+"), whose host "+
			"may take its processors at any time", "measure on hardware, or give the machine processors of its own")
	l.add(m.Processors > 0 && m.Processors < 4, doctor.Warn, fmt.Sprintf("it has %d processors, which two ports and "+
		"all else "+
		"share", m.Processors), "use a machine of 4 or more, or expect lower bounds")
	c := list{check: "clock", findings: l.findings}
	c.add(slices.Contains(slowClocks, m.Clock.Source), doctor.Warn,
		"the kernel's clock is "+m.Clock.Source+", which is slow "+
			"to read", "echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource, where it is available")
	c.add(m.Clock.ReadNanoseconds > slowReading, doctor.Warn,
		fmt.Sprintf("a reading of it takes %d ns, before each frame",
			m.Clock.ReadNanoseconds), "use a clock that is read without the kernel, such as tsc")
	return c.findings
}

// roomyRing is how many frames a receive ring should hold, as doctor has it.
const roomyRing = 1024

func ofPort(p Port) []doctor.Finding {
	l := list{check: "port " + p.Name}
	named := func(words string) string { return strings.ReplaceAll(words, "NAME", p.Name) }
	veth := p.Driver == "veth"
	l.add(p.HalfDuplex, doctor.Fail, "its link is half duplex: it can't send and receive at the same time",
		named("ethtool -s NAME duplex full autoneg on, at both ends"))
	l.add(veth, doctor.Warn, "it is a virtual cable (veth): it has no link speed of its own, whatever its driver "+
		"reports, and "+
		"its figures are this machine's", "give each link a lineRate; for figures of a card name a card's ports")
	l.add(!veth && p.SpeedMbps == 0, doctor.Warn, "its driver reports no link speed", "give each link a lineRate")
	l.add(veth && p.ReceiveQueues <= 1, doctor.Warn, "it has no hardware queues: the sending processor does the "+
		"receiver's "+
		"work, too", "for figures of a card name a card's ports")
	l.add(!veth && p.ReceiveQueues == 1 && p.Driver != "", doctor.Warn,
		"it has one receive queue, and so one processor "+
			"receives all", named("ethtool -L NAME combined N, where the driver can"))
	l.add(p.ReceiveRing == 0, doctor.Warn, "its driver has no ring that can be set, and doesn't say how many frames "+
		"find room",
		"know its limit by an overload, as below")
	l.add(p.ReceiveRing > 0 && p.ReceiveRing < min(roomyRing, p.MostReceiveRing), doctor.Warn,
		fmt.Sprintf("its receive ring "+
			"holds %d frames of %d", p.ReceiveRing, p.MostReceiveRing), named(fmt.Sprintf("ethtool -G NAME rx %d",
			p.MostReceiveRing)))
	l.add(p.PauseFrames, doctor.Warn, "pause frames are on, and slow a sender without loss",
		named("ethtool -A NAME autoneg off rx off tx off"))
	for _, name := range []string{"rx-lro", "rx-gro-hw"} {
		l.add(slices.Contains(p.Offloads, name), doctor.Warn, "the card merges received frames ("+name+")",
			named("ethtool -K NAME "+name+" off"))
	}
	l.add(p.MTU < 1500, doctor.Warn, fmt.Sprintf("its MTU of %d is too small for frames of 1518 bytes", p.MTU),
		named("ip link set NAME mtu 1500"))
	l.add(p.FarInterrupts, doctor.Warn, "processors of another NUMA node handle its interrupts",
		named("for i in $(ls /sys/class/net/NAME/device/msi_irqs); do cat /sys/class/net/NAME/device/local_cpulist > "+
			"/proc/irq/$i/smp_affinity_list; done"))
	l.add(p.VirtualFunction, doctor.Warn, "it is a virtual function: what its port sets for it may drop frames, and "+
		"its port's "+
		"drops aren't seen", "linerate doctor, where its port is")
	l.add(p.Stamps == "", doctor.Warn, "its clock stamps no frames, so latency is by the machine's clock",
		"for latency within a microsecond use a card that stamps all frames")
	l.add(p.Stamps == "PTP frames", doctor.Warn, "its clock stamps PTP frames alone, so latency is by the machine's "+
		"clock",
		"for latency within a microsecond use a card that stamps all frames")
	for _, left := range p.Leftovers {
		l.add(true, doctor.Warn, "others left on it: "+left.What, left.Remedy)
	}
	return append(l.findings, ofModule(p)...)
}

func ofModule(p Port) []doctor.Finding {
	m := p.Module
	if m == nil {
		return nil
	}
	l := list{check: "module of " + p.Name}
	l.add(strings.HasPrefix(m.Kind, "unreadable"), doctor.Unknown, m.Kind, "as root: ethtool -m "+p.Name)
	if m.Diagnostics == nil {
		return l.findings
	}
	const fix = "clean or replace the fibre, then the module at the far end, then this one; ethtool -m "
	alarms, warnings := m.Diagnostics.Alarms, m.Diagnostics.Warnings
	l.add(len(alarms) > 0, doctor.Fail, "it raises an alarm: "+strings.Join(alarms, ", "), fix+p.Name)
	l.add(len(alarms) == 0 && len(warnings) > 0, doctor.Warn, "it warns: "+strings.Join(warnings, ", "), fix+p.Name)
	return l.findings
}

// ofBoth compares the two ports.
func ofBoth(a, b Port) []doctor.Finding {
	l := list{check: "both ports"}
	l.add(a.MTU != b.MTU, doctor.Warn, fmt.Sprintf("%s has an MTU of %d, and %s of %d: longer frames are lost",
		a.Name, a.MTU,
		b.Name, b.MTU), fmt.Sprintf("ip link set %s mtu %d", a.Name, b.MTU))
	l.add(a.SpeedMbps != b.SpeedMbps && a.SpeedMbps*b.SpeedMbps > 0, doctor.Warn,
		fmt.Sprintf("%s has a link of %d Mb/s, and %s "+
			"of %d: a switch between them drops what is too fast", a.Name, a.SpeedMbps, b.Name, b.SpeedMbps),
		"connect both at one speed, or give each link its lineRate")
	l.add(a.NUMANode != b.NUMANode && a.NUMANode >= 0 && b.NUMANode >= 0, doctor.Warn,
		fmt.Sprintf("%s is on NUMA node %d, and "+
			"%s on %d", a.Name, a.NUMANode, b.Name, b.NUMANode), "use two ports of one node")
	return l.findings
}

// pathTitles are the paths in words.
var pathTitles = map[string]string{"live": "live frames", "af_xdp": "AF_XDP in copy mode",
	"zero_copy": "AF_XDP in zero copy",
	"af_packet": "AF_PACKET"}

// accuracy is how far a reading may be from its limit, in percent.
const accuracy = 1

func ofDirection(d *Document, way Direction) []doctor.Finding {
	l := list{check: wording.Direction(way.From, way.To)}
	for _, p := range way.Paths {
		l.add(p.Refused != "", doctor.Warn, "no "+pathTitles[p.Name]+": "+p.Refused,
			"use another --path of those that work")
		l.add(p.NeedsProgram, doctor.Warn, pathTitles[p.Name]+" work only while an XDP program is on "+way.From,
			"put one there before a run with --path "+p.Name)
	}
	if len(way.Paths) > 0 {
		l.add(way.Clean == nil, doctor.Fail, "it lost frames at each load: the cable, or the receiver, drops some at "+
			"any rate",
			"replace the cable, then try other ports")
	}
	sender := d.port(way.From)
	if c := way.Clean; c != nil && sender.SpeedMbps > 0 && sender.Driver != "veth" {
		rate := lineRate(sender.SpeedMbps)
		l.add(float64(c.PacketsPerSecond) < 0.95*rate, doctor.Warn,
			fmt.Sprintf("of 64-byte frames it sends %s without loss, "+
				"%.0f %% of its line rate: a faster device's limit is a lower bound",
				wording.PacketRate(c.PacketsPerSecond),
				100*float64(c.PacketsPerSecond)/rate), "use longer frames, more --cores where the card has queues, or TRex")
	}
	return append(l.findings, append(ofOverload(d.port(way.To), way), ofAnswer(way)...)...)
}

// port finds a port by its name.
func (d *Document) port(name string) Port {
	for _, p := range d.Ports {
		if p.Name == name {
			return p
		}
	}
	return Port{}
}

func ofOverload(receiver Port, way Direction) []doctor.Finding {
	o := way.Overload
	if o == nil {
		return nil
	}
	l := list{check: "drops of " + way.To}
	l.add(o.Lost == 0, doctor.Unknown, fmt.Sprintf("it took all of %s frames, so nobody saw what it counts when it "+
		"drops some",
		wording.Count(o.Sent)), "run it again, with less else on the machine")
	others := ""
	if len(o.Counters) > 0 {
		others = " (but its driver's " + strings.Join(o.Counters, ", ") + ")"
	}
	l.add(o.Hidden > 0, doctor.Fail, fmt.Sprintf("it lost %s of %s frames that it had no room for, and no counter "+
		"that linerate "+
		"reads shows %s of them%s: in a test they look like the device's loss", wording.Count(o.Lost),
		wording.Count(o.Sent),
		wording.Count(o.Hidden), others), "receive on another card, or keep well below the load that loses none here")
	l.add(o.Hidden == 0 && o.Lost > 0 && receiver.ReceiveDrops == "hidden", doctor.Warn,
		"it counts what it drops, and linerate's "+
			"table of drivers says that "+receiver.Driver+" hides it", "send this qualification in (docs/tried.md)")
	l.add(o.Hidden > 0 && receiver.ReceiveDrops == "counted", doctor.Warn,
		"linerate's table of drivers says that "+receiver.Driver+" counts "+
			"what it drops, which isn't so here", "send this qualification in (docs/tried.md)")
	return l.findings
}

func ofAnswer(way Direction) []doctor.Finding {
	a := way.Answer
	if a == nil {
		return nil
	}
	l := list{check: "known answer " + wording.Direction(way.From, way.To)}
	const fix = "stop other programs on this machine, and run it again"
	if a.OfferedPacketsPerSecond*100 < a.ReadPacketsPerSecond*105 {
		l.add(true, doctor.Unknown, fmt.Sprintf("the sender sent %s, and did not reach the limit of %s, so nobody "+
			"saw how it is "+
			"read", wording.PacketRate(a.OfferedPacketsPerSecond), wording.PacketRate(a.LimitPacketsPerSecond)), fix)
		return l.findings
	}
	l.add(math.Abs(a.ErrorPercent) > accuracy, doctor.Fail, fmt.Sprintf("a limit of %s was read as %s, %+.2f %%",
		wording.PacketRate(a.LimitPacketsPerSecond), wording.PacketRate(a.ReadPacketsPerSecond), a.ErrorPercent), fix)
	l.add(a.LostBelow > 0, doctor.Warn, fmt.Sprintf("1 %% below a limit %s of the frames were lost: something held "+
		"the sender or "+
		"the receiver up", wording.Loss(units.RatioOf(a.LostBelow, a.SentBelow))), fix)
	l.add(a.LostAbove == 0 && a.SentAbove > 0, doctor.Fail, "1 % above a limit no frame was lost: less was sent than "+
		"was asked for",
		fix)
	return l.findings
}

// longestMessage is how long the second line is at most.
const longestMessage = 160

// verdict is the two lines that come first.
func verdict(d *Document) report.Lines {
	var names, drivers []string
	for _, p := range d.Ports {
		if names = append(names, p.Name); !slices.Contains(drivers, p.Driver) {
			drivers = append(drivers, p.Driver)
		}
	}
	subject := fmt.Sprintf("%s (%s)", strings.Join(names, " and "), strings.Join(drivers, ", "))
	faults := 0
	for _, f := range d.Findings {
		if f.Level == doctor.Fail {
			faults++
		}
	}
	measured := "nothing was measured"
	if clean := d.clean(); clean > 0 {
		measured = "64-byte frames without loss up to " + wording.PacketRate(clean) + " each way"
	}
	lines := report.Lines{Summary: fmt.Sprintf("%s: %s; %s, %s.", subject, measured, wording.Counted(faults, "fault"),
		weaknessCount(len(d.Findings)-faults))}
	if len(d.Findings) == 0 {
		lines.Message = "No weakness was found: use them as a generator's ports."
		return lines
	}
	opening := "Usable as a generator's ports."
	if faults > 0 {
		opening = "A loss that is measured here may not be the device's."
	}
	fix, _, _ := strings.Cut(d.Findings[0].Fix, ";")
	lines.Message = wording.Limited(fmt.Sprintf("%s First, %s: %s.", opening, d.Findings[0].Check, fix), longestMessage)
	return lines
}

func weaknessCount(n int) string {
	if n == 1 {
		return "1 weakness"
	}
	return fmt.Sprintf("%d weaknesses", n)
}

// clean is the load that loses none in either direction.
func (d *Document) clean() (least int64) {
	for _, way := range d.Directions {
		if way.Clean == nil {
			return 0
		}
		if least == 0 || way.Clean.PacketsPerSecond < least {
			least = way.Clean.PacketsPerSecond
		}
	}
	return least
}
