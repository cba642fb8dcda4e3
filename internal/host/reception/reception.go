package reception

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/procfs"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/host/ethtool"
	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/internal/host/netif"
)

// Interface is a device's interface on one of the test's links.
type Interface struct{ Link, Name string }

// Reading is what a machine's kernel tells at one moment.
type Reading struct {
	Moment     time.Duration // on the monotonic clock
	Processors []Processor
	Ports      []Port
	Table      *Table
}

// Processor is one of the machine's.
type Processor struct {
	machine.Processor
	// Frames is how many frames protocols received on it, modulo 2^32, as Dropped (its backlog was full) and Squeezed.
	Frames, Dropped, Squeezed uint32

	NUMANode                     int // -1 where it is unknown
	Governor, FrequencyDriver    string
	FrequencyHz, MostFrequencyHz int64
}

// Port is an interface.
type Port struct {
	Interface
	Driver                   string
	Received, Bytes, Missed  uint64
	Ring, MostRing           int
	MostQueues               int
	SpeedMbps                int64
	NUMANode                 int // -1 for none
	Merges                   []string
	XDP                      bool
	Lanes, MostLanes         int // of PCIe, 0 for none
	Transfers, MostTransfers float64
	HashKey                  string
	Queues                   []Queue
}

// Queue is a receive queue, and the send queue of the same number.
type Queue struct {
	Number  int
	Counted bool
	Frames  uint64
	// Interrupts are how often its interrupt came to each processor. Nil for no interrupt.
	Interrupts []uint64
	Thread     int // of threaded NAPI, 0 for none
	// BySender says that the processor which sends a frame takes it from the queue, too.
	BySender bool
	// Processor is where the thread ran last, -1 for unknown. Allowed are where interrupt or thread may run.
	Processor int
	Allowed   string
	RPS, XPS  string
	// Entries is how many of the card's indirection table name the queue.
	Entries int
}

// Table is the connection table of the namespace.
type Table struct{ Entries, Most, Dropped int64 }

// merging are the receive offloads that make one frame of several.
var merging = []string{"rx-gro", "rx-gro-hw", "rx-lro", "rx-gro-list", "rx-udp-gro-forwarding"}

// Read reads the machine and these interfaces. Interfaces that aren't there are left out.
func Read(interfaces []Interface) (Reading, error) {
	var r Reading
	var err error
	if r.Processors, err = processors(os.DirFS("/")); err != nil {
		return r, err
	}
	sysfs, closeSysfs := openSysfs()
	defer closeSysfs()
	k := kernel{sys: sysfs, proc: os.DirFS("/proc")}
	k.interrupts = interruptsOf(k.proc)
	for _, i := range interfaces {
		if p, ok := k.port(i); ok {
			r.Ports = append(r.Ports, p)
		}
	}
	r.Table = table()
	var clock unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &clock); err != nil {
		return r, fmt.Errorf("when it is: %w", err)
	}
	r.Moment = time.Duration(clock.Nano())
	return r, nil
}

// openSysfs is sysfs of the calling thread's network namespace, or without the right to mount one the machine's.
func openSysfs() (fs.FS, func()) {
	mount, err := netif.MountSysfs()
	if err != nil {
		return os.DirFS("/sys"), func() {}
	}
	return os.DirFS(fmt.Sprintf("/proc/self/fd/%d", mount)), func() { _ = unix.Close(mount) }
}

func processors(root fs.FS) ([]Processor, error) {
	spent, err := machine.AllProcessors()
	if err != nil {
		return nil, fmt.Errorf("how processors spent their time: %w", err)
	}
	proc, err := procfs.NewDefaultFS()
	if err != nil {
		return nil, err
	}
	received, err := proc.NetSoftnetStat()
	if err != nil {
		return nil, fmt.Errorf("what processors received: %w", err)
	}
	var list []Processor
	for _, s := range spent {
		p := Processor{Processor: s, NUMANode: -1}
		for _, row := range received {
			if int(row.Index) == s.Number {
				p.Frames, p.Dropped, p.Squeezed = row.Processed, row.Dropped, row.TimeSqueezed
			}
		}
		dir := fmt.Sprintf("sys/devices/system/cpu/cpu%d", s.Number)
		nodes, _ := fs.Glob(root, dir+"/node[0-9]*") // the pattern is well-formed
		if len(nodes) == 1 {
			p.NUMANode = int(numberOr(strings.TrimPrefix(path.Base(nodes[0]), "node"), -1))
		}
		p.Governor, p.FrequencyDriver = text(root, dir+"/cpufreq/scaling_governor"), text(root,
			dir+"/cpufreq/scaling_driver")
		p.FrequencyHz = 1000 * numberOr(text(root, dir+"/cpufreq/scaling_cur_freq"), 0)
		p.MostFrequencyHz = 1000 * numberOr(text(root, dir+"/cpufreq/cpuinfo_max_freq"), 0)
		list = append(list, p)
	}
	return list, nil
}

// kernel is where a namespace's interfaces are read.
type kernel struct {
	sys, proc  fs.FS
	interrupts []interrupt
}

