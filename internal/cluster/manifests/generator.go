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

// Generators are the attempt's generator pods, in the Plan's order. There are none where generators run already.
func Generators(input Input) []*corev1.Pod {
	e, ok := engineOf(input.Test)
	if !ok {
		return nil // Check says why, if pods were to be made
	}
	var pods []*corev1.Pod
	for _, g := range input.Compiled.Plan.Generators {
		pods = append(pods, generator(input, e, g))
	}
	return pods
}

func generator(input Input, e engine, g plan.Generator) *corev1.Pod {
	meta := attemptMeta(input, GeneratorPodName(input.Test.Name, input.Attempt, g.Name), roleGenerator)
	meta.Labels[v1alpha1.LabelGenerator] = g.Name
	if !e.asksCallers() {
		meta.Labels[v1alpha1.LabelAdmits] = v1alpha1.AdmitsOwnRunner
	}
	meta.Annotations = networkAnnotations(input, "", generatorAttachments(input, g))
	if podSpec := input.Test.Spec.Generator.Pod; podSpec != nil {
		meta = templated(meta, metav1.ObjectMeta{Labels: podSpec.Labels, Annotations: podSpec.Annotations})
	}
	pod := newPod(input, meta)
	pod.Spec.Affinity = generatorAffinity(input, g)
	pod.Spec.TopologySpreadConstraints = spread(input)
	applyGeneratorPod(input.Test.Spec.Generator.Pod, pod)
	e.fill(input, g, pod)
	requestDevices(&pod.Spec.Containers[0], devicesOf(input, linksOf(g), generatorNetwork))
	addPortsContainer(input, pod, linksOf(g), generatorNetwork)
	queueInKueue(input, pod)
	return pod.DeepCopy()
}

// applyGeneratorPod applies spec.generator.pod, which says where and how generator pods run.
func applyGeneratorPod(podSpec *v1alpha1.GeneratorPodSpec, pod *corev1.Pod) {
	if podSpec == nil {
		return
	}
	pod.Spec.NodeSelector = podSpec.NodeSelector
	pod.Spec.Tolerations = podSpec.PodTolerations()
	pod.Spec.PriorityClassName = podSpec.PriorityClassName
	pod.Spec.ImagePullSecrets = pullSecrets(pod.Spec.ImagePullSecrets, podSpec.PodPullSecrets())
	if podSpec.RuntimeClassName != "" {
		pod.Spec.RuntimeClassName = new(podSpec.RuntimeClassName)
	}
}

// resourcesOf are a generator's on devices where it has any, else on kernel interfaces.
func resourcesOf(input Input, g plan.Generator) compile.Resources {
	if onDevices(input, g) {
		return input.Compiled.Generator
	}
	return input.Compiled.Kernel
}

// request are the resources of a generator's container, without its devices.
//
// Exclusive CPUs are whole, with equal limits. The pod is Guaranteed then, and a node with the static CPU manager pins
// it to them. Shared CPUs have no limit. The kernel enforces a limit by stopping threads for the rest of each tenth of
// a second, and frames that a stopped generator loses look like the device's loss.
func request(input Input, e engine, g plan.Generator) corev1.ResourceRequirements {
	want := resourcesOf(input, g)
	limits := corev1.ResourceList{corev1.ResourceMemory: want.Memory}
	if want.HugepageSize != "" {
		limits[corev1.ResourceHugePagesPrefix+corev1.ResourceName(want.HugepageSize)] = want.Hugepages
	}
	if want.CPUs > 0 {
		limits[corev1.ResourceCPU] = cpus(want.CPUs)
		return corev1.ResourceRequirements{Requests: limits.DeepCopy(), Limits: limits}
	}
	return corev1.ResourceRequirements{Requests: withResource(limits, corev1.ResourceCPU,
		e.busyCPUs(int64(len(g.Ports)), int64(want.Cores))), Limits: limits}
}

// pairs is how many pairs so many ports are. A port without a partner counts as a pair.
func pairs(ports int64) int64 { return (ports + 1) / 2 }

// probeSeconds bounds a probe, which starts a program: on a slow machine 5 s were too few.
const probeSeconds = 30

// startup probes the program until it answers. From then on the pod is Ready. There is no readiness probe after it,
// since each call starts a process on the generator's CPUs, which would disturb the measurement, and the runner is the
// first to notice when the program is gone.
func startup(period, failures int32, command ...string) *corev1.Probe {
	return &corev1.Probe{ProbeHandler: call(command), PeriodSeconds: period, TimeoutSeconds: probeSeconds,
		FailureThreshold: failures}
}

// liveness restarts a TRex that hangs, within two minutes: its cores would send on. It is infrequent for the same
// reason. The software engine and the ends of sessions have none, since what they send ends without their clients or
// themselves.
func liveness(command ...string) *corev1.Probe {
	return &corev1.Probe{ProbeHandler: call(command), PeriodSeconds: 30, TimeoutSeconds: probeSeconds,
		FailureThreshold: 3}
}

func call(command []string) corev1.ProbeHandler {
	return corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: command}}
}
