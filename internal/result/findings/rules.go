package findings

import (
	"fmt"
	"slices"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// neighbourShare is the part of a receiving processor's time that another program must have had. The kernel counts in
// hundredths of a second, and programs that only wake up have a few of them.
const neighbourShare = 0.1

// busyNeighbour is that another program ran on a full processor that received frames. It is silent where the answer
// says that already, and where threads receive: how long they waited is counted, and the answer's cause.
func busyNeighbour(s *scene) *report.Finding {
	if !s.overloaded() || s.report.Answer.Cause.Detail == report.OtherPrograms {
		return nil
	}
	for _, p := range s.Processors {
		had := float64(min(p.Others, p.Busy-p.SoftIRQ)) / float64(max(s.Over, 1))
		if s.receives(p) && s.full(p) && had >= neighbourShare && p.Process != "" && !s.hasThreadOn(p.Number) {
			return &report.Finding{Kind: report.BusyNeighbour, Severity: report.FindingWarning,
				Sentence: fmt.Sprintf("%s had %.0f %% of processor %d, which received %.0f %% of frames and was full",
					p.Process, 100*had, p.Number, 100*s.share(p)),
				WayOut:   "stop it, or give the device a processor of its own (taskset, isolcpus)",
				Evidence: s.evidence()}
		}
	}
	return nil
}

// Drivers that choose the frequency by themselves call that powersave, too, so their powersave alone means nothing. A
// full processor at less than slowShare of its most is slow under any of them. The most may be one that all processors
// together don't reach, hence the distance.
var choosingDrivers = []string{"intel_pstate", "amd-pstate-epp"}

const slowShare = 0.7

// slowFrequency is that a governor kept a full processor that received frames slow.
func slowFrequency(s *scene) *report.Finding {
	if !s.overloaded() {
		return nil
	}
	for _, p := range s.Processors {
		known := p.FrequencyHz > 0 && p.MostFrequencyHz > 0
		slow := known && float64(p.FrequencyHz) < slowShare*float64(p.MostFrequencyHz)
		chooses := slices.Contains(choosingDrivers, p.FrequencyDriver)
		if p.Governor != "powersave" || chooses && !slow || known && !slow || !s.receives(p) || !s.full(p) {
			continue
		}
		at := ""
		if known {
			at = fmt.Sprintf(" at %.1f of %.1f GHz", float64(p.FrequencyHz)/1e9, float64(p.MostFrequencyHz)/1e9)
		}
		return &report.Finding{Kind: report.SlowFrequency, Severity: report.FindingWarning,
			Sentence: fmt.Sprintf("the governor powersave kept processor %d%s, which received %.0f %% of "+
				"frames and was full",
				p.Number, at, 100*s.share(p)),
			WayOut: "cpupower frequency-set -g performance", Evidence: []string{"driver " + p.FrequencyDriver}}
	}
	return nil
}

// roomIdle is the part of the window that a processor must have been idle for its queue to be too short for bursts. A
// queue that overflows while its processor is full isn't small: no length would do.
const roomIdle = 0.2

// smallQueues is that a card's ring, or a processor's backlog, lost frames while its processor had time left.
func smallQueues(s *scene) *report.Finding {
	if !s.overloaded() || !s.judged() {
		return nil
	}
	hasRoom := func(p *report.PlacedProcessor) bool {
		return p != nil && float64(p.Idle) >= roomIdle*float64(s.Judged)+float64(s.Over-s.Judged)
	}
	for _, l := range s.Links {
		polled := slices.ContainsFunc(l.Queues, func(q report.PlacedQueue) bool { return q.Processor != nil })
		room := polled && !slices.ContainsFunc(l.Queues, func(q report.PlacedQueue) bool {
			return q.Processor != nil && !hasRoom(s.processor(*q.Processor))
		})
		if l.Missed > 0 && l.Ring > 0 && l.Ring < l.MostRing && room {
			return &report.Finding{Kind: report.SmallRing, Severity: report.FindingFault,
				Sentence: fmt.Sprintf("the ring of %s, %d frames, had no room for %s, though its "+
					"processors had time left",
					l.Link, l.Ring, wording.Count(l.Missed)),
				WayOut: fmt.Sprintf("ethtool -G %s rx %d", l.Interface, l.MostRing)}
		}
	}
	for _, p := range s.Processors {
		if p.Dropped > 0 && hasRoom(&p) {
			return &report.Finding{Kind: report.SmallBacklog, Severity: report.FindingFault,
				Sentence: fmt.Sprintf("the backlog of processor %d had no room for %s frames, though it had time left",
					p.Number, wording.Count(p.Dropped)),
				WayOut: "sysctl -w net.core.netdev_max_backlog=10000"}
		}
	}
	return nil
}

// nearlyFull is from where on a connection table counts as nearly full: the next run of as many flows may fill it.
const nearlyFull = 0.9

// connectionsFull is that the connection table was full, or nearly.
func connectionsFull(s *scene) *report.Finding {
	c := s.Connections
	if c == nil || c.Most <= 0 || c.Dropped == 0 && float64(c.Entries) < nearlyFull*float64(c.Most) {
		return nil
	}
	f := &report.Finding{Kind: report.ConnectionsFull, Severity: report.FindingWarning,
		Sentence: fmt.Sprintf("the connection table has %s of %s entries", wording.Count(c.Entries),
			wording.Count(c.Most)),
		WayOut: fmt.Sprintf("sysctl -w net.netfilter.nf_conntrack_max=%d, or use fewer flows", 4*c.Most)}
	if c.Dropped > 0 {
		f.Severity = report.FindingFault
		f.Sentence += ", and dropped " + wording.Count(c.Dropped) + " because it was full"
	}
	return f
}

// mergedShare is by how much fewer frames protocols must have seen than interfaces received. What interfaces and
// protocols count is read at moments that are up to some milliseconds apart.
const mergedShare = 0.05

// framesMerged is that receive offload merged frames, so that protocols saw fewer than came.
func framesMerged(s *scene) *report.Finding {
	received, merges := int64(0), []string(nil)
	for _, l := range s.Links {
		if l.XDP {
			return nil // a program may have taken frames before protocols saw them
		}
		received += l.Received
		for _, offload := range l.Merges {
			if !slices.Contains(merges, offload) {
				merges = append(merges, offload)
			}
		}
	}
	seen, dropped := int64(0), int64(0)
	for _, p := range s.Processors {
		seen, dropped = seen+p.Frames, dropped+p.Dropped
	}
	if len(merges) == 0 || received < fewFrames ||
		float64(seen+dropped) >= (1-mergedShare)*float64(received) {
		return nil
	}
	return &report.Finding{Kind: report.FramesMerged, Severity: report.FindingNote,
		Sentence: fmt.Sprintf("receive offload merged frames: of %s that came, the device handled %s",
			wording.Count(received),
			wording.Count(seen)),
		WayOut: fmt.Sprintf("ethtool -K %s gro off, where each frame is to be handled by itself",
			s.Links[0].Interface),
		Evidence: merges}
}

// A PCIe link is narrow if it carries less than narrow times the port's speed, as headers take a tenth of what it
// carries at least, and the test used usedPCIe of it. With less traffic it doesn't matter.
const (
	narrow   = 1.1
	usedPCIe = 0.5
)

// narrowPCIe is that a card's PCIe link carries less than its port.
func narrowPCIe(s *scene) *report.Finding {
	if !s.overloaded() {
		return nil
	}
	for _, l := range s.Links {
		if l.PCIe == nil || l.SpeedMbps <= 0 {
			continue
		}
		carries := l.PCIe.Mbps()
		if carries <= 0 || carries >= narrow*float64(l.SpeedMbps) || s.rate(8*l.ReceivedBytes) < usedPCIe*1e6*carries {
			continue
		}
		way := "use a slot with more lanes or of a later generation"
		if l.PCIe.MostLanes > l.PCIe.Lanes {
			way = fmt.Sprintf("use a slot with %d lanes: the card has them", l.PCIe.MostLanes)
		}
		return &report.Finding{Kind: report.NarrowPCIe, Severity: report.FindingWarning,
			Sentence: fmt.Sprintf("the card of %s has %d PCIe lanes of %g GT/s, %.1f Gb/s, less than its "+
				"port's %.0f Gb/s",
				l.Link, l.PCIe.Lanes, l.PCIe.GigatransfersPerSecond, carries/1e3, float64(l.SpeedMbps)/1e3),
			WayOut: way}
	}
	return nil
}

// processorFarAway is that most frames were received on a processor of another NUMA node than their card's, which was
// full: its accesses to the frames take longer.
func processorFarAway(s *scene) *report.Finding {
	if !s.overloaded() {
		return nil
	}
	for _, p := range s.Processors {
		if s.share(p) < 0.5 || p.NUMANode < 0 || !s.full(p) {
			continue
		}
		l := s.busiestLink([]int{p.Number})
		if l == nil || l.NUMANode < 0 || l.NUMANode == p.NUMANode {
			continue
		}
		return &report.Finding{Kind: report.ProcessorFarAway, Severity: report.FindingNote,
			Sentence: fmt.Sprintf("%.0f %% of frames were received on processor %d of NUMA node %d, and "+
				"%s's card is on node %d",
				100*s.share(p), p.Number, p.NUMANode, l.Link, l.NUMANode),
			WayOut: fmt.Sprintf("bind the card's interrupts to processors of node %d", l.NUMANode)}
	}
	return nil
}
