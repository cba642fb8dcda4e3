package comparison

import (
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units"
)

// Figure is what criteria are about and runs are compared by. It is a metric, of each direction or of all together.
type Figure struct {
	Metric    report.Metric
	Direction string // Total, or Each, which empty is, too
	// At is the load, and FrameSize the size of frames, that a metric of latency is of. FrameSize 0 is each size.
	// At is nil for any other metric.
	At        *units.Ratio
	FrameSize int64
}

// Throughput is the figure by which a Report's run is compared with others where none is named. It is the frames
// that came back, or the goodput of sessions, of all directions together. Runs with different such figures can't be
// compared.
func Throughput(r *report.Report) Figure {
	return Figure{Metric: figures.ThroughputOf(r), Direction: report.AllDirections}
}

func (f Figure) total() bool { return f.Direction == report.AllDirections }

// FiguresOf are a Report's values of the figure, of its answer, one for each direction, or one of all together.
// There are none where the metric is unknown, or nothing can be claimed.
func (f Figure) FiguresOf(r *report.Report) []report.Figure {
	if f.At != nil {
		return figures.LatencyOf(r, f.Metric, *f.At, f.FrameSize)
	}
	var list []report.Figure
	for _, figure := range figures.OfAnswer(r, f.Metric) {
		if (figure.Direction == report.AllDirections) == f.total() {
			list = append(list, figure)
		}
	}
	return list
}

// Format writes a number of the figure with its unit.
func (f Figure) Format(v float64) string { return figures.Format(f.Metric, v) }

// lessIsBetter says that the figure is a latency or a time per frame. Its runs are compared by their reciprocals, so
// that more is better in everything that is compared. 20 µs are 50 000 in a second.
func (f Figure) lessIsBetter() bool { return f.At != nil || f.Metric == procedure.TimePerFrame }

// formatRun writes a number of the figure's runs, as they are compared.
func (f Figure) formatRun(v float64) string {
	if f.lessIsBetter() {
		v = 1 / v
	}
	return f.Format(v)
}

// formatRuns writes an interval of such numbers, from the least figure to the most.
func (f Figure) formatRuns(low, high float64) string {
	if f.lessIsBetter() {
		low, high = high, low
	}
	return f.formatRun(low) + " to " + f.formatRun(high)
}

// worse is the word for a figure that is not as good as another.
func (f Figure) worse() string {
	if f.lessIsBetter() {
		return "more"
	}
	return "less"
}
