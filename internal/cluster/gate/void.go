package gate

import (
	"strings"

	"github.com/linerate-dev/linerate/internal/document/report"
)

// carryVoid adds the void runs of baselines whose rows aren't shown to the first row of their suite that is. A baseline
// of chosen runs makes a verdict as well.
func carryVoid(rows []report.GateRow, hidden map[int]bool) {
	for i := range rows {
		if !hidden[i] || rows[i].Voided == 0 {
			continue
		}
		shown := firstShown(rows, hidden, rows[i].Suite)
		if shown == nil {
			continue
		}
		shown.Runs, shown.Voided = shown.Runs+rows[i].Runs, shown.Voided+rows[i].Voided
		shown.Message = strings.TrimPrefix(shown.Message+"; of the baseline "+rows[i].Message, "; ")
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
