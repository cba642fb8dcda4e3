package trex

import (
	"context"
	"time"

	"github.com/linerate-dev/linerate/internal/engine/trex/wire"
	"github.com/linerate-dev/linerate/internal/host/signs"
)

// PortStats is get_port_stats' answer. Its counters count since the server started (they can't be cleared), bytes
// with FCS. The server's smoothed rates are left out, as rates come from differences of counters.
type PortStats struct {
	SentPackets     wire.Count `json:"opackets"`
	SentBytes       wire.Count `json:"obytes"`
	ReceivedPackets wire.Count `json:"ipackets"`
	ReceivedBytes   wire.Count `json:"ibytes"`
	SendErrors      wire.Count `json:"oerrors"`
	// ReceiveErrors are frames that reached the port and were not received. TRex adds up frames that it had no
	// buffers for and frames that came damaged. The port's extended statistics count them separately, with names and
	// meanings that depend on its driver.
	ReceiveErrors wire.Count `json:"ierrors"`
	// Damaged are frames that came with a wrong checksum or length and are not among ReceiveErrors. SendDrops are
	// frames that are counted in SentPackets but never left. TRex reports neither with its counters.
	Damaged   *wire.Count `json:"damaged"`
	SendDrops *wire.Count `json:"send_drops"`
	// StrayPackets and StrayBytes are the part of ReceivedPackets and ReceivedBytes that is ARP and the like. TRex
	// doesn't count it separately.
	StrayPackets *wire.Count `json:"stray_packets"`
	StrayBytes   *wire.Count `json:"stray_bytes"`
	// Kernel has the kernel's counters of the port's interface, which are frames received, sent and dropped. The
	// software engine reports them. TRex has no such interface.
	Kernel []wire.Count `json:"kernel"`
	// CPUPercent is the use of the cores that serve this port.
	CPUPercent wire.Float `json:"m_cpu_util"`
	// TS is when these counters were read, by the server's clock. TRex doesn't report it.
	TS *seconds `json:"ts"`
	// TSWidth is by how much TS may be off, to either side, for servers that report it.
	TSWidth seconds `json:"ts_width"`
	// Behind is how many frames should have left by then and haven't. A server that reports it sends the delayed
	// frames hardly faster than the rest, or never. TRex doesn't report it, and catches up at once.
	Behind *wire.Count `json:"behind"`
	// Sending is how many seconds the latest run of finite streams took, from its first frame to its last, for
	// servers that time it.
	Sending wire.Float `json:"sending"`
	// Waited is how many seconds the port's sending threads waited for a processor until just before the counters
	// were read. Waiting is how much more that may be once the counters had been read. TRex doesn't report them.
	Waited  seconds `json:"waited"`
	Waiting seconds `json:"waiting"`
	// LinkChanges counts the changes of the link's state. TRex doesn't report it.
	LinkChanges *wire.Count `json:"link_flaps"`
}

// Waits are how long the port's sending threads waited for processors, until just before the counters were
// read, and how much more that may be by the time they had been read.
func (s PortStats) Waits() (waited, waiting time.Duration) {
	return s.Waited.duration(), s.Waiting.duration()
}

// ReadTime is when the counters were read, by the server's clock, to within width. ok says whether the server reports
// it.
func (s PortStats) ReadTime() (instant, width time.Duration, ok bool) {
	if s.TS == nil {
		return 0, 0, false
	}
	return s.TS.duration(), s.TSWidth.duration(), true
}

// GlobalStats is what matters of get_global_stats.
type GlobalStats struct {
	CPUPercent wire.Float `json:"m_cpu_util"` // average of the sending cores, smoothed
	QueueFull  wire.Count `json:"m_total_queue_full"`
	QueueDrop  wire.Count `json:"m_total_queue_drop"` // only servers that drop rather than retry
	// Stolen is how long the server's processors were ready to run while the host ran others, up to StolenTS on the
	// server's clock. TRex doesn't report it.
	Stolen   seconds `json:"stolen"`
	StolenTS seconds `json:"stolen_ts"`
	// Processors has a row for each processor of the server's machine. A row is the processor's number, and how many
	// seconds it was busy, in softirqs, stolen and idle, up to ProcessorsTS on the server's clock. The software
	// engine reports it on request (Detail.Processors).
	Processors   [][]wire.Float `json:"processors"`
	ProcessorsTS seconds        `json:"processors_ts"`
	// Signs are vital signs of the server's machine, at times on the server's clock. The software engine reports
	// them on request (Detail.Signs).
	Signs []signs.Reading `json:"signs"`
}

// ProcessorTime is how a processor spent its time since its machine started.
type ProcessorTime struct {
	Number                      int
	Busy, SoftIRQ, Stolen, Idle time.Duration
}

// ProcessorTimes are the times of the processors of the server's machine, and when they were read, by the server's
// clock. There are none where the server doesn't report them.
func (s GlobalStats) ProcessorTimes() (times []ProcessorTime, instant time.Duration) {
	for _, row := range s.Processors {
		if len(row) < 5 {
			return nil, 0
		}
		seconds := func(column int) time.Duration { return inUnits(float64(row[column]), time.Second) }
		times = append(times, ProcessorTime{Number: int(row[0]), Busy: seconds(1), SoftIRQ: seconds(2),
			Stolen: seconds(3), Idle: seconds(4)})
	}
	return times, s.ProcessorsTS.duration()
}

// StolenTime is the processor time that the server's host took, and when it was read, by the server's clock. Both are
// 0 where the server doesn't report it.
func (s GlobalStats) StolenTime() (stolen, instant time.Duration) {
	return s.Stolen.duration(), s.StolenTS.duration()
}

