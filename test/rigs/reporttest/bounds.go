package reporttest

import (
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/report"
)

// Bounds are the loads that bound a goal, in packets per second of all directions together, as the Report's section of
// bounds has them. Each is 0 where there is none. It says of the goal whether it is marked as irregular.
func Bounds(r *report.Report, goal string) (lower, upper float64, irregular bool) {
	for _, s := range r.Answer.Sections {
		if s.Table == nil || len(s.Table.Columns) < 3 || s.Table.Columns[1] != "lower bound" {
			continue
		}
		for _, row := range s.Table.Rows {
			if row[0].Text == goal {
				return row[1].Number.Float(), row[2].Number.Float(), slices.ContainsFunc(s.Warnings,
					func(w string) bool { return strings.HasPrefix(w, "goal "+goal+" is irregular") })
			}
		}
	}
	return 0, 0, false
}
