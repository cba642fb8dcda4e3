package caches

import (
	"cmp"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/retention"
	"github.com/linerate-dev/linerate/internal/document/delivery"
)

// Whoever may create objects in a namespace may put our labels on them, and 1.5 MiB into each. So the caches keep of every object only what the operator reads, up to a
// bound: how much memory a cache takes then follows from how many objects there are, which quotas bound, and not from what is in them.
//
//	API server ──watch, one object at a time──▶ inBrief ──▶ cache
//	           ──list, a page at a time───────▶
//
//	at most    ConfigMap, Job   20 KiB   labels, annotations, the owner; a Progress 64 KiB more
//	           pod             288 KiB   network-status; containers and what became of them
//	           LoadTest        0.8 MiB   all that its schema takes, and 256 KiB in forms of others; a suite half of that, and twice as much in those
//	           network          80 KiB   its configuration

const (
	// mostTexts is how many bytes of an object's labels are kept, and as many of its annotations. Each entry counts textBytes more, for the map's overhead.
	mostTexts = 4 << 10
	textBytes = 80
	// mostPodAnnotations is how many bytes of a pod's annotations are kept: its network-status has some 300 bytes for each interface.
	mostPodAnnotations = 64 << 10
	// mostOwner is how many bytes an owner reference may have; linerate's own take a third of that.
	mostOwner = 1 << 10
	// mostPod is how many bytes are kept of a pod's containers, their states, and its conditions: enough for some 50 containers with limits and requests.
	mostPod = 192 << 10
	// mostMessage is how long each message of a pod may be: a kubelet takes as much of a termination message. mostJobMessage is the same for a Job's conditions.
	mostMessage    = 4 << 10
	mostJobMessage = 256
	// mostContainers is how many containers of a pod are kept, and as many init containers.
	mostContainers = 64
	// mostConditions is how many conditions of a pod are kept, mostJobConditions how many of a Job, which has five kinds.
	mostConditions    = 16
	mostJobConditions = 6
	// mostConfig is how long a network's configuration may be.
	mostConfig = 64 << 10
)

// inBrief drops from an object what the operator doesn't read. It changes the object itself, which is the cache's own; doing it twice changes nothing.
func inBrief(object any) (any, error) {
	switch o := object.(type) {
	case *corev1.Node:
		nodeInBrief(o)
	case *corev1.Pod:
		o.ObjectMeta = metaInBrief(&o.ObjectMeta, mostPodAnnotations)
		podInBrief(o)
	case *batchv1.Job:
		o.ObjectMeta = metaInBrief(&o.ObjectMeta, mostTexts)
		jobInBrief(o)
	case *corev1.ConfigMap:
		o.ObjectMeta = metaInBrief(&o.ObjectMeta, mostTexts)
		o.Data, o.BinaryData = delivery.TrimProgress(o.Data), nil
	case *metav1.PartialObjectMetadata:
		o.ObjectMeta = metaInBrief(&o.ObjectMeta, mostTexts)
	case *v1alpha1.LoadTest:
		o.ObjectMeta = metaInBrief(&o.ObjectMeta, mostTexts)
		o.Spec.OmitFreeform()
	case *v1alpha1.LoadTestSuite:
		o.ObjectMeta = metaInBrief(&o.ObjectMeta, mostTexts)
		o.Spec.OmitFreeform()
	case *unstructured.Unstructured:
		networkInBrief(o)
	case metav1.Object:
		o.SetManagedFields(nil)
	}
	return object, nil
}

// metaInBrief keeps of an object's metadata its name, its controller, the operator's own finalizer, and the labels and annotations that the operator reads.
// Other finalizers are dropped: code that changes finalizers reads them past the cache.
func metaInBrief(m *metav1.ObjectMeta, mostAnnotations int) metav1.ObjectMeta {
	brief := metav1.ObjectMeta{
		Namespace: m.Namespace, Name: m.Name, UID: m.UID, ResourceVersion: m.ResourceVersion, Generation: m.Generation,
		CreationTimestamp: m.CreationTimestamp, DeletionTimestamp: m.DeletionTimestamp, DeletionGracePeriodSeconds: m.DeletionGracePeriodSeconds,
		Labels: textsInBrief(m.Labels, mostTexts), Annotations: textsInBrief(m.Annotations, mostAnnotations),
	}
	if slices.Contains(m.Finalizers, v1alpha1.FinalizerTeardown) {
		brief.Finalizers = []string{v1alpha1.FinalizerTeardown}
	}
	if owner := metav1.GetControllerOf(m); owner != nil && len(owner.APIVersion)+len(owner.Kind)+len(owner.Name)+len(owner.UID) <= mostOwner {
		brief.OwnerReferences = []metav1.OwnerReference{*owner}
	}
	return brief
}

