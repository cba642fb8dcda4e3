package measure

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// Drops are the counters of what an end's own network card and kernel had dropped by a moment, since each counter
// began. Only differences mean something.
type Drops struct {
	Interface string `json:"interface"`
	// Counters are by the kernel's names, those of dropCounters that the end has.
	Counters map[string]int64 `json:"counters,omitempty"`
	// Unread is why they could not be read. It is empty where they could.
	Unread string `json:"unread,omitempty"`
	// Carrier is the interface's. It is nil where it could not be read, or the end's linerate is too old to read
	// it.
	Carrier *Carrier `json:"carrier,omitempty"`
}

// Carrier says whether frames can pass an interface, and how often that has changed.
type Carrier struct {
	Up      bool  `json:"up"`
	Changes int64 `json:"changes"`
}

// Waits is how long the threads of an end's program have waited for processors, since it began to watch. Ends on
// one machine may share a program.
type Waits struct {
	Program string        `json:"program"`
	Waited  time.Duration `json:"waitedNanoseconds"`
}

// EndSpan is what an end reported about itself at a window's two edges. It is nil where the end doesn't report
// that.
type EndSpan struct {
	Link                  string
	First, Last           *Drops
	WaitsFirst, WaitsLast *Waits
	// Directions is how many directions the end's program has connections of, and 0 counts as one. Whose connection
	// a thread waited for is not known, so each direction has its part.
	Directions int
}

// notOurs is the counter that includes frames of protocols that the receiver does not speak, such as the LLDP of a
// switch.
const notOurs = "rx_dropped"

// DropCounter is a counter that grows when an end drops what came to it, or what it was to send.
type DropCounter struct {
	Name string // the kernel's
	// Means is what happened, and Remedy what can be done about it.
	Means, Remedy string
}

// QueueDrops is the counter of an interface's queueing discipline, the drops of gnet_stats_queue
// (include/uapi/linux/gen_stats.h) of its root.
const QueueDrops = "qdisc_drops"

// FragmentDrops is the counter of fragments that IP in the end's network namespace gave up, which is ReasmFails
// less ReasmTimeout of /proc/net/snmp and snmp6. IP had no memory for them, or they contradicted others, or came
// too late for these.
const FragmentDrops = "ReasmFails"

// InterfaceDropCounters are the counters of an interface, of rtnl_link_stats64 (include/uapi/linux/if_link.h), of
// its queueing discipline, and of IP's fragments. Some drivers count one frame in two of these counters, so the
// counters stay apart and are never added up.
var InterfaceDropCounters = []DropCounter{
	{notOurs, "the kernel had no room for what came (softnet backlog), or nobody there speaks its protocol",
		"give the end more CPU, raise net.core.netdev_max_backlog, and keep LLDP, STP and the like off the link"},
	{"rx_missed_errors", "the network card had no free buffer",
		"enlarge its receive ring with ethtool -G, and give the end more CPU"},
	{"rx_over_errors", "the network card's receive queue overflowed",
		"enlarge its receive ring with ethtool -G, and give the end more CPU"},
	{"rx_fifo_errors", "the network card's receive queue overflowed",
		"enlarge its receive ring with ethtool -G, and give the end more CPU"},
	{"rx_errors", "frames came damaged, or too long", "check cable, transceiver and MTU"},
	{"tx_dropped", "the interface did not take what was to be sent",
		"enlarge its transmit ring with ethtool -G, and give the end more CPU"},
	{QueueDrops, "its queueing discipline dropped what was to be sent, before the device saw any of it",
		"ask for less than the interface carries, or give it a discipline with more room: tc qdisc replace dev INTERFACE root pfifo limit 10000"},
	{FragmentDrops, "the kernel had no memory for fragments that came, or they contradicted others, or came too late for these", "raise net.ipv4.ipfrag_high_thresh in the end's network namespace, lower ipfrag_time, or send datagrams that fit into a frame"},
}

// TCPDropCounters are those of a network namespace's TCP, of the TcpExt of /proc/net/netstat. They leave out
// PruneCalled, which also counts where room was made without dropping anything, and RcvPruned, whose drops are
// among TCPRcvQDrop and TCPOFODrop. They leave out TCPZeroWindowDrop, which a full window's probes count
// (HeldByEnds has the time of a full window), and ListenDrops, as nobody connects while sessions are measured.
var TCPDropCounters = []DropCounter{
	{"TCPBacklogDrop", "sockets were busy for too long", "give the end more CPU"},
	{"TCPRcvQDrop", "a socket's receive buffer was full",
		"give traffic.sessions.window more, or the receiver more CPU"},
	{"TCPOFODrop", "a socket's receive buffer was full", "give traffic.sessions.window more, or the receiver more CPU"},
	{"OfoPruned", "a socket's receive buffer was full", "give traffic.sessions.window more, or the receiver more CPU"},
	{"PFMemallocDrop", "the end's machine was out of memory", "give the end more memory"},
}

