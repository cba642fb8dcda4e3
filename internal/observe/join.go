package observe

import (
	"fmt"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/report"
)

// reach is how far from a window's edge a sample may be that stands for it.
const reach = 400 * time.Millisecond

// join is what a series was in a window.
//
//	samples     ·      ·      ·      ·      ·
//	window          ├──────────────────┤
//	a counter          └── Δ value ÷ Δ time ──┘ or of those just before both edges: whichever are nearest
//	a gauge            mean, least and most of those within
func join(s report.VitalSign, from, to time.Duration) report.Observed {
	o := report.Observed{Series: s.Name, Of: s.Of, Unit: s.Unit}
	if s.Kind == report.Gauge {
		return within(o, s, from, to)
	}
	o.Unit += "/s"
	first, last := nearest(s.Samples, from), nearest(s.Samples, to)
	switch {
	case first < 0 || last < 0:
		o.Missing = fmt.Sprintf("it was not read within %s of the window's edges", reach)
	case first == last:
		o.Missing = "it was read only once around the window, which is too short for it"
	case s.Samples[last].Value < s.Samples[first].Value:
		o.Missing = "the counter went back: it was cleared, or what counts was restarted"
	default:
		a, b := s.Samples[first], s.Samples[last]
		o.Over = b.At - a.At
		o.Mean, o.Unsure = new((b.Value-a.Value)/o.Over.Std().Seconds()), s.Step/o.Over.Std().Seconds()
	}
	return o
}

// within is a gauge's part of a window.
func within(o report.Observed, s report.VitalSign, from, to time.Duration) report.Observed {
	var values []float64
	for _, sample := range s.Samples {
		if at := sample.At.Std(); at >= from-reach && at <= to {
			values = append(values, sample.Value)
		}
	}
	if len(values) == 0 {
		o.Missing = "it was not read within the window"
		return o
	}
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	o.Mean, o.Min, o.Max, o.Over = new(sum/float64(len(values))), new(slices.Min(values)), new(slices.Max(values)), plan.Duration(to-from)
	return o
}

// nearest is the sample nearest to a moment; -1 where none is within reach.
func nearest(samples []report.VitalSample, moment time.Duration) int {
	best, apart := -1, reach+1
	for i, s := range samples {
		if d := (s.At.Std() - moment).Abs(); d < apart {
			best, apart = i, d
		}
	}
	return best
}
