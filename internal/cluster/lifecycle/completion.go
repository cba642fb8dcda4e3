package lifecycle

import (
	"cmp"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// A test ends in steps. Each step can be repeated after a restart of the operator.
//
//	end ─▶ record why ─▶ runner ends, its Report is read ───▶ Complete ─▶ pods are given back
//	                                                       ╰▶ pods are given back ─▶ teardown pod ─▶ Complete
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
	// recorded, result and completionTime are the status'.
	recorded       *v1alpha1.ReportReference
	result         *v1alpha1.Result
	completionTime *metav1.Time
	refusals       []Refusal
	observedAt     time.Time
}

// stopRequested is the rule for spec.stop. Before the run there is nothing to keep. During the run the runner stops
// traffic and writes what it has.
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

// activeDeadlineExceeded is the rule for a runner that goes on after spec.activeDeadline. A runner that ends by itself
// at this deadline writes a better Report than one that is interrupted.
func (cm *completion) activeDeadlineExceeded() *step {
	if due := cm.deadlines.activeUntil(); due.IsZero() || cm.observedAt.Before(due) {
		return nil
	}
	if f := cm.loss.actingFault(); f != nil {
		return failInRun(f)
	}
	return cm.end(&ending{
		reason: v1alpha1.ReasonDeadlineExceeded,
		message: fmt.Sprintf("the run wasn't over within spec.activeDeadline (%s): "+
			"what was measured until then is kept",
			cmp.Or(string(cm.test.Spec.ActiveDeadline), cm.deadlines.active().String())),
	})
}

// reportArrived is the rule for a run that has ended, with a final Report. The Report says how it ended, except that it
// doesn't know of a device's or generator's pod that failed meanwhile.
func (cm *completion) reportArrived() *step {
	if !cm.report.isFinal() {
		return nil
	}
	if cm.report.document == nil && cm.report.readFault == "" {
		return &step{reason: "ReportArrived", message: "the run has ended, its Report is to be read", readReport: true}
	}
	if cm.report.believed() == nil {
		return cm.end(&ending{reason: v1alpha1.ReasonRunnerFailed,
			message: "the run has ended, and its Report can't be " +
				"read: " + cm.report.fault()})
	}
	e := endingOf(cm.report.believed())
	switch f := cm.loss.actingFault(); {
	case f == nil:
		if s := cm.loss.waitForPodStatusAfterRun(); s != nil {
			return s
		}
	case accountsFor(cm.report.believed(), f):
		e.message = wording.JoinNonEmpty(": ", f.message, e.message) // the runner saw only that nobody answers
	default:
		return failInRun(f)
	}
	return cm.end(e)
}

// runnerFailed is the rule for a Job that makes no more runners, or is gone, before a final Report has arrived. Before
// the test fails for that, the Report is read past the cache, which may be late.
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

// endRunner deletes the runner's Job, and gives its pod time to stop traffic and to write its Report. Nil means that no
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

// stopRunner says what to delete so that no runner is left, and until when to wait for the last one. Neither means that
// no runner is left, or that its time is over.
func (cm *completion) stopRunner() (del []Deletion, deadline time.Time) {
	if cm.attempt.job != nil && makesPods(cm.attempt.job) {
		del = append(del, Deletion{Kind: "Job", Name: cm.attempt.job.Name, Reason: "no runner may follow this one"})
	}
	for i := range cm.attempt.runners {
		p := &cm.attempt.runners[i]
		switch due := p.DeletionTimestamp; {
		case Ended(p):
		case due == nil:
			del = append(del, Deletion{Kind: "Pod", Name: p.Name,
				Reason: "the runner is to stop traffic and to write its Report"})
		case cm.observedAt.Before(due.Add(stopGrace)):
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
	e.figures = mayPublish(e.reason, e.report.Ending)
	if f := cm.loss.doubt(); f != nil && e.figures {
		e.figures = false
		e.message = wording.JoinNonEmpty("; ", e.message, f.message+
			", and nothing came back through it at the end: no "+
			"figure is claimed")
	}
}

// waitUntilKept delays the end of a test until its Report is kept, or can't be. Meanwhile the pods are given back.
func (cm *completion) waitUntilKept(e *ending) *step {
	s := stepToEnd(e, "KeepingReport")
	if cleared := cm.cleanup.deletePods(e); cleared != nil {
		s.del = cleared.del
	}
	return s.waitUntil(cm.copies.nextTry(v1alpha1.ConditionKept))
}

// conclude runs the teardown, and completes the test. The next pass (finished) gives back the pods, since one pass that
// read a Report, deleted all pods and wrote the status would keep others waiting for long.
func (cm *completion) conclude(e *ending) *step {
	if cm.teardown.isOwed() {
		return cm.teardown.run(e)
	}
	e.complete = true
	return stepToEnd(e, activityDone)
}
