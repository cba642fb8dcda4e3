package figures

import "github.com/linerate-dev/linerate/internal/document/report"

// ofBursts is a figure of bursts. It has no upper end where the longest burst allowed lost no frame, or where the
// generators may have lost those of longer bursts.
func ofBursts(metric Metric, result report.Result, m measured) report.Figure {
	f := report.Figure{Metric: metric.Name, Direction: m.direction, Unit: metric.Unit, Confirmed: result.Confirmed,
		Reason: result.Reason}
	switch {
	case m.severalBursts:
		f.Missing = "bursts show the buffer of each direction by itself: use direction Each"
		return f
	case m.bursts == nil:
		f.Missing = "no burst of this direction shows a buffer"
		return f
	}
	figure, bounded := metric.burst(*m.bursts), len(result.NearGenerators) > 0
	if bounded {
		f.Reason = report.NearGenerators
	}
	switch {
	case bounded && metric.Name != BackToBackFrames:
		f.Missing = "frames may have been lost by the generators, whose own limit is near"
	case figure.Low == "" && m.bursts.ForwardedPacketsPerSecond == "":
		f.Missing = "how many frames the device held is unknown"
	case figure.Low == "":
		f.Missing = "the device forwards as fast as bursts were sent"
	case bounded: // a longer burst may be lost by them
		f.Low = figure.Low
	default:
		f.Low, f.High = figure.Low, figure.High
	}
	return f
}
