package observe

import (
	"strings"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/internal/host/reception"
)

// Placement is where a device received frames between two readings. others are the processes of the same time that are
// neither generator nor device.
func Placement(earlier, later reception.Reading, others []machine.Process) *report.Placement {
	p := &report.Placement{Over: plan.Duration(later.Moment - earlier.Moment)}
	before := map[int]reception.Processor{}
	for _, x := range earlier.Processors {
		before[x.Number] = x
	}
	for _, x := range later.Processors {
		if previous, ok := before[x.Number]; ok {
			p.Processors = append(p.Processors, placedProcessor(previous, x, others))
		}
	}
	ports := map[string]reception.Port{}
	for _, x := range earlier.Ports {
		ports[x.Link] = x
	}
	for _, x := range later.Ports {
		if previous, ok := ports[x.Link]; ok {
			p.Links = append(p.Links, placedLink(previous, x))
		}
	}
	if t := later.Table; t != nil {
		p.Connections = &report.ConnectionTable{Entries: t.Entries, Most: t.Most}
		if earlier.Table != nil {
			p.Connections.Dropped = max(0, t.Dropped-earlier.Table.Dropped)
		}
	}
	return p
}

func placedProcessor(a, b reception.Processor, others []machine.Process) report.PlacedProcessor {
	p := report.PlacedProcessor{Number: b.Number,
		Frames: int64(b.Frames - a.Frames), Dropped: int64(b.Dropped - a.Dropped), // modulo 2^32, as the kernel counts
		Squeezed: int64(b.Squeezed - a.Squeezed),
		Busy:     plan.Duration(max(0, b.Busy-a.Busy)), SoftIRQ: plan.Duration(max(0, b.SoftIRQ-a.SoftIRQ)),
		Stolen: plan.Duration(max(0, b.Stolen-a.Stolen)), Idle: plan.Duration(max(0, b.Idle-a.Idle)),
		NUMANode: b.NUMANode, Governor: b.Governor, FrequencyDriver: b.FrequencyDriver, FrequencyHz: b.FrequencyHz,
		MostFrequencyHz: b.MostFrequencyHz}
	longest := plan.Duration(0)
	for _, o := range others {
		// Threads of one process may be anywhere, and ksoftirqd works for the device.
		if o.Ours || o.Processor != b.Number || o.Ran <= 0 || o.Threads > 1 || strings.HasPrefix(o.Name, "ksoftirqd/") {
			continue
		}
		ran := plan.Duration(o.Ran)
		p.Others += ran
		if ran > longest {
			longest, p.Process = ran, o.Name
		}
	}
	return p
}

func placedLink(a, b reception.Port) report.PlacedLink {
	l := report.PlacedLink{Link: b.Link, Interface: b.Name, Driver: b.Driver, Received: grown(a.Received, b.Received),
		ReceivedBytes: grown(a.Bytes, b.Bytes), Missed: grown(a.Missed, b.Missed), Ring: b.Ring, MostRing: b.MostRing,
		SpeedMbps: b.SpeedMbps, NUMANode: b.NUMANode, Merges: b.Merges, XDP: b.XDP, MostQueues: b.MostQueues,
		HashKey: b.HashKey}
	if b.Lanes > 0 && b.Transfers > 0 {
		l.PCIe = &report.PCIeLink{Lanes: b.Lanes, MostLanes: b.MostLanes, GigatransfersPerSecond: b.Transfers,
			MostGigatransfersPerSecond: b.MostTransfers}
	}
	for i, q := range b.Queues {
		placed := report.PlacedQueue{Number: q.Number, Allowed: q.Allowed, RPS: q.RPS, XPS: q.XPS,
			HashEntries: q.Entries}
		previous := reception.Queue{Processor: -1}
		if i < len(a.Queues) {
			previous = a.Queues[i]
		}
		if q.Counted && previous.Counted {
			placed.Frames = new(grown(previous.Frames, q.Frames))
		}
		switch {
		case q.Thread > 0:
			placed.Polling = report.ByThread
			if q.Processor >= 0 && q.Processor == previous.Processor { // otherwise it moved meanwhile
				placed.Processor = new(q.Processor)
			}
		case q.BySender:
			placed.Polling = report.BySender
		case len(q.Interrupts) > 0:
			placed.Polling, placed.Processor = report.ByInterrupt, mostInterrupted(previous.Interrupts, q.Interrupts)
		}
		l.Queues = append(l.Queues, placed)
	}
	return l
}

// mostInterrupted is the processor that got nearly all of a queue's interrupts, nil where several did.
func mostInterrupted(a, b []uint64) *int {
	most, index, sum := int64(0), 0, int64(0)
	for i := range min(len(a), len(b)) {
		count := grown(a[i], b[i])
		if sum += count; count > most {
			most, index = count, i
		}
	}
	if sum == 0 || most*10 < sum*9 {
		return nil
	}
	return &index
}

// grown is by how much a counter grew, 0 where it began anew.
func grown(a, b uint64) int64 {
	if b < a {
		return 0
	}
	return int64(b - a)
}
