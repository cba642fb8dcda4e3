package lifecycle

import (
	"fmt"
	"slices"
	"strings"
	"time"

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
	// reason is Complete's reason where the run hasn't begun.
	reason  string
	message string
	// earliest is the earliest time at which the fault can have begun, by the cluster's clock. Zero means unknown.
	earliest time.Time
	// doubtful says that perhaps only Kubernetes doesn't hear of the pod, while traffic goes on.
	doubtful bool
}

// reasonInRun is Complete's reason for the fault once the run has begun. GeneratorFailed becomes GeneratorLost.
func (f *fault) reasonInRun() string {
	if f.reason == v1alpha1.ReasonGeneratorFailed {
		return v1alpha1.ReasonGeneratorLost
	}
	return f.reason
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
		reason = "" // the message says it already
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

// stoppedContainer is a container that has ended and should go on. Empty means that all go on, or haven't begun.
func stoppedContainer(p *corev1.Pod) string {
	for _, c := range p.Status.ContainerStatuses {
		if c.State.Terminated != nil {
			return c.Name
		}
	}
	return ""
}

// restarted is a container that was restarted. The test's pods forbid restarts, so another policy of the
// cluster did it.
func restarted(p *corev1.Pod) string {
	for _, c := range p.Status.ContainerStatuses {
		if c.RestartCount > 0 {
			return c.Name
		}
	}
	return ""
}

// list are those of this attempt's measuringPods, the DUT's first.
func (pf *podFaults) list() []fault {
	var faults []fault
	for _, p := range pf.attempt.measuringPods() {
		if f := pf.faultOf(p); f != nil {
			faults = append(faults, *f)
		}
	}
	for _, role := range []v1alpha1.PodRole{v1alpha1.RoleDUT, v1alpha1.RoleGenerator} {
		for _, recorded := range pf.attempt.recordedPods(role) {
			if pf.attempt.pod(recorded.Name) == nil {
				faults = append(faults, pf.vanished(recorded))
			}
		}
	}
	slices.SortStableFunc(faults, func(a, b fault) int { return strings.Compare(string(a.role), string(b.role)) })
	return faults
}

// first is the first fault, a certain one before a doubtful one. Nil means none.
func (pf *podFaults) first() *fault {
	faults := pf.list()
	if len(faults) == 0 {
		return nil
	}
	if i := slices.IndexFunc(faults, func(f fault) bool { return !f.doubtful }); i > 0 {
		return &faults[i]
	}
	return &faults[0]
}

// vanished is a pod that was there and isn't.
func (pf *podFaults) vanished(p v1alpha1.PodStatus) fault {
	f := fault{role: p.Role, pod: p.Name, reason: v1alpha1.ReasonEvicted,
		message: fmt.Sprintf("pod %s was deleted by somebody else", p.Name)}
	if pf.nodes.isGone(p.Node) {
		f.reason, f.message = v1alpha1.ReasonNodeLost,
			fmt.Sprintf("pod %s is gone, and so is its node %s", p.Name, p.Node)
	}
	return f
}

// faultOf is the fault of a pod. Nil means none.
func (pf *podFaults) faultOf(p *corev1.Pod) *fault {
	f := &fault{role: roleOf(p), pod: p.Name}
	switch {
	case pf.nodes.isGone(p.Spec.NodeName):
		f.reason, f.message = v1alpha1.ReasonNodeLost, fmt.Sprintf("node %s, on which pod %s ran, is gone",
			p.Spec.NodeName,
			p.Name)
	case p.Status.Reason == "NodeLost" || p.Status.Phase == corev1.PodUnknown:
		f.reason, f.message = v1alpha1.ReasonNodeLost,
			fmt.Sprintf("node %s, on which pod %s runs, doesn't answer", p.Spec.NodeName, p.Name)
	case p.DeletionTimestamp != nil:
		f.reason, f.message = pf.deletedBy(p)
		f.earliest = p.DeletionTimestamp.Add(-grace(p))
	case evicted(p):
		f.reason, f.message = v1alpha1.ReasonEvicted, fmt.Sprintf("pod %s was evicted from node %s: %s", p.Name,
			p.Spec.NodeName, evictionOf(p))
		f.earliest = earliestClusterTime(p, endedAt(p))
	case Ended(p) || stoppedContainer(p) != "":
		f.reason, f.message = failureOf(p)
		f.earliest = earliestClusterTime(p, endedAt(p))
	case restarted(p) != "":
		f.reason, f.message = failedRole(roleOf(p)),
			fmt.Sprintf("container %s of pod %s was restarted: what it was before "+
				"is lost", restarted(p), p.Name)
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
		return v1alpha1.ReasonNodeLost,
			fmt.Sprintf("node %s isn't Ready, and pod %s on it was given up", n.Name, p.Name)
	}
	if c := condition(p, corev1.DisruptionTarget); c.Status == corev1.ConditionTrue {
		return v1alpha1.ReasonEvicted, fmt.Sprintf("pod %s was evicted: %s", p.Name,
			wording.JoinNonEmpty(": ", c.Reason, c.Message))
	}
	return v1alpha1.ReasonEvicted, fmt.Sprintf("pod %s was deleted by somebody else", p.Name)
}

// firstInRole is the first fault of a role. Nil means none.
func (pf *podFaults) firstInRole(role v1alpha1.PodRole) *fault {
	for _, f := range pf.list() {
		if f.role == role {
			return &f
		}
	}
	return nil
}

// unseenPods are the pods of a role that aren't Ready since their node fell silent. Kubernetes then takes Ready from
// the node's pods, and the kubelet sets it again once it answers.
func (pf *podFaults) unseenPods(role v1alpha1.PodRole) []*corev1.Pod {
	kind := v1alpha1.ConditionGeneratorsReady
	if role == v1alpha1.RoleDUT {
		kind = v1alpha1.ConditionDUTReady
	}
	if pf.history.condition(kind).Reason != v1alpha1.ReasonLost {
		return nil
	}
	return slices.DeleteFunc(pf.attempt.podsWithRole(role), ready)
}