// textsInBrief are the labels or annotations that the operator reads, up to a bound, in order of rank, so that other people's can't crowd out its own, and then of names. One that is too
// long is left out, and those after it may still fit.
func textsInBrief(all map[string]string, most int) map[string]string {
	var read []string
	for key := range all {
		if rank(key) < unread {
			read = append(read, key)
		}
	}
	slices.SortFunc(read, func(a, b string) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b)) })
	var kept map[string]string
	for _, key := range read {
		bytes := len(key) + len(all[key]) + textBytes
		if bytes > most {
			continue
		}
		if kept == nil {
			kept = map[string]string{}
		}
		most -= bytes
		kept[key] = all[key]
	}
	return kept
}

// unread is the rank of labels and annotations that the operator doesn't read.
const unread = 4

// rank orders labels and annotations, from 0: linerate's own; Multus'; Kueue's and the object's maker; those of tools that would create a LoadTest again.
func rank(key string) int {
	domain, _, _ := strings.Cut(key, "/")
	switch {
	case domain == v1alpha1.GroupVersion.Group:
		return 0
	case domain == "k8s.v1.cni.cncf.io":
		return 1
	case domain == "kueue.x-k8s.io" || key == "app.kubernetes.io/managed-by":
		return 2
	case retention.Tracks(key):
		return 3
	}
	return unread
}

// room is how many bytes may still be kept of a pod.
type room int

// takes reserves so many bytes, and says whether there was room for them.
func (r *room) takes(bytes int) bool {
	if bytes > int(*r) {
		return false
	}
	*r -= room(bytes)
	return true
}

// What entries of lists take in memory besides their texts.
const (
	containerBytes = 512
	statusBytes    = 768 // with its state
	conditionBytes = 160
	amountsBytes   = 640 // a list of resources, with room for eight
	amountBytes    = 165 // each of them
	deviceBytes    = 64
)

// podInBrief keeps of a pod where it is, what holds it back, what its containers are called, run and have limits of, and what became of them. What there is no room for is left out.
func podInBrief(pod *corev1.Pod) {
	left, spec, status := room(mostPod), &pod.Spec, &pod.Status
	brief := corev1.PodSpec{NodeName: spec.NodeName}
	for _, gate := range spec.SchedulingGates {
		if left.takes(len(gate.Name) + textBytes) {
			brief.SchedulingGates = append(brief.SchedulingGates, gate)
		}
	}
	brief.InitContainers, brief.Containers = left.containers(spec.InitContainers), left.containers(spec.Containers)
	pod.Spec = brief
	pod.Status = corev1.PodStatus{
		Phase: status.Phase, Reason: cut(status.Reason, mostMessage), Message: cut(status.Message, mostMessage), PodIP: status.PodIP, StartTime: status.StartTime, QOSClass: status.QOSClass,
		Conditions: left.conditions(status.Conditions), InitContainerStatuses: left.statuses(status.InitContainerStatuses), ContainerStatuses: left.statuses(status.ContainerStatuses),
	}
}

func (r *room) containers(all []corev1.Container) (brief []corev1.Container) {
	for _, c := range all[:min(len(all), mostContainers)] {
		if !r.takes(containerBytes + len(c.Name) + len(c.Image) + bytesOf(c.Resources.Limits)) {
			continue
		}
		kept := corev1.Container{Name: c.Name, Image: c.Image, Resources: corev1.ResourceRequirements{Limits: c.Resources.Limits}}
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			kept.RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
		}
		brief = append(brief, kept)
	}
	return slices.Clone(brief) // as long as it is, and no longer
}

// statuses keep what is read of what became of containers: a pod has as many as containers.
func (r *room) statuses(all []corev1.ContainerStatus) (brief []corev1.ContainerStatus) {
	for _, s := range all[:min(len(all), mostContainers)] {
		kept := corev1.ContainerStatus{
			Name: s.Name, Image: s.Image, ImageID: s.ImageID, Ready: s.Ready, Started: s.Started, RestartCount: s.RestartCount, State: stateInBrief(&s.State),
		}
		if bytes := statusBytes + len(s.Name) + len(s.Image) + len(s.ImageID) + stateTexts(&kept.State); !r.takes(bytes) {
			continue
		}
		if r.takes(allocatedBytes(s.AllocatedResourcesStatus)) {
			kept.AllocatedResourcesStatus = s.AllocatedResourcesStatus
		}
		brief = append(brief, kept)
	}
	return slices.Clone(brief) // as long as it is, and no longer
}

