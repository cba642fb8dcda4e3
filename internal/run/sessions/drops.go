package sessions

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/linerate-dev/linerate/internal/host/netif"
	"github.com/linerate-dev/linerate/internal/measure"
)

// dropsPatience is how long a reading waits for an end's drop counters. The kernel reports them only while nobody
// changes interfaces, in any namespace (rtnl_lock). Where pods come and go, and processors are busy, that takes
// seconds. The driver would take an end that answers nothing meanwhile for lost.
const dropsPatience = 2 * time.Second

// drops is how many packets this end's interface, and TCP in its namespace, have dropped by now. Counters that
// can't be read, or not in time, are named as unknown, and never count as 0.
func (e *end) drops() *measure.Drops { return e.dropsBy(e.readDrops) }

func (e *end) dropsBy(read func() *measure.Drops) *measure.Drops {
	patience := time.After(dropsPatience)
	if e.lateDrops != nil { // what that reading finds is of an earlier moment
		select {
		case <-e.lateDrops:
			e.lateDrops = nil
		case <-patience:
			return e.dropsTooLate()
		}
	}
	result := make(chan *measure.Drops, 1)
	go func() { result <- read() }()
	select {
	case d := <-result:
		return d
	case <-patience:
		e.lateDrops = result
		return e.dropsTooLate()
	}
}

func (e *end) dropsTooLate() *measure.Drops {
	return &measure.Drops{Interface: e.Interface,
		Unread: fmt.Sprintf("the drop counters of interface %s did not come within %s: the kernel tells them when "+
			"nobody changes interfaces, so let no pods start or stop on this machine during a test", e.Interface,
			dropsPatience)}
}

func (e *end) readDrops() *measure.Drops {
	d := &measure.Drops{Interface: e.Interface, Counters: map[string]int64{}}
	err := e.Namespace.Do(func() error {
		link, err := netlink.LinkByName(e.Interface)
		if err != nil {
			return fmt.Errorf("the drop counters of interface %s: %w", e.Interface, err)
		}
		return errors.Join(linkDrops(link, d), fragmentDrops(d.Counters), tcpDrops(d.Counters))
	})
	if e.Port != "" && err == nil {
		var port netlink.Link
		if port, err = netlink.LinkByName(e.Port); err == nil {
			err = linkDrops(port, d)
		}
	}
	if err != nil {
		d.Counters, d.Unread = nil, err.Error()
	}
	return d
}

// linkDrops adds what an interface and its queue dropped, and reads its carrier.
func linkDrops(link netlink.Link, d *measure.Drops) error {
	if carrier, err := netif.CarrierOf(link); err == nil {
		d.Carrier = &measure.Carrier{Up: carrier.Up, Changes: carrier.Changes}
	}
	return errors.Join(interfaceDrops(link, d.Counters), queueDrops(link, d.Counters))
}

// interfaceDrops adds an interface's counters. tx_dropped of a virtual cable (veth) is left out. It counts the
// packets that the cable's other end did not accept (drivers/net/veth.c, veth_xmit in the kernel), which is the
// device, or on the way to the device. That of a macvlan counts what its port did not accept, and the port counts it
// itself.
func interfaceDrops(link netlink.Link, counters map[string]int64) error {
	s := link.Attrs().Statistics
	if s == nil {
		return fmt.Errorf("the kernel doesn't report the drop counters of interface %s", link.Attrs().Name)
	}
	values := map[string]uint64{
		"rx_dropped": s.RxDropped, "rx_missed_errors": s.RxMissedErrors, "rx_over_errors": s.RxOverErrors,
		"rx_fifo_errors": s.RxFifoErrors, "rx_errors": s.RxErrors,
		"tx_dropped": s.TxDropped,
	}
	if link.Type() == "veth" || link.Type() == "macvlan" {
		delete(values, "tx_dropped")
	}
	for _, c := range measure.InterfaceDropCounters {
		if v, ok := values[c.Name]; ok {
			counters[c.Name] += int64(v)
		}
	}
	return nil
}

