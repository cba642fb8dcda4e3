package figures

import "github.com/linerate-dev/linerate/internal/document/report"

// ofOwn is a figure that the procedure itself finds, of each direction. Near the generators' own limit it has no upper
// end, since the generators may have lost the frames that bound it.
func ofOwn(metric Metric, result report.Answer, m measured, found report.OwnFigure) report.Figure {
	f := report.Figure{Metric: metric.Name, Direction: m.direction, Unit: metric.Unit, Confirmed: result.Confirmed,
		Reason: result.Reason}
	near := len(result.NearGenerators) > 0 && (found.Low != "" || found.OfLoss)
	if near && !m.several {
		f.Reason = report.NearGenerators
	}
	switch {
	case m.several:
		f.Missing = "bursts show the buffer of each direction by itself: use direction Each"
	case near && found.OfLoss:
		f.Missing = "frames may have been lost by the generators, whose own limit is near"
	case found.Low == "":
		f.Missing = found.Missing
	case near: // what is above it may be lost by them
		f.Low = found.Low
	default:
		f.Low, f.High = found.Low, found.High
	}
	return f
}
