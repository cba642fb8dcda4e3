package sessions

import (
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/procedure"
)

// sampleInterval is the time between the samples that a Report keeps for graphs, as in tests of frames: four readings.
const sampleInterval = time.Second

// samples makes a Report's samples from readings, and knows the present goodput. A rate is computed by the receiver's own clock, which read the bytes and the time at
// one moment; the driver's clock only places a sample, since it knows an end's answer when it arrives, which on a busy machine is late by some tens of milliseconds.
//
//	readings  · · · · · · · · · · · ·      each 250 ms
//	samples   ·       ·       ·     ·      once a second, and at a step's end, where a phase or a window may end
type samples struct {
	step      procedure.Step
	opened    []time.Duration // the clock of each direction's receiver at the first reading
	sampledAt time.Time       // when the last sample was read
	recent    [][]report.SessionsSoFar
}

// sample keeps the last reading in the Report where it is time for it, in a step that ends at a moment.
func (r *run) sample(ends time.Time) {
	counted := r.counted()
	if counted == nil {
		return
	}
	k := &r.samples
	k.recent = append(k.recent, counted)
	if limit := int(sampleInterval/readEvery) + 1; len(k.recent) > limit {
		k.recent = k.recent[1:]
	}
	due := k.sampledAt.IsZero() || r.latestAt.Sub(k.sampledAt) >= sampleInterval-readEvery/2
	endSoon := ends.Sub(r.latestAt) < sampleInterval/2 // the sample at the step's end is kept instead
	if ended := !r.latestAt.Before(ends); !ended && (!due || endSoon) {
		return
	}
	k.sampledAt = r.latestAt
	s := report.Sample{At: plan.Duration(r.latestAt.Sub(r.Started)), Phase: k.step.Phase, Load: k.step.Load, CPUPercent: -1}
	for _, d := range counted {
		s.Directions = append(s.Directions, report.SampleDirection{Sessions: &d})
	}
	r.Report.Samples = append(r.Report.Samples, s)
}

// counted is what the connections of each direction had sent and received by the last reading; nil: an end has none.
func (r *run) counted() []report.SessionsSoFar {
	var directions []report.SessionsSoFar
	for i, d := range r.Plan.Directions {
		receiving, sending := r.latest[r.placeOf(d.To)].Receiving, r.latest[r.placeOf(d.From)].Sending
		if receiving == nil || sending == nil {
			return nil
		}
		if len(r.samples.opened) <= i {
			r.samples.opened = append(r.samples.opened, receiving.At)
		}
		directions = append(directions, report.SessionsSoFar{ReceivedBytes: receiving.Bytes, ReceivedIn: plan.Duration(receiving.At - r.samples.opened[i]), RetransmittedSegments: sending.RetransmittedSegments,
			LostDatagrams: max(0, measure.Missing(*sending, *receiving))})
	}
	return directions
}

// goodput is the goodput of all directions together over about the last second; nil: there aren't two readings yet.
func (k *samples) goodput() *int64 {
	if len(k.recent) < 2 {
		return nil
	}
	sum := int64(0)
	for i, now := range k.recent[len(k.recent)-1] {
		goodput, ok := now.GoodputSince(k.recent[0][i])
		if !ok {
			return nil
		}
		sum += goodput
	}
	return &sum
}
