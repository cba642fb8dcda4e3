package comparison

import (
	"github.com/linerate-dev/linerate/internal/figures"
	"github.com/linerate-dev/linerate/internal/report"
)

// Figure names what criteria speak of and runs are compared by: a metric, of each direction or of all together.
type Figure struct {
	Metric    report.Metric
	Direction string // Total, or Each, which empty is, too
}

// Throughput is the figure that a Report's run is set against others by, where nobody names another: frames that came back, of sessions their goodput, of all directions
// together. It follows from what was measured; runs of which it isn't the same have nothing in common.
func Throughput(r *report.Report) Figure {
	return Figure{Metric: figures.ThroughputOf(r), Direction: report.AllDirections}
}

func (f Figure) total() bool { return f.Direction == report.AllDirections }

// Of are the figures that a Report has of it, of its answer: one for each direction, or one of all together; none where the metric isn't known, or nothing can
// be claimed.
func (f Figure) Of(r *report.Report) []report.Figure {
	var all []report.Figure
	for _, figure := range figures.OfAnswer(r, f.Metric) {
		if (figure.Direction == report.AllDirections) == f.total() {
			all = append(all, figure)
		}
	}
	return all
}

// Format writes a number of the figure's with its unit.
func (f Figure) Format(v float64) string { return figures.Format(f.Metric, v) }
