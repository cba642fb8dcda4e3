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

// Anyone who may create objects in a namespace may put linerate's labels on them, and 1.5 MiB into each. So the
// caches keep of every object only what the operator reads, up to a bound. The memory of a cache then follows
// from the number of objects, which quotas bound, and not from their content.
//
//	API server ──watch, one object at a time──▶ inBrief ──▶ cache
//	           ──list, a page at a time───────▶
//
//	at most    ConfigMap, Job   20 KiB   labels, annotations, the owner; a Progress 64 KiB more
//	           pod             288 KiB   network-status; containers and what became of them
//	           LoadTest        0.8 MiB   all that its schema takes, and 256 KiB in free-form fields
//	           LoadTestSuite             half of what a LoadTest's schema takes, and 512 KiB in free-form fields
//	           network          80 KiB   its configuration

const (
	// maxTexts is how many bytes of an object's labels are kept, and as many of its annotations. Each entry
	// counts textBytes more, for the map's overhead.
	maxTexts  = 4 << 10
	textBytes = 80
	// maxPodAnnotations is how many bytes of a pod's annotations are kept. Its network-status has some 300
	// bytes for each interface.
	maxPodAnnotations = 64 << 10
	// maxOwner is how many bytes an owner reference may have. linerate's own take a third of that.
	maxOwner = 1 << 10
	// maxPod is how many bytes are kept of a pod's containers, their states, and its conditions. That is
	// enough for some 50 containers with limits and requests.
	maxPod = 192 << 10
	// maxMessage is the maximum length of a pod's message, as of a termination message in the kubelet.
	// maxJobMessage is the same for a Job's conditions.
	maxMessage    = 4 << 10
	maxJobMessage = 256
	// maxContainers is how many containers of a pod are kept, and as many init containers.
	maxContainers = 64
	// maxConditions is how many conditions of a pod are kept, and maxJobConditions how many of a Job, which
	// has five kinds.
	maxConditions    = 16
	maxJobConditions = 6
	// maxConfig is the maximum length of a network's configuration.
	maxConfig = 64 << 10
)

// inBrief drops from an object what the operator doesn't read. It changes the object itself, which is the
// cache's own. A second call changes nothing.
func inBrief(object any) (any, error) {
	switch o := object.(type) {
	case *corev1.Node:
		nodeInBrief(o)
	case *corev1.Pod:
		o.ObjectMeta = metaInBrief(&o.ObjectMeta, maxPodAnnotations)
		podInBrief(o)
	case *batchv1.Job:
		o.ObjectMeta = metaInBrief(&o.ObjectMeta, maxTexts)
		jobInBrief(o)
	case *corev1.ConfigMap:
		o.ObjectMeta = metaInBrief(&o.ObjectMeta, maxTexts)
		o.Data, o.BinaryData = delivery.TrimProgress(o.Data), nil
	case *metav1.PartialObjectMetadata:
		o.ObjectMeta = metaInBrief(&o.ObjectMeta, maxTexts)
	case *v1alpha1.LoadTest:
		o.ObjectMeta = metaInBrief(&o.ObjectMeta, maxTexts)
		o.Spec.OmitFreeform()
	case *v1alpha1.LoadTestSuite:
		o.ObjectMeta = metaInBrief(&o.ObjectMeta, maxTexts)
		o.Spec.OmitFreeform()
	case *unstructured.Unstructured:
		networkInBrief(o)
	case metav1.Object:
		o.SetManagedFields(nil)
	}
	return object, nil
}

// metaInBrief keeps of an object's metadata its name, its controller, the operator's own finalizer, and the
// labels and annotations that the operator reads. Other finalizers are dropped, so code that changes finalizers
// reads them past the cache.
func metaInBrief(m *metav1.ObjectMeta, maxAnnotations int) metav1.ObjectMeta {
	brief := metav1.ObjectMeta{
		Namespace: m.Namespace, Name: m.Name, UID: m.UID, ResourceVersion: m.ResourceVersion, Generation: m.Generation,
		CreationTimestamp: m.CreationTimestamp, DeletionTimestamp: m.DeletionTimestamp,
		DeletionGracePeriodSeconds: m.DeletionGracePeriodSeconds,
		Labels:                     textsInBrief(m.Labels, maxTexts), Annotations: textsInBrief(m.Annotations,
			maxAnnotations),
	}
	if slices.Contains(m.Finalizers, v1alpha1.FinalizerTeardown) {
		brief.Finalizers = []string{v1alpha1.FinalizerTeardown}
	}
	if owner := metav1.GetControllerOf(m); owner != nil && len(owner.APIVersion)+len(owner.Kind)+len(owner.Name)+
		len(owner.UID) <= maxOwner {
		brief.OwnerReferences = []metav1.OwnerReference{*owner}
	}
	return brief
}

