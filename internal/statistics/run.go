package statistics

import "math"

// Run is what one measurement found: an interval that the truth lies in.
//
//	      Low           High
//	───────┼─────────────┼──────▶
//	  all came back   frames were lost
//
// Low is the figure as it is told. High is Low for an exact figure, more where the procedure resolves no finer, and +Inf for a lower bound, as
// where the generator was the limit and not the device.
type Run struct {
	Low, High float64
}

// Exact is the run that found just this.
func Exact(value float64) Run { return Run{value, value} }

// AtLeast is the run that found a lower bound.
func AtLeast(value float64) Run { return Run{value, math.Inf(1)} }

// Bound says that the run found a lower bound only.
func (r Run) Bound() bool { return math.IsInf(r.High, 1) }

// sound says that the run can be reckoned with: an interval of what can't be negative.
func (r Run) sound() bool {
	return r.Low >= 0 && r.High >= r.Low && !math.IsInf(r.Low, 0)
}

// figures are the runs' figures as they are told.
func figures(runs []Run) []float64 {
	all := make([]float64, len(runs))
	for i, r := range runs {
		all[i] = r.Low
	}
	return all
}

// ends are the figures at the other end of the runs' intervals.
func ends(runs []Run) []float64 {
	all := make([]float64, len(runs))
	for i, r := range runs {
		all[i] = r.High
	}
	return all
}

// bounds counts the lower bounds among the runs.
func bounds(runs []Run) int {
	n := 0
	for _, r := range runs {
		if r.Bound() {
			n++
		}
	}
	return n
}
