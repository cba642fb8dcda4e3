package figures

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// ofEstimate is a figure of a direction's estimated load, or of all together, which is the load offered there, or what
// comes back of it.
func ofEstimate(metric Metric, result report.Answer, m measured) report.Figure {
	f := report.Figure{Metric: metric.Name, Direction: m.direction, Unit: metric.Unit, Confirmed: result.Confirmed,
		Reason: result.Reason}
	e := m.estimate
	if metric.Name == LossRatio {
		f.Missing = "the procedure finds the rate at which a given share is lost: judge that rate instead"
		return f
	}
	number, missing := metric.value(m)
	switch {
	case missing != "":
		f.Missing = missing
	case e.Low == "":
		f.Missing = "the trials show no estimate of this direction"
	case m.received.PacketsPerSecond <= 0 || m.offered.PacketsPerSecond <= 0:
		f.Missing = "nothing came back in the trial nearest to the estimated load, so the mix of its frames is unknown"
	default:
		returned := big.NewRat(int64(units.One-e.LossRatio), int64(units.One)*m.received.PacketsPerSecond)
		if metric.Name == OfferedPacketsPerSecond {
			returned = big.NewRat(1, m.offered.PacketsPerSecond)
		}
		figureAt := func(load report.Number) report.Number {
			v := new(big.Rat).Mul(load.Rat(), returned)
			return report.NumberOf(v.Mul(v, number.Rat()))
		}
		f.Confirmed = !e.Extrapolated && result.NotHeld == ""
		if f.Low = figureAt(e.Low); e.High != "" {
			f.High = figureAt(e.High)
		} else {
			f.ShownFor = m.shownFor
		}
		if len(result.NearGenerators) > 0 {
			f.Reason = report.NearGenerators
		}
	}
	return f
}

// estimateTogether is the estimated load of all directions together, which have one load. The lowest of the
// directions' loads is that of all. Nothing is in it where nothing is known of some direction. It is nil where the
// procedure estimates none.
func estimateTogether(r *report.Report) *report.Estimate {
	if !r.Answer.Estimated() {
		return nil
	}
	load := &report.Estimate{}
	if slices.ContainsFunc(r.Answer.Directions, func(d report.Direction) bool {
		return d.Estimate == nil || d.Estimate.Low == "" || d.Intended.PacketsPerSecond <= 0
	}) {
		return load
	}
	var asked int64
	for _, d := range r.Answer.Directions {
		asked += d.Intended.PacketsPerSecond
	}
	for _, d := range r.Answer.Directions {
		l, share := r.Answer.EstimateOf(d), big.NewRat(asked, d.Intended.PacketsPerSecond)
		load.LossRatio, load.Extrapolated = l.LossRatio, load.Extrapolated || l.Extrapolated
		load.Low, load.High = lower(load.Low, l.Low, share), lower(load.High, l.High, share)
	}
	return load
}

// lower is the lower one of a number and another times a factor. An empty number counts as none.
func lower(a, b report.Number, times *big.Rat) report.Number {
	if b == "" {
		return a
	}
	v := new(big.Rat).Mul(b.Rat(), times)
	if a == "" || v.Cmp(a.Rat()) < 0 {
		return report.NumberOf(v)
	}
	return a
}

// summaryOfEstimates is each direction's estimated load, as in "west→east: 9.65 kpps to 9.77 kpps with 0.00001 %
// lost".
func summaryOfEstimates(r *report.Report) string {
	var parts []string
	for _, d := range r.Answer.Directions {
		l := r.Answer.EstimateOf(d)
		text := func(n report.Number) string { return wording.PacketRate(int64(math.Round(n.Float()))) }
		switch {
		case l == nil || l.Low == "" || l.Low == "0" && l.High == "":
			parts = append(parts, d.Name()+": "+wording.NotMeasured)
		case l.High == "":
			parts = append(parts, fmt.Sprintf("%s: ≥ %s with %s lost", d.Name(), text(l.Low), wording.Share(l.LossRatio)))
		default:
			parts = append(parts, fmt.Sprintf("%s: %s to %s with %s lost", d.Name(), text(l.Low), text(l.High),
				wording.Share(l.LossRatio)))
		}
	}
	if len(parts) > 1 && !r.Answer.FoundApart() {
		return strings.Join(parts, "; ") + "; loaded together"
	}
	return strings.Join(parts, "; ")
}
