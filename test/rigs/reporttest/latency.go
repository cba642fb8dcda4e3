package reporttest

import (
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/transit"
)

// WithLatency is a Report with latency at 0 % and at 50 % of the found load. At half the load most frames took the
// given time, some twice and a few three times as long. Single frames (0 %) took half of these times.
func WithLatency(nanoseconds int64, options ...Option) *report.Report {
	r := Measured(options...)
	r.Plan.Procedure.Latency = &plan.Latency{Loads: []units.Ratio{0, units.One / 2},
		TrialDuration: plan.Duration(10 * time.Second)}
	answer := r.Windows[r.Answer.Window-1]
	for _, at := range r.Plan.Procedure.Latency.Loads {
		w := answer
		w.Number, w.Phase, w.Load, w.Duration = len(r.Windows)+1, report.AtLoad, answer.Load*at/units.One,
			r.Plan.Procedure.Latency.TrialDuration
		took := time.Duration(nanoseconds)
		if at == 0 {
			took /= 2
		}
		w.Directions = slices.Clone(answer.Directions)
		for i := range w.Directions {
			d := &w.Directions[i]
			d.Limit, d.Latency = nil, []report.Latency{took64(took)}
		}
		r.Windows = append(r.Windows, w)
	}
	ReadLatency(r)
	return r
}

// ReadLatency reads the result's figures of latency anew from the windows, one for each of the Plan's loads, in order.
func ReadLatency(r *report.Report) {
	var windows []int
	for i, w := range r.Windows {
		if w.Phase == report.AtLoad {
			windows = append(windows, i)
		}
	}
	var trials []procedure.LoadTrial
	for i := range r.Plan.Procedure.Latency.Loads {
		t := procedure.LoadTrial{LatencyLoad: &r.Plan.Procedure.Latency.Loads[i], Window: procedure.NoWindow,
			Void: procedure.NoWindow}
		if i < len(windows) {
			t.Window = windows[i]
		}
		trials = append(trials, t)
	}
	r.Answer.Figures = figures.OfLoads(r, trials, r.Answer)
}

// AtLoad is the window of latency at the n-th of the Plan's loads.
func AtLoad(r *report.Report, n int) *report.Window {
	for i := range r.Windows {
		if r.Windows[i].Phase == report.AtLoad {
			if n--; n < 0 {
				return &r.Windows[i]
			}
		}
	}
	return nil
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
