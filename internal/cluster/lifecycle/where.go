package lifecycle

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	scheduling "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/linerate-dev/linerate/internal/cluster/queue"
)

// NodeFilter says which nodes a pod may be placed on, by its node selector, required node affinity and tolerations.
type NodeFilter struct {
	// key is the same for pods that demand the same.
	key         string
	affinity    nodeaffinity.RequiredNodeAffinity
	tolerations []corev1.Toleration
}

// filterOf is a pod's filter. It ignores taints that are named like a device which the pod requests: with the admission plugin ExtendedResourceToleration
// the API server adds the toleration.
func filterOf(p *corev1.Pod) NodeFilter {
	f := NodeFilter{affinity: nodeaffinity.GetRequiredNodeAffinity(p), tolerations: slices.Clone(p.Spec.Tolerations)}
	for name := range devicesOf(p) {
		f.tolerations = append(f.tolerations, corev1.Toleration{Key: name, Operator: corev1.TolerationOpExists})
	}
	slices.SortStableFunc(f.tolerations, func(a, b corev1.Toleration) int { return cmp.Compare(a.Key, b.Key) })
	demands := struct {
		Selector    map[string]string
		Affinity    *corev1.NodeSelector
		Tolerations []corev1.Toleration
	}{p.Spec.NodeSelector, nil, f.tolerations}
	if a := p.Spec.Affinity; a != nil && a.NodeAffinity != nil {
		demands.Affinity = a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	}
	key, _ := json.Marshal(demands) // plain values: it can't fail
	f.key = string(key)
	return f
}

// Key is the same text for filters that let the same nodes through.
func (f NodeFilter) Key() string { return f.key }

// Where sorts nodes by whether the pod may be on them.
func (f NodeFilter) Where(nodes []Node) (w queue.Where) {
	for _, n := range nodes {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: n.Labels}}
		if matches, err := f.affinity.Match(node); err != nil || !matches {
			continue
		}
		if _, keepsOff := scheduling.FindMatchingUntoleratedTaint(logr.Discard(), n.Taints, f.tolerations, binding, true); keepsOff {
			w.Tainted = append(w.Tainted, n.Name)
		} else {
			w.Nodes = append(w.Nodes, n.Name)
		}
	}
	return w
}

// binding says whether a taint keeps pods off a node, and doesn't only make it the last choice.
func binding(t *corev1.Taint) bool {
	return t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute
}

// apartFrom are the names of the test's pods that a pod must not share a node with, by its anti-affinity. What it demands of other pods, or of racks and
// zones, is left to the scheduler.
func apartFrom(p *corev1.Pod, pods []*corev1.Pod) (names []string) {
	if p.Spec.Affinity == nil || p.Spec.Affinity.PodAntiAffinity == nil {
		return nil
	}
	for _, term := range p.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
		selector, err := metav1.LabelSelectorAsSelector(term.LabelSelector)
		if err != nil || term.TopologyKey != corev1.LabelHostname || !concernsNamespace(&term, p.Namespace) {
			continue
		}
		for _, other := range pods {
			if other.Name != p.Name && selector.Matches(labels.Set(other.Labels)) && !slices.Contains(names, other.Name) {
				names = append(names, other.Name)
			}
		}
	}
	return names
}

// concernsNamespace says whether an affinity term selects pods of a namespace, by the namespace's name alone: its labels aren't known here.
func concernsNamespace(term *corev1.PodAffinityTerm, namespace string) bool {
	if term.NamespaceSelector == nil && len(term.Namespaces) == 0 {
		return true
	}
	selector, err := metav1.LabelSelectorAsSelector(term.NamespaceSelector) // none selects nothing
	return slices.Contains(term.Namespaces, namespace) || err == nil && selector.Matches(labels.Set{corev1.LabelMetadataName: namespace})
}
