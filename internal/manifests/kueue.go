package manifests

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// What makes pods one plain pod group (Kueue v0.10, "Run a group of Pods").
const (
	labelPodGroup      = "kueue.x-k8s.io/pod-group-name"
	annotationPodCount = "kueue.x-k8s.io/pod-group-total-count"
	// annotationRetriable says that no pod of the group is ever replaced in it: a group that lost one is over, and Kueue lets its pods go.
	annotationRetriable = "kueue.x-k8s.io/retriable-in-group"
)

// Queue is the LocalQueue of Kueue that the test's pods are queued in; empty: none.
func Queue(test *v1alpha1.LoadTest) string { return test.Labels[v1alpha1.LabelKueueQueue] }

// queued puts one of the attempt's generator and DUT pods into Kueue's queue, where the test asks for one. All of them are one group, so that
// they are admitted together; the setup, teardown and runner pods are not in it: they come before and after, and hold no devices.
//
// The gate is put on here and not left to Kueue's webhook: where that doesn't look after pods, they must wait, and not run past the queue.
func queued(in Input, pod *corev1.Pod) {
	queue := Queue(in.Test)
	if queue == "" {
		return
	}
	pod.Labels[v1alpha1.LabelKueueQueue] = queue
	pod.Labels[labelPodGroup] = ofAttempt(in.Test.Name, in.Attempt, "pods")
	if priority := in.Test.Labels[v1alpha1.LabelKueuePriority]; priority != "" {
		pod.Labels[v1alpha1.LabelKueuePriority] = priority
	}
	pod.Annotations = over(pod.Annotations, map[string]string{annotationPodCount: strconv.Itoa(groupSize(in)), annotationRetriable: "false"})
	pod.Spec.SchedulingGates = append(pod.Spec.SchedulingGates, corev1.PodSchedulingGate{Name: v1alpha1.GateKueue})
}

// groupSize is how many pods are in the group.
func groupSize(in Input) (n int) {
	if hasGeneratorPods(in) {
		n = len(in.Compiled.Plan.Generators)
	}
	if hasDUTPod(in) {
		n++
	}
	return n
}
