package analysis

import (
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/report"
)

// together is what came of all directions' answers at once; nil: they weren't held so.
func together(r *report.Report, c procedure.Conclusion) *report.Together {
	if c.Together == nil {
		return nil
	}
	w := r.Windows[c.Together.Window]
	return &report.Together{Window: w.Number, Quality: c.Together.Verdict, Reason: w.Reason, Directions: w.Directions}
}
