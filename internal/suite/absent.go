package suite

import (
	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/report"
)

// absent stand for the repetitions of a cell that have nothing to be judged by: those that came to nothing, those that are never made, because
// the suite ends before, and those that aren't waited for. Without them a verdict would speak of whatever was measured, as if no more had been
// asked for. What is still to come isn't among them.
func (v *view) absent(cell int) (all []*report.Report) {
	for _, name := range v.made[cell] {
		run, known := v.Runs[name]
		if known && run.Evidence == nil && v.stands(cell, name, &run) {
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

// without is the Report of a run that has none.
func without(ended, message string) *report.Report {
	return &report.Report{Plan: &plan.Plan{}, Ending: report.Ending(ended), Message: message}
}

// endsEarly says that what isn't made by now never is, or isn't waited for.
func (v *view) endsEarly() bool {
	return v.early || v.spec.Stop || v.spec.FailurePolicy == v1alpha1.FailureStop && v.failed > 0
}

// answers says whether a run without figures says something of the device all the same: that it lost frames at any load. Another try may follow
// it, and doesn't take that back.
func (r *Run) answers() bool {
	return r.Evidence != nil && r.Evidence.Ending == report.Completed && r.Evidence.Result.Reason == report.NoCleanWindow && len(r.Evidence.Windows) > 0
}
