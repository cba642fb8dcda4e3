package lifecycle

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/retention"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// A test ends in steps. Each can be repeated, wherever the operator was restarted:
//
//	end ─▶ record why ─▶ runner ends, its Report is read ───▶ Complete ─▶ pods are given back
//	                                                       ╰▶ with a teardown: pods are given back ─▶ teardown pod ─▶ Complete
//
// The reason of Complete records why the test ends before anything that proves it is deleted.

// completion takes a test from the reason for its end to Complete.
type completion struct {
	test      *v1alpha1.LoadTest
	attempt   *attempt
	history   *history
	deadlines *deadlines
	loss      *loss
	runner    *runner
	report    *arrival
	copies    *copies
	teardown  *teardown
	cleanup   *cleanup
	// recorded, result and finishedAt are the status'.
	recorded   *v1alpha1.ReportReference
	result     *v1alpha1.Result
	finishedAt *metav1.Time
	refusals   []Refusal
	now        time.Time
}

// stopRequested: spec.stop. Before the run there is nothing to keep; in it the runner stops traffic and writes
// what it has.
func (cm *completion) stopRequested() *step {
	if !cm.test.Spec.Stop {
		return nil
	}
	if f := cm.loss.actingFault(); f != nil {
		return failInRun(f) // what was measured until now is nothing to keep
	}
	message := "spec.stop: the test was ended before anything was measured"
	if cm.attempt.hasBegun() {
		message = "spec.stop: the test was ended, what was measured until then is kept"
	}
	return cm.end(&ending{reason: v1alpha1.ReasonStopped, message: message})
}

// activeDeadlineExceeded: a runner ends by itself at this deadline, and its Report is better than that of an
// interrupted run. This rule is for a runner that doesn't.
func (cm *completion) activeDeadlineExceeded() *step {
	if due := cm.deadlines.activeUntil(); due.IsZero() || cm.now.Before(due) {
		return nil
	}
	if f := cm.loss.actingFault(); f != nil {
		return failInRun(f)
	}
	return cm.end(&ending{
		reason: v1alpha1.ReasonDeadlineExceeded,
		message: fmt.Sprintf("the run wasn't over within spec.activeDeadline (%s): what was measured until then is kept",
			cm.test.Spec.ActiveDeadline),
	})
}

