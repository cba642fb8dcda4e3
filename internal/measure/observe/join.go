package observe

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// mostReach is how far from an edge a sample may be that stands for it, at most.
const mostReach = 400 * time.Millisecond

// reachOf is how far a sample may be from a window's edge, which is a quarter of the window at most. A rate from
// far before a short window to far after it would be of another time.
func reachOf(start, end time.Duration) time.Duration { return min(mostReach, (end-start)/4) }

// join is what a series was in a window. Samples within reach of an edge stand for the edge.
//
//	samples     ·      ·      ·      ·      ·
//	window          ├──────────────────┤
//	a counter          └── Δ value ÷ Δ time ──┘ or of those just before both edges: whichever are nearest
//	a gauge            mean, least and most of those within: one before it is of another load
//
// The time of a sample decides which window it belongs to. That time, in the run's time, is known as well as the
// machine's clock. The time between two samples, which a rate is of, comes from that clock alone.
func (s *series) join(start, end, reach time.Duration) report.Observed {
	if s.Kind == report.Gauge {
		return level(s.VitalSign, start, end)
	}
	return s.rate(start, end, reach)
}

// rate is a counter's part of a window.
func (s *series) rate(start, end, reach time.Duration) report.Observed {
	o := report.Observed{Series: s.Name, Subject: s.Subject, Unit: s.Unit + "/s"}
	first, last := nearest(s.Samples, start, reach), nearest(s.Samples, end, reach)
	switch {
	case (first < 0 || last < 0) && reach < mostReach:
		o.Missing = fmt.Sprintf("it was not read within %s of the window's edges, a quarter of its length", reach)
	case first < 0 || last < 0:
		o.Missing = fmt.Sprintf("it was not read within %s of the window's edges", reach)
	case first == last:
		o.Missing = "it was read only once around the window, which is too short for it"
	case wentBack(s.Samples[first : last+1]):
		o.Missing = "the counter went back: it was cleared, or what counts was restarted"
	case s.clocks[last]-s.clocks[first] <= s.doubts[first]+s.doubts[last]:
		o.Missing = "it took as long to answer as the window lasts"
	default:
		o.Over, o.Mean, o.Unsure = s.grew(first, last)
	}
	return o
}

// bridged is a counter's part of a window whose edge has no reading near enough. The counter only grows, so at the
// edge it was between the readings before and after.
//
//	samples     ·                     ·           ·
//	window              ├───────────────────┤
//	a counter   └─ here ┴ or here ────┘
//
// It returns false where the readings around an edge are missing, or further apart than the window lasts.
func (s *series) bridged(start, end time.Duration) (report.Observed, bool) {
	first, last := s.around(start), s.around(end)
	if !first.interpolates(end-start) || !last.interpolates(end-start) ||
		wentBack(s.Samples[first.earlier:last.later+1]) {
		return report.Observed{}, false
	}
	seconds := (end - start).Seconds()
	began, offFirst := first.value()
	ended, offLast := last.value()
	return report.Observed{Series: s.Name, Subject: s.Subject, Unit: s.Unit + "/s", Over: plan.Duration(end - start),
		Mean: new((ended - began) / seconds), Unsure: (offFirst + offLast + s.Step) / seconds}, true
}

// surroundings are the numbers of the samples just before and just after a moment, or -1 for none.
type surroundings struct {
	owner          *series
	moment         time.Duration
	earlier, later int
}

func (s *series) around(moment time.Duration) surroundings {
	a := surroundings{s, moment, -1, -1}
	for i, sample := range s.Samples {
		switch instant := sample.Time.Std(); {
		case instant+s.doubts[i] <= moment:
			a.earlier = i
		case a.later < 0 && instant-s.doubts[i] >= moment:
			a.later = i
		}
	}
	return a
}

// interpolates says that there are both, no further apart than this.
func (a surroundings) interpolates(limit time.Duration) bool {
	return a.earlier >= 0 && a.later >= 0 && a.distance() <= limit
}

func (a surroundings) distance() time.Duration {
	return a.owner.Samples[a.later].Time.Std() - a.owner.Samples[a.earlier].Time.Std()
}

// value is the counter at the moment if it grew evenly between the two samples, and by how much it may be off if it
// didn't.
func (a surroundings) value() (value, doubt float64) {
	earlier, later := a.owner.Samples[a.earlier], a.owner.Samples[a.later]
	grown, share := later.Value-earlier.Value, float64(a.moment-earlier.Time.Std())/float64(a.distance())
	return earlier.Value + grown*share, grown * max(share, 1-share)
}

// grew is how fast a counter grew from one sample to another, and by how much that may be off.
//
//	asked ├──·──┤ answered        asked ├──·──┤ answered
//	         └────────── over ─────────────┘
//	            └────── shortest ─────┘ in which it may have grown by as much
func (s *series) grew(first, last int) (duration plan.Duration, mean *float64, unsure float64) {
	grown, long := s.Samples[last].Value-s.Samples[first].Value, s.clocks[last]-s.clocks[first]
	shortest := long - s.doubts[first] - s.doubts[last]
	return plan.Duration(long), new(grown / long.Seconds()), s.Step/long.Seconds() +
		grown/shortest.Seconds() - grown/long.Seconds()
}