// queueDrops adds what the interface's queueing discipline dropped before the interface saw it (CoDel drops what
// waits too long, every discipline what is too much). The root's counter includes what the disciplines below it
// dropped. Senders don't notice these drops, and the interface doesn't count them. Without a root nothing waits, and
// nothing is dropped.
func queueDrops(link netlink.Link, counters map[string]int64) error {
	name := link.Attrs().Name
	disciplines, err := netlink.QdiscList(link)
	if err != nil {
		return fmt.Errorf("what the queueing discipline of interface %s dropped: %w", name, err)
	}
	counters[measure.QueueDrops] += 0 // there is a count, and be it of nothing
	for _, q := range disciplines {
		attributes := q.Attrs()
		switch {
		case attributes.Parent != netlink.HANDLE_ROOT:
		case attributes.Statistics == nil || attributes.Statistics.Queue == nil:
			return fmt.Errorf("the kernel doesn't report what the queueing discipline %s of interface %s dropped",
				q.Type(), name)
		default:
			counters[measure.QueueDrops] += int64(attributes.Statistics.Queue.Drops)
		}
	}
	return nil
}

// tcpDrops adds the counters of TCP in the calling thread's namespace. (procfs reads this file, too, but not
// all of these.)
func tcpDrops(counters map[string]int64) error {
	const file = "/proc/thread-self/net/netstat"
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("what TCP dropped: %w", err)
	}
	counted := countersOf("TcpExt:", string(text))
	for _, c := range measure.TCPDropCounters {
		v, ok := counted[c.Name]
		if !ok {
			return fmt.Errorf("what TCP dropped: %s doesn't have %s: use Linux 4.19 or newer", file, c.Name)
		}
		counters[c.Name] = v
	}
	return nil
}

// fragmentDrops adds how many received fragments IP dropped in the calling thread's namespace. A namespace
// without IPv6 has no counters of IPv6.
func fragmentDrops(counters map[string]int64) error {
	const file = "/proc/thread-self/net/snmp"
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("what IP dropped of fragments: %w", err)
	}
	four := countersOf("Ip:", string(text))
	fails, ok := four["ReasmFails"]
	if !ok {
		return fmt.Errorf("what IP dropped of fragments: %s doesn't have ReasmFails", file)
	}
	counters[measure.FragmentDrops] = fails - four["ReasmTimeout"]
	if text, err = os.ReadFile(file + "6"); err == nil {
		six := map[string]int64{}
		for line := range strings.Lines(string(text)) {
			var name string
			var value int64
			if n, _ := fmt.Sscan(line, &name, &value); n == 2 {
				six[name] = value
			}
		}
		counters[measure.FragmentDrops] += six["Ip6ReasmFails"] - six["Ip6ReasmTimeout"]
	}
	return nil
}

// countersOf reads the two lines that begin with the prefix, which hold names and values.
func countersOf(prefix, text string) map[string]int64 {
	counted := map[string]int64{}
	var names []string
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0 || fields[0] != prefix:
		case names == nil:
			names = fields
		default:
			for i := 1; i < min(len(names), len(fields)); i++ {
				if v, err := strconv.ParseInt(fields[i], 10, 64); err == nil {
					counted[names[i]] = v
				}
			}
		}
	}
	return counted
}

// starts counts the waits of a process that an end started as the program's own, until ends.
func (p *program) starts(pid int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.started = append(p.started, pid)
}

func (p *program) ends(pid int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.started = slices.DeleteFunc(p.started, func(s int) bool { return s == pid })
}

// waited is how long the program's threads waited for processors, or nil if this kernel doesn't report it.
func (p *program) waited() *measure.Waits {
	p.mu.Lock()
	defer p.mu.Unlock()
	waited, err := p.waits.Read(p.started...)
	if err != nil {
		return nil
	}
	return &measure.Waits{Program: p.id, Waited: waited}
}