// reportArrived: the run has ended, and its Report is final. The Report says how it ended, except that it
// doesn't know of a device's or generator's pod that failed meanwhile.
func (cm *completion) reportArrived() *step {
	if !cm.report.isFinal() {
		return nil
	}
	if cm.report.document == nil && cm.report.readFault == "" {
		return &step{reason: "ReportArrived", message: "the run has ended, its Report is to be read", readReport: true}
	}
	if cm.report.believed() == nil {
		return cm.end(&ending{reason: v1alpha1.ReasonRunnerFailed, message: "the run has ended, and its Report can't be " +
			"read: " + cm.report.fault()})
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

// runnerFailed: the Job makes no more runners, or is gone, and no final Report has arrived. Before the test
// fails for that, the Report is read past the cache, which may be late.
func (cm *completion) runnerFailed() *step {
	message, reason := cm.runner.trouble()
	if message == "" {
		return nil
	}
	if cm.report.isWanted() {
		return &step{reason: reason, message: "no runner is left: a Report is looked for", readReport: true}
	}
	if r := cm.report.believed(); r != nil && cm.report.envelope == nil {
		return cm.end(endingOf(r))
	}
	return fail(reason, "%s", message)
}

// resumeEnding continues an ending that an earlier pass decided.
func (cm *completion) resumeEnding() *step {
	c := cm.history.condition(v1alpha1.ConditionComplete)
	if c.Status != metav1.ConditionFalse || !isEndReason(c.Reason) {
		return nil
	}
	return cm.end(&ending{reason: c.Reason, message: c.Message})
}

// end does the next step to the end.
func (cm *completion) end(e *ending) *step {
	if s := cm.endRunner(e); s != nil {
		return s
	}
	if cm.report.isWanted() || cm.copies.keepTried() && cm.report.document == nil && cm.report.readFault == "" {
		return &step{reason: e.reason, message: "what was measured until then is looked for", readReport: true}
	}
	cm.attachReport(e)
	cm.copies.publish(e)
	cm.copies.keep(e)
	if e.stillTrying() {
		return e.copying.addTo(cm.waitUntilKept(e))
	}
	s := e.copying.addTo(cm.conclude(e))
	if e.object != nil {
		s.create = append(s.create, e.object)
	}
	return s
}

// endRunner deletes the runner's Job, and gives its pod time to stop traffic and to write its Report. Nil: no
// runner is left.
func (cm *completion) endRunner(e *ending) *step {
	del, deadline := cm.stopRunner()
	if cm.report.isFinal() || (len(del) == 0 && deadline.IsZero()) {
		return nil
	}
	s := stepToEnd(e, "Stopping")
	s.del = del
	return s.waitUntil(deadline)
}

// stopRunner says what to delete so that no runner is left, and how long to wait for the last one; neither:
// none is left, or its time is over.
func (cm *completion) stopRunner() (del []Deletion, deadline time.Time) {
	if cm.attempt.job != nil && cm.attempt.job.DeletionTimestamp == nil && !jobOver(cm.attempt.job) {
		del = append(del, Deletion{Kind: "Job", Name: cm.attempt.job.Name, Why: "no runner may follow this one"})
	}
	for i := range cm.attempt.runners {
		p := &cm.attempt.runners[i]
		switch due := p.DeletionTimestamp; {
		case Ended(p):
		case due == nil:
			del = append(del, Deletion{Kind: "Pod", Name: p.Name, Why: "the runner is to stop traffic and to write its Report"})
		case cm.now.Before(due.Add(stopGrace)):
			deadline = latest(deadline, due.Add(stopGrace))
		}
	}
	return del, deadline
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
		e.message = wording.JoinNonEmpty("; ", e.message, f.message+", and nothing came back through it at the end: no "+
			"figure is claimed")
	}
}

// waitUntilKept delays the end of a test until its Report is kept, or can't be. Meanwhile the pods are given back.
func (cm *completion) waitUntilKept(e *ending) *step {
	s := stepToEnd(e, "KeepingReport")
	if cleared := cm.cleanup.clearAway(e); cleared != nil {
		s.del = cleared.del
	}
	return s.waitUntil(cm.copies.nextKeepTry(e.keeping))
}

// conclude runs the teardown, and completes the test. The next pass (finished) gives back the pods: one pass
// that read a Report, deleted all pods and wrote the status would keep others waiting for long.
func (cm *completion) conclude(e *ending) *step {
	if cm.teardown.isOwed() {
		return cm.teardown.run(e)
	}
	e.complete = true
	return stepToEnd(e, activityDone)
}

// finished: the pods of a complete test are given back. Once its time to live is over the test is deleted, or
// only its children where a tool such as Argo CD would create it again.
func (cm *completion) finished() *step {
	c := cm.history.condition(v1alpha1.ConditionComplete)
	if c.Status != metav1.ConditionTrue {
		return nil
	}
	s := &step{reason: c.Reason, message: "the test is over", complete: true, unprotect: cm.teardown.isProtected()}
	s.del = cm.cleanup.release(&ending{reason: c.Reason})
	if later := cm.publishAfterEnd(s); later != nil {
		return later
	}
	if !cm.cleanup.keepsPods(c.Reason) {
		s.del = cm.cleanup.andDocuments(s.del)
	}
	if keeping := cm.keepAfterEnd(s); keeping != nil {
		return keeping
	}
	if cm.test.Spec.TTLAfterFinished == "" {
		return s
	}
	finishedAt := c.LastTransitionTime.Time
	if cm.finishedAt != nil {
		finishedAt = cm.finishedAt.Time
	}
	due := finishedAt.Add(duration(cm.test.Spec.TTLAfterFinished))
	if cm.now.Before(due) {
		return s.waitUntil(due)
	}
	s.message = "its time to live after the end, spec.ttlAfterFinished, is over"
	if tool := retention.TrackedBy(cm.test.Labels, cm.test.Annotations); tool != "" {
		s.message += ": its Report and pods go, and the LoadTest stays, as " + tool +
			" would make it again, and it would load the network again"
		s.del, s.thinned = cm.cleanup.andDocuments(cm.cleanup.allChildren()), true
		return s
	}
	s.deleteTest = true
	return s
}

// publishAfterEnd tries again to copy a complete test's Report, after refusals that may pass. Until then the
// run's objects in the operator's namespace stay. Nil: the copy isn't due.
func (cm *completion) publishAfterEnd(s *step) *step {
	r := cm.recorded
	if r == nil || r.PublishTriedSince == nil || cm.report.envelope == nil {
		return nil
	}
	if cm.report.document == nil && cm.report.readFault == "" {
		return &step{reason: s.reason, message: "its Report is to be copied to the test's namespace: it is read again",
			readReport: true}
	}
	e := &ending{report: cm.report.believed()}
	cm.copies.publish(e)
	s.copying = e.copying
	return s.copying.addTo(s).waitUntil(cm.now.Add(backoff(cm.now.Sub(r.PublishTriedSince.Time), retryTransientFirst,
		retryTransientLast)))
}

// keepAfterEnd keeps the Report of a complete test whose spec.reportRetention was set to Keep afterwards. Nil:
// there is nothing to keep.
func (cm *completion) keepAfterEnd(s *step) *step {
	if cm.recorded == nil || cm.result == nil || !cm.copies.wantsKept() {
		return nil
	}
	if cm.report.document == nil && cm.report.readFault == "" {
		return &step{reason: s.reason, message: "its Report is to be kept: it is read again", readReport: true}
	}
	s.keeping = cm.copies.keptCopy()
	if s.keeping.object != nil {
		s.create = append(s.create, s.keeping.object)
	}
	if s.keeping.stillTrying() {
		return s.waitUntil(cm.copies.nextKeepTry(s.keeping))
	}
	return s
}

// deleted: the LoadTest is being deleted. Its teardown runs first; then the Jobs and pods are deleted here, so
// that traffic ends and devices are free even where somebody's finalizer keeps the LoadTest for long.
func (cm *completion) deleted() *step {
	if cm.test.DeletionTimestamp == nil {
		return nil
	}
	if cm.teardown.isProtected() {
		return cm.lastTeardown()
	}
	s := &step{reason: "Deleted", message: "the LoadTest is being deleted, and its children with it", complete: true,
		del: cm.cleanup.endJobs()}
	if cm.cleanup.anyPod() {
		s.del = append(s.del, Deletion{Kind: "Pod", Why: "the LoadTest is being deleted"})
	}
	s.del = cm.cleanup.andDocuments(s.del)
	return s
}

// lastTeardown runs the teardown of a test that is being deleted, and then removes the finalizer. The run ends
// like a stopped one, in bounded time. If the teardown can't run any more, an event says so, and the test is
// deleted without it.
func (cm *completion) lastTeardown() *step {
	released := &step{reason: "Deleted", message: "the LoadTest is being deleted, and owes no teardown", unprotect: true}
	if !cm.teardown.isOwed() {
		return released
	}
	e := &ending{reason: v1alpha1.ReasonStopped, message: "the LoadTest is being deleted: what was made for it is given " +
		"back, and its teardown runs, before it goes"}
	c := cm.history.condition(v1alpha1.ConditionComplete)
	if c.Status == metav1.ConditionFalse && isEndReason(c.Reason) {
		e.reason, e.message = c.Reason, c.Message
	}
	due := cm.test.DeletionTimestamp.Add(duration(cm.test.Spec.DUT.Teardown.Deadline) + deletionMargin)
	reason := ""
	switch {
	case c.Status == metav1.ConditionTrue:
		return released
	case slices.ContainsFunc(cm.refusals, func(r Refusal) bool { return r.NamespaceGoes }):
		reason = "its namespace is being deleted, and takes no new pod"
	case !cm.now.Before(due):
		reason = fmt.Sprintf("it didn't end within dut.teardown.deadline and %s", deletionMargin)
	default:
		return cm.end(e).waitUntil(due)
	}
	released.message = "the LoadTest goes without its teardown: " + reason + ": look after the device under test"
	released.events = []Event{{Warning: true, Reason: v1alpha1.ReasonStopped, Message: released.message}}
	return released
}

// fail ends a test for something that only its pods prove: this pass only records the reason, and the next one
// (resumeEnding) deletes.
func fail(reason, format string, args ...any) *step {
	return stepToEnd(&ending{reason: reason, message: fmt.Sprintf(format, args...)}, "Ending")
}

// failInRun ends a test for a fault that may have influenced the measurement.
func failInRun(f *fault) *step {
	return fail(f.inRun(), "while the measurement ran, %s: nothing that it found tells of the device", f.message)
}

// stepToEnd is a step of a test that is ending.
func stepToEnd(e *ending, activity string) *step {
	return &step{reason: e.reason, message: e.message, activity: activity, ending: e}
}

// activityDone is the step of a test that is complete: how it ended is Complete's reason.
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

// failed says whether a test that ended for this reason neither measured nor was stopped by somebody.
func failed(reason string) bool {
	return reason != v1alpha1.ReasonMeasured && reason != v1alpha1.ReasonStopped
}

// endingOf is the end that a Report tells.
func endingOf(r *report.Report) *ending {
	message := cmp.Or(r.Message, r.Result.Message)
	switch r.Ending {
	case report.Completed:
		if r.Result.Measured {
			return &ending{reason: v1alpha1.ReasonMeasured, message: cmp.Or(r.Result.Message, "a figure was measured")}
		}
		return &ending{reason: v1alpha1.ReasonNotMeasured, message: cmp.Or(r.Result.Message,
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

// publishes says whether a test that ends for this reason may publish the figures of a Report that ended in
// this way. A run cut short by a person or a deadline counts up to then; a run cut short by a fault counts only
// if the runner noticed the fault, and left out what it touched.
func publishes(reason string, end report.Ending) bool {
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

// knowsBetter says whether the Report itself accounts for a fault: the runner noticed that the generator was
// lost, and left out what that touched. It never notices the loss of a device.
func knowsBetter(r *report.Report, f *fault) bool {
	return f.role == v1alpha1.RoleGenerator && r.Ending != report.Completed && r.Ending != report.Failed
}
