package lifecycle

import (
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// An attempt is a set of pods. An attempt becomes void in three steps. The status counts the next attempt, the old
// attempt's objects are deleted, and once they are gone the next attempt begins. So pods of two attempts are never
// active together, and at most one Plan of a void attempt remains.

// remnants answer what is left of attempts that are void, and what becomes of it.
type remnants struct {
	test      *v1alpha1.LoadTest
	attempt   *attempt
	history   *history
	deadlines *deadlines
	// pods, jobs and plans are those of void attempts. plans has the attempt that counts too.
	pods       []corev1.Pod
	jobs       []batchv1.Job
	plans      []int32
	observedAt time.Time
}

// suspended is the rule for spec.suspend. The test holds no pods. An attempt that had begun is void, and the next one
// begins when the test is resumed.
func (r *remnants) suspended() *step {
	if !r.test.Spec.Suspend {
		return nil
	}
	s := &step{
		reason: v1alpha1.ReasonSuspended, activity: "Suspended", forget: true,
		message: "spec.suspend is true: the test holds no pods " +
			"until it is false",
		scheduled: isFalse(v1alpha1.ReasonSuspended, "spec.suspend is true: set it to false to go on"),
	}
	if r.attempt.isUsed() {
		s.message = "spec.suspend is true: this attempt is void, the next one begins when it is false"
		s.void = &voided{lost: r.attempt.losesRun()}
		return s
	}
	del, going := r.deletions()
	s.del, s.idle = del, !going
	if going {
		s.message = "spec.suspend is true: pods are being given back"
	}
	return r.waitUntilGone(s)
}

// earlierAttempt is the rule for objects of void attempts, which are deleted before anything else is made.
func (r *remnants) earlierAttempt() *step {
	del, going := r.deletions()
	if !going {
		return nil
	}
	var names []string
	for _, p := range r.pods {
		names = append(names, p.Name)
	}
	message := wording.JoinNonEmpty(": ", fmt.Sprintf("attempt %d waits until what is left of an earlier one is gone",
		r.attempt.number), listed(names))
	reason := v1alpha1.ReasonPending
	if r.history.condition(v1alpha1.ConditionScheduled).Reason == v1alpha1.ReasonGivenBack {
		reason = v1alpha1.ReasonGivenBack
	}
	s := &step{reason: reason, message: message, activity: "Releasing", scheduled: isFalse(reason, message), del: del}
	return r.waitUntilGone(s).waitUntil(r.deadlines.placedUntil())
}

// waitUntilGone wakes a step when a pod of an earlier attempt, on a node that doesn't answer, isn't waited for
// any more.
func (r *remnants) waitUntilGone(s *step) *step {
	for _, p := range r.pods {
		if p.DeletionTimestamp != nil && !isOverdue(&p, r.observedAt) {
			s.waitUntil(overdueAt(&p))
		}
	}
	return s
}

// deletions says what to delete of earlier attempts, and whether any of those objects still exists. The wait for a pod
// on a node that doesn't answer is bounded, since without the runner's heartbeat its traffic has stopped.
func (r *remnants) deletions() (del []Deletion, going bool) {
	for i := range r.jobs {
		if j := &r.jobs[i]; makesPods(j) {
			del = append(del, Deletion{Kind: "Job", Name: j.Name, Reason: "its attempt is void"})
			going = true
		}
	}
	var attempts []int32
	for i := range r.pods {
		switch p, attempt := &r.pods[i], attemptOf(r.pods[i].Labels); {
		case p.DeletionTimestamp == nil && attempt == 0: // by its name: no attempt means all pods
			del = append(del, Deletion{Kind: "Pod", Name: p.Name,
				Reason: "it says that it is the test's, and of no attempt"})
			going = true
		case p.DeletionTimestamp == nil:
			attempts = append(attempts, attempt)
			going = true
		case !isOverdue(p, r.observedAt):
			going = true
		}
	}
	slices.Sort(attempts)
	for _, a := range slices.Compact(attempts) {
		del = append(del, Deletion{Kind: "Pod", Attempt: a, Reason: "their attempt is void"})
	}
	return del, going
}

// voidPlans deletes the Plans of void attempts on each pass. All other objects of those runs are owned by the Plans,
// and are deleted with them. They would fill the operator's own namespace, which no tenant's quota bounds, with objects
// of the largest size. A Plan whose Job still runs stays until the Job is deleted. The operator waits for that
// deletion, which ends the runner.
func (r *remnants) voidPlans(deletions []Deletion) (del []Deletion) {
	if slices.ContainsFunc(deletions, func(d Deletion) bool { return d.Kind == KindDocuments }) {
		return nil // with all others
	}
	for _, attempt := range slices.Sorted(slices.Values(r.plans)) {
		isRunning := slices.ContainsFunc(r.jobs, func(j batchv1.Job) bool {
			return attemptOf(j.Labels) == attempt && makesPods(&j)
		})
		if attempt < r.attempt.number && !isRunning {
			del = append(del, Deletion{Kind: "ConfigMap", Name: manifests.PlanName(r.test, attempt),
				Reason: "its attempt is void: what its run left isn't read"})
		}
	}
	return del
}
