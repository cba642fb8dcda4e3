package manifests

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/document/plan"
)

// rpcPort is the TCP port that a generator answers on.
const rpcPort = 4501

// Generators are the attempt's generator pods, in the Plan's order; none where generators run already.
func Generators(in Input) []*corev1.Pod {
	e, known := engineOf(in.Test)
	if !known {
		return nil // Check says why, if pods were to be made
	}
	var pods []*corev1.Pod
	for _, g := range in.Compiled.Plan.Generators {
		pods = append(pods, generator(in, e, g))
	}
	return pods
}

func generator(in Input, e engine, g plan.Generator) *corev1.Pod {
	meta := ofThisAttempt(in, GeneratorPodName(in.Test.Name, in.Attempt, g.Name), roleGenerator)
	meta.Labels[v1alpha1.LabelGenerator] = g.Name
	if !e.asksCallers() {
		meta.Labels[v1alpha1.LabelAdmits] = v1alpha1.AdmitsOwnRunner
	}
	meta.Annotations = networkAnnotations(in, "", generatorAttachments(in, g))
	if own := in.Test.Spec.Generator.Pod; own != nil {
		meta = templated(meta, metav1.ObjectMeta{Labels: own.Labels, Annotations: own.Annotations})
	}
	pod := newPod(in, meta)
	pod.Spec.Affinity = generatorAffinity(in, g)
	pod.Spec.TopologySpreadConstraints = spread(in)
	applyGeneratorPod(in.Test.Spec.Generator.Pod, pod)
	e.fill(in, g, pod)
	requestDevices(&pod.Spec.Containers[0], devicesOf(in, linksOf(g), generatorNetwork))
	addPortsContainer(in, pod, linksOf(g), generatorNetwork)
	queueInKueue(in, pod)
	return pod.DeepCopy()
}

// applyGeneratorPod applies spec.generator.pod, which says where and how generator pods run.
func applyGeneratorPod(own *v1alpha1.GeneratorPodSpec, pod *corev1.Pod) {
	if own == nil {
		return
	}
	pod.Spec.NodeSelector = own.NodeSelector
	pod.Spec.Tolerations = own.Tolerations
	pod.Spec.PriorityClassName = own.PriorityClassName
	pod.Spec.ImagePullSecrets = pullSecrets(pod.Spec.ImagePullSecrets, own.ImagePullSecrets)
	if own.RuntimeClassName != "" {
		pod.Spec.RuntimeClassName = new(own.RuntimeClassName)
	}
}

// resourcesOf are a generator's: those on devices where it has any, else those on kernel interfaces.
func resourcesOf(in Input, g plan.Generator) compile.Resources {
	if onDevices(in, g) {
		return in.Compiled.Generator
	}
	return in.Compiled.Kernel
}

// request are the resources of a generator's container, without its devices.
//
// Exclusive CPUs are whole, with equal limits: the pod is Guaranteed then, and a node with the static CPU manager pins it to them. Shared CPUs have no
// limit: the kernel enforces a limit by stopping threads for the rest of each tenth of a second, and frames that a stopped generator loses
// look like the device's loss.
func request(in Input, e engine, g plan.Generator) corev1.ResourceRequirements {
	want := resourcesOf(in, g)
	limits := corev1.ResourceList{corev1.ResourceMemory: want.Memory}
	if want.HugepageSize != "" {
		limits[corev1.ResourceHugePagesPrefix+corev1.ResourceName(want.HugepageSize)] = want.Hugepages
	}
	if want.CPUs > 0 {
		limits[corev1.ResourceCPU] = cpus(want.CPUs)
		return corev1.ResourceRequirements{Requests: limits.DeepCopy(), Limits: limits}
	}
	return corev1.ResourceRequirements{Requests: with(limits, corev1.ResourceCPU, e.busyCPUs(int64(len(g.Ports)), int64(want.Cores))), Limits: limits}
}

// pairs is how many pairs so many ports are; one alone counts as one.
func pairs(ports int64) int64 { return (ports + 1) / 2 }

// startup probes the program until it answers; from then on the pod is Ready. There is no readiness probe after it: each call starts a process on the
// generator's CPUs, which would disturb the measurement, and the runner is the first to notice when the program is gone.
func startup(period, failures int32, command ...string) *corev1.Probe {
	return &corev1.Probe{ProbeHandler: call(command), PeriodSeconds: period, TimeoutSeconds: 5, FailureThreshold: failures}
}

// liveness restarts a program that hangs, within two minutes. It is infrequent for the same reason.
func liveness(command ...string) *corev1.Probe {
	return &corev1.Probe{ProbeHandler: call(command), PeriodSeconds: 30, TimeoutSeconds: 10, FailureThreshold: 3}
}

func call(command []string) corev1.ProbeHandler {
	return corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: command}}
}
