package verify

import (
	"fmt"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/transit"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// windows compares each window with what its counters give.
func (s *subject) windows() Check {
	d := newDiffer(CheckWindows)
	missing := 0
	for i, w := range s.Windows {
		s.window(d, w, s.recomputed.Windows[i])
		if w.Evidence == nil && s.Plan.Sessions == nil && !measure.OfTrains(w.Directions) {
			missing++
		}
	}
	if missing > 0 {
		d.notVerified("evidence of %s was not kept, so quality and reason there were not verified",
			wording.ShareOf(missing, len(s.Windows))+" windows")
	}
	if len(s.Generators) > 1 && len(s.Windows) > 0 && s.Plan.Sessions == nil {
		d.notVerified("the counters of %d generators are summed, but each was read at its own time: rates were verified as closely as that allows", len(s.Generators))
	}
	ended := 0
	for _, w := range s.Windows {
		if w.Decided != nil {
			ended++
		}
	}
	if ended > 0 {
		d.notVerified("%s ended early, each port at its own time: rates were verified as closely as that allows",
			wording.ShareOf(ended, len(s.Windows))+" trials were")
	}
	return d.done()
}

// window compares one window with what its counters give.
func (s *subject) window(d *differ, saved, gives report.Window) {
	object := fmt.Sprintf("window %d", saved.Number)
	for i := range saved.Directions {
		place := object + ", " + saved.Directions[i].Name()
		latency(d, place, saved.Directions[i].Latency)
		d.compare(place, saved.Directions[i], gives.Directions[i])
		if saved.Evidence != nil {
			d.compareAt(place, "evidence", saved.Evidence.Directions[i], gives.Evidence.Directions[i])
		}
	}
	if saved.Evidence != nil {
		d.compareAt(object, "evidence.fault", saved.Evidence.Fault, gives.Evidence.Fault)
	}
	d.compareAt(object, "quality", saved.Quality, gives.Quality)
	d.compareAt(object, "reason", saved.Reason, gives.Reason)
	if len(saved.Generators) > 0 {
		s.shares(d, object, saved)
	}
}

// latency compares percentiles with the distributions that they come from, where the document has those.
func latency(d *differ, object string, sizes []report.Latency) {
	for i, l := range sizes {
		if l.Histogram == "" {
			continue
		}
		field := fmt.Sprintf("latency[%d]", i)
		h, err := transit.Decode(l.Histogram)
		if err != nil {
			d.found(object, field+".histogram", "it is no distribution: %v", err)
			continue
		}
		d.compareAt(object, field+".within", l.Within, measure.PercentilesOf(h, l.Came()-l.Timed()))
		if frames := int64(h.Frames()); frames != l.Timed() {
			d.found(object, field+".frames", "%d frames were timed, but the distribution has %d", l.Timed(), frames)
		}
	}
}

// shares compares the sum of the generators' shares of a window with that of its directions. As each is rounded by
// itself, the sums differ by no more than a packet per second for each.
func (s *subject) shares(d *differ, object string, w report.Window) {
	var offered, received, ofOffered, ofReceived int64
	for _, g := range w.Generators {
		ofOffered, ofReceived = ofOffered+g.OfferedPacketsPerSecond, ofReceived+g.ReceivedPacketsPerSecond
	}
	for _, m := range w.Directions {
		offered, received = offered+m.Offered.PacketsPerSecond, received+m.Received.PacketsPerSecond
	}
	limit := int64(len(w.Generators) + len(w.Directions))
	for _, sum := range []struct {
		quantity      string
		total, shares int64
	}{{"offered", offered, ofOffered}, {"received", received, ofReceived}} {
		if difference := sum.total - sum.shares; difference > limit || difference < -limit {
			d.found(object, "generators", "the generators together %s %d packets/s, but the directions together %d",
				sum.quantity, sum.shares, sum.total)
		}
	}
}

// procedure replays the procedure. Each window must be of the step that it asks for after the windows before.
func (s *subject) procedure() Check {
	d := newDiffer(CheckProcedure)
	if !s.whole() {
		d.notVerified("%d of %d windows were left out to make the report fit where it is kept, so the procedure was not replayed", s.Thinned.Windows-len(s.Windows), s.Thinned.Windows)
		return d.done()
	}
	for i, step := range s.steps {
		w, object := s.Windows[i], fmt.Sprintf("window %d", s.Windows[i].Number)
		if step.End {
			d.found(object, "phase", "the procedure had ended before it: %s", step.Reason)
			break
		}
		d.compareAt(object, "number", w.Number, i+1)
		d.compareAt(object, "phase", w.Phase, step.Phase)
		d.compareAt(object, "load", w.Load, s.load(i))
		d.compareAt(object, "varied", w.Varied, step.Varied)
		s.length(d, object, i)
	}
	if s.next == nil {
		d.notVerified("after window %d the procedure was not replayed, as that window isn't of the step that it asks for", len(s.steps))
	} else if s.Ending == report.Completed && !s.next.End &&
		!procedure.OutOfTime(s.rules, *s.next, s.recomputed.Windows, s.Finished.Sub(s.Started),
			s.Plan.ActiveDeadline.Std()) {
		d.found("the report", "ending", "it is Completed, but after its last window the procedure asks for another one, %s at %s of the target: windows were removed, or the run ended otherwise", s.next.Phase, measure.Percent(s.next.Load))
	}
	return d.done()
}

// load is that of the step of window i. In a warm-up of frames it is its rate as a share of the full rate.
func (s *subject) load(i int) units.Ratio {
	step := s.steps[i]
	switch {
	case step.Phase != report.WarmUp || s.Plan.Sessions != nil:
		return step.Load
	case len(s.full) == 0:
		return s.Windows[i].Load
	}
	return units.RatioOf(int64(s.warmUp[0]), int64(s.full[0]))
}

// length compares a window's duration with its step's.
func (s *subject) length(d *differ, object string, i int) {
	w, judge := s.Windows[i], s.steps[i].Judge
	if s.steps[i].Kind == procedure.Train {
		s.trains(d, object, i)
		return
	}
	if s.steps[i].Frames != nil {
		s.bursts(d, object, i)
		return
	}
	if w.Decided != nil {
		gives := report.Decided{Duration: w.Duration, Planned: plan.Duration(judge)}
		if limit := s.steps[i].StopAbove; limit != nil {
			gives.LossRatio = *limit
		} else {
			d.found(object, "decided", "it was ended early, but the procedure never ends such a step early")
		}
		d.compareAt(object, "decided", *w.Decided, gives)
		return
	}
	if w.Evidence == nil || w.Evidence.Fault != "" {
		return
	}
	// what a trial sent, it sent for as long as it was told to
	exact := s.steps[i].Kind == procedure.Trial && !w.HasEdges()
	if exact && w.Duration.Std() != judge || !exact && !measure.AsPlanned(w.Duration, judge) {
		d.found(object, "duration", "duration is %s, but the procedure asks for %s", w.Duration.Std(), judge)
	}
}

// bursts compares the lengths of a window's bursts with their step's. How long they took is known from the
// generators only.
func (s *subject) bursts(d *differ, object string, i int) {
	for n, m := range s.Windows[i].Directions {
		if m.Burst != nil && n < len(s.steps[i].Frames) {
			d.compareAt(object+", "+m.Name(), "burst.frames", m.Burst.Frames, s.steps[i].Frames[n])
		}
	}
}

// trains compares the numbers of a window's trains with its step's. Trains whose number of frames the step leaves to
// the ports' rings may have any.
func (s *subject) trains(d *differ, object string, i int) {
	step := s.steps[i]
	for _, m := range s.Windows[i].Directions {
		place := object + ", " + m.Name()
		switch {
		case m.Trains == nil && m.Name() == step.Varied:
			d.found(place, "trains", "the procedure asks for %d trains, and there are none", step.Trains.Count)
		case m.Trains == nil:
		case m.Name() != step.Varied:
			d.found(place, "trains", "the procedure asks for trains %s alone", step.Varied)
		default:
			d.compareAt(place, "trains.count", m.Trains.Count, step.Trains.Count)
			if step.Trains.Frames > 0 {
				d.compareAt(place, "trains.frames", m.Trains.Frames, step.Trains.Frames)
			}
			whole := m.Trains.Count - m.Trains.Lossy - m.Trains.Broken - m.Trains.Undivided
			if whole != len(m.Trains.Spacings) {
				d.found(place, "trains.spacings", "%d trains came whole, but %d have a spacing", whole,
					len(m.Trains.Spacings))
			}
		}
	}
}
