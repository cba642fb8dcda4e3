package figures

import (
	"cmp"
	"math"
	"math/big"
	"slices"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/procedure/procedures"
	"github.com/linerate-dev/linerate/internal/units"
)

// CurveOf is what each load of a curve lost, of all directions together, the highest load first. It is nil where the
// procedure measures no curve, or no load could be judged. It leaves out loads that the generators
// could not offer, because the loss of a lower load is not the loss at that one.
func CurveOf(r *report.Report) (points []report.CurvePoint) {
	full := fullRate(r)
	for _, levels := range PointsByLoad(r.Answer.Figures) {
		i := slices.IndexFunc(levels, func(f report.Figure) bool { return f.Metric == LossRatio })
		if i < 0 || levels[i].Low == "" || !offeredAt(r, levels[i].Load) {
			continue
		}
		points = append(points, report.CurvePoint{Load: shareOf(full, levels[i].Load),
			LossRatio: cmp.Or(levels[i].High, levels[i].Low), LossRatioMin: levels[i].Low})
	}
	return points
}

// fullRate is the rate that the loads of a Report are shares of.
func fullRate(r *report.Report) units.Rate {
	return procedures.New(report.PlanOf(r).Procedure).Rates().Full.Rate
}

// offeredAt says that generators sent at least 99 % of a load in each direction, in the trial that counts.
func offeredAt(r *report.Report, load units.Ratio) bool {
	for _, w := range slices.Backward(r.Windows) {
		if w.Phase == report.Trial && w.Load == load && w.Counts() {
			return !slices.ContainsFunc(w.Directions, report.Direction.UnderOffered)
		}
	}
	return !behindAt(r, load)
}

// behindAt says the opposite of a Report that was stored without its windows, from its curve. Of loads that aren't
// packets per second it doesn't know.
func behindAt(r *report.Report, load units.Ratio) bool {
	start := fullRate(r)
	asked := math.Round(load.Float() * float64(start.Micros) / 1e6)
	return start.Kind == units.Packets && slices.ContainsFunc(r.Answer.Figures, func(f report.Figure) bool {
		return f.Load == load && f.Metric == OfferedPacketsPerSecond && f.Direction != report.AllDirections &&
			f.Low != "" && f.Low.Float() < 0.99*asked
	})
}

// shareOf is a share of a rate, to five digits. Shares are exact to a billionth only, and a load that was written
// as 20kpps is to be read as that.
func shareOf(r units.Rate, share units.Ratio) units.Rate {
	micros := float64(r.Micros) * share.Float()
	if micros <= 0 {
		return units.Rate{Kind: r.Kind}
	}
	step := math.Pow(10, math.Floor(math.Log10(micros))-4)
	r.Micros = int64(math.Round(math.Round(micros/step) * step))
	return r
}

// MedianCurve is, for each load, the median of several runs' curves over those that have it, the highest load first.
func MedianCurve(curves [][]report.CurvePoint) (points []report.CurvePoint) {
	byLoad := map[units.Rate][]report.CurvePoint{}
	var loads []units.Rate
	for _, curve := range curves {
		for _, p := range curve {
			if _, found := byLoad[p.Load]; !found {
				loads = append(loads, p.Load)
			}
			byLoad[p.Load] = append(byLoad[p.Load], p)
		}
	}
	slices.SortStableFunc(loads, higherFirst)
	for _, load := range loads {
		of := byLoad[load]
		points = append(points, report.CurvePoint{Load: load,
			LossRatio:    medianOf(of, func(p report.CurvePoint) report.Number { return p.LossRatio }),
			LossRatioMin: medianOf(of, func(p report.CurvePoint) report.Number { return p.LossRatioMin })})
	}
	return points
}

// higherFirst orders loads for a curve, the highest first, and those of one unit together.
func higherFirst(a, b units.Rate) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(b.Micros, a.Micros))
}

// medianOf is the median of numbers. For an even number of them it is the mean of the two in the middle.
func medianOf(points []report.CurvePoint, number func(report.CurvePoint) report.Number) report.Number {
	var numbers []*big.Rat
	for _, p := range points {
		if v := number(p).Rat(); v != nil {
			numbers = append(numbers, v)
		}
	}
	if len(numbers) == 0 {
		return ""
	}
	slices.SortFunc(numbers, (*big.Rat).Cmp)
	n := len(numbers)
	sum := new(big.Rat).Add(numbers[(n-1)/2], numbers[n/2])
	return report.NumberOf(sum.Quo(sum, big.NewRat(2, 1)))
}

// curveMetrics are the metrics of each load of a curve.
var curveMetrics = slices.DeleteFunc(slices.Clone(Metrics), func(m Metric) bool {
	return m.Name != PacketsPerSecond && m.Name != LossRatio && m.Name != OfferedPacketsPerSecond
})

// OfWindow are the figures of one window, which say what was sent, what came back and what was lost at its load, in
// each direction and in all together. They are confirmed, were not held, or are shown for the window's time alone,
// as the whole curve is.
func OfWindow(r *report.Report, w report.Window, curve report.Answer) []report.Figure {
	result := report.Answer{Measured: true, Reason: report.CurveMeasured, Window: w.Number,
		Directions: w.Directions, Claim: report.Claim{Confirmed: curve.Confirmed}}
	if curve.NotHeld != "" {
		result.Reason = curve.Reason
	}
	if curve.ShownFor > 0 {
		result.ShownFor = w.Duration
	}
	total := measure.Sum(w.Directions, r.RateOfEachLink())
	result.Total = &total
	list := measuredFigures(&report.Report{Plan: r.Plan, LineRates: r.LineRates, Windows: []report.Window{w},
		Answer: result}, curveMetrics)
	for i := range list {
		list[i].Load, list[i].Window = w.Load, w.Number
	}
	return list
}

// PointsByLoad groups a curve's figures of all directions together by load, in the curve's order.
func PointsByLoad(curve []report.Figure) (points [][]report.Figure) {
	for _, f := range curve {
		if f.Direction != report.AllDirections || f.LatencyLoad != nil {
			continue
		}
		if final := len(points) - 1; final >= 0 && points[final][0].Load == f.Load {
			points[final] = append(points[final], f)
		} else {
			points = append(points, []report.Figure{f})
		}
	}
	return points
}
