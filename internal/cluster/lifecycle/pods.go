package lifecycle

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// roleOf is what a pod is for. Empty means that the pod bears no role of ours.
func roleOf(p *corev1.Pod) v1alpha1.PodRole {
	switch p.Labels[v1alpha1.LabelRole] {
	case "generator":
		return v1alpha1.RoleGenerator
	case "dut":
		return v1alpha1.RoleDUT
	case "vitals":
		return v1alpha1.RoleVitals
	case "collector":
		return v1alpha1.RoleCollector
	case "setup":
		return v1alpha1.RoleSetup
	case "teardown":
		return v1alpha1.RoleTeardown
	case "runner", "external-runner":
		return v1alpha1.RoleRunner
	}
	return ""
}

// isForObservers says that nothing depends on a pod, which is there for observers alone.
func isForObservers(p *corev1.Pod) bool {
	role := roleOf(p)
	return role == v1alpha1.RoleVitals || role == v1alpha1.RoleCollector
}

// attemptOf is the attempt that an object belongs to. 0 means that the label is missing, or no number.
func attemptOf(labels map[string]string) int32 {
	n, err := strconv.ParseInt(labels[v1alpha1.LabelAttempt], 10, 32)
	if err != nil || n < 0 {
		return 0
	}
	return int32(n)
}

// condition finds a condition of a pod. A missing condition is an empty one.
func condition(p *corev1.Pod, kind corev1.PodConditionType) corev1.PodCondition {
	for _, c := range p.Status.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return corev1.PodCondition{}
}

// ready says whether the pod answers, as Kubernetes sees it.
func ready(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodRunning && p.DeletionTimestamp == nil &&
		condition(p, corev1.PodReady).Status == corev1.ConditionTrue
}

// readySince is when the pod became ready.
func readySince(p *corev1.Pod) time.Time {
	return condition(p, corev1.PodReady).LastTransitionTime.Time
}

// Ended says whether all containers of a pod have ended, well or not, so that the pod holds no device any more.
func Ended(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

// statuses are the states of all of the pod's containers, in the order in which they run.
func statuses(p *corev1.Pod) []corev1.ContainerStatus {
	return slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses)
}

// lastWords are what the pod's first failed container said at its end, its termination message, or else what
// Kubernetes says of it.
func lastWords(p *corev1.Pod) string {
	for _, c := range statuses(p) {
		if t := c.State.Terminated; t != nil && (t.ExitCode != 0 || t.Reason == "OOMKilled") {
			return wording.JoinNonEmpty(": ", fmt.Sprintf("container %s ended with exit code %d%s", c.Name, t.ExitCode,
				killedBy(t.ExitCode)), informativeReason(t.Reason), terminationWords(t))
		}
	}
	return strings.TrimSpace(wording.JoinNonEmpty(": ", p.Status.Reason, p.Status.Message))
}

// killedBy says what an exit code above 128 means.
func killedBy(exitCode int32) string {
	const signals = 128
	if exitCode <= signals || exitCode >= 2*signals-1 {
		return ""
	}
	return fmt.Sprintf(" (killed by signal %d)", exitCode-signals)
}

// terminationWords is what a container said at its end, in one line. Where it wrote no termination message the
// kubelet takes the end of its log, cut off somewhere. A container that was killed said nothing of its end
// there, so the last line is enough.
func terminationWords(t *corev1.ContainerStateTerminated) string {
	var lines []string
	for line := range strings.Lines(t.Message) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	if len(lines) > 1 && killedBy(t.ExitCode) != "" {
		return "its log ends with: " + lines[len(lines)-1]
	}
	return strings.Join(lines, "; ")
}

// informativeReason leaves out the reason that says nothing beyond the exit code.
func informativeReason(reason string) string {
	if reason == "Error" || reason == "Completed" {
		return ""
	}
	return reason
}

// endedAt is when the last of the pod's containers ended. Zero means unknown.
func endedAt(p *corev1.Pod) time.Time {
	var lastEnd time.Time
	for _, c := range statuses(p) {
		if t := c.State.Terminated; t != nil && t.FinishedAt.After(lastEnd) {
			lastEnd = t.FinishedAt.Time
		}
	}
	return lastEnd
}

// stateOf is what the pod is doing, in a word or two.
func stateOf(p *corev1.Pod) string {
	switch {
	case p.DeletionTimestamp != nil:
		return "Terminating"
	case p.Status.Phase == corev1.PodFailed && p.Status.Reason != "":
		return wording.Limited(p.Status.Reason, 64)
	case Ended(p):
		return string(p.Status.Phase)
	case ready(p):
		return "Ready"
	case p.Spec.NodeName == "":
		return "Unscheduled"
	}
	if reason := waitingReason(p); reason != "" {
		return wording.Limited(reason, 64)
	}
	return "Starting"
}

// waitingReason is why the first container that waits does so.
func waitingReason(p *corev1.Pod) string {
	for _, c := range statuses(p) {
		if w := c.State.Waiting; w != nil && w.Reason != "" && w.Reason != "PodInitializing" {
			return w.Reason
		}
	}
	return ""
}
