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
	// annotationRetriable says that lost pods of the group are never replaced. The group is over then, and Kueue
	// releases its pods.
	annotationRetriable = "kueue.x-k8s.io/retriable-in-group"
)

// Queue is the LocalQueue of Kueue that the test's pods are queued in. Empty means none.
func Queue(test *v1alpha1.LoadTest) string { return test.Labels[v1alpha1.LabelKueueQueue] }

// queueInKueue puts a generator or DUT pod into the queue of Kueue that the test names, if it names one. All these pods
// are one group, so that Kueue admits them together. Setup, teardown and runner pods aren't in the queue, since they
// hold no devices.
//
// The scheduling gate is set here and not left to Kueue's webhook. If that doesn't manage pods, they wait, and don't
// run past the queue.
func queueInKueue(input Input, pod *corev1.Pod) {
	queue := Queue(input.Test)
	if queue == "" {
		return
	}
	pod.Labels[v1alpha1.LabelKueueQueue] = queue
	pod.Labels[labelPodGroup] = attemptName(input.Test.Name, input.Attempt, "pods")
	if priority := input.Test.Labels[v1alpha1.LabelKueuePriority]; priority != "" {
		pod.Labels[v1alpha1.LabelKueuePriority] = priority
	}
	pod.Annotations = merge(pod.Annotations, map[string]string{annotationPodCount: strconv.Itoa(groupSize(input)),
		annotationRetriable: "false"})
	pod.Spec.SchedulingGates = append(pod.Spec.SchedulingGates, corev1.PodSchedulingGate{Name: v1alpha1.GateKueue})
}

// groupSize is how many pods are in the group.
func groupSize(input Input) (n int) {
	if hasGeneratorPods(input) {
		n = len(input.Compiled.Plan.Generators)
	}
	if hasDUTPod(input) {
		n++
	}
	if tunnelOf(input) != nil {
		n++
	}
	return n
}

// maxKinds is how many kinds of pods a group may have. Kueue silently ignores a group with more ("Run a group of
// Pods").
const maxKinds = 8

// CheckGroup says why Kueue would never admit the test's pods. Nil means that it may, or the test names no queue.
func CheckGroup(input Input) error {
	if Queue(input.Test) == "" {
		return nil
	}
	n := len(kinds(input))
	if n <= maxKinds {
		return nil
	}
	return fmt.Errorf("metadata.labels[%s]: the test's pods are of %d kinds, and Kueue admits a group of %d at most: "+
		"each generator of layout %s avoids the machine of its own far end, which makes it a kind of its own; "+
		"use fewer links or replicas, or layout %s, or create the test without the label",
		v1alpha1.LabelKueueQueue, n, maxKinds, v1alpha1.LayoutPerLink, v1alpha1.LayoutPaired)
}

// kinds are the distinct kinds of the group's pods, as Kueue tells them apart.
func kinds(input Input) (kinds []corev1.PodSpec) {
	for _, p := range append(Generators(input), Devices(input)...) {
		kind := kindOf(p.Spec)
		if !slices.ContainsFunc(kinds, func(distinct corev1.PodSpec) bool {
			return equality.Semantic.DeepEqual(kind,
				distinct)
		}) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// kindOf is the part of a pod that Kueue tells kinds apart by, which is where it may run, and its requests.
func kindOf(s corev1.PodSpec) corev1.PodSpec {
	return corev1.PodSpec{
		InitContainers: wantsOf(s.InitContainers), Containers: wantsOf(s.Containers), NodeSelector: s.NodeSelector,
		Affinity:    s.Affinity,
		Tolerations: s.Tolerations, RuntimeClassName: s.RuntimeClassName, PriorityClassName: s.PriorityClassName,
		TopologySpreadConstraints: s.TopologySpreadConstraints, ResourceClaims: s.ResourceClaims,
	}
}

func wantsOf(containers []corev1.Container) (requests []corev1.Container) {
	for _, c := range containers {
		resources := corev1.ResourceRequirements{Requests: c.Resources.Requests}
		requests = append(requests, corev1.Container{Resources: resources, Ports: c.Ports})
	}
	return requests
}
