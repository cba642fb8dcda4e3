package doctor

import (
	"fmt"
	"strings"
)

// enforcement says whether the CNI with this DaemonSet enforces NetworkPolicies.
type enforcement struct {
	daemon, name string
	enforces     bool
}

func knownNetworks() []enforcement {
	return []enforcement{
		{"calico-node", "Calico", true}, {"canal", "Canal", true}, {"rke2-canal", "Canal", true},
		{"cilium", "Cilium", true}, {"anetd", "GKE Dataplane V2", true},
		{"antrea-agent", "Antrea", true}, {"kube-router", "kube-router", true}, {"ovnkube-node", "OVN-Kubernetes",
			true}, {"ovs-node", "OVN-Kubernetes", true},
		{"kindnet", "kindnet (since kind 0.24)", true}, {"weave-net", "Weave Net", true}, {"kube-flannel-ds", "flannel",
			false}, {"kube-flannel", "flannel", false},
	}
}

// networkPolicy judges by the CNI's DaemonSet, since enforcement needs an agent on each node.
func networkPolicy(lab Lab) []Finding {
	const check = "NetworkPolicy"
	const exposed = "TRex's RPC (TCP 4501) knows no authentication: keep other tenants' pods off the pod network " +
		"(docs/security.md)"
	if lab.Daemons.Err != nil {
		return unreadable(check, "the cluster's DaemonSets, by which its CNI is known,", lab.Daemons.Err,
			"ask a cluster admin; "+exposed)
	}
	var ignores string
	for _, d := range lab.Daemons.Value {
		for _, cni := range knownNetworks() {
			switch {
			case d.Name != cni.daemon:
			case cni.enforces && d.Status.NumberReady > 0:
				return single(OK, check, cni.name+
					" enforces it; networkPolicy.generators.create in the chart makes use of that", "")
			case cni.enforces:
				ignores = fmt.Sprintf("%s would enforce it, and DaemonSet %s/%s has no ready pod", cni.name,
					d.Namespace, d.Name)
			default:
				ignores = cni.name + " ignores it"
			}
		}
	}
	switch {
	case ignores != "":
		return single(Warn, check, ignores+": whoever reaches a generator's pod can make it send", exposed)
	case strings.Contains(lab.Server.Value, "+k3s"):
		return single(OK, check, "k3s enforces it, unless it was started with --disable-network-policy", "")
	case len(lab.Daemons.Value) == 0:
		return single(Warn, check, "no CNI has an agent on the nodes, and a plugin alone (bridge, ptp, macvlan) "+
			"ignores it: whoever reaches a generator's pod can make it send", exposed)
	}
	return single(Unknown, check, "whether the CNI enforces it isn't known: none of the well-known ones is seen",
		exposed)
}
