package manifests

import (
	"fmt"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// vitalsPort is the TCP port on which vital signs are served. It equals vitals.Port, whose package the operator
// doesn't import, since it speaks netlink.
const vitalsPort = 4504

// variablePodIP is a pod's own address on the pods' network.
const variablePodIP = "POD_IP"

// vitalsGraceSeconds is short, since the pod only answers requests.
const vitalsGraceSeconds = 1

// hasVitalsPod says whether a vitals pod is put on the device's node. That is so if an observer reads that node, and
// the device is a user's, or a Reference that is an end. A Reference that forwards reports its node's vital signs
// itself.
func hasVitalsPod(input Input) bool {
	return (input.Test.Spec.DUT.Type == v1alpha1.DUTPod || endsAtDevice(input)) && input.Compiled.Plan.ObservesDevice()
}

// Vitals is the pod that reports the vital signs of the device's node. Nil means that no vitals pod is needed. It
// hardly loads the node. It reads /proc/stat when it is asked, without any rights or links, and with a CPU limit. It is
// made once the device's pod has its node, and isn't in Kueue's queue, since it holds nothing that others wait for.
func Vitals(input Input, node string) *corev1.Pod {
	if !hasVitalsPod(input) {
		return nil
	}
	meta := attemptMeta(input, VitalsPodName(input.Test.Name, input.Attempt), roleVitals)
	serveReadings(input, meta.Labels)
	pod := newPod(input, meta)
	c := ourContainer(input, "vitals", withVerifier(input, "vitals", "--vitals", "$("+variablePodIP+")")...)
	c.Env = []corev1.EnvVar{fieldVariable(variablePodIP, "status.podIP")}
	c.Ports = []corev1.ContainerPort{{Name: "vitals", ContainerPort: vitalsPort}}
	c.SecurityContext = restricted()
	small := corev1.ResourceList{corev1.ResourceCPU: milli(50), corev1.ResourceMemory: mebi(64)}
	c.Resources = corev1.ResourceRequirements{Requests: small, Limits: small}
	pod.Spec.Containers = []corev1.Container{c}
	pod.Spec.TerminationGracePeriodSeconds = new(int64(vitalsGraceSeconds))
	pod.Spec.Affinity = onlyOn(node)
	// The pod tolerates the taints that the device tolerates, but lacks the device's priority, so it may evict nobody.
	if dut := input.Compiled.DUT; dut != nil {
		pod.Spec.Tolerations = dut.Spec.Tolerations
		pod.Spec.ImagePullSecrets = pullSecrets(pod.Spec.ImagePullSecrets, dut.Spec.ImagePullSecrets)
	}
	return pod.DeepCopy()
}

// serveReadings labels a pod that serves an observer's readings, so that its test's runner reaches it.
func serveReadings(input Input, labels map[string]string) {
	labels[v1alpha1.LabelVitals] = v1alpha1.VitalsServed
	if !hasGeneratorPods(input) {
		labels[v1alpha1.LabelAdmits] = v1alpha1.AdmitsOwnRunner
	}
}

// onlyOn demands a node by its name, since other pods or nodes may have the same labels. The scheduler still places the
// pod, as it does a DaemonSet's, since spec.nodeName would put it on a node without room for it.
func onlyOn(node string) *corev1.Affinity {
	named := corev1.NodeSelectorRequirement{Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn,
		Values: []string{node}}
	terms := []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{named}}}
	return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms},
	}}
}

// vitalsOf is the address at which the vital signs of the device's node are served, or why there is none.
func vitalsOf(input Input, pods []corev1.Pod) (address, reason string) {
	name := DUTPodName(input.Test.Name, input.Attempt)
	switch {
	case input.Test.Spec.DUT.Type == v1alpha1.DUTReference && !endsAtDevice(input):
	case hasVitalsPod(input):
		name = VitalsPodName(input.Test.Name, input.Attempt)
	default:
		return "", ""
	}
	const task = "reports the vital signs of the device's node"
	if address, reason = readingsAddress(pods, name, task); reason != "" {
		return "", reason
	}
	node, device := podNamed(pods, name).Spec.NodeName, podNamed(pods, DUTPodName(input.Test.Name, input.Attempt))
	if device == nil || device.Spec.NodeName != node {
		return "", fmt.Sprintf("pod %s, which %s, is on node %s, and the device isn't: something changed the node "+
			"that "+
			"the pod asks for, such as an admission webhook", name, task, node)
	}
	return address, ""
}

// readingsAddress is the address at which a pod serves observers' readings, or why there is none. task says in messages
// what the pod does.
func readingsAddress(pods []corev1.Pod, name, task string) (address, reason string) {
	pod := podNamed(pods, name)
	if pod == nil {
		return "", fmt.Sprintf("pod %s, which %s, doesn't exist", name, task)
	}
	ip, err := netip.ParseAddr(pod.Status.PodIP)
	if err != nil {
		return "", fmt.Sprintf("pod %s, which %s, has no address", name, task)
	}
	return netip.AddrPortFrom(ip, vitalsPort).String(), ""
}
