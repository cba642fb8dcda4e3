package lifecycle

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/queue"
)

// nodes answer which nodes pods can be placed on, and what the nodes have.
type nodes struct {
	items []Node
	// excluded are the names of nodes that refused pods of this test.
	excluded []string
}

// find finds a node. Nil means that the cluster has none of that name.
func (ns *nodes) find(name string) *Node {
	for i := range ns.items {
		if ns.items[i].Name == name {
			return &ns.items[i]
		}
	}
	return nil
}

// isGone says whether a pod's node no longer exists. Where the operator sees no node at all, it may not read nodes, and
// none counts as gone.
func (ns *nodes) isGone(name string) bool {
	return name != "" && len(ns.items) > 0 && ns.find(name) == nil
}

// whyUnavailable says why no pod of the test can be placed on a node, and what to do. It is empty where only a lack of
// room can be why, or the operator sees no nodes.
func (ns *nodes) whyUnavailable(name string) (state, remedy string) {
	node := ns.find(name)
	switch {
	case ns.isGone(name):
		return "which the cluster doesn't have any more", "bring it back"
	case node == nil:
		return "", ""
	case !node.Schedulable:
		return "which is cordoned", "uncordon it (kubectl uncordon " + name + ")"
	case !node.Ready:
		return "which isn't Ready", "mend it"
	case slices.Contains(ns.excluded, name):
		return "which refused a pod of this test", "free CPUs, memory and devices of one NUMA node on it, then set " +
			"spec.suspend to true and to false again"
	}
	return "", ""
}

// exhausted says that every node that could be tried has refused a pod. Empty means that some nodes haven't.
func (ns *nodes) exhausted() string {
	if len(ns.excluded) == 0 || len(ns.items) == 0 {
		return ""
	}
	const remedy = "free CPUs, memory and devices of one NUMA node on one of them (kubelet's topologyManagerPolicy " +
		"decides), then set spec.suspend to true and to false again"
	if len(ns.excluded) >= maxExcludedNodes {
		return fmt.Sprintf("%d nodes refused a pod (the last: %s): %s", len(ns.excluded),
			ns.excluded[len(ns.excluded)-1],
			remedy)
	}
	if len(ns.usable()) > 0 {
		return ""
	}
	return fmt.Sprintf("every node that pods may run on refused one (%s): %s", listed(ns.excluded), remedy)
}

// usable are the nodes that pods can be placed on.
func (ns *nodes) usable() []Node {
	var usable []Node
	for _, n := range ns.items {
		if n.Ready && n.Schedulable && !slices.Contains(ns.excluded, n.Name) {
			usable = append(usable, n)
		}
	}
	return usable
}

// lacks says what no single node has that the pod needs. Empty means that some nodes have all resources.
func (ns *nodes) lacks(n need) (reason, message string) {
	usable := ns.usable()
	for _, name := range slices.Sorted(maps.Keys(n.resources)) {
		amount := n.resources[name]
		if largest := largestAmount(usable, name); largest.Cmp(amount) < 0 {
			return reasonOf(name), fmt.Sprintf("pod %s needs %s of %s on one node, and %s", n.pod, amount.String(),
				name,
				ns.available(name, largest))
		}
	}
	fits := slices.ContainsFunc(usable, func(node Node) bool { return hasAll(node, n.resources) })
	if len(n.resources) == 0 || fits {
		return "", ""
	}
	return v1alpha1.ReasonResourceMissing, fmt.Sprintf("pod %s needs %s on one node, and no node has all of it: "+
		"put its devices and huge pages on one node, or name other networks", n.pod, listOf(n.resources))
}

// available says how much of a resource there is, and how to get more.
func (ns *nodes) available(name corev1.ResourceName, largest resource.Quantity) string {
	remedy := "configure the SR-IOV device plugin for it, or correct the network's annotation " +
		"k8s.v1.cni.cncf.io/resourceName"
	if isHugepages(name) {
		remedy = "reserve them on a node (kernel parameters hugepagesz and hugepages; kubelet reports them after its " +
			"restart), or set generator.hugepages"
	}
	var away []string
	for _, n := range ns.items {
		if amount, ok := n.Allocatable[name]; ok && amount.Cmp(largest) > 0 && (!n.Ready || !n.Schedulable) {
			away = append(away, n.Name)
		}
	}
	switch {
	case len(away) > 0:
		return fmt.Sprintf("the nodes that have it are cordoned or not Ready (%s): uncordon or mend one", listed(away))
	case largest.IsZero():
		return "no node has any: " + remedy
	}
	return fmt.Sprintf("no node has more than %s: %s", largest.String(), remedy)
}

// lacksTogether says what all nodes together don't have enough of for all pods together. Empty means that the nodes
// have enough.
func (ns *nodes) lacksTogether(needs []need) string {
	sum := corev1.ResourceList{}
	for _, n := range needs {
		for name, amount := range n.resources {
			total := sum[name]
			total.Add(amount)
			sum[name] = total
		}
	}
	for _, name := range slices.Sorted(maps.Keys(sum)) {
		var available resource.Quantity
		for _, n := range ns.usable() {
			available.Add(n.Allocatable[name])
		}
		if amount := sum[name]; available.Cmp(amount) < 0 {
			return fmt.Sprintf("the test's pods need %s of %s together, and all nodes together have %s: add some, or "+
				"lower "+
				"generator.replicas", amount.String(), name, available.String())
		}
	}
	return ""
}

// largestAmount is the most that any of the nodes has.
func largestAmount(nodes []Node, name corev1.ResourceName) resource.Quantity {
	var largest resource.Quantity
	for _, n := range nodes {
		if amount := n.Allocatable[name]; amount.Cmp(largest) > 0 {
			largest = amount
		}
	}
	return largest
}

// hasAll says whether a node has all of it.
func hasAll(n Node, resources corev1.ResourceList) bool {
	for name, amount := range resources {
		if available := n.Allocatable[name]; available.Cmp(amount) < 0 {
			return false
		}
	}
	return true
}

// need is what one pod needs of devices and huge pages, which a cluster may not have at all. CPUs and memory are the
// scheduler's.
type need struct {
	pod       string
	resources corev1.ResourceList
}

// scarce are the devices and huge pages that a pod requests.
func scarce(p *corev1.Pod) corev1.ResourceList {
	resources := corev1.ResourceList{}
	for _, c := range p.Spec.Containers {
		for name, limit := range c.Resources.Limits {
			if isDevice(name) || isHugepages(name) {
				sum := resources[name]
				sum.Add(limit)
				resources[name] = sum
			}
		}
	}
	return resources
}

func isDevice(name corev1.ResourceName) bool { return queue.IsDevice(string(name)) }

func isHugepages(name corev1.ResourceName) bool {
	return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

// reasonOf is Scheduled's for a resource that is missing.
func reasonOf(name corev1.ResourceName) string {
	if isHugepages(name) {
		return v1alpha1.ReasonHugepages
	}
	return v1alpha1.ReasonResourceMissing
}

func listOf(resources corev1.ResourceList) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(resources)) {
		amount := resources[name]
		words = append(words, amount.String()+" of "+string(name))
	}
	return strings.Join(words, ", ")
}
