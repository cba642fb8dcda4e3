package doctor

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

const askNodes = "kubectl describe nodes"

func nodes(lab Lab) []Finding {
	const check = "nodes"
	if lab.Nodes.Err != nil {
		return unreadable(check, "nodes", lab.Nodes.Err, askNodes)
	}
	var usable, faults []string
	for i := range lab.Nodes.Value {
		n := &lab.Nodes.Value[i]
		switch {
		case !nodeReady(n):
			faults = append(faults, n.Name+" isn't Ready")
		case n.Spec.Unschedulable:
			faults = append(faults, n.Name+" is cordoned")
		default:
			usable = append(usable, n.Name)
		}
	}
	switch {
	case len(lab.Nodes.Value) == 0:
		return single(Fail, check, "the cluster has none", "join nodes to the cluster")
	case len(usable) == 0:
		return single(Fail, check, "none can take pods: "+strings.Join(faults, ", "),
			"kubectl describe node NAME; kubectl uncordon NAME")
	case len(faults) > 0:
		return single(Warn, check, fmt.Sprintf("%d can take pods; %s", len(usable), strings.Join(faults, ", ")),
			"kubectl describe node NAME; kubectl uncordon NAME")
	}
	return single(OK, check, fmt.Sprintf("%d Ready: %s", len(usable), firstOf(usable)), "")
}

func nodeReady(n *corev1.Node) bool {
	return slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

// firstOf lists the first names, and how many follow.
func firstOf(names []string) string {
	const limit = 6
	if len(names) <= limit {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:limit], ", ") + fmt.Sprintf(" and %d more", len(names)-limit)
}

func hugepages(lab Lab) []Finding {
	const check = "huge pages"
	if lab.Nodes.Err != nil {
		return unreadable(check, "nodes", lab.Nodes.Err, askNodes+" | grep hugepages")
	}
	var pages []string
	for i := range lab.Nodes.Value {
		n := &lab.Nodes.Value[i]
		for _, name := range slices.Sorted(maps.Keys(n.Status.Allocatable)) {
			size, huge := strings.CutPrefix(string(name), corev1.ResourceHugePagesPrefix)
			total := n.Status.Allocatable[name]
			if !huge || total.Sign() <= 0 {
				continue
			}
			free := total.DeepCopy()
			free.Sub(requested(lab.Pods.Value, n.Name, name))
			words := fmt.Sprintf("%s of %s in pages of %s free on %s", free.String(), total.String(), size, n.Name)
			if lab.Pods.Err != nil {
				words = fmt.Sprintf("%s in pages of %s on %s", total.String(), size, n.Name)
			}
			pages = append(pages, words)
		}
	}
	if len(pages) == 0 {
		return single(Warn, check, "no node has any: engine TRex on devices needs them; TRex on kernel interfaces "+
			"and engine Software don't", "kernel argument hugepagesz=1G hugepages=8, then restart the kubelet "+
			"(docs/sriov.md)")
	}
	return single(OK, check, firstOf(pages), "")
}

// lookAtPolicy is advice for a person who may not ask the kubelets by way of the API server.
const lookAtPolicy = "kubectl get --raw /api/v1/nodes/NODE/proxy/configz | jq .kubeletconfig.cpuManagerPolicy (needs " +
	"the right get nodes/proxy), or cpuManagerPolicy in the node's kubelet configuration; static is needed " +
	"(docs/sriov.md)"

func cpuManager(lab Lab) []Finding {
	const check = "CPU manager"
	var static, shared, unknown []string
	var readErr error
	for _, node := range slices.Sorted(maps.Keys(lab.CPUPolicy)) {
		switch a := lab.CPUPolicy[node]; {
		case a.Err != nil:
			unknown, readErr = append(unknown, node), a.Err
		case a.Value == "static":
			static = append(static, node)
		default:
			shared = append(shared, node)
		}
	}
	var findings []Finding
	if len(static) > 0 {
		findings = append(findings, Finding{OK, check, "static on " + firstOf(static), ""})
	}
	if len(shared) > 0 {
		findings = append(findings, Finding{Warn, check, "generators get no CPUs of their own on " + firstOf(shared) +
			": figures of TRex on devices suffer",
			"cpuManagerPolicy: static in the kubelet's configuration (docs/sriov.md)"})
	}
	if len(unknown) > 0 {
		findings = append(findings, Finding{Unknown, check, fmt.Sprintf("of %s can't be read: %v", firstOf(unknown),
			readErr), lookAtPolicy})
	}
	if len(findings) == 0 {
		return single(Unknown, check, "no node's policy can be read", lookAtPolicy)
	}
	return findings
}
