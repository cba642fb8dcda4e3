package lifecycle

import (
	"cmp"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/document/delivery"
)

// view is what was observed, sorted for the rules. Rules read it, and change nothing in it.
type view struct {
	Observed
	spec *v1alpha1.LoadTestSpec
	// was is the status that was decided last.
	was *v1alpha1.LoadTestStatus
	// attempt is the one that counts now, from 1.
	attempt int32
	// pods are this attempt's without the runner's, by name; runners are its runner's pods, oldest first; job is its runner's Job.
	pods    []corev1.Pod
	runners []corev1.Pod
	job     *batchv1.Job
	// oldPods and oldJobs are what is left of attempts that are void.
	oldPods []corev1.Pod
	oldJobs []batchv1.Job
	// formerPods and formerJobs are labelled as a runner, and aren't in the namespace where this release has runners.
	formerPods []corev1.Pod
	formerJobs []batchv1.Job
	// cluster is the compiled test; nil before compiled is called, and where the spec can't be compiled: then errs say why.
	cluster *compile.Cluster
	errs    field.ErrorList
}

// newView sorts what was observed.
func newView(o Observed) *view {
	v := &view{Observed: o, spec: &o.Test.Spec, was: &o.Test.Status}
	v.attempt = v.currentAttempt()
	v.sortPods()
	v.sortJobs()
	return v
}

// currentAttempt is the status' attempt, or a later one that the children prove: a status can be lost, by a restored backup or an edit. Runners prove any attempt, but only
// in the operator's own namespace: whoever edits the test's could make a Job there with any number, and so void the run that measures.
//
// Generators' and devices' pods, in the test's namespace, prove at most the next attempt: the operator writes the status before it makes an attempt's pods, so a new
// operator whose cache lags behind may see the pods first. A pod of an even later attempt is treated as a remnant.
func (v *view) currentAttempt() int32 {
	attempt := max(v.was.Attempt, 1)
	for i := range v.Children.Jobs {
		if j := &v.Children.Jobs[i]; v.isRunnersJob(j) {
			attempt = max(attempt, attemptOf(j.Labels))
		}
	}
	for i := range v.Children.Pods {
		if p := &v.Children.Pods[i]; v.isRunnersPod(p) {
			attempt = max(attempt, attemptOf(p.Labels))
		}
	}
	next := attempt + 1
	for i := range v.Children.Pods {
		if p := &v.Children.Pods[i]; roleOf(p) != v1alpha1.RoleRunner && attemptOf(p.Labels) == next {
			return next
		}
	}
	return attempt
}

