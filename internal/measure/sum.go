package measure

import (
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// Sum is all directions of one window together. Its share of line rate is of what the receiving links could carry
// together, and 0 where one of them is unknown. lineRates are by link. The window's number is the caller's to fill
// in.
func Sum(directions []report.Direction, lineRates map[string]units.BitRate) report.Sum {
	var s report.Sum
	var sent, returned, lowest, highest, line int64
	complete := true
	for _, d := range directions {
		s.Intended, s.Offered, s.Received = plus(s.Intended, d.Intended), plus(s.Offered, d.Offered),
			plus(s.Received, d.Received)
		sent, returned = sent+d.Sent.Packets, returned+d.Returned.Packets
		lowest, highest = lowest+atLeastLost(d), highest+mostLost(d)
		line += int64(lineRates[d.To])
		complete = complete && lineRates[d.To] > 0
	}
	s.LossRatio, s.LossRatioMin = units.RatioOf(sent-returned, sent), units.RatioOf(lowest, sent)
	s.LossRatioMax = mostRatio(sent-returned, highest, sent)
	if complete {
		s.LineRatePercent = units.PercentOf(s.Received.Layer1BitsPerSecond, line)
	}
	s.Sessions = SumSessions(directions)
	return s
}

// atLeastLost is how many frames a direction surely lost, by its counters. In windows together each window's own
// loss may show more than the counters added up do. LossRatioMin has that, to a billionth.
func atLeastLost(d report.Direction) int64 {
	lost := SurelyLost(d)
	if units.RatioOf(lost, d.Sent.Packets) >= d.LossRatioMin {
		return lost
	}
	return int64(units.PacketRate(d.Sent.Packets).Mul(d.LossRatioMin))
}

// mostLost is how many frames a direction may have lost at most. What isn't among its counters, frames of others,
// only LossRatioMax has, to a billionth.
func mostLost(d report.Direction) int64 {
	lost, sent := d.Sent.Packets-d.Returned.Packets, d.Sent.Packets
	if d.LossRatioMax <= 0 {
		return lost
	}
	if atMost := lost + d.EdgeFrames; ShareUp(atMost, sent) >= d.LossRatioMax {
		return atMost
	}
	return max(lost, scale(sent, int64(d.LossRatioMax), int64(units.One)))
}

func plus(a, b report.Flow) report.Flow {
	return report.Flow{
		PacketsPerSecond:    a.PacketsPerSecond + b.PacketsPerSecond,
		Layer1BitsPerSecond: a.Layer1BitsPerSecond + b.Layer1BitsPerSecond,
		Layer2BitsPerSecond: a.Layer2BitsPerSecond + b.Layer2BitsPerSecond,
	}
}
