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
	step   procedure.Step
	opened []time.Duration // the clock of each direction's receiver at the first reading
	kept   time.Time       // when the last sample was read
	recent [][]report.SessionsSoFar
}

// sample keeps the last reading in the Report where it is time for it, in a step that ends at a moment.
func (r *run) sample(ends time.Time) {
	now := r.soFar()
	if now == nil {
		return
	}
	k := &r.kept
	k.recent = append(k.recent, now)
	if many := int(sampleInterval/readEvery) + 1; len(k.recent) > many {
		k.recent = k.recent[1:]
	}
	due := k.kept.IsZero() || r.at.Sub(k.kept) >= sampleInterval-readEvery/2
	endSoon := ends.Sub(r.at) < sampleInterval/2 // the sample at the step's end is kept instead
	if ended := !r.at.Before(ends); !ended && (!due || endSoon) {
		return
	}
	k.kept = r.at
	s := report.Sample{At: plan.Duration(r.at.Sub(r.Started)), Phase: k.step.Phase, Load: k.step.Load, CPUPercent: -1}
	for _, d := range now {
		s.Directions = append(s.Directions, report.SampleDirection{Sessions: &d})
	}
	r.Report.Samples = append(r.Report.Samples, s)
}

// soFar is what the connections of each direction had sent and received by the last reading; nil: an end has none.
func (r *run) soFar() []report.SessionsSoFar {
	var all []report.SessionsSoFar
	for i, d := range r.Plan.Directions {
		to, from := r.last[r.placeOf(d.To)].Receiving, r.last[r.placeOf(d.From)].Sending
		if to == nil || from == nil {
			return nil
		}
		if len(r.kept.opened) <= i {
			r.kept.opened = append(r.kept.opened, to.At)
		}
		all = append(all, report.SessionsSoFar{ReceivedBytes: to.Bytes, ReceivedIn: plan.Duration(to.At - r.kept.opened[i]), RetransmittedSegments: from.RetransmittedSegments,
			LostDatagrams: max(0, measure.Missing(*from, *to))})
	}
	return all
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
