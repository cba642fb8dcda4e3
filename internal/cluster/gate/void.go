package gate

import (
	"strings"

	"github.com/linerate-dev/linerate/internal/document/report"
)

// carryVoid adds the void runs of baselines whose rows aren't shown to the first row of their suite that is: a baseline of chosen runs makes a verdict as well.
func carryVoid(rows []report.GateRow, hidden map[int]bool) {
	for i := range rows {
		if !hidden[i] || rows[i].Voided == 0 {
			continue
		}
		to := firstShown(rows, hidden, rows[i].Suite)
		if to == nil {
			continue
		}
		to.Runs, to.Voided = to.Runs+rows[i].Runs, to.Voided+rows[i].Voided
		to.Message = strings.TrimPrefix(to.Message+"; of the baseline "+rows[i].Message, "; ")
	}
}

func firstShown(rows []report.GateRow, hidden map[int]bool, suite string) *report.GateRow {
	for i := range rows {
		if !hidden[i] && rows[i].Suite == suite {
			return &rows[i]
		}
	}
	return nil
}