func (k kernel) port(i Interface) (Port, bool) {
	link, err := netlink.LinkByName(i.Name)
	if err != nil {
		return Port{}, false
	}
	a := link.Attrs()
	p := Port{Interface: i, Driver: machine.NICOf(i.Name).Driver, NUMANode: -1, XDP: a.Xdp != nil && a.Xdp.Attached}
	if s := a.Statistics; s != nil {
		p.Received, p.Bytes, p.Missed = s.RxPackets, s.RxBytes, s.RxMissedErrors+s.RxFifoErrors+s.RxOverErrors
	}
	if settings, err := ethtool.Ask(i.Name); err == nil {
		p.Ring, p.MostRing, p.MostQueues, p.SpeedMbps = settings.Rings.Receive, settings.Rings.MostReceive,
			settings.Queues.MostReceive, settings.Link.SpeedMbps
		for _, offload := range settings.Offloads {
			if slices.Contains(merging, offload) {
				p.Merges = append(p.Merges, offload)
			}
		}
	}
	dir := "class/net/" + i.Name
	if numberOr(text(k.sys, dir+"/ifindex"), 0) != int64(a.Index) {
		return p, true // this sysfs is another namespace's
	}
	p.NUMANode = int(numberOr(text(k.sys, dir+"/device/numa_node"), -1))
	p.Lanes, p.MostLanes = int(numberOr(text(k.sys, dir+"/device/current_link_width"), 0)),
		int(numberOr(text(k.sys, dir+"/device/max_link_width"), 0))
	p.Transfers, p.MostTransfers = transfers(text(k.sys, dir+"/device/current_link_speed")),
		transfers(text(k.sys, dir+"/device/max_link_speed"))
	k.queues(&p, a.Index, dir)
	return p, true
}

// transfers is the number in such as "8.0 GT/s PCIe".
func transfers(text string) float64 {
	number, _, _ := strings.Cut(text, " ")
	v, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0
	}
	return v
}

// queues adds a port's receive queues.
func (k kernel) queues(p *Port, index int, dir string) {
	dirs, _ := fs.Glob(k.sys, dir+"/queues/rx-*") // the pattern is well-formed
	counted, entries := framesByQueue(p.Name, index), []uint32(nil)
	entries, p.HashKey = ethtool.FlowHash(p.Name)
	for n := range dirs {
		q := Queue{Number: n, Processor: -1, RPS: list(text(k.sys, fmt.Sprintf("%s/queues/rx-%d/rps_cpus", dir, n))),
			XPS: list(text(k.sys, fmt.Sprintf("%s/queues/tx-%d/xps_cpus", dir, n)))}
		q.Frames, q.Counted = counted[n]
		for _, queue := range entries {
			if int(queue) == n {
				q.Entries++
			}
		}
		p.Queues = append(p.Queues, q)
	}
	byQueue := pollersOf(index, len(dirs))
	if p.Driver == "veth" && len(byQueue) == 0 { // without NAPI its counters by queue stand still
		for n := range p.Queues {
			p.Queues[n].Counted = false
		}
	}
	for n := range p.Queues {
		k.polled(&p.Queues[n], byQueue[n], p)
	}
	if len(p.Queues) == 1 {
		p.Queues[0].Counted, p.Queues[0].Frames = true, p.Received
	}
}

// polled says who takes frames from a queue.
func (k kernel) polled(q *Queue, by poller, p *Port) {
	switch {
	case by.thread > 0:
		q.Thread = by.thread
		q.Processor, q.Allowed = threadOn(k.proc, by.thread)
	case p.Driver == "veth":
		q.BySender = true
	default:
		for _, i := range k.interrupts {
			if by.interrupt > 0 && i.number == by.interrupt || by.interrupt == 0 && i.isOf(p.Name, q.Number) {
				q.Interrupts = i.counts
				q.Allowed = text(k.proc, fmt.Sprintf("irq/%d/smp_affinity_list", i.number))
				return
			}
		}
	}
}

// threadOn is where a thread ran last, and where it may run.
func threadOn(proc fs.FS, thread int) (processor int, allowed string) {
	processor = -1
	stat := text(proc, fmt.Sprintf("%d/stat", thread))
	if i := strings.LastIndexByte(stat, ')'); i >= 0 {
		const processorField = 36 // of the fields behind the name (proc_pid_stat(5))
		if fields := strings.Fields(stat[i+1:]); len(fields) > processorField {
			processor = int(numberOr(fields[processorField], -1))
		}
	}
	for line := range strings.Lines(text(proc, fmt.Sprintf("%d/status", thread))) {
		if list, found := strings.CutPrefix(line, "Cpus_allowed_list:"); found {
			allowed = strings.TrimSpace(list)
		}
	}
	return processor, allowed
}

// table is the connection table of the calling thread's namespace, nil without one.
func table() *Table {
	root := os.DirFS("/proc")
	t := &Table{Entries: numberOr(text(root, "sys/net/netfilter/nf_conntrack_count"), -1),
		Most: numberOr(text(root, "sys/net/netfilter/nf_conntrack_max"), -1)}
	if t.Entries < 0 || t.Most <= 0 {
		return nil
	}
	lines := strings.Split(text(root, "thread-self/net/stat/nf_conntrack"), "\n")
	names := strings.Fields(lines[0])
	for _, line := range lines[1:] {
		for i, value := range strings.Fields(line) {
			if i < len(names) && slices.Contains([]string{"drop", "early_drop"}, names[i]) {
				count, err := strconv.ParseInt(value, 16, 64)
				if err == nil {
					t.Dropped += count
				}
			}
		}
	}
	return t
}

func text(root fs.FS, file string) string {
	content, err := fs.ReadFile(root, file)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(content))
}

func numberOr(text string, fallback int64) int64 {
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return fallback
	}
	return v
}
