package manifests

import (
	"fmt"
	"net/netip"

	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/plan"
)

// vitalsPort is the TCP port that vital signs are told on; vitals.Port is the same. It stands here too, since that package speaks netlink.
const vitalsPort = 4504

// variablePodIP is a pod's own address on the pods' network.
const variablePodIP = "POD_IP"

// vitalsGraceSeconds is enough: it only answers.
const vitalsGraceSeconds = 1

// hasVitalsPod says that somebody has to be put on the node of a user's device, as an observer looks at it. A Reference tells of its node itself.
func hasVitalsPod(in Input) bool {
	return in.Test.Spec.DUT.Type == v1alpha1.DUTPod && wantsDeviceNode(in.Compiled.Plan)
}

func wantsDeviceNode(p *plan.Plan) bool {
	for _, o := range p.Observers {
		if o.Of == plan.OfDUT || o.Of == plan.OfNode {
			return true
		}
	}
	return false
}

// Vitals is the pod that tells how the node of a user's device fares; nil: none is needed. It is on that node, as its affinity demands, and takes next to nothing of it: it
// reads /proc/stat when it is asked, with no rights, none of the links and a bound on its CPU. It is made when the device's pod has its node, and is in no queue: it holds nothing
// that anybody waits for.
func Vitals(in Input) *corev1.Pod {
	if !hasVitalsPod(in) {
		return nil
	}
	meta := ofThisAttempt(in, VitalsPodName(in.Test.Name, in.Attempt), roleVitals)
	meta.Labels[v1alpha1.LabelVitals] = v1alpha1.VitalsTold
	pod := newPod(in, meta)
	c := ourContainer(in, "vitals", "vitals", "--vitals", "$("+variablePodIP+")")
	c.Env = []corev1.EnvVar{fieldVariable(variablePodIP, "status.podIP")}
	c.Ports = []corev1.ContainerPort{{Name: "vitals", ContainerPort: vitalsPort}}
	c.SecurityContext = restricted()
	small := corev1.ResourceList{corev1.ResourceCPU: milli(50), corev1.ResourceMemory: mebi(64)}
	c.Resources = corev1.ResourceRequirements{Requests: small, Limits: small}
	pod.Spec.Containers = []corev1.Container{c}
	pod.Spec.TerminationGracePeriodSeconds = new(int64(vitalsGraceSeconds))
	pod.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
		{LabelSelector: siblings(in, roleDUT), TopologyKey: corev1.LabelHostname},
	}}}
	if dut := in.Compiled.DUT; dut != nil { // what its node keeps others off by doesn't keep it off; it has no priority, and so takes nobody's place
		pod.Spec.Tolerations = dut.Spec.Tolerations
		pod.Spec.ImagePullSecrets = pullSecrets(pod.Spec.ImagePullSecrets, dut.Spec.ImagePullSecrets)
	}
	return pod.DeepCopy()
}

// vitalsOf says where the device's node tells its vital signs, or why nobody does.
func vitalsOf(in Input, pods []corev1.Pod) (at, none string) {
	name := DUTPodName(in.Test.Name, in.Attempt)
	switch {
	case in.Test.Spec.DUT.Type == v1alpha1.DUTReference:
	case hasVitalsPod(in):
		name = VitalsPodName(in.Test.Name, in.Attempt)
	default:
		return "", ""
	}
	pod := podNamed(pods, name)
	if pod == nil {
		return "", fmt.Sprintf("pod %s, which is to tell of the device's node, isn't there", name)
	}
	address, err := netip.ParseAddr(pod.Status.PodIP)
	if err != nil {
		return "", fmt.Sprintf("pod %s, which is to tell of the device's node, has no address", name)
	}
	if device := podNamed(pods, DUTPodName(in.Test.Name, in.Attempt)); device == nil || device.Spec.NodeName != pod.Spec.NodeName {
		return "", fmt.Sprintf("pod %s, which is to tell of the device's node, is on node %s, and the device isn't: another pod bears the device's labels, or that node the same %s",
			name, pod.Spec.NodeName, corev1.LabelHostname)
	}
	return netip.AddrPortFrom(address, vitalsPort).String(), ""
}
