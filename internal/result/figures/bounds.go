package figures

import (
	"math/big"
	"slices"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/units"
)

// A figure is bounded from above by frames that were lost in its own direction, at a load that is known.

// resultOf is a result as it holds for one of its directions.
func resultOf(result report.Answer, d report.Direction) report.Answer {
	if d.Limit != nil {
		result.Reason, result.Saturated, result.Confirmed, result.Resolution = d.Limit.Reason, d.Limit.Saturated,
			d.Limit.Confirmed, d.Limit.Resolution
	}
	if !slices.Contains(result.NearGenerators, d.Name()) {
		result.NearGenerators = nil
	}
	return result
}

// withOwnLimits are directions whose own limits a search found or bounded. It is nil where some direction has none.
func withOwnLimits(directions ...report.Direction) []report.Direction {
	if slices.ContainsFunc(directions, func(d report.Direction) bool { return d.Limit == nil }) {
		return nil
	}
	return directions
}

// withOwnLimitsAtOnce are the directions whose own upper ends add up to that of all together. For directions that
// were found one after another, they do so only where all limits were held at once without loss (or with no more
// than noise at each limit), and no direction was found while another was held above what it carries
// (Inconclusive).
func withOwnLimitsAtOnce(r *report.Report) []report.Direction {
	if r.Answer.FoundApart() && (!carriedAtOnce(r) || r.Answer.Reason == report.Inconclusive) {
		return nil
	}
	return withOwnLimits(r.Answer.Directions...)
}

// carriedAtOnce says that all limits were held at once, and no more frames were lost than the limits are resolved
// to. Loads so close to what a device carries lose some now and then, each by itself, too.
func carriedAtOnce(r *report.Report) bool {
	if !r.Answer.HeldAtOnce() {
		return false
	}
	resolved := units.Ratio(0)
	for _, d := range r.Answer.Directions {
		if d.Limit != nil {
			resolved = max(resolved, d.Limit.Resolution)
		}
	}
	parts := r.Answer.Total.Directions
	return !slices.ContainsFunc(parts, func(d report.Direction) bool { return d.Quality == report.Lossy }) ||
		measure.Sum(parts, nil).LossRatio <= resolved
}

// directionsOfTotal are the directions of the window that the total is of. For directions that were found one after
// another, the result's directions are of other windows.
func directionsOfTotal(r *report.Report) []report.Direction {
	if r.Answer.FoundApart() {
		return r.Answer.Total.Directions
	}
	return r.Answer.Directions
}

// sumOfUpperEnds is the upper end of a metric of these directions together, as a multiple of its figure. Each
// direction is bounded by frames that it lost itself, at a load no further above its figure than its resolution. It
// is nil where some direction lost none, and nothing bounds it.
//
//	figure ÷ (1 − resolution), of each direction, added up, ÷ what came back
//
// Of directions that were found one after another less may have come back at once than each brought by itself, and
// what bounds them is still what they lost then.
func sumOfUpperEnds(metric report.Metric, directions []report.Direction, came report.Flow) *big.Rat {
	flow, highest := flowInUnit(metric, came), new(big.Rat)
	for _, d := range directions {
		if d.Limit.Lossy == 0 || d.Limit.Resolution >= units.One {
			return nil
		}
		v := new(big.Rat).SetInt64(flowInUnit(metric, d.Received))
		highest.Add(highest, v.Quo(v, big.NewRat(int64(units.One-d.Limit.Resolution), int64(units.One))))
	}
	if flow == 0 {
		return nil
	}
	if highest.Quo(highest, big.NewRat(flow, 1)); highest.Cmp(big.NewRat(1, 1)) < 0 {
		return big.NewRat(1, 1) // what came back can't be less than itself
	}
	return highest
}

// flowInUnit is a flow in a metric's unit.
func flowInUnit(metric report.Metric, f report.Flow) int64 {
	switch metric {
	case Layer1BitsPerSecond, LineRatePercent:
		return f.Layer1BitsPerSecond
	case Layer2BitsPerSecond:
		return f.Layer2BitsPerSecond
	}
	return f.PacketsPerSecond
}

// upperEnd is the upper end of a figure of frames that came back. It is empty where nothing bounds it.
func upperEnd(f report.Figure, result report.Answer, m measured) report.Number {
	times := func(v *big.Rat) report.Number { return report.NumberOf(v.Mul(f.Low.Rat(), v)) }
	switch {
	case len(result.NearGenerators) > 0:
		return ""
	case m.searched != nil:
		if upper := sumOfUpperEnds(f.Metric, m.searched, m.received); upper != nil {
			return times(upper)
		}
		return ""
	case result.LowerBound(), result.Saturated && result.Resolution >= units.One:
		// nothing bounds it, or nothing resolved the limit
		return ""
	case result.Saturated && result.Resolution != 0:
		return times(big.NewRat(int64(units.One), int64(units.One-result.Resolution)))
	case m.disturbed != nil:
		return times(new(big.Rat).Add(big.NewRat(1, 1), m.disturbed))
	}
	return f.Low
}

// disturbed is how many more frames may have come back of these directions together, without disturbances and
// bursts, as a share of those that did, or nil for none.
func disturbed(directions ...report.Direction) *big.Rat {
	var surplus, came int64
	for _, d := range directions {
		surplus, came = surplus+d.DisturbedFrames+d.LostToSending, came+d.Returned.Packets
	}
	if surplus <= 0 || came <= 0 {
		return nil
	}
	return big.NewRat(surplus, came)
}

// lostToSending is the share of these directions' frames that were lost while generators sent in bursts, or nobody
// saw how.
func lostToSending(directions ...report.Direction) units.Ratio {
	var lost, sent int64
	for _, d := range directions {
		lost, sent = lost+d.LostToSending, sent+d.Sent.Packets
	}
	if sent == 0 {
		return 0
	}
	return units.RatioOf(lost, sent)
}
