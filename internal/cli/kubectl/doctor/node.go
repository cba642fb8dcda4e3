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
		return unseen(check, "nodes", lab.Nodes.Err, askNodes)
	}
	var well, ill []string
	for i := range lab.Nodes.Value {
		n := &lab.Nodes.Value[i]
		switch {
		case !nodeReady(n):
			ill = append(ill, n.Name+" isn't Ready")
		case n.Spec.Unschedulable:
			ill = append(ill, n.Name+" is cordoned")
		default:
			well = append(well, n.Name)
		}
	}
	switch {
	case len(lab.Nodes.Value) == 0:
		return one(Fail, check, "the cluster has none", "join nodes to the cluster")
	case len(well) == 0:
		return one(Fail, check, "none can take pods: "+strings.Join(ill, ", "), "kubectl describe node NAME; kubectl uncordon NAME")
	case len(ill) > 0:
		return one(Warn, check, fmt.Sprintf("%d can take pods; %s", len(well), strings.Join(ill, ", ")), "kubectl describe node NAME; kubectl uncordon NAME")
	}
	return one(OK, check, fmt.Sprintf("%d Ready: %s", len(well), someOf(well)), "")
}

func nodeReady(n *corev1.Node) bool {
	return slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

// someOf names the first few of many.
func someOf(names []string) string {
	const few = 6
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:few], ", ") + fmt.Sprintf(" and %d more", len(names)-few)
}

func hugepages(lab Lab) []Finding {
	const check = "huge pages"
	if lab.Nodes.Err != nil {
		return unseen(check, "nodes", lab.Nodes.Err, askNodes+" | grep hugepages")
	}
	var has []string
	for i := range lab.Nodes.Value {
		n := &lab.Nodes.Value[i]
		for _, name := range slices.Sorted(maps.Keys(n.Status.Allocatable)) {
			size, huge := strings.CutPrefix(string(name), corev1.ResourceHugePagesPrefix)
			all := n.Status.Allocatable[name]
			if !huge || all.Sign() <= 0 {
				continue
			}
			left := all.DeepCopy()
			left.Sub(held(lab.Pods.Value, n.Name, name))
			words := fmt.Sprintf("%s of %s in pages of %s free on %s", left.String(), all.String(), size, n.Name)
			if lab.Pods.Err != nil {
				words = fmt.Sprintf("%s in pages of %s on %s", all.String(), size, n.Name)
			}
			has = append(has, words)
		}
	}
	if len(has) == 0 {
		return one(Warn, check, "no node has any: engine TRex on devices needs them; TRex on kernel interfaces and engine Software don't", "kernel argument hugepagesz=1G hugepages=8, then restart the kubelet (docs/sriov.md)")
	}
	return one(OK, check, someOf(has), "")
}

// lookAtPolicy is how a person finds out what the API server may not be asked.
const lookAtPolicy = "kubectl get --raw /api/v1/nodes/NODE/proxy/configz | jq .kubeletconfig.cpuManagerPolicy (needs the right get nodes/proxy), or cpuManagerPolicy in the node's kubelet configuration; static is needed (docs/sriov.md)"

func cpuManager(lab Lab) []Finding {
	const check = "CPU manager"
	var static, other, unknown []string
	var why error
	for _, node := range slices.Sorted(maps.Keys(lab.CPUPolicy)) {
		switch a := lab.CPUPolicy[node]; {
		case a.Err != nil:
			unknown, why = append(unknown, node), a.Err
		case a.Value == "static":
			static = append(static, node)
		default:
			other = append(other, node)
		}
	}
	var findings []Finding
	if len(static) > 0 {
		findings = append(findings, Finding{OK, check, "static on " + someOf(static), ""})
	}
	if len(other) > 0 {
		findings = append(findings, Finding{Warn, check, "generators get no CPUs of their own on " + someOf(other) + ": figures of TRex on devices suffer", "cpuManagerPolicy: static in the kubelet's configuration (docs/sriov.md)"})
	}
	if len(unknown) > 0 {
		findings = append(findings, Finding{Unknown, check, fmt.Sprintf("of %s can't be read: %v", someOf(unknown), why), lookAtPolicy})
	}
	if len(findings) == 0 {
		return one(Unknown, check, "no node's policy can be read", lookAtPolicy)
	}
	return findings
}
