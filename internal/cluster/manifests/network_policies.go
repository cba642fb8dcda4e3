package manifests

import (
	"math"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// labelNamespaceName is the label with its name that the API server puts on every namespace, and that nobody
// can change.
const labelNamespaceName = "kubernetes.io/metadata.name"

// NetworkPolicies let only runners reach what answers in a namespace of tests, which are generators' RPC, which TRex
// serves to whoever calls, the launcher's heartbeat, and the vital signs of a device's node. Runners are in the
// operator's own namespace, where no tenant makes pods. The policies cover the pods' network only, since links are
// Multus'.
//
//	linerate-generators   TCP 4501, 4502 of generators that ask their callers for a secret
//	linerate-ends         TCP 4501 of devices that are an end of sessions
//	linerate-vitals       TCP 4504 of whatever reports the vital signs of a device's node, or a collector's answers
//	linerate-own-runners  nothing of pods that admit their own test's runner alone (OwnRunnerPolicy)
func NetworkPolicies(namespace, operators string) []Object {
	runners := managedLabels(v1alpha1.LabelRole, roleRunner)
	return []Object{
		ingress(sharedMeta(namespace, "linerate-generators"), anyRunners(v1alpha1.LabelRole, roleGenerator),
			runnerPeers(operators, runners), rpcPort, trex{}.heartbeatPort()),
		ingress(sharedMeta(namespace, "linerate-ends"), anyRunners(v1alpha1.LabelEnd, v1alpha1.EndOfDevice),
			runnerPeers(operators, runners), rpcPort),
		ingress(sharedMeta(namespace, "linerate-vitals"), anyRunners(v1alpha1.LabelVitals, v1alpha1.VitalsServed),
			runnerPeers(operators, runners), vitalsPort),
		ingress(sharedMeta(namespace, "linerate-own-runners"),
			metav1.LabelSelector{MatchLabels: managedLabels(v1alpha1.LabelAdmits,
				v1alpha1.AdmitsOwnRunner)}, nil),
	}
}

// OwnRunnerPolicy lets the test's own runner, of any attempt, reach those of the test's pods that admit no other
// (LabelAdmits). False means that the test has no such pods. Runners' pods have the labels by which it admits them
// from the operator alone, since nobody else makes pods in the operator's namespace. The test owns it. A pod that
// outlives the test for a moment is still covered by linerate-own-runners, which admits nobody.
func OwnRunnerPolicy(test *v1alpha1.LoadTest, operators string) (Object, bool) {
	if e, inPods := engineOf(test); inPods && e.asksCallers() {
		return nil, false
	}
	input := Input{Test: test}
	runner := merge(managedLabels(v1alpha1.LabelRole, runnerRole(input)),
		map[string]string{v1alpha1.LabelUID: string(test.UID),
			v1alpha1.LabelNamespace: test.Namespace})
	pods := merge(managedLabels(v1alpha1.LabelAdmits, v1alpha1.AdmitsOwnRunner),
		map[string]string{v1alpha1.LabelUID: string(test.UID)})
	return ingress(testMeta(input, OwnRunnerPolicyName(test), rolePolicy), metav1.LabelSelector{MatchLabels: pods},
		runnerPeers(operators, runner), rpcPort, trex{}.heartbeatPort(), vitalsPort), true
}

// anyRunners selects the pods with a label that admit the runners of all tests.
func anyRunners(label, value string) metav1.LabelSelector {
	return metav1.LabelSelector{MatchLabels: managedLabels(label, value),
		MatchExpressions: []metav1.LabelSelectorRequirement{{Key: v1alpha1.LabelAdmits,
			Operator: metav1.LabelSelectorOpDoesNotExist}}}
}

// runnerPeers are the pods of the operator's namespace with these labels.
func runnerPeers(operators string, labels map[string]string) []networkingv1.NetworkPolicyPeer {
	return []networkingv1.NetworkPolicyPeer{{
		NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{labelNamespaceName: operators}},
		PodSelector:       &metav1.LabelSelector{MatchLabels: labels},
	}}
}

// ingress is a NetworkPolicy that lets callers reach ports of pods. Without callers it lets nobody reach anything.
func ingress(meta metav1.ObjectMeta, pods metav1.LabelSelector, callers []networkingv1.NetworkPolicyPeer,
	ports ...uint16) *networkingv1.NetworkPolicy {
	policy := &networkingv1.NetworkPolicy{
		TypeMeta:   metav1.TypeMeta{APIVersion: networkingv1.SchemeGroupVersion.String(), Kind: "NetworkPolicy"},
		ObjectMeta: meta,
		Spec: networkingv1.NetworkPolicySpec{PodSelector: pods,
			PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}},
	}
	if len(callers) == 0 {
		return policy
	}
	rule := networkingv1.NetworkPolicyIngressRule{From: callers}
	for _, port := range ports {
		rule.Ports = append(rule.Ports, networkingv1.NetworkPolicyPort{Protocol: new(corev1.ProtocolTCP),
			Port: new(intstr.FromInt32(int32(port)))})
	}
	policy.Spec.Ingress = []networkingv1.NetworkPolicyIngressRule{rule}
	return policy
}

// DisruptionBudget keeps drains, and everything else that evicts pods by Kubernetes' API, from evicting measuring pods
// that are Ready. A drain waits until the test is over. It demands more pods than there ever are, since a
// maxUnavailable of 0 works only for pods of a Deployment and the like. Pods that aren't Ready may be evicted, since
// they might never become Ready.
func DisruptionBudget(namespace string) Object {
	return &policyv1.PodDisruptionBudget{
		TypeMeta:   metav1.TypeMeta{APIVersion: policyv1.SchemeGroupVersion.String(), Kind: "PodDisruptionBudget"},
		ObjectMeta: sharedMeta(namespace, "linerate-tests"),
		Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: new(intstr.FromInt32(math.MaxInt32)),
			Selector: &metav1.LabelSelector{
				MatchLabels: map[string]string{labelManagedBy: "linerate"},
				MatchExpressions: []metav1.LabelSelectorRequirement{{
					Key: v1alpha1.LabelRole, Operator: metav1.LabelSelectorOpIn,
					Values: []string{roleDUT, roleGenerator, roleRunner, roleExternalRunner, roleSetup, roleTeardown},
				}},
			},
			UnhealthyPodEvictionPolicy: new(policyv1.AlwaysAllow),
		},
	}
}

// sharedMeta is the metadata of an object that a namespace has once, for all its tests.
func sharedMeta(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{labelManagedBy: "linerate"}}
}

func managedLabels(label, value string) map[string]string {
	return map[string]string{labelManagedBy: "linerate", label: value}
}

// withoutAutoscaling adds annotations that keep autoscalers from moving a pod to save nodes, since a test that loses a
// pod is lost. Annotations of the same name by the test's author win.
func withoutAutoscaling(annotations map[string]string) map[string]string {
	return merge(map[string]string{"cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
		"karpenter.sh/do-not-disrupt": "true"}, annotations)
}
