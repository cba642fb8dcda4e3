package lifecycle

import (
	"cmp"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/document/delivery"
)

// attempt answers which pods the attempt that counts has, and how far it has come.
type attempt struct {
	// number counts attempts from 1.
	number int32
	// pods are all pods but the runner's, by name. runners are the runner's pods, oldest first, and job is its Job.
	pods    []corev1.Pod
	runners []corev1.Pod
	job     *batchv1.Job
	// recorded and recordedStart are the pods and the start of the run that the status has.
	recorded      []v1alpha1.PodStatus
	recordedStart *metav1.Time
	// reported is the latest progress of any attempt's runner. Nil means none.
	reported   *delivery.Progress
	observedAt time.Time
}

// divideAttempts divides a test's pods and Jobs into those of the attempt that counts, and those of void attempts.
func divideAttempts(o Observed) (*attempt, *remnants) {
	a := &attempt{
		number: currentAttempt(o), recorded: o.Test.Status.Pods, recordedStart: o.Test.Status.StartTime,
		reported: o.Children.Progress, observedAt: o.ObservedAt,
	}
	r := &remnants{attempt: a, plans: o.Children.Plans}
	for _, p := range o.Children.Pods {
		switch isRunner := roleOf(&p) == v1alpha1.RoleRunner; {
		case isRunner && !isRunnersPod(o, &p):
			// It is an impostor: who edits the test's namespace may label a pod as a runner.
		case attemptOf(p.Labels) != a.number:
			r.pods = append(r.pods, p)
		case isRunner:
			a.runners = append(a.runners, p)
		default:
			a.pods = append(a.pods, p)
		}
	}
	for i, j := range o.Children.Jobs {
		switch {
		case !isRunnersJob(o, &j):
			// It is an impostor, too.
		case attemptOf(j.Labels) == a.number:
			a.job = &o.Children.Jobs[i]
		default:
			r.jobs = append(r.jobs, j)
		}
	}
	byName := func(a, b corev1.Pod) int { return cmp.Compare(a.Name, b.Name) }
	slices.SortFunc(a.pods, byName)
	slices.SortFunc(r.pods, byName)
	slices.SortFunc(a.runners, func(a, b corev1.Pod) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	slices.SortFunc(r.jobs, func(a, b batchv1.Job) int { return cmp.Compare(a.Name, b.Name) })
	return a, r
}

// currentAttempt is the status' attempt, or a later one that the children prove, since a status can be lost by a
// restored backup or an edit. Runners prove any attempt, but only in the operator's own namespace. Whoever edits the
// test's namespace could make a Job there with any number, and so void the run that measures.
//
// Generators' and devices' pods, in the test's namespace, prove at most the next attempt. The operator writes the
// status before it makes an attempt's pods, so a new operator whose cache lags behind may see the pods first. A pod of
// an even later attempt is treated as a remnant.
func currentAttempt(o Observed) int32 {
	number := max(o.Test.Status.Attempt, 1)
	for i := range o.Children.Jobs {
		if j := &o.Children.Jobs[i]; isRunnersJob(o, j) {
			number = max(number, attemptOf(j.Labels))
		}
	}
	for i := range o.Children.Pods {
		if p := &o.Children.Pods[i]; isRunnersPod(o, p) {
			number = max(number, attemptOf(p.Labels))
		}
	}
	next := number + 1
	for i := range o.Children.Pods {
		if p := &o.Children.Pods[i]; roleOf(p) != v1alpha1.RoleRunner && attemptOf(p.Labels) == next {
			return next
		}
	}
	return number
}

// isRunnersJob and isRunnersPod say whether a Job, or a pod, is in the operator's own namespace, and called as the
// runner's of its attempt is.
func isRunnersJob(o Observed, j *batchv1.Job) bool {
	return j.Namespace == o.Settings.Namespace && j.Name == manifests.RunnerJobName(o.Test, attemptOf(j.Labels))
}

func isRunnersPod(o Observed, p *corev1.Pod) bool {
	return roleOf(p) == v1alpha1.RoleRunner && p.Namespace == o.Settings.Namespace &&
		manifests.IsRunnerOf(p.Name, o.Test, attemptOf(p.Labels))
}

// losesRun says whether voiding the attempt loses a run, of which the runner has reported progress.
func (a *attempt) losesRun() bool { return a.hasBegun() && a.progress() != nil }

// podStatuses are this attempt's pods as observed, in the order of their names. Pods that are gone stay listed,
// with the devices that they had.
func (a *attempt) podStatuses() []v1alpha1.PodStatus {
	var pods []v1alpha1.PodStatus
	for i := range a.pods {
		if roleOf(&a.pods[i]) != "" { // a pod of a later version's: the schema knows no such role
			pods = append(pods, podStatus(&a.pods[i]))
		}
	}
	if n := len(a.runners); n > 0 {
		runner := podStatus(&a.runners[n-1])
		runner.Namespace = a.runners[n-1].Namespace
		pods = append(pods, runner)
	}
	for _, recorded := range a.recorded {
		isListed := slices.ContainsFunc(pods, func(p v1alpha1.PodStatus) bool {
			return p.Name == recorded.Name || p.Role == v1alpha1.RoleRunner && recorded.Role == p.Role
		})
		if !isListed {
			recorded.State = "Gone"
			pods = append(pods, recorded)
		}
	}
	slices.SortFunc(pods, func(a, b v1alpha1.PodStatus) int { return cmp.Compare(a.Name, b.Name) })
	if len(portEnds(pods)) == 0 {
		for i := range pods {
			pods[i].UID = "" // who sends is recorded for claims of ports alone
		}
	}
	return pods
}

// hasBegun says whether the runner was started in this attempt.
func (a *attempt) hasBegun() bool { return a.hasRunner() || a.startedAt() != nil }

// hasRunner says whether the runner's Job exists or existed. The status alone doesn't prove that, since the operator
// writes the status before it makes the Job, which may have failed.
func (a *attempt) hasRunner() bool {
	return a.job != nil || len(a.runners) > 0 || len(a.recordedPods(v1alpha1.RoleRunner)) > 0
}

// startedAt is when the runner was started, by the status or, where the status couldn't be written, by the Job. Nil
// means that it wasn't.
func (a *attempt) startedAt() *metav1.Time {
	switch {
	case a.recordedStart != nil:
		return a.recordedStart
	case a.job != nil && a.job.CreationTimestamp.IsZero():
		return &metav1.Time{Time: a.observedAt}
	case a.job != nil:
		return &a.job.CreationTimestamp
	}
	return nil
}

// isUsed says whether anything was made for this attempt.
func (a *attempt) isUsed() bool {
	return a.hasBegun() || len(a.pods) > 0 || len(a.recorded) > 0
}

// pod finds a pod by its name. Nil means none.
func (a *attempt) pod(name string) *corev1.Pod {
	for i := range a.pods {
		if a.pods[i].Name == name {
			return &a.pods[i]
		}
	}
	return nil
}

// podsWithRole are the pods of a role.
func (a *attempt) podsWithRole(role v1alpha1.PodRole) (pods []*corev1.Pod) {
	for i := range a.pods {
		if roleOf(&a.pods[i]) == role {
			pods = append(pods, &a.pods[i])
		}
	}
	return pods
}

// measuringPods are the device's and the generators' pods, which the measurement needs.
func (a *attempt) measuringPods() []*corev1.Pod {
	return slices.Concat(a.podsWithRole(v1alpha1.RoleDUT), a.podsWithRole(v1alpha1.RoleGenerator))
}

// recordedPods are the pods of a role that the status lists.
func (a *attempt) recordedPods(role v1alpha1.PodRole) (pods []v1alpha1.PodStatus) {
	for _, p := range a.recorded {
		if p.Role == role {
			pods = append(pods, p)
		}
	}
	return pods
}

// progress is the runner's latest of this attempt. Nil means none yet.
func (a *attempt) progress() *delivery.Progress {
	if p := a.reported; p != nil && int32(p.Attempt) == a.number {
		return p
	}
	return nil
}

func (a *attempt) measuringStatuses() []v1alpha1.PodStatus {
	var pods []v1alpha1.PodStatus
	for _, p := range a.measuringPods() {
		pods = append(pods, podStatus(p))
	}
	return pods
}

// isPlaced says whether pods were made already, so that their needs were checked.
func (a *attempt) isPlaced() bool { return a.hasBegun() || len(a.measuringPods()) > 0 }

// podsByPlacement are the pods of this attempt that wait for nodes, and those that have theirs.
func (a *attempt) podsByPlacement() (waiting, placed []*corev1.Pod) {
	for i := range a.pods {
		switch p := &a.pods[i]; {
		case Ended(p) || p.DeletionTimestamp != nil || isForObservers(p):
		case p.Spec.NodeName == "":
			waiting = append(waiting, p)
		default:
			placed = append(placed, p)
		}
	}
	return waiting, placed
}

// runEnded is when the runner's Job was over, by the cluster's clock. Zero means unknown. The
// Report's own time is by the clock of the runner's node. If the clock of the device's node is ahead, a device that
// died during the run would seem to have died after it.
func (a *attempt) runEnded() time.Time {
	if a.job != nil && endOf(a.job) != nil {
		return endOf(a.job).LastTransitionTime.Time
	}
	return time.Time{}
}
