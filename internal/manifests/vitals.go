package manifests

import (
	"fmt"
	"net/netip"

	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// vitalsPort is the TCP port that vital signs are told on; vitals.Port is the same. It stands here too, since that package speaks netlink.
const vitalsPort = 4504

// variablePodIP is a pod's own address on the pods' network.
const variablePodIP = "POD_IP"

// fieldNodeName is the only field of a node that affinity knows (metav1.ObjectNameField).
const fieldNodeName = "metadata.name"

// vitalsGraceSeconds is enough: it only answers.
const vitalsGraceSeconds = 1

// hasVitalsPod says whether a vitals pod is put on the node of a user's device, as an observer wants that node's vital signs, or of a Reference that is an end. A Reference that forwards
// reports its node's itself.
func hasVitalsPod(in Input) bool {
	return (in.Test.Spec.DUT.Type == v1alpha1.DUTPod || endsAtDevice(in)) && in.Compiled.Plan.ObservesDevice()
}

// Vitals is the pod that tells how this node fares, which a user's device is on; nil: none is needed. It takes next to nothing of the node: it reads /proc/stat when it is asked,
// with no rights, none of the links and a bound on its CPU. It is made when the device's pod has its node, and is in no queue: it holds nothing that anybody waits for.
func Vitals(in Input, node string) *corev1.Pod {
	if !hasVitalsPod(in) {
		return nil
	}
	meta := ofThisAttempt(in, VitalsPodName(in.Test.Name, in.Attempt), roleVitals)
	meta.Labels[v1alpha1.LabelVitals] = v1alpha1.VitalsServed
	pod := newPod(in, meta)
	c := ourContainer(in, "vitals", "vitals", "--vitals", "$("+variablePodIP+")")
	c.Env = []corev1.EnvVar{fieldVariable(variablePodIP, "status.podIP")}
	c.Ports = []corev1.ContainerPort{{Name: "vitals", ContainerPort: vitalsPort}}
	c.SecurityContext = restricted()
	small := corev1.ResourceList{corev1.ResourceCPU: milli(50), corev1.ResourceMemory: mebi(64)}
	c.Resources = corev1.ResourceRequirements{Requests: small, Limits: small}
	pod.Spec.Containers = []corev1.Container{c}
	pod.Spec.TerminationGracePeriodSeconds = new(int64(vitalsGraceSeconds))
	pod.Spec.Affinity = onlyOn(node)
	if dut := in.Compiled.DUT; dut != nil { // what its node keeps others off by doesn't keep it off; the device's priority is not for it, as it may take nobody's place
		pod.Spec.Tolerations = dut.Spec.Tolerations
		pod.Spec.ImagePullSecrets = pullSecrets(pod.Spec.ImagePullSecrets, dut.Spec.ImagePullSecrets)
	}
	return pod.DeepCopy()
}

// onlyOn demands this very node, by its name: a pod's labels anybody may have, and another node's labels, too. It is left to the scheduler to put the pod there, as with a
// DaemonSet's, since spec.nodeName would put it on a node that has no room for it.
func onlyOn(node string) *corev1.Affinity {
	return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
		{MatchFields: []corev1.NodeSelectorRequirement{{Key: fieldNodeName, Operator: corev1.NodeSelectorOpIn, Values: []string{node}}}},
	}}}}
}

// vitalsOf says at which address the vital signs of the device's node are served, or why at none.
func vitalsOf(in Input, pods []corev1.Pod) (at, none string) {
	name := DUTPodName(in.Test.Name, in.Attempt)
	switch {
	case in.Test.Spec.DUT.Type == v1alpha1.DUTReference && !endsAtDevice(in):
	case hasVitalsPod(in):
		name = VitalsPodName(in.Test.Name, in.Attempt)
	default:
		return "", ""
	}
	pod := podNamed(pods, name)
	if pod == nil {
		return "", fmt.Sprintf("pod %s, which reports the vital signs of the device's node, doesn't exist", name)
	}
	address, err := netip.ParseAddr(pod.Status.PodIP)
	if err != nil {
		return "", fmt.Sprintf("pod %s, which reports the vital signs of the device's node, has no address", name)
	}
	if device := podNamed(pods, DUTPodName(in.Test.Name, in.Attempt)); device == nil || device.Spec.NodeName != pod.Spec.NodeName {
		return "", fmt.Sprintf("pod %s, which reports the vital signs of the device's node, is on node %s, and the device isn't: something changed the node that the pod asks for, such as an admission webhook",
			name, pod.Spec.NodeName)
	}
	return netip.AddrPortFrom(address, vitalsPort).String(), ""
}
