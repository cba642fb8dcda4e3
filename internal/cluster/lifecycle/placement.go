package lifecycle

import (
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// placement answers which objects the test's pods need, which of them exist, and why pods were refused.
type placement struct {
	test      *v1alpha1.LoadTest
	attempt   *attempt
	history   *history
	blueprint *blueprint
	deadlines *deadlines
	setup     *setup
	// existing and documents are the objects of the test's namespace and of the operator's own (Children).
	existing   map[string]bool
	documents  []string
	refusals   []Refusal
	observedAt time.Time
}

// podsNeeded is the rule for missing pods of the DUT or the generators. One pod of each kind is tried in a dry run
// before any device is taken.
func (pl *placement) podsNeeded() *step {
	input := pl.blueprint.input()
	var missing []manifests.Object
	for _, p := range pl.blueprint.pods() {
		if pl.attempt.pod(p.Name) == nil {
			missing = append(missing, p)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return pl.createMissing("Placing", append([]manifests.Object{manifests.Links(input)}, missing...)...)
}

// createMissing tries the pods in a dry run, unless some exist already, and then creates those that are missing.
func (pl *placement) createMissing(activity string, objects ...manifests.Object) *step {
	if pl.refusals == nil && len(pl.attempt.measuringPods()) == 0 {
		return &step{reason: v1alpha1.ReasonPending,
			message: "one pod of each kind is tried before any device is taken",
			try:     pl.samples()}
	}
	if len(pl.refusals) > 0 {
		return pl.refusedStep(pl.refusals)
	}
	s := &step{
		reason: v1alpha1.ReasonPending, message: "pods are made", activity: activity,
		scheduled: isFalse(v1alpha1.ReasonPending, "pods are made"),
	}
	for _, o := range objects {
		if !pl.present(o) {
			s.create = append(s.create, o)
		}
	}
	return s.waitUntil(pl.deadlines.placedUntil())
}

// samples are the objects that a dry run tries. They are the setup's pod, the DUT's, the first generator's, and the
// Report's copy, whose name must be free at the end.
func (pl *placement) samples() []manifests.Object {
	input := pl.blueprint.input()
	var samples []manifests.Object
	// else it was tried with the setup
	if copied := manifests.EmptyReportCopy(pl.test); !pl.present(copied) &&
		(pl.test.Spec.DUT.Setup == nil || !pl.setup.isDone()) {
		samples = append(samples, copied)
	}
	if setup := manifests.Setup(input); setup != nil && !pl.setup.isDone() {
		samples = append(samples, setup)
	}
	for _, dut := range manifests.Devices(input) {
		samples = append(samples, dut)
	}
	if generators := manifests.Generators(input); len(generators) > 0 {
		samples = append(samples, generators[0])
	}
	return samples
}

// refusedStep waits after refusals of the API server. A refusal that may pass is tried again soon. A refusal of the pod
// itself is tried again when something changes, and now and then, since quotas and policies aren't watched.
func (pl *placement) refusedStep(refusals []Refusal) *step {
	words := make([]string, 0, len(refusals))
	for i, r := range refusals {
		message := fmt.Sprintf("the API server refuses %s: %s", r.Pod, strings.TrimSpace(r.Message))
		if remedy := remedyFor(r); i == len(refusals)-1 || remedy != remedyFor(refusals[i+1]) {
			message += remedy // once for all that it helps
		}
		words = append(words, message)
	}
	return pl.deadlines.wait(v1alpha1.ReasonPodRefused, strings.Join(words, "; ")).waitUntil(pl.nextTry(refusals,
		pl.observedAt))
}

// nextTry is when to ask again after refusals. The longer the API server has refused, the longer is the pause.
func (pl *placement) nextTry(refusals []Refusal, refusedAt time.Time) time.Time {
	first, longest := retryTransientFirst, retryTransientLast
	if slices.ContainsFunc(refusals, func(r Refusal) bool { return !r.Transient }) {
		first, longest = retryRefusedFirst, retryRefusedLast
	}
	return refusedAt.Add(backoff(refusedAt.Sub(pl.history.changedAt(v1alpha1.ConditionReconciling)), first, longest))
}

// present says whether an object is there already.
func (pl *placement) present(o manifests.Object) bool {
	switch o := o.(type) {
	case *corev1.Pod:
		return pl.attempt.pod(o.Name) != nil
	case *batchv1.Job:
		return pl.attempt.job != nil && pl.attempt.job.Name == o.Name
	}
	if manifests.IsOfRun(o) {
		return slices.Contains(pl.documents, o.GetName())
	}
	return pl.existing[kindOf(o)+"/"+o.GetName()]
}

// nodeRefusedPod is the rule for a scheduled pod whose kubelet then lacked CPUs, memory or devices on one NUMA node.
// The next attempt avoids that node. The exception is a kubelet that has just started. It knows no devices until their
// plugin registers again, a moment later, so its node isn't avoided.
func (pl *placement) nodeRefusedPod() *step {
	if pl.attempt.hasBegun() {
		return nil
	}
	var nodes, words []string
	for i := range pl.attempt.pods {
		p := &pl.attempt.pods[i]
		if !refusedByNode(p) || p.Spec.NodeName == "" || isForObservers(p) {
			continue
		}
		next := "the next attempt may have it, as soon as the devices' plugin has told kubelet of them"
		if !kubeletRestarted(p) {
			nodes, next = append(nodes, p.Spec.NodeName), "the next attempt avoids it"
		}
		words = append(words, fmt.Sprintf("node %s refused pod %s: %s; %s", p.Spec.NodeName, p.Name,
			wording.JoinNonEmpty(": ", p.Status.Reason, p.Status.Message), next))
	}
	if len(words) == 0 {
		return nil
	}
	message := strings.Join(words, "; ")
	return &step{
		reason: v1alpha1.ReasonNodeRefused, message: message, activity: "Placing",
		scheduled: isFalse(v1alpha1.ReasonNodeRefused, message), void: &voided{exclude: nodes},
	}
}

// outlived is the rule for a pod that reached its own deadline, which keeps pods from holding devices for ever when the
// operator is gone. Before the run this means that other pods weren't ready in time, and not that this pod failed. All
// pods are given back, and the next attempt begins.
func (pl *placement) outlived() *step {
	if pl.attempt.hasBegun() {
		return nil
	}
	for _, p := range pl.attempt.measuringPods() {
		if p.Status.Phase != corev1.PodFailed || p.Status.Reason != podDeadlineExceeded {
			continue
		}
		message := fmt.Sprintf("pod %s waited so long for the others that its own time is over "+
			"(activeDeadlineSeconds): "+
			"all are given back, and made anew", p.Name)
		return &step{
			reason: v1alpha1.ReasonPending, message: message, activity: "Placing",
			scheduled: isFalse(v1alpha1.ReasonPending, message), void: &voided{},
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

// kubeletRestarted says whether a kubelet refused the pod because the kubelet has just started. Such a kubelet
// lists the devices from before its start, and counts none as healthy until their plugin has registered
// (pkg/kubelet/cm/devicemanager, "no healthy devices present"). The node's status says so soon, and the
// scheduler then waits for them.
func kubeletRestarted(p *corev1.Pod) bool {
	return p.Status.Reason == "UnexpectedAdmissionError" &&
		strings.Contains(p.Status.Message, "no healthy devices present")
}

// listed writes names as a list for people, the first few of many.
func listed(names []string) string {
	const limit = 5
	if len(names) <= limit {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:limit], ", "), len(names)-limit)
}

// remedyFor is what to do about a refusal, where its words are well known.
func remedyFor(r Refusal) string {
	switch m := strings.ToLower(r.Message); {
	case r.Transient:
		return " (it is tried again)"
	case strings.Contains(m, "podsecurity"):
		return " (label the namespace pod-security.kubernetes.io/enforce=privileged: generators need network " +
			"capabilities)"
	case strings.Contains(m, "exceeded quota"):
		return " (raise the ResourceQuota, or free what is used of it)"
	case strings.Contains(m, "priorityclass"):
		return " (create the PriorityClass, or correct priorityClassName)"
	case strings.Contains(m, "runtimeclass"):
		return " (create the RuntimeClass, or correct runtimeClassName)"
	case strings.Contains(m, "cannot create resource"):
		return " (bind linerate's manager to all the roles that it is installed with)"
	case strings.Contains(m, "serviceaccount"):
		return " (create the ServiceAccount, or correct the template's serviceAccountName)"
	case strings.Contains(m, "limitrange") || strings.Contains(m, "maximum") || strings.Contains(m, "minimum"):
		return " (widen the namespace's LimitRange, or change what the pod requests)"
	}
	return " (mend what it says; a template of spec.dut can only be changed in a new LoadTest)"
}

// kindOf is the kind of an object that the manifests make.
func kindOf(o manifests.Object) string {
	switch o.(type) {
	case *corev1.ConfigMap:
		return "ConfigMap"
	case *corev1.ServiceAccount:
		return "ServiceAccount"
	case *rbacv1.Role:
		return "Role"
	case *rbacv1.RoleBinding:
		return "RoleBinding"
	case *corev1.Pod:
		return "Pod"
	case *batchv1.Job:
		return "Job"
	}
	return o.GetObjectKind().GroupVersionKind().Kind
}
