package figures

import (
	"math/big"
	"slices"

	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// What bounds a figure from above: frames that were lost in its own direction, at a load that is known.

// resultOf is what a result says of one of its directions.
func resultOf(result report.Result, d report.Direction) report.Result {
	if d.Limit != nil {
		result.Reason, result.Saturated, result.Confirmed, result.Resolution = d.Limit.Reason, d.Limit.Saturated, d.Limit.Confirmed, d.Limit.Resolution
	}
	if !slices.Contains(result.NearGenerators, d.Name()) {
		result.NearGenerators = nil
	}
	return result
}

// searched are directions whose own limits a search found or bounded; nil: of some of them nothing is said.
func searched(directions ...report.Direction) []report.Direction {
	if slices.ContainsFunc(directions, func(d report.Direction) bool { return d.Limit == nil }) {
		return nil
	}
	return directions
}

// searchedTogether are the directions whose own bounds add up to that of all together. Of directions that were found one after another they do so only where all of
// that was held at once and lost nothing, or no more than noise at each limit does, and none of them was found while another one was held above what it carries, which is Inconclusive.
func searchedTogether(r *report.Report) []report.Direction {
	if report.PlanOf(r).Procedure.Each != nil && (!carriedTogether(r) || r.Result.Reason == report.Inconclusive) {
		return nil
	}
	return searched(r.Result.Directions...)
}

// carriedTogether says that limits were held at once, and that no more frames were lost than they are resolved to: loads that lie so close to what a device carries lose some now and then, each by
// itself, too, and that bounds their sum no closer than they are bounded.
func carriedTogether(r *report.Report) bool {
	at := r.Result.Together
	if at == nil || at.Quality == report.Invalid {
		return false
	}
	resolved := units.Ratio(0)
	for _, d := range r.Result.Directions {
		if d.Limit != nil {
			resolved = max(resolved, d.Limit.Resolution)
		}
	}
	return at.Quality != report.Lossy || measure.Sum(at.Directions, nil).LossRatio <= resolved
}

// together are the directions of the window that the total is of: of directions that were found one after another that is nobody's own, or one direction's alone.
func together(r *report.Report) []report.Direction {
	if report.PlanOf(r).Procedure.Each == nil {
		return r.Result.Directions
	}
	if at := r.Result.Together; at != nil && at.Window == r.Result.Window {
		return at.Directions
	}
	for _, w := range r.ResultWindows() {
		return w.Directions
	}
	return nil
}

// mostOf is how many times its figure, of so much that came back, a metric of these directions together may be: each direction is bounded by frames that it lost itself, at a load that
// was no further above its figure than its resolution. nil: some direction lost none, and nothing bounds it.
//
//	figure ÷ (1 − resolution), of each direction, added up, ÷ what came back
//
// Of directions that were found one after another less may have come back at once than each brought by itself, and what bounds them is still what they lost then.
func mostOf(metric report.Metric, directions []report.Direction, came report.Flow) *big.Rat {
	of, most := flowIn(metric, came), new(big.Rat)
	for _, d := range directions {
		if d.Limit.Lossy == 0 || d.Limit.Resolution >= units.One {
			return nil
		}
		v := new(big.Rat).SetInt64(flowIn(metric, d.Received))
		most.Add(most, v.Quo(v, big.NewRat(int64(units.One-d.Limit.Resolution), int64(units.One))))
	}
	if of == 0 {
		return nil
	}
	if most.Quo(most, big.NewRat(of, 1)); most.Cmp(big.NewRat(1, 1)) < 0 {
		return big.NewRat(1, 1) // what came back can't be less than itself
	}
	return most
}

// flowIn is a flow in a metric's unit.
func flowIn(metric report.Metric, f report.Flow) int64 {
	switch metric {
	case Layer1BitsPerSecond, LineRatePercent:
		return f.Layer1BitsPerSecond
	case Layer2BitsPerSecond:
		return f.Layer2BitsPerSecond
	}
	return f.PacketsPerSecond
}

// highOf is how much a figure of frames that came back may be at most; none: nothing bounds it.
func highOf(f report.Figure, result report.Result, m measured) report.Number {
	times := func(v *big.Rat) report.Number { return report.NumberOf(v.Mul(f.Low.Rat(), v)) }
	switch {
	case len(result.NearGenerators) > 0:
		return ""
	case m.searched != nil:
		if most := mostOf(f.Metric, m.searched, m.received); most != nil {
			return times(most)
		}
		return ""
	case result.LowerBound(), result.Saturated && result.Resolution >= units.One: // nothing bounds it, or nothing resolved the limit
		return ""
	case result.Saturated && result.Resolution != 0:
		return times(big.NewRat(int64(units.One), int64(units.One-result.Resolution)))
	case m.disturbed != nil:
		return times(new(big.Rat).Add(big.NewRat(1, 1), m.disturbed))
	}
	return f.Low
}

// disturbed is how many frames more may have come back of these directions together, as a share of those that did; nil: none.
func disturbed(directions ...report.Direction) *big.Rat {
	var more, came int64
	for _, d := range directions {
		more, came = more+d.DisturbedFrames, came+d.Returned.Packets
	}
	if more <= 0 || came <= 0 {
		return nil
	}
	return big.NewRat(more, came)
}
