package render

import (
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// estimateWords say what the figures of an estimate are. They are empty where no direction is estimated, and all
// figures are lower bounds. Where one direction is estimated and another is open above, they name both.
func estimateWords(r *report.Report) string {
	if r.Result.LowerBound() {
		return ""
	}
	open := openDirections(r)
	if len(open) == 0 {
		return "at this load the device loses " + wording.Ratio(report.PlanOf(r).Procedure.MaxLossRatio) +
			" of its frames on average, as far as trials of finite length show."
	}
	var closed []string
	for _, d := range r.Result.Directions {
		if name := wording.Direction(d.From, d.To); !slices.Contains(open, name) {
			closed = append(closed, name)
		}
	}
	return "in " + strings.Join(closed, " and ") + " the device loses " +
		wording.Ratio(report.PlanOf(r).Procedure.MaxLossRatio) +
		" of its frames on average at this load, as far as trials of finite length show; in " +
		strings.Join(open, " and ") + " no load that was offered is known to be too much, and the figure is a lower bound."
}

// openDirections are the directions whose estimated load is bounded from below alone.
func openDirections(r *report.Report) (names []string) {
	for _, d := range r.Result.Directions {
		if e := r.Result.EstimateOf(d); e != nil && e.High == "" {
			names = append(names, wording.Direction(d.From, d.To))
		}
	}
	return names
}
