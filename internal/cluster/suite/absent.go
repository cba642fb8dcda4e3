package suite

import (
	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// absent are placeholders for a cell's repetitions that have no figures to judge: those that ended without, those that are never made because the suite
// ends before, and those that nobody waits for. Without them a verdict would judge whatever was measured, as if no more had been asked for.
// Repetitions still to come aren't among them.
func (v *view) absent(cell int) (all []*report.Report) {
	for _, name := range v.made[cell] {
		run, known := v.Runs[name]
		if known && run.Evidence == nil && v.representsRepetition(cell, name, &run) {
			all = append(all, without(run.Ended, run.Message))
		}
	}
	if !v.endsEarly() {
		return all
	}
	words := "it was not made any more"
	if v.early {
		words = "it was not over"
	}
	for range v.unmade[cell] {
		all = append(all, without(string(report.NotMeasured), words))
	}
	return all
}

// without is a placeholder for the Report of a run that has none.
func without(ended, message string) *report.Report {
	return &report.Report{Plan: &plan.Plan{}, Ending: report.Ending(ended), Message: message}
}

// endsEarly says that tests which aren't made by now never are, or aren't waited for.
func (v *view) endsEarly() bool {
	return v.early || v.spec.Stop || v.spec.FailurePolicy == v1alpha1.FailureStop && v.failed > 0
}

// lostAtAnyLoad says whether a run without figures still shows something about the device: that it lost frames at any load. A later try doesn't change
// that.
func (r *Run) lostAtAnyLoad() bool {
	return r.Evidence != nil && r.Evidence.Ending == report.Completed && r.Evidence.Result.Reason == report.NoCleanWindow && len(r.Evidence.Windows) > 0
}
