package figures

import (
	"slices"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/units"
)

// lossyTrialAtLowestLoad is a trial at the lowest load, where not even that load met the goal. It is nil where that
// load did. A single lossy trial does not show that the device cannot carry the load. The goal says of how many trials
// that is believed.
func lossyTrialAtLowestLoad(r *report.Report) *report.Window {
	i := slices.IndexFunc(r.Windows, func(w report.Window) bool {
		return w.Number == r.Answer.Lossy && w.Varied == ""
	})
	if r.Answer.Reason != report.NoCleanLoad || i < 0 {
		return nil
	}
	w := r.Windows[i]
	w.Directions = slices.Clone(w.Directions)
	for d := range w.Directions {
		if w.Directions[d].Quality = report.Good; w.Directions[d].LossRatioMin > r.Plan.Procedure.MaxLossRatio {
			w.Directions[d].Quality = report.Lossy
		}
	}
	return &w
}

// figuresBelowLowestLoad are the figures where even the lowest load lost frames. Directions that lost frames can do
// less than was offered, and of the others nothing is known.
func figuresBelowLowestLoad(r *report.Report, lowest *report.Window, metrics []Metric) []report.Figure {
	rates := r.RateOfEachLink()
	var list []report.Figure
	for _, d := range lowest.Directions {
		list = append(list, lossyAtLowestLoad(metrics, measured{direction: d.Name(), offered: d.Offered,
			received: d.Offered, leastLoss: d.LossRatioMin, mostLoss: d.MostLost(),
			percent: units.PercentOf(d.Offered.Layer1BitsPerSecond, int64(rates[d.To])), lineRateKnown: r.Plan != nil &&
				rates[d.To] > 0, lossy: d.Quality == report.Lossy})...)
	}
	offered := slices.Clone(lowest.Directions)
	for i := range offered {
		offered[i].Received = offered[i].Offered
	}
	t := measure.Sum(offered, rates)
	return append(list, lossyAtLowestLoad(metrics, measured{direction: report.AllDirections, offered: t.Offered,
		received: t.Received, leastLoss: t.LossRatioMin, mostLoss: t.MostLost(),
		// where one direction alone varied, nothing is known of all
		percent: t.LineRatePercent, lineRateKnown: r.Plan != nil && everyLineRateKnown(r, rates),
		lossy: lowest.Varied == ""})...)
}

// lossyAtLowestLoad are the figures of a direction at that load.
func lossyAtLowestLoad(metrics []Metric, m measured) []report.Figure {
	list := make([]report.Figure, 0, len(metrics))
	for _, metric := range metrics {
		if metric.Sessions || metric.Own {
			continue // whose loads nobody chooses
		}
		f := report.Figure{Metric: metric.Name, Direction: m.direction, Unit: metric.Unit, Reason: report.NoCleanLoad}
		f.High, f.Missing = metric.value(m)
		switch {
		case f.Missing != "":
		case metric.Name == LossRatio:
			f.Low = report.Number(m.leastLoss.String())
		case metric.Name == OfferedPacketsPerSecond:
			f.Low = f.High
		case !m.lossy: // the other direction lost frames, and this one may do any more
			f.Low, f.High = "0", ""
		default:
			f.Low = "0"
		}
		list = append(list, f)
	}
	return list
}
