package sessions

import (
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/run/runner"
)

// sampleInterval is the time between the samples that a Report keeps for graphs, as in tests of frames. It is four
// readings.
const sampleInterval = time.Second

// samples makes a Report's samples from readings, and knows the present goodput. A rate is computed by the
// receiver's own clock, which read the bytes and the time at one moment. The driver's clock only places a
// sample, since it knows an end's answer when it arrives, which on a busy machine is late by some tens of
// milliseconds.
//
//	readings  · · · · · · · · · · · ·      each 250 ms
//	samples   ·       ·       ·     ·      once a second, and at a step's end, where a phase or a window may end
type samples struct {
	journal *runner.Journal
	meter   *meter
	step    procedure.Step

	opened    []time.Duration // the clock of each direction's receiver at the first reading
	sampledAt time.Time       // when the last sample was read
	recent    [][]report.SessionsSoFar
}

// add keeps a reading in the Report where it is time for it, in a step that ends at a moment.
func (s *samples) add(readings []Reading, readAt, stepEnd time.Time) {
	counted := s.counted(readings)
	if counted == nil {
		return
	}
	s.recent = append(s.recent, counted)
	if limit := int(sampleInterval/readEvery) + 1; len(s.recent) > limit {
		s.recent = s.recent[1:]
	}
	due := s.sampledAt.IsZero() || readAt.Sub(s.sampledAt) >= sampleInterval-readEvery/2
	endSoon := stepEnd.Sub(readAt) < sampleInterval/2 // the sample at the step's end is kept instead
	if ended := !readAt.Before(stepEnd); !ended && (!due || endSoon) {
		return
	}
	s.sampledAt = readAt
	sample := report.Sample{Time: plan.Duration(readAt.Sub(s.journal.Started)), Phase: s.step.Phase, Load: s.step.Load,
		CPUPercent: -1}
	for _, d := range counted {
		sample.Directions = append(sample.Directions, report.SampleDirection{Sessions: &d})
	}
	s.journal.Report.Samples = append(s.journal.Report.Samples, sample)
}

// counted is what the connections of each direction had sent and received by a reading, or nil if an end has none.
func (s *samples) counted(readings []Reading) (directions []report.SessionsSoFar) {
	for i, d := range s.journal.Plan.Directions {
		sending, receiving := s.meter.ofDirection(readings, d)
		if receiving == nil || sending == nil {
			return nil
		}
		if len(s.opened) <= i {
			s.opened = append(s.opened, receiving.At)
		}
		directions = append(directions, report.SessionsSoFar{ReceivedBytes: receiving.Bytes,
			ReceivedIn:            plan.Duration(receiving.At - s.opened[i]),
			RetransmittedSegments: sending.RetransmittedSegments,
			LostDatagrams:         max(0, measure.Missing(*sending, *receiving))})
	}
	return directions
}

// goodput is the goodput of all directions together over about the last second, or nil before the second reading.
func (s *samples) goodput() *int64 {
	if len(s.recent) < 2 {
		return nil
	}
	sum := int64(0)
	for i, latest := range s.recent[len(s.recent)-1] {
		goodput, ok := latest.GoodputSince(s.recent[0][i])
		if !ok {
			return nil
		}
		sum += goodput
	}
	return &sum
}
