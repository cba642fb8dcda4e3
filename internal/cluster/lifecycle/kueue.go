package lifecycle

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// kueue answers whether Kueue holds the attempt's pods back, has admitted them, or evicts them.
type kueue struct {
	test    *v1alpha1.LoadTest
	attempt *attempt
	report  *arrival
	// recordedAdmission is when the status says that Kueue admitted the pods. Nil means that the status says nothing.
	recordedAdmission *metav1.Time
	observedAt        time.Time
}

// Where the test names a queue of Kueue's, its pods are a group that Kueue admits by taking their gates off, and may
// evict at any time.
//
//	pods made, gated ──admitted──▶ placing … running
//	   ▲                              │ evicted: Kueue deletes the pods
//	   └─────── next attempt ◀────────┘

// queueName is Kueue's LocalQueue that the test names. Empty means none. Kueue may also put the pods into the
// namespace's default LocalQueue, which the test doesn't name.
func (k *kueue) queueName() string {
	if named := manifests.Queue(k.test); named != "" {
		return named
	}
	for _, p := range k.attempt.measuringPods() {
		if queue := p.Labels[v1alpha1.LabelKueueQueue]; queue != "" {
			return queue
		}
	}
	return ""
}

// evictedByKueue is the rule for a test whose quota Kueue took back. The attempt is void, and the next one is queued,
// even if the runner noticed first and reported lost generators. A run that had already ended counts.
func (k *kueue) evictedByKueue() *step {
	if k.queueName() == "" || k.test.Spec.Stop || k.test.Spec.Suspend || k.report.isFinal() &&
		k.report.envelope.Ending == string(report.Completed) {
		return nil
	}
	eviction := k.eviction()
	if eviction == "" {
		return nil
	}
	message := fmt.Sprintf("%s: the attempt is void, and the next one is queued in %s", eviction, k.queueName())
	return &step{
		reason: v1alpha1.ReasonQueued, message: message, activity: "Queued",
		scheduled: isFalse(v1alpha1.ReasonQueued, message), void: &voided{lost: k.attempt.losesRun()},
	}
}

// eviction says that Kueue evicts the pods. Empty means no eviction. Kueue deletes all pods of the group. An operator
// that saw none of the deletions recognizes the eviction by the missing pods.
func (k *kueue) eviction() string {
	measuringPods := k.attempt.measuringPods()
	for _, p := range measuringPods {
		if c := condition(p, terminationTarget); c.Status == corev1.ConditionTrue {
			return fmt.Sprintf("Kueue evicts pod %s: %s", p.Name, wording.JoinNonEmpty(": ", c.Reason, c.Message))
		}
	}
	recorded := slices.Concat(k.attempt.recordedPods(v1alpha1.RoleDUT), k.attempt.recordedPods(v1alpha1.RoleGenerator))
	if len(measuringPods) == 0 && len(recorded) > 0 {
		return "all pods of its group were deleted, as Kueue does"
	}
	return ""
}

// terminationTarget is the condition of a pod that Kueue is about to delete.
const terminationTarget corev1.PodConditionType = "TerminationTarget"

// hasGate says whether Kueue holds a pod back.
func hasGate(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Spec.SchedulingGates,
		func(g corev1.PodSchedulingGate) bool { return g.Name == v1alpha1.GateKueue })
}

// hasGatedPod says whether Kueue holds some of the attempt's pods back.
func (k *kueue) hasGatedPod() bool {
	return slices.ContainsFunc(k.attempt.measuringPods(), hasGate)
}

// admittedAt is when Kueue was first seen to have admitted the attempt's pods. Nil means that Kueue hasn't, or wasn't
// asked.
func (k *kueue) admittedAt() *metav1.Time {
	switch {
	case k.recordedAdmission != nil:
		return k.recordedAdmission
	case k.queueName() == "" || len(k.attempt.measuringPods()) == 0 || k.hasGatedPod():
		return nil
	}
	return &metav1.Time{Time: k.observedAt}
}
