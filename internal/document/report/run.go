package report

import (
	"fmt"
	"slices"

	"github.com/linerate-dev/linerate/internal/units"
)

// Run identifies the run that the Report is of, so two copies of a Report have the same. It is empty where unknown.
func (r *Report) Run() string {
	if r.Plan == nil || r.Started.IsZero() {
		return ""
	}
	t := r.Plan.Test
	return fmt.Sprintf("%s/%s/%s/%d/%s/%s/%d", t.UID, t.Namespace, t.Name, t.Attempt, t.Product, t.Loadtest,
		r.Started.UnixNano())
}

// DistinctRuns keeps one of all whose Reports are of the same run. A Report that was named twice, or is kept under
// two names, is one run. Those without a Report stay, and so do those whose run is unknown.
func DistinctRuns[T any](runs []T, reportOf func(T) *Report) []T {
	found := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(runs), func(one T) bool {
		r := reportOf(one)
		if r == nil {
			return false
		}
		run := r.Run()
		twice := run != "" && found[run]
		found[run] = true
		return twice
	})
}

// LowestLossy is the window of the lowest load that lost frames, or nil for none. Where directions vary one after
// another, a window doesn't count if its direction was clean at that load or a higher one, as its loss was
// outvoted.
func (r *Report) LowestLossy() *Window {
	var lowest *Window
	for i := range r.Windows {
		w := &r.Windows[i]
		if w.Phase != WarmUp && !w.Phase.AfterAnswer() && w.Quality == Lossy &&
			(lowest == nil || w.Load < lowest.Load) && !r.cleanFrom(w) {
			lowest = w
		}
	}
	return lowest
}

// cleanFrom says that the direction which varied in a window was clean at that load, or at a higher one.
func (r *Report) cleanFrom(w *Window) bool {
	return w.Varied != "" && slices.ContainsFunc(r.Windows, func(o Window) bool {
		return o.Varied == w.Varied && o.Phase != WarmUp && o.Load >= w.Load &&
			(o.Quality == Good || o.Quality == Short)
	})
}

// RateOfEachLink are the line rates by the links' names.
func (r *Report) RateOfEachLink() map[string]units.BitRate {
	rates := map[string]units.BitRate{}
	for _, l := range r.LineRates {
		rates[l.Link] = l.BitsPerSecond
	}
	return rates
}
