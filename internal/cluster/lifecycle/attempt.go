package lifecycle

import (
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// remnants answer what is left of attempts that are void, and what becomes of it.
type remnants struct {
	test      *v1alpha1.LoadTest
	attempt   *attempt
	history   *history
	deadlines *deadlines
	// pods, jobs and plans are those of void attempts; plans has the attempt that counts too.
	pods  []corev1.Pod
	jobs  []batchv1.Job
	plans []int32
	// formerPods and formerJobs are labelled as a runner, and aren't in the namespace where this release has runners.
	formerPods []corev1.Pod
	formerJobs []batchv1.Job
	now        time.Time
}

// An attempt is a set of pods. An attempt becomes void in three steps: the status counts the next attempt, the old attempt's objects are deleted, and once
// they are gone the next attempt begins. So pods of two attempts are never active together, and at most one Plan of a void attempt remains.

// suspended: the test holds no pods. An attempt that had begun is void; the next one begins when the test is resumed.
func (r *remnants) suspended() *step {
	if !r.test.Spec.Suspend {
		return nil
	}
	s := &step{
		reason: v1alpha1.ReasonSuspended, activity: "Suspended", message: "spec.suspend is true: the test holds no pods until it is false",
		scheduled: no(v1alpha1.ReasonSuspended, "spec.suspend is true: set it to false to go on"),
	}
	s.forget = true
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
	return r.untilGone(s)
}

// losesRun says whether voiding the attempt loses a run: the runner has reported progress.
func (a *attempt) losesRun() bool { return a.hasBegun() && a.progress() != nil }

// earlierAttempt: objects of void attempts are deleted before anything else is made.
func (r *remnants) earlierAttempt() *step {
	del, going := r.deletions()
	if !going {
		return nil
	}
	names := make([]string, 0, len(r.pods)+len(r.formerPods))
	for _, p := range slices.Concat(r.pods, r.formerPods) {
		names = append(names, p.Name)
	}
	message := wording.JoinNonEmpty(": ", fmt.Sprintf("attempt %d waits until what is left of an earlier one is gone", r.attempt.number), listed(names))
	reason := v1alpha1.ReasonPending
	if r.history.condition(v1alpha1.ConditionScheduled).Reason == v1alpha1.ReasonGivenBack {
		reason = v1alpha1.ReasonGivenBack
	}
	s := &step{reason: reason, message: message, activity: "Releasing", scheduled: no(reason, message), del: del}
	return r.untilGone(s).waitUntil(r.deadlines.placedUntil())
}

// untilGone wakes a step when a pod of an earlier attempt, on a node that doesn't answer, isn't waited for any more.
func (r *remnants) untilGone(s *step) *step {
	for _, p := range slices.Concat(r.pods, r.formerPods) {
		if p.DeletionTimestamp != nil && !stuck(&p, r.now) {
			s.waitUntil(stuckAt(&p))
		}
	}
	return s
}

// deletions says what to delete of earlier attempts, and whether any of those objects still exists. The wait for a pod on a node that doesn't answer
// is bounded: without the runner's heartbeat its traffic has stopped.
func (r *remnants) deletions() (del []Deletion, going bool) {
	for i := range r.jobs {
		if j := &r.jobs[i]; j.DeletionTimestamp == nil && !jobOver(j) {
			del = append(del, Deletion{Kind: "Job", Name: j.Name, Why: "its attempt is void"})
			going = true
		}
	}
	del, going = r.formerRemnants(del, going)
	var attempts []int32
	for i := range r.pods {
		switch p, of := &r.pods[i], attemptOf(r.pods[i].Labels); {
		case p.DeletionTimestamp == nil && of == 0: // by its name: no attempt means all pods
			del = append(del, Deletion{Kind: "Pod", Name: p.Name, Why: "it says that it is the test's, and of no attempt"})
			going = true
		case p.DeletionTimestamp == nil:
			attempts = append(attempts, of)
			going = true
		case !stuck(p, r.now):
			going = true
		}
	}
	slices.Sort(attempts)
	for _, a := range slices.Compact(attempts) {
		del = append(del, Deletion{Kind: "Pod", Attempt: a, Why: "their attempt is void"})
	}
	return del, going
}

// voidPlans deletes the Plans of void attempts on each pass; all other objects of those runs are owned by the Plans, and are deleted with them. They would fill the operator's
// own namespace, which no tenant's quota bounds, with objects of the largest size. A Plan whose Job still runs stays until the Job is deleted: the operator waits for that
// deletion, which ends the runner (remnants).
func (r *remnants) voidPlans(beside []Deletion) (del []Deletion) {
	if slices.ContainsFunc(beside, func(d Deletion) bool { return d.Kind == KindDocuments }) {
		return nil // with all others
	}
	for _, attempt := range slices.Sorted(slices.Values(r.plans)) {
		needsPods := slices.ContainsFunc(r.jobs, func(j batchv1.Job) bool {
			return attemptOf(j.Labels) == attempt && j.DeletionTimestamp == nil && !jobOver(&j)
		})
		if attempt < r.attempt.number && !needsPods {
			del = append(del, Deletion{Kind: "ConfigMap", Name: manifests.PlanName(r.test, attempt), Why: "its attempt is void: what its run left isn't read"})
		}
	}
	return del
}

// formerRemnants adds the runners that an earlier release made: only one runner may use the test's generators.
func (r *remnants) formerRemnants(del []Deletion, going bool) ([]Deletion, bool) {
	if r.attempt.job != nil || len(r.attempt.runners) > 0 {
		return del, going
	}
	for i := range r.formerJobs {
		if j := &r.formerJobs[i]; j.DeletionTimestamp == nil {
			del = append(del, Deletion{Kind: "Job", Name: j.Name, Why: "a release before this one made it, in the test's namespace"})
			going = true
		}
	}
	for i := range r.formerPods {
		switch p := &r.formerPods[i]; {
		case p.DeletionTimestamp == nil:
			del = append(del, Deletion{Kind: "Pod", Name: p.Name, Why: "a release before this one made it, in the test's namespace"})
			going = true
		case !stuck(p, r.now):
			going = true
		}
	}
	return del, going
}

// nodeRefusedPod: the scheduler chose a node whose kubelet then lacked CPUs, memory or devices on one NUMA node. The next attempt avoids
// that node. The exception is a kubelet that has just started: it knows no devices until their plugin registers again, a moment later, so its node isn't avoided.
func (pl *placement) nodeRefusedPod() *step {
	if pl.attempt.hasBegun() {
		return nil
	}
	var nodes, words []string
	for i := range pl.attempt.pods {
		p := &pl.attempt.pods[i]
		if !refusedByNode(p) || p.Spec.NodeName == "" || dispensable(p) {
			continue
		}
		next := "the next attempt may have it, as soon as the devices' plugin has told kubelet of them"
		if !startsAnew(p) {
			nodes, next = append(nodes, p.Spec.NodeName), "the next attempt avoids it"
		}
		words = append(words, fmt.Sprintf("node %s refused pod %s: %s; %s", p.Spec.NodeName, p.Name, wording.JoinNonEmpty(": ", p.Status.Reason, p.Status.Message), next))
	}
	if len(words) == 0 {
		return nil
	}
	message := strings.Join(words, "; ")
	return &step{
		reason: v1alpha1.ReasonNodeRefused, message: message, activity: "Placing",
		scheduled: no(v1alpha1.ReasonNodeRefused, message), void: &voided{exclude: nodes},
	}
}

// outlived: a pod reached its own deadline, which keeps pods from holding devices for ever when the operator is gone. Before the run this means that other pods
// weren't ready in time, and not that this pod failed. All pods are given back, and the next attempt begins.
func (pl *placement) outlived() *step {
	if pl.attempt.hasBegun() {
		return nil
	}
	for _, p := range pl.attempt.measuringPods() {
		if p.Status.Phase != corev1.PodFailed || p.Status.Reason != podDeadlineExceeded {
			continue
		}
		message := fmt.Sprintf("pod %s waited so long for the others that its own time is over (activeDeadlineSeconds): all are given back, and made anew", p.Name)
		return &step{
			reason: v1alpha1.ReasonPending, message: message, activity: "Placing",
			scheduled: no(v1alpha1.ReasonPending, message), void: &voided{},
		}
	}
	return nil
}

// podDeadlineExceeded is a pod's reason when kubelet ended it at its activeDeadlineSeconds.
const podDeadlineExceeded = "DeadlineExceeded"

// refusedByNode says whether a kubelet wouldn't run the pod.
func refusedByNode(p *corev1.Pod) bool {
	if p.Status.Phase != corev1.PodFailed {
		return false
	}
	switch p.Status.Reason {
	case "TopologyAffinityError", "UnexpectedAdmissionError", "SMTAlignmentError", "InsufficientResourceError",
		"NodeAffinity", "NodeName", "NodePorts", "PodOSNotSupported", "SysctlForbidden", "AppArmor":
		return true
	}
	return strings.HasPrefix(p.Status.Reason, "OutOf") || strings.HasPrefix(p.Status.Reason, "Insufficient")
}

// startsAnew says whether a kubelet refused the pod because it has just started: it lists the devices from before its start, and counts none as healthy until their plugin has registered
// (pkg/kubelet/cm/devicemanager, "no healthy devices present"). The node's status says so soon, and the scheduler then waits for them.
func startsAnew(p *corev1.Pod) bool {
	return p.Status.Reason == "UnexpectedAdmissionError" && strings.Contains(p.Status.Message, "no healthy devices present")
}

// exhausted says that every node that could be tried has refused a pod; empty: some haven't.
func (ns *nodes) exhausted() string {
	if len(ns.excluded) == 0 || len(ns.all) == 0 {
		return ""
	}
	const way = "free CPUs, memory and devices of one NUMA node on one of them (kubelet's topologyManagerPolicy decides), " +
		"then set spec.suspend to true and to false again"
	if len(ns.excluded) >= maxExcludedNodes {
		return fmt.Sprintf("%d nodes refused a pod (the last: %s): %s", len(ns.excluded), ns.excluded[len(ns.excluded)-1], way)
	}
	if len(ns.usable()) > 0 {
		return ""
	}
	return fmt.Sprintf("every node that pods may run on refused one (%s): %s", listed(ns.excluded), way)
}

// usable are the nodes that pods can be placed on.
func (ns *nodes) usable() []Node {
	var out []Node
	for _, n := range ns.all {
		if n.Ready && n.Schedulable && !slices.Contains(ns.excluded, n.Name) {
			out = append(out, n)
		}
	}
	return out
}

// jobFailed is why the Job gave up; empty: it still makes pods, or it completed.
func jobFailed(j *batchv1.Job) string {
	for _, c := range j.Status.Conditions {
		if c.Type == batchv1.JobFailed && c.Status == corev1.ConditionTrue {
			return wording.JoinNonEmpty(": ", c.Reason, c.Message)
		}
	}
	return ""
}

// listed writes names as a list for people, the first few of many.
func listed(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
