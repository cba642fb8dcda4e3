package figures

import (
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure/trains"
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
	case procedure.TimePerFrame:
		return timeText(f) + " a frame"
	case LineRatePercent:
		return units.Percent(scaled(v, int64(units.Hundred)/100)).FormatFixed() + " % of line rate"
	case LossRatio:
		return lossInterval(f.Low.Rat(), v) + " lost"
	case DatagramLossRatio:
		return lossInterval(f.Low.Rat(), v) + " of the datagrams lost"
	case RetransmitRatio:
		return exactShare(v) + " of the segments retransmitted"
	}
	return Format(f.Metric, number.Float())
}

// lossInterval is the loss as a share, with one number where both ends are the same. A lower end below 0 is printed as
// 0.
func lossInterval(low, high *big.Rat) string {
	if low != nil && low.Cmp(high) < 0 {
		return exactShare(new(big.Rat), low) + " to " + exactShare(high)
	}
	return exactShare(high)
}

// exactShare is the largest of some ratios as an exact share, such as "0.12 %", so that nothing which lies above a
// criterion's bound reads as the bound.
func exactShare(ratios ...*big.Rat) string {
	return wording.Share(units.Ratio(scaled(slices.MaxFunc(ratios, (*big.Rat).Cmp), int64(units.One))))
}

// BoundText is a criterion's bound as a verdict names it, such as "0.1 %" or "9,900 pps". It has each digit of the
// bound.
func BoundText(metric report.Metric, bound string) string {
	m, _ := MetricOf(metric)
	v, isNumber := new(big.Rat).SetString(bound)
	switch {
	case !isNumber:
		return bound
	case m.Unit == report.UnitRatio:
		return exactShare(v)
	case v.IsInt() && v.Num().IsInt64():
		bound = wording.Count(v.Num().Int64())
	}
	return strings.TrimSpace(bound + " " + strings.NewReplacer("packets/s", "pps", "bit/s", "b/s").Replace(m.Unit))
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
		return wording.Share(units.RatioOfShare(v)) + " lost"
	case GoodputBitsPerSecond:
		return units.BitRate(math.Round(v)).FormatSI() + " goodput"
	case RetransmitRatio:
		return wording.Share(units.RatioOfShare(v)) + " of the segments retransmitted"
	case RoundTripMicroseconds:
		return "rtt " + wording.Microseconds(int64(math.Round(v)))
	case DatagramLossRatio:
		return wording.Share(units.RatioOfShare(v)) + " of the datagrams lost"
	case procedure.TimePerFrame:
		return trains.Text(v) + " a frame"
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