// droppedBetween is what the ends dropped between the edges, and for which end that is unknown. It is nil where
// nothing was dropped for certain.
func droppedBetween(ends []EndSpan) *report.SessionEnds {
	e := &report.SessionEnds{}
	for _, end := range ends {
		if fault := end.waitsUnknown(); fault != "" {
			e.Unknown = cmp.Or(e.Unknown, fmt.Sprintf("link %s: %s", end.Link, fault))
		}
		if fault := end.unknown(); fault != "" {
			e.Unknown = cmp.Or(e.Unknown, fmt.Sprintf("link %s: %s", end.Link, fault))
			continue
		}
		for _, c := range slices.Concat(InterfaceDropCounters, TCPDropCounters) {
			if grew := end.Last.Counters[c.Name] - end.First.Counters[c.Name]; grew > 0 {
				e.Dropped = append(e.Dropped, report.EndDrop{Link: end.Link, Interface: end.Last.Interface,
					Counter: c.Name, Packets: grew})
			}
		}
	}
	return endsTogether([]*report.SessionEnds{e}, false)
}

// unknown is why it isn't known what an end dropped. It is empty where the drops are known.
func (e EndSpan) unknown() string {
	if e.First == nil || e.Last == nil {
		return "its end does not report what it drops; use the same linerate for both ends"
	}
	if fault := cmp.Or(e.First.Unread, e.Last.Unread); fault != "" {
		return fault
	}
	if _, ok := e.First.Counters[QueueDrops]; !ok {
		return "its end does not report what its queueing discipline drops; use the same linerate for both ends"
	}
	for name, earlier := range e.First.Counters {
		if value, ok := e.Last.Counters[name]; !ok || value < earlier {
			return fmt.Sprintf("%s of interface %s went back: it was cleared, or the interface made anew", name,
				e.Last.Interface)
		}
	}
	return ""
}

// waitsUnknown is why it isn't known how long the end's program waited for processors. It is empty where the waits
// are known.
func (e EndSpan) waitsUnknown() string {
	switch {
	case e.WaitsFirst == nil || e.WaitsLast == nil:
		return "its end does not report how long its program waited for processors; use the same linerate for both ends, and a kernel with CONFIG_SCHED_INFO"
	case e.WaitsFirst.Program != e.WaitsLast.Program:
		return "its end's program was restarted"
	}
	return ""
}

// endsTogether combines what ends dropped. It adds up the drops of several windows of one direction. Several
// directions at one moment share their ends, so it takes the most of each counter.
func endsTogether(parts []*report.SessionEnds, atOneMoment bool) *report.SessionEnds {
	whole := &report.SessionEnds{}
	for _, p := range parts {
		if p == nil {
			continue
		}
		// the same end, whatever the parts' order
		if whole.Unknown == "" || p.Unknown != "" && p.Unknown < whole.Unknown {
			whole.Unknown = p.Unknown
		}
		for _, d := range p.Dropped {
			i := slices.IndexFunc(whole.Dropped, func(o report.EndDrop) bool {
				return o.Link == d.Link && o.Interface == d.Interface && o.Counter == d.Counter
			})
			switch {
			case i < 0:
				whole.Dropped = append(whole.Dropped, d)
			case atOneMoment:
				whole.Dropped[i].Packets = max(whole.Dropped[i].Packets, d.Packets)
			default:
				whole.Dropped[i].Packets += d.Packets
			}
		}
	}
	if whole.Unknown == "" && len(whole.Dropped) == 0 {
		return nil
	}
	slices.SortFunc(whole.Dropped, func(a, b report.EndDrop) int {
		return cmp.Or(strings.Compare(a.Link, b.Link), strings.Compare(a.Interface, b.Interface),
			strings.Compare(a.Counter, b.Counter))
	})
	return whole
}

// droppedByEnds says that an end dropped what may have been the connections' own. No number is too small, because
// congestion control slows down after one loss as after many. A path that loses 20 segments at once each second,
// and an end that loses one in between, slow a connection down alike, though the end's is a twentieth of what is
// sent again.
func droppedByEnds(s report.Sessions) bool {
	return s.Ends != nil && slices.ContainsFunc(s.Ends.Dropped,
		func(d report.EndDrop) bool { return mayBeTheConnections(s, d) })
}

// mayBeTheConnections says whether the packets that an end dropped may have been the connections'. A counter of the
// connections alone always counts. The counter that includes others' frames counts only where something was sent
// again. Where nothing was, no data was lost, and the next acknowledgement makes up for a lost one.
func mayBeTheConnections(s report.Sessions, d report.EndDrop) bool {
	return d.Counter != notOurs || s.RetransmittedSegments > 0
}

// dropSentence says which end dropped most of what may have been the connections', why that makes a lower bound,
// and the way out.
func dropSentence(s report.Sessions) string {
	theirs := slices.DeleteFunc(slices.Clone(s.Ends.Dropped),
		func(d report.EndDrop) bool { return !mayBeTheConnections(s, d) })
	d, retransmitted := slices.MaxFunc(theirs,
		func(a, b report.EndDrop) int { return cmp.Compare(a.Packets, b.Packets) }), int(s.RetransmittedSegments)
	text := fmt.Sprintf("the end of link %s itself dropped %d, where %s %s sent again (%s of %s", d.Link, d.Packets,
		wording.Counted(retransmitted, "segment"), wording.Verb(retransmitted, "was", "were"), d.Counter, d.Interface)
	for _, c := range slices.Concat(InterfaceDropCounters, TCPDropCounters) {
		if c.Name == d.Counter {
			return fmt.Sprintf("%s: %s), and TCP slows down for each: a lower bound (%s)", text, c.Means, c.Remedy)
		}
	}
	return text + "), and TCP slows down for each: a lower bound (give the end more CPU)"
}
