package comparison

import (
	"math"
	"math/big"
	"strconv"

	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// Figure names what criteria speak of and runs are compared by: a metric, of each direction or of all together.
type Figure struct {
	Metric    string
	Direction string // Total, or Each, which empty is, too
}

// The metrics.
const (
	PacketsPerSecond    = "PacketsPerSecond"
	Layer1BitsPerSecond = "Layer1BitsPerSecond"
	Layer2BitsPerSecond = "Layer2BitsPerSecond"
	LineRatePercent     = "LineRatePercent"
	LossRatio           = "LossRatio"
)

func (f Figure) total() bool { return f.Direction == "Total" }

// Value is one number of a Figure as a Report has it: a direction's, or that of all together.
type Value struct {
	// Of is whose it is: "west→east", or "all directions".
	Of string
	// Exact is the number; nil: it is unknown, and Text says why.
	Exact *big.Rat
	Text  string
	// Least is, of a loss, what of it is surely the device's.
	Least *big.Rat
}

// Number is the value for reckoning with many.
func (v Value) Number() float64 {
	n, _ := v.Exact.Float64()
	return n
}

// Values are the numbers that a Report has of the figure; where nothing was measured because even the lowest load lost frames, those that were offered then.
// There are none where the figure isn't known.
func (f Figure) Values(r *report.Report) []Value {
	r = withOffered(r)
	if f.total() {
		t := r.Result.Total
		if t == nil {
			return nil
		}
		v, known := f.value("all directions", t.Received, t.LossRatio, t.LossRatioMin, t.LineRatePercent, lineRatesKnown(r, ""))
		if !known {
			return nil
		}
		return []Value{v}
	}
	var values []Value
	for _, d := range r.Result.Directions {
		if v, known := f.value(d.From+"→"+d.To, d.Received, d.LossRatio, d.LossRatioMin, d.LineRatePercent, lineRatesKnown(r, d.To)); known {
			values = append(values, v)
		}
	}
	return values
}

func (f Figure) value(of string, flow report.Flow, loss, leastLoss units.Ratio, percent units.Percent, lineRateKnown bool) (Value, bool) {
	switch f.Metric {
	case PacketsPerSecond:
		return Value{Of: of, Exact: big.NewRat(flow.PacketsPerSecond, 1), Text: packetRate(flow.PacketsPerSecond)}, true
	case Layer1BitsPerSecond:
		return Value{Of: of, Exact: big.NewRat(flow.Layer1BitsPerSecond, 1), Text: units.BitRate(flow.Layer1BitsPerSecond).FormatSI()}, true
	case Layer2BitsPerSecond:
		return Value{Of: of, Exact: big.NewRat(flow.Layer2BitsPerSecond, 1), Text: units.BitRate(flow.Layer2BitsPerSecond).FormatSI()}, true
	case LineRatePercent:
		if !lineRateKnown {
			return Value{Of: of, Text: "the line rate is unknown: set the link's lineRate"}, true
		}
		return Value{Of: of, Exact: big.NewRat(int64(percent), int64(units.Hundred)/100), Text: percent.FormatFixed() + " % of line rate"}, true
	case LossRatio:
		return Value{Of: of, Exact: big.NewRat(int64(loss), int64(units.One)), Least: big.NewRat(int64(leastLoss), int64(units.One)), Text: "loss ratio " + loss.String()}, true
	}
	return Value{}, false
}

// lineRatesKnown says that there is a line rate to take a percentage of: a link's, or every destination's.
func lineRatesKnown(r *report.Report, link string) bool {
	if r.Plan == nil {
		return false
	}
	rates := r.RateOfEachLink()
	for _, d := range r.Plan.Directions {
		if (link == "" || d.To == link) && rates[d.To] == 0 {
			return false
		}
	}
	return true
}

// Format writes a number of the figure's with its unit.
func (f Figure) Format(v float64) string {
	switch f.Metric {
	case PacketsPerSecond:
		const most = math.MaxInt64 / int64(units.PacketPerSecond) / 2
		return packetRate(int64(math.Round(min(max(v, -float64(most)), float64(most)))))
	case Layer1BitsPerSecond, Layer2BitsPerSecond:
		return units.BitRate(math.Round(v)).FormatSI()
	case LineRatePercent:
		return strconv.FormatFloat(v, 'f', 2, 64) + " % of line rate"
	case LossRatio:
		return "loss ratio " + strconv.FormatFloat(v, 'g', 3, 64)
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

func packetRate(packetsPerSecond int64) string {
	return (units.PacketRate(packetsPerSecond) * units.PacketPerSecond).FormatSI()
}
