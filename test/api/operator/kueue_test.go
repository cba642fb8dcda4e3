package operator

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// group are the pods that Kueue is asked to look after.
func (l *lab) group() (pods []corev1.Pod) {
	l.t.Helper()
	for _, pod := range l.pods() {
		if pod.Labels[v1alpha1.LabelKueueQueue] != "" {
			pods = append(pods, pod)
		}
	}
	return pods
}

// takeUp is Kueue's webhook, which here comes a little late: it marks pods as looked after, and keeps them until it has counted them.
func (l *lab) takeUp() {
	l.t.Helper()
	for _, pod := range l.group() {
		patch := client.MergeFrom(pod.DeepCopy())
		pod.Labels[v1alpha1.LabelKueueManaged] = "true"
		controllerutil.AddFinalizer(&pod, v1alpha1.LabelKueueManaged)
		l.must(admin.Patch(l.t.Context(), &pod, patch))
	}
}

// admit is Kueue that has quota for the group.
func (l *lab) admit() {
	l.t.Helper()
	for _, pod := range l.group() {
		patch := client.MergeFrom(pod.DeepCopy())
		pod.Spec.SchedulingGates = nil
		l.must(admin.Patch(l.t.Context(), &pod, patch))
	}
}

// evict is Kueue that wants the quota for others.
func (l *lab) evict() {
	l.t.Helper()
	for _, pod := range l.group() {
		patch := client.MergeFrom(pod.DeepCopy())
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
			Type: "TerminationTarget", Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now(),
			Reason: "WorkloadEvictedDueToPreempted", Message: "Preempted to accommodate a workload of a higher priority",
		})
		l.must(admin.Status().Patch(l.t.Context(), &pod, patch))
		l.must(admin.Delete(l.t.Context(), &pod))
	}
}

// letGo is Kueue again: the group is over, its pods may go.
func (l *lab) letGo() {
	l.t.Helper()
	for _, pod := range l.group() {
		patch := client.MergeFrom(pod.DeepCopy())
		if pod.DeletionTimestamp != nil && controllerutil.RemoveFinalizer(&pod, v1alpha1.LabelKueueManaged) {
			l.must(client.IgnoreNotFound(admin.Patch(l.t.Context(), &pod, patch)))
		}
	}
}

// A test in a queue of Kueue's waits for as long as Kueue wants, is evicted in its run, waits again, and is measured at last. The test plays Kueue.
func TestATestInAQueueOfKueues(t *testing.T) {
	l := newLab(t)
	s := newScarce(t, []int64{4}, l)
	l.manage(nil, l.namespace)
	s.slow["a"] = true
	test := minimal("a")
	test.Labels = map[string]string{v1alpha1.LabelKueueQueue: "team-a"}
	l.create(test)
	l.awaitMessage("a", "Scheduled", "Queued: in Kueue's queue team-a")
	l.awaitMessage("a", "Scheduled", "Kueue doesn't look after these pods")
	l.takeUp()
	l.wantGroup("a-1-pods")
	s.play()
	for _, pod := range l.group() {
		if pod.Spec.NodeName != "" {
			t.Errorf("%s is placed, and not admitted", pod.Name)
		}
	}
	l.admit()
	s.until("its run", func() bool { return strings.HasPrefix(l.message("a", "Complete"), "Running") })
	s.until("the runner", func() bool { return len(l.pods()) == 3 })
	l.runner("a", 1).tell("Ramping", 30)
	l.await("its progress", func() bool { p := l.get("a").Status.Progress; return p != nil && p.Percent != nil })

	l.evict()
	l.await("the second attempt", func() bool { return l.get("a").Status.Attempt == 2 })
	if n := l.get("a").Status.Operator.LostRuns; n != 1 {
		t.Errorf("%d runs were lost", n)
	}
	s.until("the next group", func() bool {
		l.letGo()
		return slices.ContainsFunc(l.group(), func(p corev1.Pod) bool { return strings.HasPrefix(p.Name, "a-2-") })
	})
	l.awaitMessage("a", "Scheduled", "Queued: in Kueue's queue team-a")
	s.until("the first group's end", func() bool { l.letGo(); return len(l.group()) == 2 })
	l.takeUp()
	l.wantGroup("a-2-pods")
	l.admit()
	s.slow["a"] = false
	s.until("its end", func() bool { l.letGo(); return l.complete("a") })
	s.until("its pods to go", func() bool { l.letGo(); return len(l.group()) == 0 })
}

// wantGroup fails unless the pods are one group of this name, and tell how many they are.
func (l *lab) wantGroup(name string) {
	l.t.Helper()
	pods := l.group()
	if len(pods) != 2 {
		l.t.Fatalf("%d pods are in Kueue's queue, want the generator and the device", len(pods))
	}
	for _, pod := range pods {
		if got := pod.Labels["kueue.x-k8s.io/pod-group-name"]; got != name {
			l.t.Errorf("%s is in the group %q, want %q", pod.Name, got, name)
		}
		if got := pod.Annotations["kueue.x-k8s.io/pod-group-total-count"]; got != "2" {
			l.t.Errorf("%s says that its group has %q pods", pod.Name, got)
		}
		if len(pod.Spec.SchedulingGates) != 1 || pod.Spec.SchedulingGates[0].Name != v1alpha1.GateKueue {
			l.t.Errorf("%s has the gates %v", pod.Name, pod.Spec.SchedulingGates)
		}
	}
}
