package lifecycle

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/retention"
)

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

// cleanup answers what is deleted at the end of a test.
type cleanup struct {
	test   *v1alpha1.LoadTest
	report *arrival
	// pods, jobs and plans are those of all attempts, existing the other objects of the test's namespace.
	pods     []corev1.Pod
	jobs     []batchv1.Job
	plans    []int32
	existing map[string]bool
	now      time.Time
}

// A test ends in steps. Each can be repeated, wherever the operator was restarted:
//
//	end ─▶ record why ─▶ runner ends, its Report is read ───▶ Complete ─▶ pods are given back
//	                                                       ╰▶ with a teardown: pods are given back ─▶ teardown pod ─▶ Complete
//
// The reason of Complete records why the test ends before anything that proves it is deleted.

// deleted: the LoadTest is being deleted. Its teardown runs first; then the Jobs and pods are deleted here, so that traffic ends and devices are free even where somebody's
// finalizer keeps the LoadTest for long.
func (cm *completion) deleted() *step {
	if cm.test.DeletionTimestamp == nil {
		return nil
	}
	if cm.teardown.isProtected() {
		return cm.lastTeardown()
	}
	s := &step{reason: "Deleted", message: "the LoadTest is being deleted, and its children with it", over: true, del: cm.cleanup.endJobs()}
	if cm.cleanup.anyPod() {
		s.del = append(s.del, Deletion{Kind: "Pod", Why: "the LoadTest is being deleted"})
	}
	s.del = cm.cleanup.andDocuments(s.del)
	return s
}

// andDocuments adds to the deletions everything that the test's runs left in the operator's own namespace, which nobody reads any more: the status has the result, and the
// digest of its Report. Jobs are deleted with the Plans that own them, and one by one where no Plan is left.
func (cl *cleanup) andDocuments(del []Deletion) []Deletion {
	if len(cl.plans) == 0 {
		return del
	}
	del = slices.DeleteFunc(del, func(d Deletion) bool { return d.Kind == "Job" })
	return append(del, Deletion{Kind: KindDocuments, Why: "the test is over: what counted of its runs is in its status, and in the copy"})
}

// resumeEnding continues an ending that an earlier pass decided.
func (cm *completion) resumeEnding() *step {
	c := cm.history.condition(v1alpha1.ConditionComplete)
	if c.Status != metav1.ConditionFalse || !isEndReason(c.Reason) {
		return nil
	}
	return cm.end(&ending{reason: c.Reason, message: c.Message})
}

// isEndReason says whether a reason of Complete means that the test is ending or over.
func isEndReason(reason string) bool {
	return reason != "" && reason != v1alpha1.ReasonWaiting && reason != v1alpha1.ReasonRunning
}

// Ongoing says whether a test has no reason to end yet.
func Ongoing(status *v1alpha1.LoadTestStatus) bool {
	c := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionComplete)
	return c == nil || c.Status != metav1.ConditionTrue && !isEndReason(c.Reason)
}

// fail ends a test for something that only its pods prove: this pass only records the reason, and the next one (resumeEnding) deletes.
func fail(reason, format string, args ...any) *step {
	return stepToEnd(&ending{reason: reason, message: fmt.Sprintf(format, args...)}, "Ending")
}

// activityDone is the step of a test that is complete: how it ended is Complete's reason.
const activityDone = "Done"

// stepToEnd is a step of a test that is ending.
func stepToEnd(e *ending, activity string) *step {
	return &step{reason: e.reason, message: e.message, activity: activity, ending: e}
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

// conclude runs the teardown, and completes the test. The next pass (finished) gives back the pods: one pass that read a Report, deleted all pods and wrote
// the status would keep others waiting for long.
func (cm *completion) conclude(e *ending) *step {
	if cm.teardown.isOwed() {
		return cm.teardown.run(e)
	}
	e.complete = true
	return stepToEnd(e, activityDone)
}

// endRunner deletes the runner's Job, and gives its pod time to stop traffic and to write its Report. Nil: no runner is left.
func (cm *completion) endRunner(e *ending) *step {
	del, until := cm.stopRunner()
	if cm.report.isFinal() || (len(del) == 0 && until.IsZero()) {
		return nil
	}
	s := stepToEnd(e, "Stopping")
	s.del = del
	return s.waitUntil(until)
}

// stopRunner says what to delete so that no runner is left, and how long to wait for the last one; neither: none is left, or its time is over.
func (cm *completion) stopRunner() (del []Deletion, until time.Time) {
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
			until = latest(until, due.Add(stopGrace))
		}
	}
	return del, until
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// jobOver says whether the Job makes no more pods.
func jobOver(j *batchv1.Job) bool {
	for _, c := range j.Status.Conditions {
		if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue {
			return true
		}
	}
	return false
}