// Snapshot is the counters that were read in one exchange.
type Snapshot struct {
	// Begin and After are the server's clock when it began and ended to read the ports' counters.
	Begin, End time.Duration
	Ports      map[int]PortStats
	Global     GlobalStats
	// Events are those since the last poll.
	Events []Event
	// Statuses and ExtendedStats are by port, and only where Detail asked for them and the server wasn't busy.
	Statuses      map[int]PortStatus
	ExtendedStats map[int][]wire.Count
}

// Detail says what a Snapshot holds in addition.
type Detail struct {
	Status        bool
	ExtendedStats []int // of these ports
	// SharedRegisters are ports at which get_port_stats and get_port_xstats_values clear the same registers, so
	// that each misses the frames that the other has. Their extended statistics are read just before their
	// counters, and a Snapshot without them fails.
	SharedRegisters []int
	// Processors requests GlobalStats.Processors, which TRex doesn't have. Don't request it from TRex.
	Processors bool
	// Signs asks for GlobalStats.Signs of these types, which TRex doesn't have either.
	Signs []string
}

func (d Detail) globalStatsParams() params {
	wanted := params{}
	if d.Processors {
		wanted["processors"] = true
	}
	if len(d.Signs) > 0 {
		wanted["signs"] = d.Signs
	}
	if len(wanted) == 0 {
		return nil
	}
	return wanted
}

// Snapshot reads the ports' counters and what goes with them in one exchange, so that they are as close in time
// as the RPC allows:
//
//	ping [, get_port_xstats_values ×ports], get_port_stats ×ports, ping, get_global_stats, get_async_events
//	[, get_port_status ×ports, get_port_xstats_values ×ports]
func (c Counters) Snapshot(ctx context.Context, ports []int, d Detail) (Snapshot, error) {
	s := newSnapshotRequest(c, ports, d)
	if err := c.connection.invokeBatch(ctx, s.calls...); err != nil {
		return Snapshot{}, err
	}
	return s.assemble()
}

// snapshotRequest is a Snapshot under way, with its calls and the places for their answers.
type snapshotRequest struct {
	ports      []int
	detail     Detail
	calls      []*call
	required   int // calls[:required] must succeed
	begin, end pingResult
	stats      []PortStats
	global     GlobalStats
	events     eventList
	statuses   []PortStatus
	extended   []extendedValues
	shared     []extendedValues
}

func newSnapshotRequest(c Counters, ports []int, d Detail) *snapshotRequest {
	s := &snapshotRequest{ports: ports, detail: d, stats: make([]PortStats, len(ports)),
		extended: make([]extendedValues,
			len(d.ExtendedStats)), shared: make([]extendedValues, len(d.SharedRegisters))}
	s.add("ping", -1, nil, &s.begin)
	for i, port := range d.SharedRegisters {
		s.add("get_port_xstats_values", port, params{"port_id": port}, &s.shared[i])
	}
	for i, port := range ports {
		s.add("get_port_stats", port, params{"port_id": port}, &s.stats[i])
	}
	s.add("ping", -1, nil, &s.end)
	s.add("get_global_stats", -1, d.globalStatsParams(), &s.global)
	s.calls = append(s.calls, c.eventsCall(&s.events))
	s.required = len(s.calls)
	if d.Status {
		s.statuses = make([]PortStatus, len(ports))
		for i, port := range ports {
			s.calls = append(s.calls, statusCall(port, &s.statuses[i]))
		}
	}
	for i, port := range d.ExtendedStats {
		s.add("get_port_xstats_values", port, params{"port_id": port}, &s.extended[i])
	}
	for _, k := range s.calls {
		k.unrepeated = true
	}
	return s
}

func (s *snapshotRequest) add(method string, port int, p params, result any) {
	s.calls = append(s.calls, &call{method: method, port: port, params: p, result: result})
}

func (s *snapshotRequest) assemble() (Snapshot, error) {
	for _, k := range s.calls[:s.required] {
		if k.err != nil {
			return Snapshot{}, k.err
		}
	}
	snapshot := Snapshot{
		Begin: s.begin.TS.duration(), End: s.end.TS.duration(), Global: s.global, Events: s.events.Data,
		Ports: map[int]PortStats{}, Statuses: map[int]PortStatus{}, ExtendedStats: map[int][]wire.Count{},
	}
	for i, port := range s.ports {
		snapshot.Ports[port] = s.stats[i]
	}
	for i, port := range s.detail.SharedRegisters {
		snapshot.ExtendedStats[port] = s.shared[i].Values
	}
	optional := s.calls[s.required:]
	for i := range s.statuses {
		if optional[i].err == nil {
			snapshot.Statuses[s.ports[i]] = s.statuses[i]
		}
	}
	for i, port := range s.detail.ExtendedStats {
		if optional[len(s.statuses)+i].err == nil {
			snapshot.ExtendedStats[port] = s.extended[i].Values
		}
	}
	return snapshot, nil
}

type extendedValues struct {
	Values []wire.Count `json:"xstats_values"`
}

// ExtendedStatNames names a port's extended counters in the order of their values.
func (c Counters) ExtendedStatNames(ctx context.Context, port int) ([]string, error) {
	var result struct {
		Names []string `json:"xstats_names"`
	}
	err := c.connection.invoke(ctx, call{method: "get_port_xstats_names", port: port, params: params{"port_id": port},
		result: &result})
	return result.Names, err
}