func (v *view) sortPods() {
	for _, p := range v.Children.Pods {
		switch runner := roleOf(&p) == v1alpha1.RoleRunner; {
		case runner && !v.isRunnersPod(&p):
			v.formerPods = append(v.formerPods, p)
		case attemptOf(p.Labels) != v.attempt:
			v.oldPods = append(v.oldPods, p)
		case runner:
			v.runners = append(v.runners, p)
		default:
			v.pods = append(v.pods, p)
		}
	}
	byName := func(a, b corev1.Pod) int { return cmp.Compare(a.Name, b.Name) }
	slices.SortFunc(v.pods, byName)
	slices.SortFunc(v.oldPods, byName)
	slices.SortFunc(v.runners, func(a, b corev1.Pod) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
}

func (v *view) sortJobs() {
	for i, j := range v.Children.Jobs {
		switch {
		case !v.isRunnersJob(&j):
			v.formerJobs = append(v.formerJobs, j)
		case attemptOf(j.Labels) == v.attempt:
			v.job = &v.Children.Jobs[i]
		default:
			v.oldJobs = append(v.oldJobs, j)
		}
	}
	slices.SortFunc(v.oldJobs, func(a, b batchv1.Job) int { return cmp.Compare(a.Name, b.Name) })
}

// compiled is the test compiled for a cluster: as it was observed, or else compiled once, and only where a rule asks for it.
func (v *view) compiled() *compile.Cluster {
	if v.cluster == nil && v.errs == nil {
		if v.Compiled != nil {
			v.cluster, v.errs = v.Compiled.Cluster, v.Compiled.Errs
			return v.cluster
		}
		v.cluster, v.errs = compile.ForCluster(v.Test)
	}
	return v.cluster
}

// input is what manifests are made from.
func (v *view) input() manifests.Input {
	return manifests.Input{
		Test: v.Test, Compiled: v.compiled(), Networks: v.Lab.Networks, Attempt: v.attempt,
		ExcludedNodes: v.was.ExcludedNodes, Settings: v.Settings,
	}
}

// begun says whether the runner was started in this attempt.
func (v *view) begun() bool { return v.runnerMade() || v.startedAt() != nil }

// runnerMade says whether the runner's Job exists or existed. The status alone doesn't prove that: it is written before the Job is made, which may have
// failed.
func (v *view) runnerMade() bool {
	return v.job != nil || len(v.runners) > 0 || len(v.recorded(v1alpha1.RoleRunner)) > 0
}

// startedAt is when the runner was started, by the status or, where that couldn't be written, by the Job; nil: it wasn't.
func (v *view) startedAt() *metav1.Time {
	switch {
	case v.was.StartedAt != nil:
		return v.was.StartedAt
	case v.job != nil && v.job.CreationTimestamp.IsZero():
		return &metav1.Time{Time: v.Now}
	case v.job != nil:
		return &v.job.CreationTimestamp
	}
	return nil
}

// used says whether anything was made for this attempt.
func (v *view) used() bool {
	return v.begun() || len(v.pods) > 0 || len(v.was.Pods) > 0
}

// pod finds this attempt's pod of a name; nil: there is none.
func (v *view) pod(name string) *corev1.Pod {
	for i := range v.pods {
		if v.pods[i].Name == name {
			return &v.pods[i]
		}
	}
	return nil
}

// podsWithRole are this attempt's pods of a role.
func (v *view) podsWithRole(role v1alpha1.PodRole) []*corev1.Pod {
	var out []*corev1.Pod
	for i := range v.pods {
		if roleOf(&v.pods[i]) == role {
			out = append(out, &v.pods[i])
		}
	}
	return out
}

// measuringPods are the pods that the measurement needs: the device's and the generators'.
func (v *view) measuringPods() []*corev1.Pod {
	return slices.Concat(v.podsWithRole(v1alpha1.RoleDUT), v.podsWithRole(v1alpha1.RoleGenerator))
}

// recorded are the pods of a role that the status lists.
func (v *view) recorded(role v1alpha1.PodRole) []v1alpha1.PodStatus {
	var out []v1alpha1.PodStatus
	for _, p := range v.was.Pods {
		if p.Role == role {
			out = append(out, p)
		}
	}
	return out
}

// previousCondition is a condition as it was decided last; an empty one where there is none.
func (v *view) previousCondition(kind string) metav1.Condition {
	if c := meta.FindStatusCondition(v.was.Conditions, kind); c != nil {
		return *c
	}
	return metav1.Condition{}
}

// since is when a condition got the status that it has; now where it is missing, or the clock went back.
func (v *view) since(kind string) time.Time {
	at := v.previousCondition(kind).LastTransitionTime.Time
	if at.IsZero() || at.After(v.Now) {
		return v.Now
	}
	return at
}

// progress is the runner's latest of this attempt; nil: none yet.
func (v *view) progress() *delivery.Progress {
	if p := v.Children.Progress; p != nil && int32(p.Attempt) == v.attempt {
		return p
	}
	return nil
}

// node finds a node; nil: the cluster has none of that name.
func (v *view) node(name string) *Node {
	for i := range v.Lab.Nodes {
		if v.Lab.Nodes[i].Name == name {
			return &v.Lab.Nodes[i]
		}
	}
	return nil
}

// nodeGone says whether a pod's node no longer exists. Where the operator sees no node at all, it may not read nodes, and none counts as gone.
func (v *view) nodeGone(name string) bool {
	return name != "" && len(v.Lab.Nodes) > 0 && v.node(name) == nil
}
