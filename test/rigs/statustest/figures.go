// Package statustest reads figures from a LoadTest's status.
package statustest

import (
	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// Received are the lower bounds of the packets per second of each direction of an answer, in the Plan's order.
func Received(r *v1alpha1.Result) (packetsPerSecond []int64) {
	for _, f := range Each(r, v1alpha1.MetricPacketsPerSecond) {
		packetsPerSecond = append(packetsPerSecond, Low(&f))
	}
	return packetsPerSecond
}

// Each are an answer's figures of a metric, of each direction.
func Each(r *v1alpha1.Result, metric v1alpha1.Metric) (figures []v1alpha1.Figure) {
	if r == nil {
		return nil
	}
	for _, f := range r.Figures {
		if f.Metric == string(metric) && f.Direction != nil && f.Load == "" {
			figures = append(figures, f)
		}
	}
	return figures
}

// Total is an answer's figure of a metric, of all directions together. It is nil where there is none.
func Total(r *v1alpha1.Result, metric v1alpha1.Metric) *v1alpha1.Figure {
	if r == nil {
		return nil
	}
	for i, f := range r.Figures {
		if f.Metric == string(metric) && f.Direction == nil && f.Load == "" {
			return &r.Figures[i]
		}
	}
	return nil
}

// High is a figure's upper bound. It is empty for none.
func High(f *v1alpha1.Figure) string {
	if f.High == "" && !f.Open {
		return f.Low
	}
	return f.High
}

// Low is a figure's lower bound. It is 0 for none.
func Low(f *v1alpha1.Figure) int64 {
	if f == nil {
		return 0
	}
	return int64(report.Number(f.Low).Float())
}
