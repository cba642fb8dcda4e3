package reporttest

import (
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/transit"
)

// WithLatency is a Report with latency at 0 % and at 50 % of the found load. At half the load most frames took the
// given time, some twice and a few three times as long. Single frames (0 %) took half of these times.
func WithLatency(nanoseconds int64, options ...Option) *report.Report {
	r := Measured(options...)
	r.Plan.Procedure.Latency = &plan.Latency{At: []units.Ratio{0, units.One / 2},
		TrialDuration: plan.Duration(10 * time.Second)}
	answer := r.Windows[r.Result.Window-1]
	for _, at := range r.Plan.Procedure.Latency.At {
		w := answer
		w.Number, w.Phase, w.Load, w.Duration = len(r.Windows)+1, report.AtLoad, answer.Load*at/units.One,
			r.Plan.Procedure.Latency.TrialDuration
		took := time.Duration(nanoseconds)
		if at == 0 {
			took /= 2
		}
		w.Directions = slices.Clone(answer.Directions)
		l := report.LatencyAt{At: at, Load: w.Load, Window: w.Number}
		for i := range w.Directions {
			d := &w.Directions[i]
			d.Limit, d.Latency = nil, []report.Latency{took64(took)}
			summary := d.Latency[0]
			summary.Histogram = ""
			l.Directions = append(l.Directions, report.LatencyOfDirection{From: d.From, To: d.To, Offered: d.Offered,
				Sizes: []report.Latency{summary}})
		}
		r.Windows, r.Result.Latency = append(r.Windows, w), append(r.Result.Latency, l)
	}
	return r
}

// took64 are 28 000 frames of 64 bytes.
func took64(typical time.Duration) report.Latency {
	var h transit.Histogram
	h.Add(transit.Index(typical), 26_000)
	h.Add(transit.Index(2*typical), 1_750)
	h.Add(transit.Index(3*typical), 250)
	l := report.Latency{FrameSize: 64, Frames: int64(h.Frames()), JitterNanoseconds: new((typical / 10).Nanoseconds())}
	for _, a := range h.Read(0).Shares {
		l.Within = append(l.Within, report.Percentile{Share: a.Share.String(), Nanoseconds: a.Time.Nanoseconds()})
	}
	l.Histogram, _ = h.Encode() // of times that are all in its range
	return l
}
