package lifecycle

import (
	"cmp"
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
	existing  map[string]bool
	documents []string
	refusals  []Refusal
	now       time.Time
}

// podsNeeded: pods of the DUT or the generators are missing. One pod of each kind is tried in a dry run before any device is taken.
func (pl *placement) podsNeeded() *step {
	in := pl.blueprint.input()
	var missing []manifests.Object
	for _, p := range pl.blueprint.pods() {
		if pl.attempt.pod(p.Name) == nil {
			missing = append(missing, p)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return pl.make("Placing", append([]manifests.Object{manifests.Links(in)}, missing...)...)
}

// pods are the attempt's pods, the DUT's first.
func (b *blueprint) pods() []*corev1.Pod { return podsOf(b.input()) }

func podsOf(in manifests.Input) []*corev1.Pod {
	return append(manifests.Devices(in), manifests.Generators(in)...)
}

// make tries the pods in a dry run, unless some exist already, and then creates those that are missing.
func (pl *placement) make(activity string, objects ...manifests.Object) *step {
	if pl.refusals == nil && len(pl.attempt.measuringPods()) == 0 {
		return &step{reason: v1alpha1.ReasonPending, message: "one pod of each kind is tried before any device is taken", try: pl.samples()}
	}
	if len(pl.refusals) > 0 {
		return pl.refusedStep(pl.refusals)
	}
	s := &step{
		reason: v1alpha1.ReasonPending, message: "pods are made", activity: activity,
		scheduled: no(v1alpha1.ReasonPending, "pods are made"),
	}
	for _, o := range objects {
		if !pl.present(o) {
			s.create = append(s.create, o)
		}
	}
	return s.waitUntil(pl.deadlines.placedUntil())
}

// samples are what a dry run tries: the setup's pod, the DUT's, the first generator's, and the Report's copy, whose name must be free at the end.
func (pl *placement) samples() []manifests.Object {
	in := pl.blueprint.input()
	var out []manifests.Object
	if copied := manifests.EmptyReportCopy(pl.test); !pl.present(copied) && (pl.test.Spec.DUT.Setup == nil || !pl.setup.isDone()) { // else it was tried with the setup
		out = append(out, copied)
	}
	if setup := manifests.Setup(in); setup != nil && !pl.setup.isDone() {
		out = append(out, setup)
	}
	for _, dut := range manifests.Devices(in) {
		out = append(out, dut)
	}
	if generators := manifests.Generators(in); len(generators) > 0 {
		out = append(out, generators[0])
	}
	return out
}

// refusedStep: the API server refuses a pod. A refusal that may pass is tried again soon; a refusal of the pod itself when something changes, and now and
// then, since quotas and policies aren't watched.
func (pl *placement) refusedStep(refusals []Refusal) *step {
	words := make([]string, 0, len(refusals))
	for i, r := range refusals {
		told := fmt.Sprintf("the API server refuses %s: %s", r.Pod, strings.TrimSpace(r.Message))
		if way := wayOut(r); i == len(refusals)-1 || way != wayOut(refusals[i+1]) {
			told += way // once for all that it helps
		}
		words = append(words, told)
	}
	return pl.deadlines.waits(v1alpha1.ReasonPodRefused, strings.Join(words, "; ")).waitUntil(pl.nextTry(refusals, pl.now))
}

// nextTry is when to ask again after refusals that came at a moment: the later, the longer it has been so.
func (pl *placement) nextTry(refusals []Refusal, at time.Time) time.Time {
	first, last := retryTransientFirst, retryTransientLast
	if slices.ContainsFunc(refusals, func(r Refusal) bool { return !r.Transient }) {
		first, last = retryRefusedFirst, retryRefusedLast
	}
	return at.Add(backoff(at.Sub(pl.history.since(v1alpha1.ConditionReconciling)), first, last))
}

// wayOut is what to do about a refusal, where its words are well known.
func wayOut(r Refusal) string {
	switch m := strings.ToLower(r.Message); {
	case r.Transient:
		return " (it is tried again)"
	case strings.Contains(m, "podsecurity"):
		return " (label the namespace pod-security.kubernetes.io/enforce=privileged: generators need network capabilities)"
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

// unscheduled: pods wait for a node.
func (q *queueing) unscheduled() *step {
	var waiting, refused []string
	var why string
	for _, p := range q.attempt.measuringPods() {
		if p.Spec.NodeName != "" {
			continue
		}
		waiting = append(waiting, p.Name)
		if c, no := nodeless(p); no {
			refused, why = append(refused, p.Name), cmp.Or(why, schedulersWords(c.Message))
		}
	}
	switch {
	case len(waiting) == 0:
		return nil
	case len(refused) == 0:
		s := q.deadlines.waits(v1alpha1.ReasonPending, "the scheduler hasn't placed yet: "+listed(waiting))
		s.activity = "Placing"
		return s.waitUntil(q.givesBackAt())
	}
	return q.deadlines.waits(v1alpha1.ReasonUnschedulable, wording.JoinNonEmpty(": ", placeless(refused), why)+
		": it goes on by itself when there is room; other tests and pods hold devices too (kubectl describe node shows them)").waitUntil(q.givesBackAt())
}

// nodeless says whether the scheduler finds no node for a pod, and why. A pod whose scheduling gates were just removed still has the condition of a
// gated pod, and isn't nodeless: the scheduler hasn't tried it yet.
func nodeless(p *corev1.Pod) (corev1.PodCondition, bool) {
	c := condition(p, corev1.PodScheduled)
	freed := c.Reason == corev1.PodReasonSchedulingGated && len(p.Spec.SchedulingGates) == 0
	return c, c.Status == corev1.ConditionFalse && !freed
}

// placeless says which pods find no node.
func placeless(pods []string) string {
	if len(pods) == 1 {
		return fmt.Sprintf("pod %s finds no node", pods[0])
	}
	return fmt.Sprintf("pods %s and %d more find no node", pods[0], len(pods)-1)
}

// unscheduledWords is what the scheduler says of a pod that it can't place; empty: nothing.
func unscheduledWords(p *corev1.Pod) string {
	c, no := nodeless(p)
	if p.Spec.NodeName != "" || !no {
		return ""
	}
	return wording.JoinNonEmpty(": ", placeless([]string{p.Name}), schedulersWords(c.Message))
}

// schedulersWords are why no node fits, without the scheduler's remarks on preemption, claims and the like, which no author of a test can act on.
func schedulersWords(message string) string {
	why, rest, more := strings.Cut(message, ". ")
	if more && (strings.HasPrefix(rest, "no new claims") || strings.HasPrefix(rest, "preemption:")) {
		return why
	}
	return strings.TrimSuffix(message, ".")
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
