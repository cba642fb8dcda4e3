package caches

import (
	"maps"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/delivery"
)

// Whoever may make objects in a namespace may put our labels on them, and 1.5 MiB into each. Of every object the caches keep in brief what the operator reads, and
// of that no more than a bound, before it is kept: so what a cache takes follows from how many objects there are, which quotas bound, and not from what is in
// them.
//
//	API server ──watch, one object at a time──▶ inBrief ──▶ cache
//	           ──list, a page at a time───────▶

const (
	// mostAnnotations is how many bytes of the annotations that the operator reads are kept; a pod's network-status has some 300 for each interface.
	mostAnnotations = 64 << 10
	// mostForeign is how many other labels and annotations are kept, and mostForeignText how long their values may be: some are shown by tools that track objects.
	mostForeign     = 32
	mostForeignText = 1 << 10
	// mostContainers is how many containers of a pod are kept, and as many init containers.
	mostContainers = 64
	// mostConfig is how long a network's configuration may be.
	mostConfig = 64 << 10
)

// inBrief keeps of an object what the operator reads. It changes the object itself, which is the cache's own, and may be asked to twice.
func inBrief(object any) (any, error) {
	switch o := object.(type) {
	case *corev1.Node:
		nodeInBrief(o)
	case *corev1.Pod:
		childInBrief(&o.ObjectMeta)
		o.Spec = podInBrief(&o.Spec)
	case *batchv1.Job:
		childInBrief(&o.ObjectMeta)
		o.Spec.Template = corev1.PodTemplateSpec{}
	case *corev1.ConfigMap:
		childInBrief(&o.ObjectMeta)
		o.Data, o.BinaryData = delivery.TrimProgress(o.Data), nil
	case *metav1.PartialObjectMetadata:
		childInBrief(&o.ObjectMeta)
	case *v1alpha1.LoadTest:
		ownInBrief(&o.ObjectMeta)
		o.Spec.OmitFreeform()
	case *v1alpha1.LoadTestSuite:
		ownInBrief(&o.ObjectMeta)
		o.Spec.OmitFreeform()
	case *unstructured.Unstructured:
		networkInBrief(o)
	case metav1.Object:
		o.SetManagedFields(nil)
	}
	return object, nil
}

// ownInBrief keeps of the metadata of tests and suites all but long texts. Their finalizers and owners stay as they are: a patch replaces such a list whole.
func ownInBrief(m *metav1.ObjectMeta) {
	m.ManagedFields = nil
	m.Labels, m.Annotations = textsInBrief(m.Labels), textsInBrief(m.Annotations)
}

// childInBrief keeps of the metadata of what belongs to a test, besides, only who controls it.
func childInBrief(m *metav1.ObjectMeta) {
	ownInBrief(m)
	m.Finalizers = nil
	owner := metav1.GetControllerOf(m)
	m.OwnerReferences = nil
	if owner != nil {
		m.OwnerReferences = []metav1.OwnerReference{*owner}
	}
}

// textsInBrief are labels or annotations: those that the operator reads up to their bound, and some short ones of others, by their names' order.
func textsInBrief(all map[string]string) map[string]string {
	kept, read, foreign := make(map[string]string, len(all)), 0, 0
	for _, key := range slices.Sorted(maps.Keys(all)) {
		value := all[key]
		switch {
		case isRead(key) && read+len(key)+len(value) <= mostAnnotations:
			read += len(key) + len(value)
			kept[key] = value
		case !isRead(key) && len(value) <= mostForeignText && foreign < mostForeign:
			foreign++
			kept[key] = value
		}
	}
	if len(kept) == 0 {
		return nil
	}
	return kept
}

// isRead says whether the operator reads labels and annotations of this name: its own, Multus' and Kueue's, and those by which Argo, Flux and Helm know what is theirs.
func isRead(key string) bool {
	domain, _, qualified := strings.Cut(key, "/")
	return qualified && (slices.Contains([]string{"linerate.dev", "k8s.v1.cni.cncf.io", "kueue.x-k8s.io", "argocd.argoproj.io", "app.kubernetes.io", "meta.helm.sh"}, domain) || strings.HasSuffix(domain, ".toolkit.fluxcd.io"))
}

// podInBrief keeps of what a pod is made from: where it is, what holds it back, and what its containers are called and request.
func podInBrief(spec *corev1.PodSpec) corev1.PodSpec {
	return corev1.PodSpec{
		NodeName: spec.NodeName, SchedulingGates: spec.SchedulingGates, Overhead: spec.Overhead, Resources: spec.Resources,
		InitContainers: containersInBrief(spec.InitContainers), Containers: containersInBrief(spec.Containers),
	}
}

func containersInBrief(all []corev1.Container) []corev1.Container {
	var brief []corev1.Container
	for _, c := range all[:min(len(all), mostContainers)] {
		brief = append(brief, corev1.Container{Name: c.Name, Image: c.Image, Resources: c.Resources, RestartPolicy: c.RestartPolicy})
	}
	return brief
}

// networkInBrief keeps of a network its annotations, and its configuration unless that is too long: then it is one that can't be read.
func networkInBrief(network *unstructured.Unstructured) {
	config, _, _ := unstructured.NestedString(network.Object, "spec", "config") // what is no text isn't read either
	if len(config) > mostConfig {
		config = strings.Clone(config[:mostConfig]) // else the whole of it stays
	}
	brief := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"config": config}}}
	brief.SetGroupVersionKind(network.GroupVersionKind())
	brief.SetNamespace(network.GetNamespace())
	brief.SetName(network.GetName())
	brief.SetUID(network.GetUID())
	brief.SetResourceVersion(network.GetResourceVersion())
	brief.SetAnnotations(textsInBrief(network.GetAnnotations()))
	network.Object = brief.Object
}

// nodeInBrief keeps of a node what inventory.NodeOf reads: the rest is large, and changes all the time.
func nodeInBrief(node *corev1.Node) {
	brief := corev1.Node{TypeMeta: node.TypeMeta, ObjectMeta: metav1.ObjectMeta{
		Name: node.Name, UID: node.UID, ResourceVersion: node.ResourceVersion, DeletionTimestamp: node.DeletionTimestamp, Labels: node.Labels,
	}}
	brief.Spec.Unschedulable, brief.Spec.Taints, brief.Status.Allocatable = node.Spec.Unschedulable, node.Spec.Taints, node.Status.Allocatable
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			brief.Status.Conditions = []corev1.NodeCondition{{Type: condition.Type, Status: condition.Status}}
		}
	}
	*node = brief
}
