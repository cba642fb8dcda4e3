package lifecycle

import (
	"slices"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// resultOf is a Report's result in the form of the status. It keeps the schema's bounds, since the API server would
// refuse a larger status.
func resultOf(r *report.Report) *v1alpha1.Result {
	result := &v1alpha1.Result{
		Reason:  wording.Limited(string(r.Answer.Reason), 64),
		Claim:   claimOf(&r.Answer),
		Latency: wording.Limited(figures.LatencySummary(r), 128),
	}
	if limiting := r.Answer.LimitedBy(); len(limiting) < len(r.Answer.Directions) {
		for _, name := range limiting {
			if d := directionOf(name); d != nil && len(result.LimitedBy) < maxDirections {
				result.LimitedBy = append(result.LimitedBy, *d)
			}
		}
	}
	for _, f := range slices.Concat(answerOf(r), curveOf(r.Answer.Figures), goalsOf(r)) {
		if len(result.Figures) < maxFigures {
			result.Figures = append(result.Figures, figureOf(f))
		}
	}
	return result
}

// claimOf is how far a result's figures go.
func claimOf(r *report.Answer) v1alpha1.Claim {
	claim := v1alpha1.Claim{Saturated: r.Saturated, Confirmed: r.Confirmed, LowerBound: r.Measured && r.LowerBound()}
	if r.Resolution > 0 {
		claim.Resolution = wording.Ratio(r.Resolution)
	}
	if r.ShownFor > 0 {
		claim.ShownFor = r.ShownFor.Std().String()
	}
	return claim
}

// maxFigures and maxDirections are how many the status has, figuresOfALoad how many there are of one load of a curve.
const (
	maxFigures     = 64
	maxDirections  = 8
	figuresOfALoad = 3
)

// figureOf is a figure as the status has it, with shares as percentages.
func figureOf(f report.Figure) v1alpha1.Figure {
	figure := v1alpha1.Figure{Metric: wording.Limited(string(f.Metric), 40), Direction: directionOf(f.Direction),
		Goal: wording.Limited(f.Goal, 20), Low: wording.Limited(string(f.Low), 40),
		High: wording.Limited(string(f.High), 40)}
	if f.Load > 0 {
		figure.Load = wording.Ratio(f.Load)
	}
	switch f.Unit {
	case report.UnitRatio:
		figure.Low, figure.High = percentOf(f.Low), percentOf(f.High)
	case report.UnitPercent:
		figure.Low, figure.High = withPercentSign(f.Low), withPercentSign(f.High)
	}
	figure.Open = figure.High == ""
	if figure.High == figure.Low {
		figure.High = ""
	}
	return figure
}

func withPercentSign(percent report.Number) string {
	if percent == "" {
		return ""
	}
	return wording.Limited(string(percent)+"%", 40)
}

// rateMetrics are the metrics that the status has of each direction. Of all directions together it has each metric
// but omittedMetrics, which the Report has.
var (
	rateMetrics    = []report.Metric{figures.PacketsPerSecond, figures.GoodputBitsPerSecond}
	omittedMetrics = []report.Metric{figures.Layer2BitsPerSecond, figures.OfferedPacketsPerSecond}
)

// answerOf are the answer's figures, those of all directions together first. A search for several goals has them by
// goal. The schema allows few enough directions for all of them to fit.
func answerOf(r *report.Report) []report.Figure {
	if len(r.Answer.Goals) > 0 {
		return nil
	}
	var totals, directions []report.Figure
	for _, f := range figures.Of(r) {
		switch {
		case f.Missing != "" || f.Load != 0 || f.LatencyLoad != nil || slices.Contains(omittedMetrics, f.Metric):
		case f.Direction == report.AllDirections:
			totals = append(totals, f)
		case slices.Contains(rateMetrics, f.Metric):
			directions = append(directions, f)
		}
	}
	return append(totals, directions...)
}

// curveOf is what all directions together were offered, forwarded and lost at each load. If there are more loads than
// fit, it takes some at even distances, the first and the last included. The Report has all loads, and each direction.
func curveOf(curve []report.Figure) (loads []report.Figure) {
	points := figures.PointsByLoad(curve)
	const limit = maxFigures / figuresOfALoad / 2
	for i := range min(len(points), limit) {
		index := i
		if len(points) > limit {
			index = i * (len(points) - 1) / (limit - 1)
		}
		loads = append(loads, points[index][:min(len(points[index]), figuresOfALoad)]...)
	}
	return loads
}

// goalMetrics are the metrics of each goal of a search that the status has.
var goalMetrics = []report.Metric{figures.PacketsPerSecond, figures.Layer1BitsPerSecond, figures.LineRatePercent}

// goalsOf is what all directions together carried by each goal of a search. The schema allows few enough goals
// for all of them to fit.
func goalsOf(r *report.Report) (goals []report.Figure) {
	if len(r.Answer.Goals) == 0 {
		return nil
	}
	for _, f := range figures.Of(r) {
		if f.Direction == report.AllDirections && slices.Contains(goalMetrics, f.Metric) && f.Missing == "" {
			goals = append(goals, f)
		}
	}
	return goals
}
