package report

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/internal/units"
)

// notMeasured stands where a figure would stand if there were one; a zero never does.
const notMeasured = "not measured"

// pps is a packet rate for people: "327.20 Kpps".
func pps(packetsPerSecond int64) string {
	const most = math.MaxInt64 / int64(units.PacketPerSecond)
	return (units.PacketRate(min(max(packetsPerSecond, -most), most)) * units.PacketPerSecond).FormatSI()
}

// bps is a bit rate for people: "1.00 Gbps".
func bps(bitsPerSecond int64) string { return units.BitRate(bitsPerSecond).FormatSI() }

// bare takes the unit off a figure whose column names it: "327.20 K".
func bare(figure, unit string) string { return strings.TrimSpace(strings.TrimSuffix(figure, unit)) }

// percentOf is a share of a line rate, which is never above 100: "99.95%".
func percentOf(p units.Percent) string { return min(p, units.Hundred).FormatFixed() + "%" }

// lossText is a loss ratio as a percentage, exact enough to tell a little from none: what is not zero never reads as zero.
func lossText(r units.Ratio) string {
	const tenThousandth = units.One / 1_000_000 // 0.0001 %
	switch magnitude := max(r, -r); {
	case r == 0:
		return "0%"
	case magnitude < tenThousandth && r < 0:
		return ">-0.0001%"
	case magnitude < tenThousandth:
		return "<0.0001%"
	case magnitude < units.One/100:
		return strconv.FormatFloat(float64(r)/float64(units.One)*100, 'f', 4, 64) + "%"
	default:
		return r.Percent().FormatFixed() + "%"
	}
}

// ratioText is a ratio that a person chose, as a percentage in its shortest exact form: "0.1%".
func ratioText(r units.Ratio) string { return r.Percent().String() + "%" }

// count is a whole number with its thousands apart: "1,234,567".
func count(v int64) string {
	digits := strconv.FormatInt(v, 10)
	first := len(digits) % 3
	if v < 0 {
		first = (len(digits)-1)%3 + 1
	}
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (i-first)%3 == 0 && digits[i-1] != '-' {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// span is a duration for people, to the millisecond: "1m30s".
func span(d time.Duration) string { return d.Round(time.Millisecond).String() }

// arrow names a direction: "west→east".
func arrow(from, to string) string { return from + "→" + to }

// counted is a number with its noun: "1 window", "3 windows".
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
