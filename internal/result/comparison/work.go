package comparison

import (
	"math"
	"math/big"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure/trains"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/units/statistics"
)

// WorkBeside is the time per frame in the directions of a figure. Where bounds hide the rates, it still shows whether
// the device's work for a frame changed. It shows nothing of the device's limit.
func (f Figure) WorkBeside() Figure {
	return Figure{Metric: procedure.TimePerFrame, Direction: f.Direction}
}

// TimeChange is by how much the time per frame of a Question changed, as shares of the baseline's median. It is nil
// where the Answer has no interval. Its Direction is empty.
func (q Question) TimeChange(a Answer) *report.TimeChange {
	if a.Change == nil || a.Change.Confidence == 0 || q.Figure.Metric != procedure.TimePerFrame {
		return nil
	}
	var times []float64
	for _, r := range q.Baseline { // reciprocals of nanoseconds
		if r.LowerBound() {
			times = append(times, 1/r.Low)
		} else {
			times = append(times, (1/r.Low+1/r.High)/2)
		}
	}
	baseline := statistics.Summarize(times).Median
	change := &report.TimeChange{Nanoseconds: picoseconds(baseline * a.Change.Percent.Ratio().Float())}
	if low := a.Change.LowPercent; low != nil {
		change.LowNanoseconds = picoseconds(baseline * low.Ratio().Float())
	}
	if high := a.Change.HighPercent; high != nil {
		change.HighNanoseconds = picoseconds(baseline * high.Ratio().Float())
	}
	return change
}

// picoseconds is a time in nanoseconds, to a thousandth.
func picoseconds(nanoseconds float64) report.Number {
	return report.NumberOf(big.NewRat(int64(math.Round(1000*nanoseconds)), 1000))
}

// TimeChangeText is a change of the time per frame with how far it may be off, as in "+0.50 ± 0.05 µs". Where one
// side's times are upper bounds, it is as in "at least +0.40 µs".
func TimeChangeText(c report.TimeChange) string {
	change, low, high := c.Nanoseconds.Float(), c.LowNanoseconds.Float(), c.HighNanoseconds.Float()
	switch {
	case c.HighNanoseconds == "":
		return "at least " + trains.Difference(low, 0)
	case c.LowNanoseconds == "":
		return "at most " + trains.Difference(high, 0)
	}
	return trains.Difference(change, max(change-low, high-change))
}
