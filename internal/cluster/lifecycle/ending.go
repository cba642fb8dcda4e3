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

// A test ends in steps. Each can be repeated, wherever the operator was restarted:
//
//	end ─▶ record why ─▶ runner ends, its Report is read ───▶ Complete ─▶ pods are given back
//	                                                       ╰▶ with a teardown: pods are given back ─▶ teardown pod ─▶ Complete
//
// The reason of Complete records why the test ends before anything that proves it is deleted.

// deleted: the LoadTest is being deleted. Its teardown runs first; then the Jobs and pods are deleted here, so that traffic ends and devices are free even where somebody's
// finalizer keeps the LoadTest for long.
func deleted(v *view) *step {
	if v.Test.DeletionTimestamp == nil {
		return nil
	}
	if v.protected() {
		return v.lastTeardown()
	}
	s := &step{reason: "Deleted", message: "the LoadTest is being deleted, and its children with it", over: true, del: v.endJobs()}
	if v.anyPod() {
		s.del = append(s.del, Deletion{Kind: "Pod", Why: "the LoadTest is being deleted"})
	}
	s.del = v.andDocuments(s.del)
	return s
}

// andDocuments adds to the deletions everything that the test's runs left in the operator's own namespace, which nobody reads any more: the status has the result, and the
// digest of its Report. Jobs are deleted with the Plans that own them, and one by one where no Plan is left.
func (v *view) andDocuments(del []Deletion) []Deletion {
	if len(v.Children.Plans) == 0 {
		return del
	}
	del = slices.DeleteFunc(del, func(d Deletion) bool { return d.Kind == "Job" })
	return append(del, Deletion{Kind: KindDocuments, Why: "the test is over: what counted of its runs is in its status, and in the copy"})
}

