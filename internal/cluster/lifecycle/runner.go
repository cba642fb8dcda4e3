package lifecycle

import (
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// runner answers how the runner's Job and pods are.
type runner struct {
	attempt   *attempt
	deadlines *deadlines
	// namespace is the operator's own, where runners are.
	namespace  string
	observedAt time.Time
}

// trouble says why no Report will come. Empty means that a Report may come.
func (rn *runner) trouble() (message, reason string) {
	remedy := "; the runner's log, in namespace " + rn.namespace + ", has more, as long as podRetention: OnFailure keeps it"
	switch {
	case !rn.attempt.hasBegun():
		return "", ""
	case rn.attempt.job == nil && len(rn.attempt.runners) == 0 && len(rn.attempt.recordedPods(v1alpha1.RoleRunner)) > 0:
		return "the runner's Job was deleted by somebody else", v1alpha1.ReasonEvicted
	case rn.attempt.job == nil:
		return "", ""
	case rn.isSuspended() && !rn.observedAt.Before(rn.attempt.job.CreationTimestamp.Add(startBound)):
		return suspendedJobWords(rn.attempt.job) +
			fmt.Sprintf("; it is so since %s, and generators and device are given "+
				"back", startBound), v1alpha1.ReasonRunnerFailed
	case rn.stuckWords() != "":
		return rn.stuckWords(), v1alpha1.ReasonNodeLost
	case jobFailed(rn.attempt.job) != "":
		return fmt.Sprintf("the runner failed for good (%s)%s%s", jobFailed(rn.attempt.job), rn.lastWords(), remedy),
			v1alpha1.ReasonRunnerFailed
	case endOf(rn.attempt.job) != nil:
		return "the runner ended, and left no Report of this attempt" + rn.lastWords() + remedy,
			v1alpha1.ReasonRunnerFailed
	}
	return "", ""
}

// isSuspended says that somebody suspended the runner's Job before it made a runner. linerate never does that. A
// controller of all Jobs in the namespace does, such as Kueue with manageJobsWithoutQueueName. The test can't hold its
// devices for as long as a Job may be suspended.
func (rn *runner) isSuspended() bool {
	return rn.attempt.job != nil && rn.attempt.job.DeletionTimestamp == nil && rn.attempt.job.Spec.Suspend != nil &&
		*rn.attempt.job.Spec.Suspend && len(rn.attempt.runners) == 0
}

func suspendedJobWords(j *batchv1.Job) string {
	if queue := j.Labels[v1alpha1.LabelKueueQueue]; queue != "" {
		return fmt.Sprintf("the runner's Job %s waits for Kueue to admit it to queue %s of namespace %s: kubectl get "+
			"localqueue,workload -n %s shows whether the queue is there and has quota",
			j.Name, queue, j.Namespace, j.Namespace)
	}
	return fmt.Sprintf("the runner's Job %s is suspended by somebody else, as Kueue does to all Jobs that name no "+
		"queue "+
		"(manageJobsWithoutQueueName): leave namespace %s out of managedJobsNamespaceSelector in Kueue's "+
		"configuration, "+
		"or give runners a LocalQueue there (runners.queueName of the chart)", j.Name, j.Namespace)
}

// stuckWords says that the runner's pod is being deleted and its node doesn't answer. Empty means that no runner is
// stuck. The Job makes no other pod then, since it can't know that the first is gone.
func (rn *runner) stuckWords() string {
	if len(rn.attempt.runners) == 0 {
		return ""
	}
	p := &rn.attempt.runners[len(rn.attempt.runners)-1]
	if Ended(p) || p.DeletionTimestamp == nil || !isOverdue(p, rn.observedAt) {
		return ""
	}
	return fmt.Sprintf("node %s, on which the runner's pod %s ran, doesn't answer", p.Spec.NodeName, p.Name)
}

// lastWords are what the last runner that failed said.
func (rn *runner) lastWords() string {
	for i := len(rn.attempt.runners) - 1; i >= 0; i-- {
		if p := &rn.attempt.runners[i]; p.Status.Phase == corev1.PodFailed {
			return fmt.Sprintf("; the last words of %s: %s", p.Name, lastWords(p))
		}
	}
	return ""
}

// running is the rule for a runner that measures, or that its Job is about to make.
func (rn *runner) running() *step {
	if !rn.attempt.hasBegun() || !rn.attempt.hasRunner() {
		return nil
	}
	s := &step{reason: v1alpha1.ReasonRunning, message: runningWords, activity: activityStarting}
	if words := rn.waitingWords(); words != "" {
		s.message = words
	}
	if deadline := rn.podlessUntil(); rn.isSuspended() {
		s.message = suspendedJobWords(rn.attempt.job)
		s.waitUntil(rn.attempt.job.CreationTimestamp.Add(startBound))
	} else if rn.observedAt.Before(deadline) {
		s.waitUntil(deadline)
	} else if !deadline.IsZero() {
		s.message = fmt.Sprintf("Job %s in namespace %s makes no pod for the runner: who administers linerate sees "+
			"why "+
			"with kubectl -n %s describe job %s (a quota, a LimitRange, a policy, the runners' ServiceAccount)",
			rn.attempt.job.Name, rn.attempt.job.Namespace, rn.attempt.job.Namespace, rn.attempt.job.Name)
	}
	for i := range rn.attempt.runners {
		if p := &rn.attempt.runners[i]; p.DeletionTimestamp != nil && !isOverdue(p, rn.observedAt) {
			s.waitUntil(overdueAt(p))
		}
	}
	return s.waitUntil(rn.deadlines.activeUntil())
}

// podlessUntil is when the runner's Job should have made its pod or the next one. Zero means that there is one, or
// none will follow. Only the Job's own events say why its pods are refused.
func (rn *runner) podlessUntil() time.Time {
	if rn.attempt.job == nil || !makesPods(rn.attempt.job) {
		return time.Time{}
	}
	podlessFrom := rn.attempt.job.CreationTimestamp.Time
	for i := range rn.attempt.runners {
		p := &rn.attempt.runners[i]
		if !Ended(p) {
			return time.Time{}
		}
		podlessFrom = latest(podlessFrom, endedAt(p))
	}
	return podlessFrom.Add(podlessGrace)
}

// waitingWords says why a runner that has reported nothing yet isn't running. Empty means that the runner runs, or is
// about to.
func (rn *runner) waitingWords() string {
	if rn.attempt.progress() != nil || len(rn.attempt.runners) == 0 {
		return ""
	}
	p := &rn.attempt.runners[len(rn.attempt.runners)-1]
	if words := troubleOf(p); words != "" {
		return words
	}
	if c := condition(p, corev1.PodScheduled); c.Status == corev1.ConditionFalse &&
		c.Reason == corev1.PodReasonUnschedulable {
		return wording.JoinNonEmpty(": ", unplacedWords([]string{p.Name}), schedulersWords(c.Message))
	}
	return ""
}

// endOf is the condition with which a Job ended. Nil means that the Job may make more pods.
func endOf(j *batchv1.Job) *batchv1.JobCondition {
	i := slices.IndexFunc(j.Status.Conditions, func(c batchv1.JobCondition) bool {
		return (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue
	})
	if i < 0 {
		return nil
	}
	return &j.Status.Conditions[i]
}

// makesPods says whether a Job may make another pod. It neither has ended nor is being deleted.
func makesPods(j *batchv1.Job) bool { return j.DeletionTimestamp == nil && endOf(j) == nil }

// jobFailed is why the Job gave up. Empty means that the Job still makes pods, or completed.
func jobFailed(j *batchv1.Job) string {
	if end := endOf(j); end != nil && end.Type == batchv1.JobFailed {
		return wording.JoinNonEmpty(": ", end.Reason, end.Message)
	}
	return ""
}
