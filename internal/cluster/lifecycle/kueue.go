package lifecycle

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// Where the test names a queue of Kueue's, its pods are a group that Kueue admits by taking their gates off, and may evict at any time:
//
//	pods made, gated ──admitted──▶ placing … running
//	   ▲                              │ evicted: Kueue deletes the pods
//	   └─────── next attempt ◀────────┘

// queue is Kueue's LocalQueue that the test names; empty: none. Kueue may also put the pods into the namespace's default LocalQueue, which the test doesn't name.
func (v *view) queue() string {
	if named := manifests.Queue(v.Test); named != "" {
		return named
	}
	for _, p := range v.measuringPods() {
		if given := p.Labels[v1alpha1.LabelKueueQueue]; given != "" {
			return given
		}
	}
	return ""
}

// evictedByKueue: Kueue took the quota back. The attempt is void, and the next one is queued, even if the runner noticed first and reported lost generators. A run that
// had already ended counts.
func evictedByKueue(v *view) *step {
	if v.queue() == "" || v.spec.Stop || v.spec.Suspend || v.finalReport() && v.Children.Envelope.Ending == string(report.Completed) {
		return nil
	}
	why := v.evictionWords()
	if why == "" {
		return nil
	}
	message := fmt.Sprintf("%s: the attempt is void, and the next one is queued in %s", why, v.queue())
	return &step{
		reason: v1alpha1.ReasonQueued, message: message, activity: "Queued",
		scheduled: no(v1alpha1.ReasonQueued, message), void: &voided{lost: v.runLost()},
	}
}

// evictionWords say that Kueue evicts the pods; empty: it doesn't. Kueue deletes all pods of the group: if the operator saw none of the deletions, that all
// pods are gone is the sign.
func (v *view) evictionWords() string {
	measuringPods := v.measuringPods()
	for _, p := range measuringPods {
		if c := condition(p, terminationTarget); c.Status == corev1.ConditionTrue {
			return fmt.Sprintf("Kueue evicts pod %s: %s", p.Name, wording.JoinNonEmpty(": ", c.Reason, c.Message))
		}
	}
	made := slices.Concat(v.recorded(v1alpha1.RoleDUT), v.recorded(v1alpha1.RoleGenerator))
	if len(measuringPods) == 0 && len(made) > 0 {
		return "all pods of its group were deleted, as Kueue does"
	}
	return ""
}

// terminationTarget is the condition of a pod that Kueue is about to delete.
const terminationTarget corev1.PodConditionType = "TerminationTarget"

// gated: Kueue hasn't admitted the pods yet. It may take days, and no deadline counts.
func gated(v *view) *step {
	var waiting []string
	managed := true
	for _, p := range v.measuringPods() {
		if hasGate(p) {
			waiting = append(waiting, p.Name)
			managed = managed && p.Labels[v1alpha1.LabelKueueManaged] != ""
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	message := fmt.Sprintf("in Kueue's queue %s: pods go when it admits their group (kubectl describe workloads -n %s tells what it waits for): %s", v.queue(), v.Test.Namespace, listed(waiting))
	if v.queue() == "" {
		message = fmt.Sprintf("Kueue holds pods back that name no queue, as its configuration has it (manageJobsWithoutQueueName), and lets none of them go: create the test with the label %s and a LocalQueue of namespace %s: %s",
			v1alpha1.LabelKueueQueue, v.Test.Namespace, listed(waiting))
	} else if !managed {
		message += "; Kueue doesn't look after these pods: turn its integration for pods on, also for this namespace (kubectl linerate doctor), or create the test without the label " + v1alpha1.LabelKueueQueue
	}
	s := v.waits(v1alpha1.ReasonQueued, message)
	s.activity, s.brief = "Queued", strings.TrimSpace("in Kueue's queue "+v.queue())
	return s
}

// hasGate says whether Kueue holds a pod back.
func hasGate(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Spec.SchedulingGates, func(g corev1.PodSchedulingGate) bool { return g.Name == v1alpha1.GateKueue })
}

// anyGated says whether Kueue holds some of the attempt's pods back.
func (v *view) anyGated() bool {
	return slices.ContainsFunc(v.measuringPods(), hasGate)
}

// admittedAt is when Kueue was first seen to have admitted the attempt's pods; nil: it hasn't, or wasn't asked.
func (v *view) admittedAt() *metav1.Time {
	switch {
	case v.was.AdmittedAt != nil:
		return v.was.AdmittedAt
	case v.queue() == "" || len(v.measuringPods()) == 0 || v.anyGated():
		return nil
	}
	return &metav1.Time{Time: v.Now}
}
