package lifecycle

import (
	"cmp"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/report"
)

// reportArrived: the run came to its own end, and its Report is final. The Report knows best how it ended, except for what it can't see: a
// device or generator that failed while it ran.
func reportArrived(v *view) *step {
	if !v.finalReport() {
		return nil
	}
	if v.Children.Report == nil && v.Children.ReportFault == "" {
		return &step{reason: "ReportArrived", message: "the run has ended, its Report is to be read", read: true}
	}
	if v.told() == nil {
		return v.end(&ending{reason: v1alpha1.ReasonRunnerFailed, message: "the run has ended, and its Report can't be read: " + v.reportFault()})
	}
	e := endingOf(v.told())
	switch f := v.actingFault(); {
	case f == nil:
		if s := v.hearFirst(); s != nil {
			return s
		}
	case knowsBetter(v.told(), f):
		e.message = joinNonEmpty(": ", f.message, e.message) // what the runner saw is that nobody answers
	default:
		return v.failInRun(f)
	}
	return v.end(e)
}

// knowsBetter says whether the Report tells of a fault itself: the runner saw the generator go, and left out what was touched by that. It can't
// see what became of the device.
func knowsBetter(r *report.Report, f *fault) bool {
	return f.role == v1alpha1.RoleGenerator && r.Ending != report.Completed && r.Ending != report.Failed
}

// failInRun ends a test for a fault that acted on what was measured.
func (v *view) failInRun(f *fault) *step {
	return v.fail(f.inRun(), "while the measurement ran, %s: nothing that it found tells of the device", f.message)
}

// finalReport says whether this attempt's Report is there in its final form.
func (v *view) finalReport() bool {
	e := v.Children.Envelope
	return e != nil && int32(e.Attempt) == v.attempt && e.Final
}

// told is the Report of this attempt, where it has been read and is believed; nil: there is none.
func (v *view) told() *report.Report {
	if v.Children.Report == nil || v.disbelief() != "" {
		return nil
	}
	return v.Children.Report
}

// reportFault is why the Report is of no use.
func (v *view) reportFault() string { return cmp.Or(v.Children.ReportFault, v.disbelief()) }

// reportWanted says whether to look for a Report before it is said that there is none.
func (v *view) reportWanted() bool {
	return v.begun() && v.was.Report == nil && v.Children.Report == nil && v.Children.ReportFault == ""
}

// attach adds the Report to an end, and its figures where no fault acted on them.
func (v *view) attach(e *ending) {
	if v.was.Report != nil || v.told() == nil {
		return
	}
	e.report = v.told()
	e.figures = publishes(e.reason, e.report.Ending)
	if f := v.doubt(); f != nil && e.figures {
		e.figures = false
		e.message = joinNonEmpty("; ", e.message, f.message+", and nothing came back through it at the end: no figure is claimed")
	}
}

// publishes says whether a Report that ended so may give figures to a test that ends for this reason. What a person or a deadline cut
// short counts until then; what a fault cut short counts only where the runner saw the fault itself, and left out what it touched.
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