// release gives the attempt's pods and their devices back, unless keepPods keeps them for inspection.
func (cl *cleanup) release(e *ending) []Deletion {
	if cl.keepsPods(e.reason) && cl.report.isFinal() {
		return nil // the runner ends by itself, and its log is kept with it
	}
	del := cl.endJobs()
	if cl.keepsPods(e.reason) || !cl.anyPod() {
		return del
	}
	return append(del, Deletion{Kind: "Pod", Why: "the test is over: its pods and devices are given back"})
}

// endJobs deletes the Jobs that would make another pod.
func (cl *cleanup) endJobs() []Deletion {
	var del []Deletion
	for i := range cl.jobs {
		if j := &cl.jobs[i]; j.DeletionTimestamp == nil && !jobOver(j) {
			del = append(del, Deletion{Kind: "Job", Name: j.Name, Why: "no runner may follow this one"})
		}
	}
	return del
}

// anyPod says whether a pod is left that isn't going yet.
func (cl *cleanup) anyPod() bool {
	for i := range cl.pods {
		if cl.pods[i].DeletionTimestamp == nil {
			return true
		}
	}
	return false
}

// keepsPods says whether the pods stay after this end.
func (cl *cleanup) keepsPods(reason string) bool {
	return cl.test.Spec.KeepPods == v1alpha1.KeepPodsOnFailure && failed(reason) && cl.test.DeletionTimestamp == nil
}

// failed says whether a test that ended for this reason neither measured nor was stopped by somebody.
func failed(reason string) bool {
	return reason != v1alpha1.ReasonMeasured && reason != v1alpha1.ReasonStopped
}

// finished: the pods of a complete test are given back. Once its time to live is over the test is deleted, or only its children where a tool such as Argo CD would create it again.
func (cm *completion) finished() *step {
	c := cm.history.condition(v1alpha1.ConditionComplete)
	if c.Status != metav1.ConditionTrue {
		return nil
	}
	s := &step{reason: c.Reason, message: "the test is over", over: true, unprotect: cm.teardown.isProtected()}
	s.del = cm.cleanup.release(&ending{reason: c.Reason})
	if later := cm.publishAfterEnd(s); later != nil {
		return later
	}
	if !cm.cleanup.keepsPods(c.Reason) {
		s.del = cm.cleanup.andDocuments(s.del)
	}
	if kept := cm.keepAfterEnd(s); kept != nil {
		return kept
	}
	if cm.test.Spec.TTLAfterFinished == "" {
		return s
	}
	at := c.LastTransitionTime.Time
	if cm.finishedAt != nil {
		at = cm.finishedAt.Time
	}
	due := at.Add(duration(cm.test.Spec.TTLAfterFinished))
	if cm.now.Before(due) {
		return s.waitUntil(due)
	}
	s.message = "its time to live after the end, spec.ttlAfterFinished, is over"
	if again := retention.TrackedBy(cm.test.Labels, cm.test.Annotations); again != "" {
		s.message += ": its Report and pods go, and the LoadTest stays, as " + again + " would make it again, and it would load the network again"
		s.del, s.thinned = cm.cleanup.andDocuments(cm.cleanup.allChildren()), true
		return s
	}
	s.deleteTest = true
	return s
}

// allChildren deletes everything that belongs to a test that is over, pods kept for inspection included.
func (cl *cleanup) allChildren() (del []Deletion) {
	const why = "the LoadTest stays without it, as its time to live is over"
	for i := range cl.jobs {
		if j := &cl.jobs[i]; j.DeletionTimestamp == nil {
			del = append(del, Deletion{Kind: "Job", Name: j.Name, Why: why})
		}
	}
	if cl.anyPod() {
		del = append(del, Deletion{Kind: "Pod", Why: why})
	}
	for _, child := range slices.Sorted(maps.Keys(cl.existing)) {
		if name, is := strings.CutPrefix(child, "ConfigMap/"); is {
			del = append(del, Deletion{Kind: "ConfigMap", Name: name, Why: why})
		}
	}
	return del
}
