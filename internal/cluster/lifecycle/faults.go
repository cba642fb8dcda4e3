package lifecycle

import (
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// podFaults answer what happened to the pods that the measurement needs.
type podFaults struct {
	attempt *attempt
	nodes   *nodes
	history *history
}

// fault is what happened to a pod that the measurement needs.
type fault struct {
	role v1alpha1.PodRole
	pod  string
	// reason is Complete's, where the run hasn't begun.
	reason  string
	message string
	// from is the earliest time at which the fault can have begun, by the cluster's clock; zero: it isn't known.
	from time.Time
	// doubtful: perhaps only Kubernetes doesn't hear of the pod, and traffic goes on.
	doubtful bool
}

// inRun is Complete's reason for the fault once the run has begun: a generator that failed is then GeneratorLost.
func (f *fault) inRun() string {
	if f.reason == v1alpha1.ReasonGeneratorFailed {
		return v1alpha1.ReasonGeneratorLost
	}
	return f.reason
}

// all are those of this attempt's measuringPods, the DUT's first.
func (pf *podFaults) all() []fault {
	var out []fault
	for _, p := range pf.attempt.measuringPods() {
		if f := pf.faultOf(p); f != nil {
			out = append(out, *f)
		}
	}
	for _, role := range []v1alpha1.PodRole{v1alpha1.RoleDUT, v1alpha1.RoleGenerator} {
		for _, was := range pf.attempt.recordedPods(role) {
			if pf.attempt.pod(was.Name) == nil {
				out = append(out, pf.vanished(was))
			}
		}
	}
	slices.SortStableFunc(out, func(a, b fault) int { return strings.Compare(string(a.role), string(b.role)) })
	return out
}

// first is the first fault, a certain one before a doubtful one; nil: there is none.
func (pf *podFaults) first() *fault {
	all := pf.all()
	if len(all) == 0 {
		return nil
	}
	if i := slices.IndexFunc(all, func(f fault) bool { return !f.doubtful }); i > 0 {
		return &all[i]
	}
	return &all[0]
}

// actingFault is a fault that may have influenced the measurement: it isn't known to have come after the end of the run. A doubtful fault doesn't count,
// since the Report shows whether traffic went on; nor do faults once the runner's Job is gone, since pods are being given back then.
func (l *loss) actingFault() *fault {
	if l.attempt.job == nil || l.attempt.job.DeletionTimestamp != nil {
		return nil
	}
	for _, f := range l.faults.all() {
		if f.doubtful {
			continue
		}
		if over := l.attempt.runEnded(); l.report.believed() == nil || f.from.IsZero() || over.IsZero() || f.from.Before(over.Add(clockMargin)) {
			return &f
		}
	}
	return nil
}

// runEnded is when the runner's Job was over, by the cluster's clock; zero: it isn't known to be. The Report's own time can't be used, since it is by the clock of the runner's node: if the clock
// of the device's node is ahead of that, a device that died during the run would seem to have died after it.
func (a *attempt) runEnded() time.Time {
	if a.job == nil {
		return time.Time{}
	}
	for _, c := range a.job.Status.Conditions {
		if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue {
			return c.LastTransitionTime.Time
		}
	}
	return time.Time{}
}

// byTheCluster converts a time x by the clock of a pod's node into the earliest time that it can be by the cluster's clock (API server, scheduler, controllers); zero: it isn't known. A kubelet
// starts a pod after the scheduler placed it, so the node's clock is ahead by at most what its own reading says lay between the two:
//
//	cluster  scheduled ─┬───────────── ≥ x − (started − scheduled)
//	node                └─ started ─── x
func byTheCluster(p *corev1.Pod, x time.Time) time.Time {
	scheduled, started := condition(p, corev1.PodScheduled).LastTransitionTime, p.Status.StartTime
	if x.IsZero() || scheduled.IsZero() || started == nil {
		return time.Time{}
	}
	return x.Add(scheduled.Sub(started.Time))
}

// vanished is a pod that was there and isn't.
func (pf *podFaults) vanished(p v1alpha1.PodStatus) fault {
	f := fault{role: p.Role, pod: p.Name, reason: v1alpha1.ReasonEvicted, message: fmt.Sprintf("pod %s was deleted by somebody else", p.Name)}
	if pf.nodes.isGone(p.Node) {
		f.reason, f.message = v1alpha1.ReasonNodeLost, fmt.Sprintf("pod %s is gone, and so is its node %s", p.Name, p.Node)
	}
	return f
}

// faultOf is the fault of a pod; nil: it has none.
func (pf *podFaults) faultOf(p *corev1.Pod) *fault {
	f := &fault{role: roleOf(p), pod: p.Name}
	switch {
	case pf.nodes.isGone(p.Spec.NodeName):
		f.reason, f.message = v1alpha1.ReasonNodeLost, fmt.Sprintf("node %s, on which pod %s ran, is gone", p.Spec.NodeName, p.Name)
	case p.Status.Reason == "NodeLost" || p.Status.Phase == corev1.PodUnknown:
		f.reason, f.message = v1alpha1.ReasonNodeLost, fmt.Sprintf("node %s, on which pod %s runs, doesn't answer", p.Spec.NodeName, p.Name)
	case p.DeletionTimestamp != nil:
		f.reason, f.message = pf.deletedBy(p)
		f.from = p.DeletionTimestamp.Add(-grace(p))
	case evicted(p):
		f.reason, f.message = v1alpha1.ReasonEvicted, fmt.Sprintf("pod %s was evicted from node %s: %s", p.Name, p.Spec.NodeName, evictionOf(p))
		f.from = byTheCluster(p, endedAt(p))
	case Ended(p) || stoppedContainer(p) != "":
		f.reason, f.message = failureOf(p)
		f.from = byTheCluster(p, endedAt(p))
	case restarted(p) != "":
		f.reason, f.message = failedRole(roleOf(p)), fmt.Sprintf("container %s of pod %s was restarted: what it was before is lost", restarted(p), p.Name)
	case pf.isSilent(p):
		f.reason, f.doubtful = v1alpha1.ReasonNodeLost, true
		f.message = fmt.Sprintf("node %s, on which pod %s runs, isn't Ready", p.Spec.NodeName, p.Name)
	default:
		return nil
	}
	return f
}

// isSilent says whether a pod that was ready has lost Ready because its node doesn't answer.
func (pf *podFaults) isSilent(p *corev1.Pod) bool {
	n := pf.nodes.find(p.Spec.NodeName)
	return n != nil && !n.Ready && pf.attempt.hasBegun() && p.Status.Phase == corev1.PodRunning
}

// deletedBy says why a pod is being deleted that the operator didn't delete.
func (pf *podFaults) deletedBy(p *corev1.Pod) (reason, message string) {
	if n := pf.nodes.find(p.Spec.NodeName); n != nil && !n.Ready {
		return v1alpha1.ReasonNodeLost, fmt.Sprintf("node %s isn't Ready, and pod %s on it was given up", n.Name, p.Name)
	}
	if c := condition(p, corev1.DisruptionTarget); c.Status == corev1.ConditionTrue {
		return v1alpha1.ReasonEvicted, fmt.Sprintf("pod %s was evicted: %s", p.Name, wording.JoinNonEmpty(": ", c.Reason, c.Message))
	}
	return v1alpha1.ReasonEvicted, fmt.Sprintf("pod %s was deleted by somebody else", p.Name)
}

// grace is how long a pod has for its end.
func grace(p *corev1.Pod) time.Duration {
	if p.DeletionGracePeriodSeconds == nil {
		return 0
	}
	return time.Duration(*p.DeletionGracePeriodSeconds) * time.Second
}

// evicted says whether Kubernetes ended a pod that didn't end by itself.
func evicted(p *corev1.Pod) bool {
	if p.Status.Phase != corev1.PodFailed {
		return false
	}
	switch p.Status.Reason {
	case "Evicted", "Preempting", "NodeShutdown", "Shutdown", "Terminated":
		return true
	}
	return condition(p, corev1.DisruptionTarget).Status == corev1.ConditionTrue
}

func evictionOf(p *corev1.Pod) string {
	c := condition(p, corev1.DisruptionTarget)
	reason := p.Status.Reason
	if reason == "Evicted" {
		reason = "" // it has been said
	}
	return wording.JoinNonEmpty(": ", reason, p.Status.Message, c.Message)
}

// failedRole is Complete's reason for a pod that failed by itself.
func failedRole(role v1alpha1.PodRole) string {
	if role == v1alpha1.RoleDUT {
		return v1alpha1.ReasonDUTFailed
	}
	return v1alpha1.ReasonGeneratorFailed
}

// failureOf says how a pod failed, with its termination message.
func failureOf(p *corev1.Pod) (reason, message string) {
	words := lastWords(p)
	if words == "" {
		words = "its containers ended by themselves"
		if name := stoppedContainer(p); name != "" {
			words = "container " + name + " ended by itself"
		}
	}
	return failedRole(roleOf(p)), fmt.Sprintf("pod %s on node %s failed: %s", p.Name, p.Spec.NodeName, words)
}

// stoppedContainer is a container that has ended and should go on; empty: all go on, or haven't begun.
func stoppedContainer(p *corev1.Pod) string {
	for _, c := range p.Status.ContainerStatuses {
		if c.State.Terminated != nil {
			return c.Name
		}
	}
	return ""
}

// restarted is a container that was restarted. The test's pods forbid restarts, so another policy of the cluster did it.
func restarted(p *corev1.Pod) string {
	for _, c := range p.Status.ContainerStatuses {
		if c.RestartCount > 0 {
			return c.Name
		}
	}
	return ""
}