// textsInBrief are the labels or annotations that the operator reads, up to a bound. They are in the order of
// their ranks and then of their names, so that other people's labels can't crowd out linerate's. A label that
// is too long is left out, and shorter ones after it may still fit.
func textsInBrief(texts map[string]string, budgetBytes int) map[string]string {
	var read []string
	for key := range texts {
		if rank(key) < unread {
			read = append(read, key)
		}
	}
	slices.SortFunc(read, func(a, b string) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b)) })
	var brief map[string]string
	for _, key := range read {
		bytes := len(key) + len(texts[key]) + textBytes
		if bytes > budgetBytes {
			continue
		}
		if brief == nil {
			brief = map[string]string{}
		}
		budgetBytes -= bytes
		brief[key] = texts[key]
	}
	return brief
}

// unread is the rank of labels and annotations that the operator doesn't read.
const unread = 4

// rank orders labels and annotations. linerate's own have rank 0, Multus' rank 1, Kueue's and the object's
// maker rank 2, and those of tools that would create a LoadTest again rank 3.
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

// Memory in bytes that list entries take besides their texts.
const (
	containerBytes = 512
	statusBytes    = 768 // with its state
	conditionBytes = 160
	amountsBytes   = 640 // a list of resources, with room for eight
	amountBytes    = 165 // each of them
	deviceBytes    = 64
)

// podInBrief keeps of a pod its node, its scheduling gates, the names, images and limits of its containers, and
// their states. It leaves out what there is no room for.
func podInBrief(pod *corev1.Pod) {
	budget, spec, status := room(maxPod), &pod.Spec, &pod.Status
	brief := corev1.PodSpec{NodeName: spec.NodeName}
	for _, gate := range spec.SchedulingGates {
		if budget.takes(len(gate.Name) + textBytes) {
			brief.SchedulingGates = append(brief.SchedulingGates, gate)
		}
	}
	brief.InitContainers, brief.Containers = budget.containers(spec.InitContainers), budget.containers(spec.Containers)
	pod.Spec = brief
	pod.Status = corev1.PodStatus{
		Phase: status.Phase, Reason: cut(status.Reason, maxMessage), Message: cut(status.Message, maxMessage),
		PodIP: status.PodIP, StartTime: status.StartTime, QOSClass: status.QOSClass,
		Conditions:            budget.conditions(status.Conditions),
		InitContainerStatuses: budget.statuses(status.InitContainerStatuses),
		ContainerStatuses:     budget.statuses(status.ContainerStatuses),
	}
}

func (r *room) containers(containers []corev1.Container) (brief []corev1.Container) {
	for _, c := range containers[:min(len(containers), maxContainers)] {
		if !r.takes(containerBytes + len(c.Name) + len(c.Image) + bytesOf(c.Resources.Limits)) {
			continue
		}
		container := corev1.Container{Name: c.Name, Image: c.Image,
			Resources: corev1.ResourceRequirements{Limits: c.Resources.Limits}}
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			container.RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
		}
		brief = append(brief, container)
	}
	return slices.Clone(brief) // as long as it is, and no longer
}

