package lifecycle

import (
	"cmp"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// reportArrived: the run has ended, and its Report is final. The Report says how it ended, except that it doesn't know of a device's or generator's
// pod that failed meanwhile.
func (cm *completion) reportArrived() *step {
	if !cm.report.isFinal() {
		return nil
	}
	if cm.report.document == nil && cm.report.readFault == "" {
		return &step{reason: "ReportArrived", message: "the run has ended, its Report is to be read", readReport: true}
	}
	if cm.report.believed() == nil {
		return cm.end(&ending{reason: v1alpha1.ReasonRunnerFailed, message: "the run has ended, and its Report can't be read: " + cm.report.fault()})
	}
	e := endingOf(cm.report.believed())
	switch f := cm.loss.actingFault(); {
	case f == nil:
		if s := cm.loss.waitForPodStatusAfterRun(); s != nil {
			return s
		}
	case knowsBetter(cm.report.believed(), f):
		e.message = wording.JoinNonEmpty(": ", f.message, e.message) // what the runner saw is that nobody answers
	default:
		return failInRun(f)
	}
	return cm.end(e)
}

// knowsBetter says whether the Report itself accounts for a fault: the runner noticed that the generator was lost, and left out what that touched. It never
// notices the loss of a device.
func knowsBetter(r *report.Report, f *fault) bool {
	return f.role == v1alpha1.RoleGenerator && r.Ending != report.Completed && r.Ending != report.Failed
}

// failInRun ends a test for a fault that may have influenced the measurement.
func failInRun(f *fault) *step {
	return fail(f.inRun(), "while the measurement ran, %s: nothing that it found tells of the device", f.message)
}

// isFinal says whether this attempt's Report is there in its final form.
func (ar *arrival) isFinal() bool {
	e := ar.envelope
	return e != nil && int32(e.Attempt) == ar.attempt.number && e.Final
}

// believed is the Report of this attempt, once it was read and is believed; nil: there is none.
func (ar *arrival) believed() *report.Report {
	if ar.document == nil || ar.whyNotBelieved() != "" {
		return nil
	}
	return ar.document
}

// fault is why the Report is of no use.
func (ar *arrival) fault() string { return cmp.Or(ar.readFault, ar.whyNotBelieved()) }

// isWanted says whether to read the Report past the cache before the test ends without one.
func (ar *arrival) isWanted() bool {
	return ar.attempt.hasBegun() && ar.recorded == nil && ar.document == nil && ar.readFault == ""
}

// attachReport adds the Report to an ending, and its figures unless a fault may have influenced them.
func (cm *completion) attachReport(e *ending) {
	if cm.recorded != nil || cm.report.believed() == nil {
		return
	}
	e.report = cm.report.believed()
	e.figures = publishes(e.reason, e.report.Ending)
	if f := cm.loss.doubt(); f != nil && e.figures {
		e.figures = false
		e.message = wording.JoinNonEmpty("; ", e.message, f.message+", and nothing came back through it at the end: no figure is claimed")
	}
}

// publishes says whether a test that ends for this reason may publish the figures of a Report that ended in this way. A run cut short by a person or a deadline counts
// up to then; a run cut short by a fault counts only if the runner noticed the fault, and left out what it touched.
func publishes(reason string, how report.Ending) bool {
	switch how {
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

// endingOf is the end that a Report tells.
func endingOf(r *report.Report) *ending {
	said := cmp.Or(r.Message, r.Result.Message)
	switch r.Ending {
	case report.Completed:
		if r.Result.Measured {
			return &ending{reason: v1alpha1.ReasonMeasured, message: cmp.Or(r.Result.Message, "a figure was measured")}
		}
		return &ending{reason: v1alpha1.ReasonNotMeasured, message: cmp.Or(r.Result.Message, "the run was carried out, and nothing can be said")}
	case report.Interrupted:
		return &ending{reason: v1alpha1.ReasonNotMeasured, message: cmp.Or(said, "the run was interrupted")}
	case report.DeadlineExceeded:
		return &ending{reason: v1alpha1.ReasonDeadlineExceeded, message: cmp.Or(said, "the run took longer than spec.activeDeadline")}
	case report.GeneratorLost:
		return &ending{reason: v1alpha1.ReasonGeneratorLost, message: cmp.Or(said, "a generator was lost while it measured")}
	case report.PathNotProven:
		return &ending{reason: v1alpha1.ReasonPathNotProven, message: cmp.Or(said, "the frames didn't take the path that was expected")}
	case report.Failed:
		return &ending{reason: v1alpha1.ReasonRunnerFailed, message: cmp.Or(said, "the run failed, and the Report doesn't say why")}
	}
	return &ending{
		reason:  v1alpha1.ReasonNotMeasured,
		message: "the Report tells of an end that this version doesn't know (" + string(r.Ending) + "): read it with the linerate that wrote it",
	}
}