func (r *room) conditions(all []corev1.PodCondition) (brief []corev1.PodCondition) {
	for _, c := range all[:min(len(all), mostConditions)] {
		c.Message = cut(c.Message, mostMessage)
		if r.takes(conditionBytes + len(c.Type) + len(c.Status) + len(c.Reason) + len(c.Message)) {
			brief = append(brief, c)
		}
	}
	return slices.Clone(brief) // as long as it is, and no longer
}

func stateInBrief(s *corev1.ContainerState) (brief corev1.ContainerState) {
	brief.Running = s.Running
	if w := s.Waiting; w != nil {
		brief.Waiting = &corev1.ContainerStateWaiting{Reason: cut(w.Reason, mostMessage), Message: cut(w.Message, mostMessage)}
	}
	if t := s.Terminated; t != nil {
		brief.Terminated = &corev1.ContainerStateTerminated{
			ExitCode: t.ExitCode, Signal: t.Signal, Reason: cut(t.Reason, mostMessage), Message: cut(t.Message, mostMessage), StartedAt: t.StartedAt, FinishedAt: t.FinishedAt,
		}
	}
	return brief
}

func stateTexts(s *corev1.ContainerState) (bytes int) {
	if s.Waiting != nil {
		bytes += len(s.Waiting.Reason) + len(s.Waiting.Message)
	}
	if s.Terminated != nil {
		bytes += len(s.Terminated.Reason) + len(s.Terminated.Message)
	}
	return bytes
}

func bytesOf(list corev1.ResourceList) (bytes int) {
	if len(list) > 0 {
		bytes = amountsBytes
	}
	for name := range list {
		bytes += len(name) + amountBytes
	}
	return bytes
}

func allocatedBytes(all []corev1.ResourceStatus) (bytes int) {
	for _, s := range all {
		bytes += len(s.Name) + deviceBytes
		for _, d := range s.Resources {
			bytes += len(d.ResourceID) + len(d.Health) + deviceBytes
			if d.Message != nil {
				bytes += len(*d.Message) + deviceBytes
			}
		}
	}
	return bytes
}

// cut is a text as far as it is kept.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.Clone(strings.ToValidUTF8(text[:most], "")) // else the whole of it stays
}

// jobInBrief keeps of a Job whether somebody suspended it, and how it is getting on.
func jobInBrief(job *batchv1.Job) {
	var conditions []batchv1.JobCondition
	for _, c := range job.Status.Conditions[:min(len(job.Status.Conditions), mostJobConditions)] {
		c.Reason, c.Message = cut(c.Reason, mostJobMessage), cut(c.Message, mostJobMessage)
		conditions = append(conditions, c)
	}
	job.Spec = batchv1.JobSpec{Suspend: job.Spec.Suspend}
	job.Status = batchv1.JobStatus{Conditions: conditions}
}

// networkInBrief keeps of a network its annotations, and its configuration unless that is too long: then it is one that can't be read.
func networkInBrief(network *unstructured.Unstructured) {
	config, _, _ := unstructured.NestedString(network.Object, "spec", "config") // what is no text isn't read either
	brief := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"config": cut(config, mostConfig)}}}
	brief.SetGroupVersionKind(network.GroupVersionKind())
	brief.SetNamespace(network.GetNamespace())
	brief.SetName(network.GetName())
	brief.SetUID(network.GetUID())
	brief.SetResourceVersion(network.GetResourceVersion())
	brief.SetAnnotations(textsInBrief(network.GetAnnotations(), mostTexts))
	network.Object = brief.Object
}

// nodeInBrief keeps of a node what inventory.NodeOf reads: the rest is large, and changes all the time.
func nodeInBrief(node *corev1.Node) {
	brief := corev1.Node{TypeMeta: node.TypeMeta, ObjectMeta: metav1.ObjectMeta{
		Name: node.Name, UID: node.UID, ResourceVersion: node.ResourceVersion, DeletionTimestamp: node.DeletionTimestamp,
	}}
	brief.Spec.Unschedulable, brief.Status.Allocatable = node.Spec.Unschedulable, node.Status.Allocatable
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			brief.Status.Conditions = []corev1.NodeCondition{{Type: condition.Type, Status: condition.Status}}
		}
	}
	*node = brief
}
