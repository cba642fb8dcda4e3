package lifecycle

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// formerRunner: an earlier release made the runner in the test's namespace, where everybody who may edit that namespace can forge its Report. So the attempt is void, and
// the next one has its runner in the operator's own namespace. Once a runner exists there, a pod or Job of the test's namespace that is labelled as a runner is
// an impostor, and is ignored.
func (r *remnants) formerRunner() *step {
	if r.attempt.job != nil || len(r.attempt.runners) > 0 || !r.attempt.isUsed() || !r.ranBefore() {
		return nil
	}
	const message = "a release before this one began the run with a runner in the test's namespace, where its Report could be forged: " +
		"this attempt is void, the next one has its runner in the operator's own namespace"
	return &step{
		reason: v1alpha1.ReasonPending, message: message, activity: "Releasing",
		scheduled: no(v1alpha1.ReasonPending, message), void: &voided{lost: r.attempt.recordedStart != nil},
	}
}

// ranBefore says whether an earlier release made a runner for this attempt: its Job is there, and the status names the runner's pod without a namespace, or
// says that the run began and names no runner's pod. A Job alone proves nothing, since whoever edits the namespace may make one: it is deleted (formerRemnants)
// and voids no run.
func (r *remnants) ranBefore() bool {
	if told := r.attempt.recordedPods(v1alpha1.RoleRunner); len(told) > 0 {
		return slices.ContainsFunc(told, func(p v1alpha1.PodStatus) bool { return p.Namespace == "" })
	}
	return r.attempt.recordedStart != nil && slices.ContainsFunc(r.formerJobs, func(j batchv1.Job) bool { return attemptOf(j.Labels) == r.attempt.number })
}
