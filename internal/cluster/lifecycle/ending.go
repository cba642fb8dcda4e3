package lifecycle

import (
	"cmp"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// ending is why a test ends, and what it leaves.
type ending struct {
	// reason and message are the condition Complete's.
	reason, message string
	// complete says that nothing is left to be done.
	complete bool
	// report is what was measured. Nil means that there is none, or an earlier pass has written it into the status.
	report *report.Report
	// figures says that the status may have the report's result, which no fault may have influenced.
	figures bool
	// keeping is what becomes of the report beyond the test, copying what becomes of its copy for the test's namespace.
	keeping
	copying copying
}

// fail ends a test for something that only its pods prove. This pass only records the reason, and the next pass
// (resumeEnding) deletes.
func fail(reason, format string, args ...any) *step {
	return stepToEnd(&ending{reason: reason, message: fmt.Sprintf(format, args...)}, "Ending")
}

// failInRun ends a test for a fault that may have influenced the measurement.
func failInRun(f *fault) *step {
	return fail(f.reasonInRun(), "while the measurement ran, %s: nothing that it found tells of the device", f.message)
}

// stepToEnd is a step of a test that is ending.
func stepToEnd(e *ending, activity string) *step {
	return &step{reason: e.reason, message: e.message, activity: activity, ending: e}
}

// activityDone is the step of a complete test. Complete's reason says how the test ended.
const activityDone = "Done"

// isEndReason says whether a reason of Complete means that the test is ending or over.
func isEndReason(reason string) bool {
	return reason != "" && reason != v1alpha1.ReasonWaiting && reason != v1alpha1.ReasonRunning
}

// Ongoing says whether a test has no reason to end yet.
func Ongoing(status *v1alpha1.LoadTestStatus) bool {
	c := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionComplete)
	return c == nil || c.Status != metav1.ConditionTrue && !isEndReason(c.Reason)
}

// isFailure says whether a test that ended for this reason neither measured nor was stopped by somebody.
func isFailure(reason string) bool {
	return reason != v1alpha1.ReasonMeasured && reason != v1alpha1.ReasonStopped
}

// endingOf is the end that a Report tells.
func endingOf(r *report.Report) *ending {
	message := cmp.Or(r.Message, r.Answer.Message)
	switch r.Ending {
	case report.Completed:
		if r.Answer.Measured {
			return &ending{reason: v1alpha1.ReasonMeasured, message: cmp.Or(r.Answer.Message, "a figure was measured")}
		}
		return &ending{reason: v1alpha1.ReasonNotMeasured, message: cmp.Or(r.Answer.Message,
			"the run was carried out, and nothing can be said")}
	case report.Interrupted:
		return &ending{reason: v1alpha1.ReasonNotMeasured, message: cmp.Or(message, "the run was interrupted")}
	case report.DeadlineExceeded:
		return &ending{reason: v1alpha1.ReasonDeadlineExceeded, message: cmp.Or(message,
			"the run took longer than spec.activeDeadline")}
	case report.GeneratorLost:
		return &ending{reason: v1alpha1.ReasonGeneratorLost, message: cmp.Or(message,
			"a generator was lost while it measured")}
	case report.PathNotProven:
		return &ending{reason: v1alpha1.ReasonPathNotProven, message: cmp.Or(message,
			"the frames didn't take the path that was expected")}
	case report.Failed:
		return &ending{reason: v1alpha1.ReasonRunnerFailed, message: cmp.Or(message,
			"the run failed, and the Report doesn't say why")}
	}
	return &ending{
		reason: v1alpha1.ReasonNotMeasured,
		message: "the Report tells of an end that this version doesn't know (" + string(r.Ending) +
			"): read it with the linerate that wrote it",
	}
}

// mayPublish says whether a test that ends for this reason may publish the figures of a Report that ended in
// this way. A run cut short by a person or a deadline counts up to then. A run cut short by a fault counts only
// if the runner noticed the fault, and left out what it touched.
func mayPublish(reason string, end report.Ending) bool {
	switch end {
	case report.Completed: // also where a stop or a deadline came as the run was about to end
		return reason == v1alpha1.ReasonMeasured || reason == v1alpha1.ReasonNotMeasured ||
			reason == v1alpha1.ReasonStopped || reason == v1alpha1.ReasonDeadlineExceeded
	case report.Interrupted, report.DeadlineExceeded:
		return reason == v1alpha1.ReasonStopped || reason == v1alpha1.ReasonDeadlineExceeded
	case report.GeneratorLost:
		return reason == v1alpha1.ReasonGeneratorLost || reason == v1alpha1.ReasonNodeLost
	case report.PathNotProven:
		return reason == v1alpha1.ReasonPathNotProven
	case report.Failed:
		return reason == v1alpha1.ReasonRunnerFailed
	}
	return false
}

// accountsFor says whether the Report itself accounts for a fault, since the runner noticed that the generator was
// lost, and left out what that loss touched. A runner never notices the loss of a device.
func accountsFor(r *report.Report, f *fault) bool {
	return f.role == v1alpha1.RoleGenerator && r.Ending != report.Completed && r.Ending != report.Failed
}