// resumeEnding continues an ending that an earlier pass decided.
func resumeEnding(v *view) *step {
	c := v.previousCondition(v1alpha1.ConditionComplete)
	if c.Status != metav1.ConditionFalse || !isEndReason(c.Reason) {
		return nil
	}
	return v.end(&ending{reason: c.Reason, message: c.Message})
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
func (v *view) fail(reason, format string, args ...any) *step {
	return v.stepToEnd(&ending{reason: reason, message: fmt.Sprintf(format, args...)}, "Ending")
}

// activityDone is the step of a test that is complete: how it ended is Complete's reason.
const activityDone = "Done"

// stepToEnd is a step of a test that is ending.
func (v *view) stepToEnd(e *ending, activity string) *step {
	return &step{reason: e.reason, message: e.message, activity: activity, ending: e}
}

// end does the next step to the end.
func (v *view) end(e *ending) *step {
	if s := v.endRunner(e); s != nil {
		return s
	}
	if v.reportWanted() || v.keepTried() && v.Children.Report == nil && v.Children.ReportFault == "" {
		return &step{reason: e.reason, message: "what was measured until then is looked for", readReport: true}
	}
	v.attachReport(e)
	v.publish(e)
	v.keep(e)
	if e.stillTrying() {
		return e.copying.addTo(v.waitUntilKept(e))
	}
	s := e.copying.addTo(v.conclude(e))
	if e.object != nil {
		s.create = append(s.create, e.object)
	}
	return s
}

// conclude runs the teardown, and completes the test. The next pass (finished) gives back the pods: one pass that read a Report, deleted all pods and wrote
// the status would keep others waiting for long.
func (v *view) conclude(e *ending) *step {
	if v.tearsDown() {
		return v.tearDown(e)
	}
	e.complete = true
	return v.stepToEnd(e, activityDone)
}

// endRunner deletes the runner's Job, and gives its pod time to stop traffic and to write its Report. Nil: no runner is left.
func (v *view) endRunner(e *ending) *step {
	del, until := v.stopRunner()
	if v.finalReport() || (len(del) == 0 && until.IsZero()) {
		return nil
	}
	s := v.stepToEnd(e, "Stopping")
	s.del = del
	return s.waitUntil(until)
}

// stopRunner says what to delete so that no runner is left, and how long to wait for the last one; neither: none is left, or its time is over.
func (v *view) stopRunner() (del []Deletion, until time.Time) {
	if v.job != nil && v.job.DeletionTimestamp == nil && !jobOver(v.job) {
		del = append(del, Deletion{Kind: "Job", Name: v.job.Name, Why: "no runner may follow this one"})
	}
	for i := range v.runners {
		p := &v.runners[i]
		switch due := p.DeletionTimestamp; {
		case Ended(p):
		case due == nil:
			del = append(del, Deletion{Kind: "Pod", Name: p.Name, Why: "the runner is to stop traffic and to write its Report"})
		case v.Now.Before(due.Add(stopGrace)):
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
func (v *view) release(e *ending) []Deletion {
	if v.keepsPods(e.reason) && v.finalReport() {
		return nil // the runner ends by itself, and its log is kept with it
	}
	del := v.endJobs()
	if v.keepsPods(e.reason) || !v.anyPod() {
		return del
	}
	return append(del, Deletion{Kind: "Pod", Why: "the test is over: its pods and devices are given back"})
}

// endJobs deletes the Jobs that would make another pod.
func (v *view) endJobs() []Deletion {
	var del []Deletion
	for i := range v.Children.Jobs {
		if j := &v.Children.Jobs[i]; j.DeletionTimestamp == nil && !jobOver(j) {
			del = append(del, Deletion{Kind: "Job", Name: j.Name, Why: "no runner may follow this one"})
		}
	}
	return del
}

// anyPod says whether a pod is left that isn't going yet.
func (v *view) anyPod() bool {
	for i := range v.Children.Pods {
		if v.Children.Pods[i].DeletionTimestamp == nil {
			return true
		}
	}
	return false
}

// keepsPods says whether the pods stay after this end.
func (v *view) keepsPods(reason string) bool {
	return v.spec.KeepPods == v1alpha1.KeepPodsOnFailure && failed(reason) && v.Test.DeletionTimestamp == nil
}

// failed says whether a test that ended for this reason neither measured nor was stopped by somebody.
func failed(reason string) bool {
	return reason != v1alpha1.ReasonMeasured && reason != v1alpha1.ReasonStopped
}

// finished: the pods of a complete test are given back. Once its time to live is over the test is deleted, or only its children where a tool such as Argo CD would create it again.
func finished(v *view) *step {
	c := v.previousCondition(v1alpha1.ConditionComplete)
	if c.Status != metav1.ConditionTrue {
		return nil
	}
	s := &step{reason: c.Reason, message: "the test is over", over: true, unprotect: v.protected()}
	s.del = v.release(&ending{reason: c.Reason})
	if later := v.publishAfterEnd(s); later != nil {
		return later
	}
	if !v.keepsPods(c.Reason) {
		s.del = v.andDocuments(s.del)
	}
	if kept := v.keepAfterEnd(s); kept != nil {
		return kept
	}
	if v.spec.TTLAfterFinished == "" {
		return s
	}
	at := c.LastTransitionTime.Time
	if v.was.FinishedAt != nil {
		at = v.was.FinishedAt.Time
	}
	due := at.Add(duration(v.spec.TTLAfterFinished))
	if v.Now.Before(due) {
		return s.waitUntil(due)
	}
	s.message = "its time to live after the end, spec.ttlAfterFinished, is over"
	if again := retention.TrackedBy(v.Test.Labels, v.Test.Annotations); again != "" {
		s.message += ": its Report and pods go, and the LoadTest stays, as " + again + " would make it again, and it would load the network again"
		s.del, s.thinned = v.andDocuments(v.allChildren()), true
		return s
	}
	s.deleteTest = true
	return s
}

// allChildren deletes everything that belongs to a test that is over, pods kept for inspection included.
func (v *view) allChildren() (del []Deletion) {
	const why = "the LoadTest stays without it, as its time to live is over"
	for i := range v.Children.Jobs {
		if j := &v.Children.Jobs[i]; j.DeletionTimestamp == nil {
			del = append(del, Deletion{Kind: "Job", Name: j.Name, Why: why})
		}
	}
	if v.anyPod() {
		del = append(del, Deletion{Kind: "Pod", Why: why})
	}
	for _, child := range slices.Sorted(maps.Keys(v.Children.Present)) {
		if name, is := strings.CutPrefix(child, "ConfigMap/"); is {
			del = append(del, Deletion{Kind: "ConfigMap", Name: name, Why: why})
		}
	}
	return del
}
