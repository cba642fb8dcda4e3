package doctor

import (
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// enforceLabel is Pod Security Admission's (Kubernetes, "Pod Security Admission").
const enforceLabel = "pod-security.kubernetes.io/enforce"

func podSecurity(lab Lab) []Finding {
	check := "namespace " + lab.Namespace
	fix := fmt.Sprintf("kubectl label namespace %s %s=privileged --overwrite (docs/security.md says what for)", lab.Namespace, enforceLabel)
	switch err := lab.Home.Err; {
	case apierrors.IsNotFound(err):
		return one(Fail, check, "doesn't exist", "kubectl create namespace "+lab.Namespace+", or choose another with -n")
	case err != nil:
		return unseen(check, "its Pod Security level", err, "kubectl get namespace "+lab.Namespace+" --show-labels; baseline and restricted refuse generators")
	}
	switch level := lab.Home.Value.Labels[enforceLabel]; level {
	case "privileged":
		return one(OK, check, "Pod Security lets generators in (privileged)", "")
	case "":
		return one(OK, check, "enforces no Pod Security level of its own; where the cluster's default is baseline or restricted, the test's condition Scheduled says PodRefused", "")
	default:
		return one(Fail, check, "Pod Security "+level+" refuses generators, which need NET_ADMIN and NET_RAW", fix)
	}
}

// enforcement is what is known of a CNI's node agents.
type enforcement struct {
	daemon, name string
	enforces     bool
}

func knownNetworks() []enforcement {
	return []enforcement{
		{"calico-node", "Calico", true}, {"canal", "Canal", true}, {"cilium", "Cilium", true}, {"antrea-agent", "Antrea", true}, {"kube-router", "kube-router", true},
		{"ovnkube-node", "OVN-Kubernetes", true}, {"ovs-node", "OVN-Kubernetes", true}, {"kindnet", "kindnet (since kind 0.24)", true}, {"weave-net", "Weave Net", true},
		{"kube-flannel-ds", "flannel", false}, {"kube-flannel", "flannel", false},
	}
}

func networkPolicy(lab Lab) []Finding {
	const check = "NetworkPolicy"
	const exposed = "generators' RPC (TCP 4501, 4502) knows no authentication: keep other tenants' pods off the pod network (docs/security.md)"
	if lab.Daemons.Err != nil {
		return unseen(check, "the cluster's DaemonSets, by which its CNI is known,", lab.Daemons.Err, "ask a cluster admin; "+exposed)
	}
	var ignores string
	for _, d := range lab.Daemons.Value {
		for _, known := range knownNetworks() {
			switch {
			case d.Name != known.daemon:
			case known.enforces:
				return one(OK, check, known.name+" enforces it; networkPolicy.generators.create in the chart makes use of that", "")
			default:
				ignores = known.name
			}
		}
	}
	if ignores != "" {
		return one(Warn, check, ignores+" ignores it: whoever reaches a generator's pod can make it send", exposed)
	}
	return one(Unknown, check, "whether the CNI enforces it isn't known: none of the well-known ones is seen", exposed)
}

func kueue(lab Lab) []Finding {
	const check = "Kueue"
	switch {
	case lab.Groups.Err != nil:
		return unseen(check, "what the server serves", lab.Groups.Err, "kubectl api-versions | grep kueue")
	case !servesGroup(lab, "kueue.x-k8s.io"):
		return one(OK, check, "not installed; tests wait for devices by themselves", "")
	case lab.Kueue.Err != nil:
		return one(Unknown, check, "installed; whether it looks after plain pods can't be read", "kubectl get configmap kueue-manager-config -n kueue-system -o yaml: integrations.frameworks must name pod")
	case !namesPods(lab.Kueue.Value):
		return one(Warn, check, "installed, and doesn't look after plain pods: a LoadTest with a queue-name label waits for ever", "add pod to integrations.frameworks in ConfigMap kueue-manager-config, namespace kueue-system")
	}
	return one(OK, check, "installed, and looks after plain pods", "")
}

// namesPods looks for "- pod" among the frameworks, not for other words with pod in them.
func namesPods(config string) bool {
	for line := range strings.Lines(config) {
		words := strings.Fields(strings.NewReplacer(`"`, "", "'", "").Replace(line))
		if len(words) >= 2 && words[0] == "-" && words[1] == "pod" {
			return true
		}
	}
	return false
}
