package findings

import (
	"cmp"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
)

// Of are a Report's findings, the gravest first, at most report.MostFindingsShown. Without a placement there are none.
func Of(r *report.Report) []report.Finding {
	p := r.Placement
	if p == nil || r.Plan == nil {
		return nil
	}
	s := &scene{Placement: p, report: r}
	for _, w := range r.Windows {
		if w.Number == p.Window {
			s.window = w
		}
	}
	var list []report.Finding
	for _, rule := range []func(*scene) *report.Finding{fullProcessors, busyNeighbour, slowFrequency, smallQueues,
		connectionsFull, framesMerged, narrowPCIe, processorFarAway} {
		if f := rule(s); f != nil {
			list = append(list, *f)
		}
	}
	rank := map[report.FindingSeverity]int{report.FindingFault: 0, report.FindingWarning: 1, report.FindingNote: 2}
	slices.SortStableFunc(list, func(a, b report.Finding) int {
		return cmp.Compare(rank[a.Severity], rank[b.Severity])
	})
	return list[:min(len(list), report.MostFindingsShown)]
}

// DecidingWindow is the number of the window whose placement explains the answer: the lowest load that lost frames
// where a search found one, as the device was full there, or else the window of the figures. It is 0 for none.
func DecidingWindow(r *report.Report) int {
	var lossy []int
	for _, d := range r.Answer.Directions {
		if d.Limit != nil && d.Limit.Lossy > 0 && (d.Limit.LimitsAll || len(r.Answer.Directions) == 1) {
			lossy = append(lossy, d.Limit.Lossy)
		}
	}
	if len(lossy) > 0 {
		return slices.Min(lossy)
	}
	return cmp.Or(r.Answer.Lossy, r.Answer.Window)
}

// scene is what the rules judge.
type scene struct {
	*report.Placement
	report *report.Report
	window report.Window // that the placement is of
}

// overloaded says that the device was offered more than it carried: frames were surely lost, or sessions were held
// back by their path. Below its limit a device may use its processors as it likes.
func (s *scene) overloaded() bool {
	if s.report.Plan.Sessions != nil {
		return s.report.Answer.Reason == report.PathLimited || s.report.Answer.Reason == report.EndpointLimited
	}
	return slices.ContainsFunc(s.window.Directions, func(d report.Direction) bool { return d.LossRatioMin > 0 })
}

// A processor is full if it was idle for at most fullIdle of the window, and had nothing stolen beyond that. It is idle
// if it worked for at most idleBusy of the time. What it was idle before and after the window, between the readings,
// doesn't count, so no load of a whole window is taken for less. The kernel counts in hundredths of a second: a window
// of a second is read to 1 %.
const (
	fullIdle = 0.05
	idleBusy = 0.2
	// edges is how much longer than the window the time between the readings may be. Beyond that nobody knows what of
	// it was in the window.
	edges = 0.35
)

// judged says that the readings are close to the window.
func (s *scene) judged() bool {
	return s.Judged > 0 && float64(s.Over-s.Judged) <= edges*float64(s.Judged)
}

func (s *scene) full(p report.PlacedProcessor) bool {
	outside := s.Over - s.Judged
	return s.judged() && float64(p.Idle-outside) <= fullIdle*float64(s.Judged) &&
		float64(p.Stolen) <= fullIdle*float64(s.Judged)
}

func (s *scene) idle(p report.PlacedProcessor) bool {
	return float64(p.Busy+p.Stolen) <= idleBusy*float64(s.Over)
}

// receives says that a processor received a part of the frames that matters.
func (s *scene) receives(p report.PlacedProcessor) bool { return s.share(p) >= 0.1 }

// hasThreadOn says that a thread empties a queue on the processor.
func (s *scene) hasThreadOn(processor int) bool {
	return slices.ContainsFunc(s.Links, func(l report.PlacedLink) bool {
		return slices.ContainsFunc(l.Queues, func(q report.PlacedQueue) bool {
			return q.Polling == report.ByThread && q.Processor != nil && *q.Processor == processor
		})
	})
}

// fewFrames is so few that shares of them say nothing.
const fewFrames = 1000

// share is the part of all frames that a processor received, 0 where there were too few.
func (s *scene) share(p report.PlacedProcessor) float64 {
	total := int64(0)
	for _, other := range s.Processors {
		total += other.Frames
	}
	if total < fewFrames {
		return 0
	}
	return float64(p.Frames) / float64(total)
}

// processor is the one of this number, nil for none.
func (s *scene) processor(number int) *report.PlacedProcessor {
	for i := range s.Processors {
		if s.Processors[i].Number == number {
			return &s.Processors[i]
		}
	}
	return nil
}

// busiestLink is the link by which the device received most frames, of those whose queues lead to one of these
// processors. It is nil for none.
func (s *scene) busiestLink(to []int) (busiest *report.PlacedLink) {
	for i := range s.Links {
		l := &s.Links[i]
		leads := slices.ContainsFunc(l.Queues, func(q report.PlacedQueue) bool {
			return leadsTo(q, to)
		})
		if leads && l.Received > 0 && (busiest == nil || l.Received > busiest.Received) {
			busiest = l
		}
	}
	return busiest
}

// leadsTo says whether a queue's frames may be received on one of these processors.
func leadsTo(q report.PlacedQueue, processors []int) bool {
	for _, p := range processors {
		switch {
		case q.RPS != "":
			if contains(q.RPS, p) {
				return true
			}
		case q.Processor != nil:
			if *q.Processor == p {
				return true
			}
		default:
			return true // nobody knows
		}
	}
	return false
}

// rate is a count per second of the readings.
func (s *scene) rate(count int64) float64 {
	return float64(count) / max(s.Over.Std(), time.Millisecond).Seconds()
}
