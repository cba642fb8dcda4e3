package manifests_test

import (
	"slices"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
)

const operators = "linerate-system"

// tenant is a test of a sample in a namespace of its own.
type tenant struct {
	name     string
	input    manifests.Input
	pods     []*corev1.Pod
	runner   labels.Set
	policies []*networkingv1.NetworkPolicy // of its namespace
}

func tenants(t *testing.T) (tenants []tenant) {
	t.Helper()
	for _, name := range clusterSamples(t) {
		input := sample(t, name)
		input.Test.Namespace, input.Test.UID = "bench-"+name, types.UID("uid-"+name)
		tn := tenant{name: name, input: input}
		for _, o := range ofAttempt(t, input) {
			switch o := o.(type) {
			case *corev1.Pod:
				tn.pods = append(tn.pods, o)
			case *batchv1.Job:
				tn.runner = o.Spec.Template.Labels
			}
		}
		policies := manifests.NetworkPolicies(input.Test.Namespace, operators)
		if policy, needed := manifests.OwnRunnerPolicy(input.Test, operators); needed {
			policies = append(policies, policy)
		}
		for _, o := range policies {
			tn.policies = append(tn.policies, o.(*networkingv1.NetworkPolicy))
		}
		tenants = append(tenants, tn)
	}
	return tenants
}

// reaches says whether a pod of the operator's namespace with these labels reaches a port of one of the tenant's pods,
// as Kubernetes defines it. A pod that no policy selects admits everybody, and the policies that select it add up.
func (tn *tenant) reaches(t *testing.T, caller labels.Set, pod *corev1.Pod, port int) bool {
	t.Helper()
	selected := false
	for _, p := range tn.policies {
		if !matches(t, &p.Spec.PodSelector, pod.Labels) {
			continue
		}
		selected = true
		for _, input := range p.Spec.Ingress {
			allowed := slices.ContainsFunc(input.From, func(peer networkingv1.NetworkPolicyPeer) bool {
				return matches(t, peer.NamespaceSelector, labels.Set{"kubernetes.io/metadata.name": operators}) &&
					matches(t, peer.PodSelector, caller)
			})
			if allowed && slices.ContainsFunc(input.Ports,
				func(p networkingv1.NetworkPolicyPort) bool { return p.Port.IntValue() == port }) {
				return true
			}
		}
	}
	return !selected
}

func matches(t *testing.T, selector *metav1.LabelSelector, set map[string]string) bool {
	t.Helper()
	s, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		t.Fatal(err)
	}
	return s.Matches(labels.Set(set))
}

// served are the ports on which a pod serves what has no authentication of its own.
func served(pod *corev1.Pod) (ports []int) {
	for _, c := range pod.Spec.Containers {
		for _, p := range c.Ports {
			if slices.Contains([]string{"rpc", "heartbeat", "vitals"}, p.Name) {
				ports = append(ports, int(p.ContainerPort))
			}
		}
	}
	return ports
}

// An author writes the address that the runner of servers that run already dials. So that runner is admitted to nothing
// but its own test's pods, whichever namespace's pod the address is of. And a TRex, which can't ask its callers
// for a secret, is reached by its own test's runner alone.
func TestARunnerOfServersIsAdmittedToNobodyElsesPods(t *testing.T) {
	tenants := tenants(t)
	tried, trexes := 0, 0
	for _, victim := range tenants {
		for _, pod := range victim.pods {
			for _, port := range served(pod) {
				if !victim.reaches(t, victim.runner, pod, port) {
					t.Errorf("%s: its own runner doesn't reach %s, port %d", victim.name, pod.Name, port)
				}
				for _, neighbour := range tenants {
					if neighbour.name == victim.name {
						continue
					}
					external := len(neighbour.input.Test.Spec.Generator.Servers()) > 0
					trex := pod.Labels[v1alpha1.LabelRole] == "generator" &&
						victim.input.Test.Spec.Generator.Engine == v1alpha1.EngineTRex
					if (external || trex) && victim.reaches(t, neighbour.runner, pod, port) {
						t.Errorf("the runner of %s reaches %s of %s, port %d", neighbour.name, pod.Name, victim.name,
							port)
					}
					if external {
						tried++
					}
					if trex {
						trexes++
					}
				}
			}
		}
	}
	if tried < 50 || trexes < 100 {
		t.Errorf("only %d calls of runners of servers, %d of TRexes", tried, trexes)
	}
}

// A test that is gone takes its own policy with it while its pods still end. Then nobody is admitted to the pods.
func TestATRexWithoutItsTestsPolicyAdmitsNobody(t *testing.T) {
	for _, tn := range tenants(t) {
		tn.policies = tn.policies[:len(manifests.NetworkPolicies(tn.input.Test.Namespace, operators))]
		for _, pod := range tn.pods {
			for _, port := range served(pod) {
				if pod.Labels[v1alpha1.LabelAdmits] != "" && tn.reaches(t, tn.runner, pod, port) {
					t.Errorf("%s: %s is reached, port %d", tn.name, pod.Name, port)
				}
			}
		}
	}
}
