package figures

import (
	"math"
	"math/big"
	"strconv"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// Text is a figure for people. It has the number with its unit, and for how long it was shown where nothing shows
// that it holds for longer, or why there is none. Loss is shown from what surely was lost to what may have been,
// latency as the longest that it may be, and a limit that was not reached as that bound.
func Text(f report.Figure) string {
	if f.ShownFor > 0 && f.Low != "" {
		return text(f) + ", shown for " + f.ShownFor.Std().Round(1e8).String()
	}
	return text(f)
}

func text(f report.Figure) string {
	number := f.Low
	if f.Metric == LossRatio || f.Metric == DatagramLossRatio && f.High != "" || f.Reason == report.NoCleanLoad {
		number = f.High
	}
	v := number.Rat()
	if v == nil {
		return f.Missing
	}
	switch {
	case f.LatencyLoad != nil && f.High == "":
		return StatisticText(f.Metric) + " over " + wording.Nanoseconds(int64(math.Round(number.Float())))
	case f.LatencyLoad != nil:
		return Format(f.Metric, f.High.Float())
	}
	switch f.Metric {
	case LineRatePercent:
		return units.Percent(scaled(v, int64(units.Hundred)/100)).FormatFixed() + " % of line rate"
	case LossRatio:
		return "loss ratio " + lossInterval(f.Low.Rat(), v)
	case DatagramLossRatio:
		return "datagram loss ratio " + lossInterval(f.Low.Rat(), v)
	case RetransmitRatio:
		return "retransmit ratio " + units.Ratio(scaled(v, int64(units.One))).String()
	}
	return Format(f.Metric, number.Float())
}

// lossInterval is the loss as text, with one number where both ends are the same. A lower end below 0 is printed as
// 0.
func lossInterval(low, high *big.Rat) string {
	upTo := units.Ratio(scaled(high, int64(units.One)))
	if low == nil {
		return upTo.String()
	}
	if lowest := max(0, units.Ratio(scaled(low, int64(units.One)))); lowest < upTo {
		return lowest.String() + " to " + upTo.String()
	}
	return upTo.String()
}

// scaled is a number in units of which there are so many in one.
func scaled(v *big.Rat, parts int64) int64 {
	product := new(big.Rat).Mul(v, big.NewRat(parts, 1))
	return new(big.Int).Quo(product.Num(), product.Denom()).Int64()
}

// Format writes a number of a metric with its unit.
func Format(metric report.Metric, v float64) string {
	switch metric {
	case PacketsPerSecond, OfferedPacketsPerSecond:
		return wording.RoundedPacketRate(v)
	case Layer1BitsPerSecond, Layer2BitsPerSecond:
		return units.BitRate(math.Round(v)).FormatSI()
	case LineRatePercent:
		return strconv.FormatFloat(v, 'f', 2, 64) + " % of line rate"
	case LossRatio:
		return "loss ratio " + strconv.FormatFloat(v, 'g', 3, 64)
	case GoodputBitsPerSecond:
		return units.BitRate(math.Round(v)).FormatSI() + " goodput"
	case RetransmitRatio:
		return "retransmit ratio " + strconv.FormatFloat(v, 'g', 3, 64)
	case RoundTripMicroseconds:
		return "rtt " + wording.Microseconds(int64(math.Round(v)))
	case DatagramLossRatio:
		return "datagram loss ratio " + strconv.FormatFloat(v, 'g', 3, 64)
	case procedure.BackToBackFrames:
		return "bursts of " + wording.Count(int64(math.Round(v))) + " frames"
	case procedure.BufferFrames:
		return "buffer of " + wording.Count(int64(math.Round(v))) + " frames"
	case procedure.BufferMicroseconds:
		return "buffer of " + wording.Microseconds(int64(math.Round(v)))
	case JitterMicroseconds:
		return "jitter " + wording.Microseconds(int64(math.Round(v)))
	}
	if m, _ := MetricOf(metric); m.Latency() {
		return StatisticText(metric) + " " + wording.Nanoseconds(int64(math.Round(v)))
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

// DirectionText is the direction of a figure, such as "west→east" or "all directions".
func DirectionText(f report.Figure) string {
	switch {
	case f.LatencyLoad != nil:
		return f.Direction + ofWhichFrames(f)
	case f.Direction == report.AllDirections:
		return "all directions"
	}
	return f.Direction
}
