package figures

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// ofSoak is a figure of a direction's critical load, or of all together, which is the load offered there, or what
// comes back of it.
func ofSoak(metric Metric, result report.Result, m measured) report.Figure {
	f := report.Figure{Metric: metric.Name, Direction: m.direction, Unit: metric.Unit, Confirmed: result.Confirmed,
		Reason: result.Reason}
	l := m.critical
	if metric.Name == LossRatio {
		f.Missing = "a soak finds the rate at which procedure.soak.lossRatio is lost: judge that rate instead"
		return f
	}
	number, missing := metric.value(m)
	switch {
	case missing != "":
		f.Missing = missing
	case l == nil || l.Low == "":
		f.Missing = "the trials show no critical load of this direction"
	case m.received.PacketsPerSecond <= 0 || m.offered.PacketsPerSecond <= 0:
		f.Missing = "nothing came back in the trial nearest to the critical load, so the mix of its frames is unknown"
	default:
		returned := big.NewRat(int64(units.One-l.LossRatio), int64(units.One)*m.received.PacketsPerSecond)
		if metric.Name == OfferedPacketsPerSecond {
			returned = big.NewRat(1, m.offered.PacketsPerSecond)
		}
		figureAt := func(load report.Number) report.Number {
			v := new(big.Rat).Mul(load.Rat(), returned)
			return report.NumberOf(v.Mul(v, number.Rat()))
		}
		f.Confirmed = !l.Extrapolated && result.NotHeld == ""
		if f.Low = figureAt(l.Low); l.High != "" {
			f.High = figureAt(l.High)
		} else {
			f.ShownFor = m.shownFor
		}
		if len(result.NearGenerators) > 0 {
			f.Reason = report.NearGenerators
		}
	}
	return f
}

// criticalTogether is the critical load of all directions together, which have one load. The lowest critical load
// is that of all. It is nil where nothing is known of some direction.
func criticalTogether(r *report.Report) *report.CriticalLoad {
	if !isSoak(r) || slices.ContainsFunc(r.Result.Directions, func(d report.Direction) bool {
		return d.CriticalLoad == nil || d.CriticalLoad.Low == "" || d.Intended.PacketsPerSecond <= 0
	}) {
		return nil
	}
	var asked int64
	for _, d := range r.Result.Directions {
		asked += d.Intended.PacketsPerSecond
	}
	load := &report.CriticalLoad{}
	for _, d := range r.Result.Directions {
		l, share := r.Result.CriticalLoadOf(d), big.NewRat(asked, d.Intended.PacketsPerSecond)
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

// summaryOfSoak is each direction's critical load, as in "west→east: 9.65 Kpps to 9.77 Kpps at a loss ratio of
// 0.0000001".
func summaryOfSoak(r *report.Report) string {
	var parts []string
	for _, d := range r.Result.Directions {
		l := r.Result.CriticalLoadOf(d)
		text := func(n report.Number) string { return wording.PacketRate(int64(math.Round(n.Float()))) }
		switch {
		case l == nil || l.Low == "" || l.Low == "0" && l.High == "":
			parts = append(parts, d.Name()+": "+wording.NotMeasured)
		case l.High == "":
			parts = append(parts, fmt.Sprintf("%s: ≥%s at a loss ratio of %s", d.Name(), text(l.Low), l.LossRatio))
		default:
			parts = append(parts, fmt.Sprintf("%s: %s to %s at a loss ratio of %s", d.Name(), text(l.Low), text(l.High),
				l.LossRatio))
		}
	}
	if len(r.Result.SharedPorts) > 0 {
		parts[len(parts)-1] += "  (shared port)"
	}
	return strings.Join(parts, "; ")
}

// isSoak says that a Report's procedure estimates a critical load.
func isSoak(r *report.Report) bool { return report.PlanOf(r).Procedure.Type == plan.TypeSoak }
