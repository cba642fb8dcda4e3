package manifests

import (
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

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
	if tunnelOf(in) != nil {
		n++
	}
	return n
}

// mostKinds is how many kinds of pods a group has at most: Kueue stops at more, without a word to those who wait ("Run a group of Pods").
const mostKinds = 8

// CheckGroup says why Kueue would never admit the test's pods; nil: it may, or isn't asked.
func CheckGroup(in Input) error {
	if Queue(in.Test) == "" {
		return nil
	}
	n := len(kinds(in))
	if n <= mostKinds {
		return nil
	}
	return fmt.Errorf("metadata.labels[%s]: the test's pods are of %d kinds, and Kueue admits a group of %d at most: each generator of layout %s avoids the machine of its own far end, which makes it a kind of its own; "+
		"take fewer links or replicas, or layout %s, or create the test without the label",
		v1alpha1.LabelKueueQueue, n, mostKinds, v1alpha1.LayoutPerLink, v1alpha1.LayoutPaired)
}

// kinds are the group's pods without what Kueue doesn't tell them apart by.
func kinds(in Input) (all []corev1.PodSpec) {
	for _, p := range append(Generators(in), Devices(in)...) {
		kind := kindOf(p.Spec)
		if !slices.ContainsFunc(all, func(other corev1.PodSpec) bool { return equality.Semantic.DeepEqual(kind, other) }) {
			all = append(all, kind)
		}
	}
	return all
}

// kindOf is what Kueue takes for a pod's role: what decides where it may run, and with how much.
func kindOf(s corev1.PodSpec) corev1.PodSpec {
	return corev1.PodSpec{
		InitContainers: wantsOf(s.InitContainers), Containers: wantsOf(s.Containers), NodeSelector: s.NodeSelector, Affinity: s.Affinity,
		Tolerations: s.Tolerations, RuntimeClassName: s.RuntimeClassName, PriorityClassName: s.PriorityClassName,
		TopologySpreadConstraints: s.TopologySpreadConstraints, ResourceClaims: s.ResourceClaims,
	}
}

func wantsOf(containers []corev1.Container) (all []corev1.Container) {
	for _, c := range containers {
		all = append(all, corev1.Container{Resources: corev1.ResourceRequirements{Requests: c.Resources.Requests}, Ports: c.Ports})
	}
	return all
}