// statuses keep what the operator reads of container statuses. A pod has as many as containers.
func (r *room) statuses(statuses []corev1.ContainerStatus) (brief []corev1.ContainerStatus) {
	for _, s := range statuses[:min(len(statuses), maxContainers)] {
		status := corev1.ContainerStatus{
			Name: s.Name, Image: s.Image, ImageID: s.ImageID, Ready: s.Ready, Started: s.Started,
			RestartCount: s.RestartCount, State: stateInBrief(&s.State),
		}
		if bytes := statusBytes + len(s.Name) + len(s.Image) + len(s.ImageID) +
			stateTexts(&status.State); !r.takes(bytes) {
			continue
		}
		if r.takes(allocatedBytes(s.AllocatedResourcesStatus)) {
			status.AllocatedResourcesStatus = s.AllocatedResourcesStatus
		}
		brief = append(brief, status)
	}
	return slices.Clone(brief) // as long as it is, and no longer
}

func (r *room) conditions(conditions []corev1.PodCondition) (brief []corev1.PodCondition) {
	for _, c := range conditions[:min(len(conditions), maxConditions)] {
		c.Message = cut(c.Message, maxMessage)
		if r.takes(conditionBytes + len(c.Type) + len(c.Status) + len(c.Reason) + len(c.Message)) {
			brief = append(brief, c)
		}
	}
	return slices.Clone(brief) // as long as it is, and no longer
}

func stateInBrief(s *corev1.ContainerState) (brief corev1.ContainerState) {
	brief.Running = s.Running
	if w := s.Waiting; w != nil {
		brief.Waiting = &corev1.ContainerStateWaiting{Reason: cut(w.Reason, maxMessage),
			Message: cut(w.Message, maxMessage)}
	}
	if t := s.Terminated; t != nil {
		brief.Terminated = &corev1.ContainerStateTerminated{
			ExitCode: t.ExitCode, Signal: t.Signal, Reason: cut(t.Reason, maxMessage),
			Message: cut(t.Message, maxMessage), StartedAt: t.StartedAt, FinishedAt: t.FinishedAt,
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

func allocatedBytes(statuses []corev1.ResourceStatus) (bytes int) {
	for _, s := range statuses {
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

// cut is a text of at most that many bytes.
func cut(text string, maxBytes int) string {
	if len(text) <= maxBytes {
		return text
	}
	// a clone, since a part keeps the whole text in memory
	return strings.Clone(strings.ToValidUTF8(text[:maxBytes], ""))
}

// jobInBrief keeps of a Job whether a person or Kueue suspended it, and its conditions.
func jobInBrief(job *batchv1.Job) {
	var conditions []batchv1.JobCondition
	for _, c := range job.Status.Conditions[:min(len(job.Status.Conditions), maxJobConditions)] {
		c.Reason, c.Message = cut(c.Reason, maxJobMessage), cut(c.Message, maxJobMessage)
		conditions = append(conditions, c)
	}
	job.Spec = batchv1.JobSpec{Suspend: job.Spec.Suspend}
	job.Status = batchv1.JobStatus{Conditions: conditions}
}

// networkInBrief keeps of a network its annotations and its configuration. A configuration that is too long is
// cut, and can't be read then.
func networkInBrief(network *unstructured.Unstructured) {
	// a configuration that isn't a text isn't read either
	config, _, _ := unstructured.NestedString(network.Object, "spec", "config")
	brief := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"config": cut(config,
		maxConfig)}}}
	brief.SetGroupVersionKind(network.GroupVersionKind())
	brief.SetNamespace(network.GetNamespace())
	brief.SetName(network.GetName())
	brief.SetUID(network.GetUID())
	brief.SetResourceVersion(network.GetResourceVersion())
	brief.SetAnnotations(textsInBrief(network.GetAnnotations(), maxTexts))
	network.Object = brief.Object
}

// nodeInBrief keeps of a node what inventory.NodeOf reads. The rest is large, and changes all the time.
func nodeInBrief(node *corev1.Node) {
	brief := corev1.Node{TypeMeta: node.TypeMeta, ObjectMeta: metav1.ObjectMeta{
		Name: node.Name, UID: node.UID, ResourceVersion: node.ResourceVersion,
		DeletionTimestamp: node.DeletionTimestamp,
	}}
	brief.Spec.Unschedulable, brief.Status.Allocatable = node.Spec.Unschedulable, node.Status.Allocatable
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			brief.Status.Conditions = []corev1.NodeCondition{{Type: condition.Type, Status: condition.Status}}
		}
	}
	*node = brief
}