// between is a counter's part of a trial, which is all its growth between two times at which it stood still, over
// the time in which frames were sent. The sample at the end was taken when the generators' counters stood still
// already. So was the one before the trial if another trial came before it, because a sample from a little before
// lacks the frames on their way.
//
//	samples   ·        ·     ·     ·     ·     ·
//	trial        ├──────────────────┤ drain ├ still
//	          └────────────── Δ value ─────────┘ ÷ the trial's time
func (s *series) between(rested, start, end, rest time.Duration) report.Observed {
	o := report.Observed{Series: s.Name, Subject: s.Subject, Unit: s.Unit + "/s"}
	first, last := -1, -1
	for i, sample := range s.Samples {
		switch moment := sample.Time.Std(); {
		case moment <= start && moment-s.doubts[i] >= rested:
			first = i
		case last < 0 && moment-s.doubts[i] >= max(end, rest):
			last = i
		}
	}
	switch {
	case first < 0 || last < 0 || start-s.Samples[first].Time.Std() > mostReach:
		o.Missing = "it was not read while the counters stood still, before the trial and after it"
	case wentBack(s.Samples[first : last+1]):
		o.Missing = "the counter went back: it was cleared, or what counts was restarted"
	default:
		duration := end - start
		o.Over, o.Mean = plan.Duration(duration), new((s.Samples[last].Value-s.Samples[first].Value)/duration.Seconds())
	}
	return o
}

// mostAfter is how long after a held window's end a level may have been read that stands for the window, while its
// load is still the same.
const mostAfter = time.Second

// afterwards is a level's part of a window within which nobody asked for it, as that would have taken something
// from the device. It is the level right after the window.
//
//	samples                              ·
//	held load    ├── window ───────────┤   then the next load
func (s *series) afterwards(start, end time.Duration, trial bool) report.Observed {
	o := report.Observed{Series: s.Name, Subject: s.Subject, Unit: s.Unit}
	if trial {
		o.Missing = "it isn't read within a trial, as reading it takes something from the device's machine, and after it there is no load: use a procedure that holds its loads"
		return o
	}
	o.Missing = "it was not read when the window was over"
	for _, sample := range slices.Backward(s.Samples) {
		if moment := sample.Time.Std(); moment > start && moment <= end+mostAfter {
			o.Missing, o.Over = "", plan.Duration(end-start)
			o.Mean, o.Min, o.Max = new(sample.Value), new(sample.Value), new(sample.Value)
			break
		}
	}
	return o
}

// leastIdle is the shortest time without traffic of which a counter's rate is reported.
const leastIdle = 200 * time.Millisecond

// idle is the level or rate of a series between two times in which it stayed the same, by whatever samples there
// are. It is nil where there are too few. The last sample may seem to be of a later time, by as much as the
// machine's answers take at least.
func (s *series) idle(start, end time.Duration) *float64 {
	if s.Kind == report.Gauge {
		return level(s.VitalSign, start, end).Mean
	}
	first, last := -1, -1
	for i, v := range s.Samples {
		if moment := v.Time.Std(); moment >= start && moment <= end+mostReach {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	if first < 0 || s.clocks[last]-s.clocks[first] < leastIdle || wentBack(s.Samples[first:last+1]) {
		return nil
	}
	return new((s.Samples[last].Value - s.Samples[first].Value) / (s.clocks[last] - s.clocks[first]).Seconds())
}

// wentBack says that a counter was less than before at some time, although it may be more by the end.
func wentBack(samples []report.VitalSample) bool {
	return !slices.IsSortedFunc(samples, func(a, b report.VitalSample) int { return cmp.Compare(a.Value, b.Value) })
}

// level is a gauge's part of a window.
func level(s report.VitalSign, start, end time.Duration) report.Observed {
	o := report.Observed{Series: s.Name, Subject: s.Subject, Unit: s.Unit}
	var values []float64
	o.Missing = "it was not read within the window, nor before"
	for _, sample := range s.Samples {
		switch moment := sample.Time.Std(); {
		case moment < start:
			o.Missing = fmt.Sprintf("it was not read within the window; it was last %g %s, %s before", sample.Value,
				s.Unit, start-moment)
		case moment <= end:
			values = append(values, sample.Value)
		}
	}
	if len(values) == 0 {
		return o
	}
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	o.Missing, o.Over = "", plan.Duration(end-start)
	o.Mean, o.Min, o.Max = new(sum/float64(len(values))), new(slices.Min(values)), new(slices.Max(values))
	return o
}

// nearest is the sample nearest to a moment, or -1 where none is within reach.
func nearest(samples []report.VitalSample, moment, reach time.Duration) int {
	best, distance := -1, reach+1
	for i, s := range samples {
		if d := (s.Time.Std() - moment).Abs(); d < distance {
			best, distance = i, d
		}
	}
	return best
}
