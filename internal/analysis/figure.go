package analysis

import (
	"math"
	"math/big"
	"strconv"

	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// The metrics that a criterion may speak of.
const (
	metricPackets = "PacketsPerSecond"
	metricLayer1  = "Layer1BitsPerSecond"
	metricLayer2  = "Layer2BitsPerSecond"
	metricPercent = "LineRatePercent"
	metricLoss    = "LossRatio"
)

// figure is one number that a criterion is held against.
type figure struct {
	what       string
	value      *big.Rat // nil: unknown
	text       string
	leastValue *big.Rat // of a loss, what of it is surely the device's
}

// number is a figure for reckoning with many.
func number(v *big.Rat) float64 {
	f, _ := v.Float64()
	return f
}

// format writes a figure of a metric with its unit.
func format(metric string, v float64) string {
	switch metric {
	case metricPackets:
		return rate(int64(math.Round(v)))
	case metricLayer1, metricLayer2:
		return units.BitRate(math.Round(v)).FormatSI()
	case metricPercent:
		return strconv.FormatFloat(v, 'f', 2, 64) + " % of line rate"
	}
	return "loss ratio " + strconv.FormatFloat(v, 'g', 3, 64)
}

func formatRat(metric string, v *big.Rat) string { return format(metric, number(v)) }

// figuresOf are the figures that a criterion speaks of: each direction's, or the total's.
func figuresOf(r *report.Report, c plan.Criterion) []figure {
	if c.Direction == "Total" {
		t := r.Result.Total
		if t == nil {
			return nil
		}
		f, ok := metric(c.Metric, "all directions", t.Received, t.LossRatio, t.LossRatioMin, t.LineRatePercent, lineRatesKnown(r, ""))
		if !ok {
			return nil
		}
		return []figure{f}
	}
	var figures []figure
	for _, d := range r.Result.Directions {
		f, ok := metric(c.Metric, d.From+"→"+d.To, d.Received, d.LossRatio, d.LossRatioMin, d.LineRatePercent, lineRatesKnown(r, d.To))
		if ok {
			figures = append(figures, f)
		}
	}
	return figures
}

// lineRatesKnown says that there is a line rate to take a percentage of: a link's, or every destination's.
func lineRatesKnown(r *report.Report, link string) bool {
	rates := lineRates(r)
	for _, d := range r.Plan.Directions {
		if (link == "" || d.To == link) && rates[d.To] == 0 {
			return false
		}
	}
	return true
}

func metric(name, what string, f report.Flow, loss, leastLoss units.Ratio, percent units.Percent, lineRateKnown bool) (figure, bool) {
	switch name {
	case metricPackets:
		return figure{what: what, value: big.NewRat(f.PacketsPerSecond, 1), text: rate(f.PacketsPerSecond)}, true
	case metricLayer1:
		return figure{what: what, value: big.NewRat(f.Layer1BitsPerSecond, 1), text: units.BitRate(f.Layer1BitsPerSecond).FormatSI()}, true
	case metricLayer2:
		return figure{what: what, value: big.NewRat(f.Layer2BitsPerSecond, 1), text: units.BitRate(f.Layer2BitsPerSecond).FormatSI()}, true
	case metricPercent:
		if !lineRateKnown {
			return figure{what: what, text: "the line rate is unknown: set the link's lineRate"}, true
		}
		return figure{what: what, value: big.NewRat(int64(percent), int64(units.Hundred)/100), text: percent.FormatFixed() + " % of line rate"}, true
	case metricLoss:
		return figure{what: what, value: big.NewRat(int64(loss), int64(units.One)), leastValue: big.NewRat(int64(leastLoss), int64(units.One)),
			text: "loss ratio " + loss.String()}, true
	}
	return figure{}, false
}
