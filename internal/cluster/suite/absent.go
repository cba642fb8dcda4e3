package suite

import (
	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// absent are placeholders for a cell's repetitions that have no figures to judge. These are repetitions that
// ended without figures, repetitions that are never made because the suite ends before, and, in an early
// judgement, unfinished ones. Without placeholders a verdict would judge the measured repetitions as if no more
// had been asked for.
func (v *view) absent(cell int) (placeholders []*report.Report) {
	for _, name := range v.testsOf[cell] {
		run, ok := v.Runs[name]
		if ok && run.Evidence == nil && v.representsRepetition(cell, name, &run) {
			placeholders = append(placeholders, withoutFigures(run.Ended, run.Message))
		}
	}
	if !v.endsEarly() {
		return placeholders
	}
	words := "it was not made any more"
	if v.judgedEarly {
		words = "it was not over"
	}
	for range v.unmade[cell] {
		placeholders = append(placeholders, withoutFigures(string(report.NotMeasured), words))
	}
	return placeholders
}

// withoutFigures is a placeholder for the Report of a run that has none.
func withoutFigures(ended, message string) *report.Report {
	return &report.Report{Plan: &plan.Plan{}, Ending: report.Ending(ended), Message: message}
}

// endsEarly says that tests which aren't made by now are never made, or that the judgement doesn't wait for
// them.
func (v *view) endsEarly() bool {
	return v.judgedEarly || v.spec.Stop || v.spec.FailurePolicy == v1alpha1.FailureStop && v.failed > 0
}

// lostAtAnyLoad says that a run without figures still shows something about the device, which lost frames at
// any load. A later try doesn't change that.
func (r *Run) lostAtAnyLoad() bool {
	return r.Evidence != nil && r.Evidence.Ending == report.Completed &&
		r.Evidence.Result.Reason == report.NoCleanWindow && len(r.Evidence.Windows) > 0
}
