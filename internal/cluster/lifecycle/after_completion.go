package lifecycle

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/retention"
)

// finished is the rule for a complete test, whose pods are given back. Once its time to live is over the test is
// deleted, or only its children where a tool such as Argo CD would create it again.
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
		s.del = cm.cleanup.addRunDocuments(s.del)
	}
	if keeping := cm.keepAfterEnd(s); keeping != nil {
		return keeping
	}
	if cm.test.Spec.TTLAfterFinished == "" {
		return s
	}
	completionTime := c.LastTransitionTime.Time
	if cm.completionTime != nil {
		completionTime = cm.completionTime.Time
	}
	due := completionTime.Add(duration(cm.test.Spec.TTLAfterFinished))
	if cm.observedAt.Before(due) {
		return s.waitUntil(due)
	}
	s.message = "its time to live after the end, spec.ttlAfterFinished, is over"
	if tool := retention.TrackedBy(cm.test.Labels, cm.test.Annotations); tool != "" {
		s.message += ": its Report and pods go, and the LoadTest stays, as " + tool +
			" would make it again, and it would load the network again"
		s.del, s.thinned = cm.cleanup.addRunDocuments(cm.cleanup.allChildren()), true
		return s
	}
	s.deleteTest = true
	return s
}

// publishAfterEnd tries again to copy a complete test's Report, after refusals that may pass. Until then the run's
// objects in the operator's namespace stay. Nil means that the copy isn't due.
func (cm *completion) publishAfterEnd(s *step) *step {
	if cm.recorded == nil || !cm.copies.retries(v1alpha1.ConditionPublished) || cm.report.envelope == nil {
		return nil
	}
	if cm.report.document == nil && cm.report.readFault == "" {
		return &step{reason: s.reason, message: "its Report is to be copied to the test's namespace: it is read again",
			readReport: true}
	}
	e := &ending{report: cm.report.believed()}
	cm.copies.publish(e)
	s.copying = e.copying
	return s.copying.addTo(s).waitUntil(cm.copies.nextTry(v1alpha1.ConditionPublished))
}

// keepAfterEnd keeps the Report of a complete test whose spec.reportRetention was set to Keep afterwards. Nil means
// that there is nothing to keep.
func (cm *completion) keepAfterEnd(s *step) *step {
	if cm.recorded == nil || cm.result == nil || !cm.copies.shouldKeep() {
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
		return s.waitUntil(cm.copies.nextTry(v1alpha1.ConditionKept))
	}
	return s
}

// deleted is the rule for a LoadTest that is being deleted. Its teardown runs first. Then the Jobs and pods are deleted
// here, so that traffic ends and devices are free even where somebody's finalizer keeps the LoadTest for long.
func (cm *completion) deleted() *step {
	if cm.test.DeletionTimestamp == nil {
		return nil
	}
	if cm.teardown.isProtected() {
		return cm.lastTeardown()
	}
	s := &step{reason: "Deleted", message: "the LoadTest is being deleted, and its children with it", complete: true,
		del: cm.cleanup.endJobs()}
	if cm.cleanup.hasLivePod() {
		s.del = append(s.del, Deletion{Kind: "Pod", Reason: "the LoadTest is being deleted"})
	}
	s.del = cm.cleanup.addRunDocuments(s.del)
	return s
}

// lastTeardown runs the teardown of a test that is being deleted, and then removes the finalizer. The run ends
// like a stopped one, in bounded time. If the teardown can't run any more, an event says so, and the test is
// deleted without it.
func (cm *completion) lastTeardown() *step {
	released := &step{reason: "Deleted", message: "the LoadTest is being deleted, and owes no teardown",
		unprotect: true}
	if !cm.teardown.isOwed() {
		return released
	}
	e := &ending{reason: v1alpha1.ReasonStopped,
		message: "the LoadTest is being deleted: what was made for it is given " +
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
	case !cm.observedAt.Before(due):
		reason = fmt.Sprintf("it didn't end within dut.teardown.deadline and %s", deletionMargin)
	default:
		return cm.end(e).waitUntil(due)
	}
	released.message = "the LoadTest goes without its teardown: " + reason + ": look after the device under test"
	released.events = []Event{{Warning: true, Reason: v1alpha1.ReasonStopped, Message: released.message}}
	return released
}
