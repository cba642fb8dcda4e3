package manifests

import (
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/plan"
)

// The TCP ports of a generator.
const (
	rpcPort       = 4501
	heartbeatPort = 4502
)

// Grace periods: the software engine stops at once; TRex is killed by its launcher after 20 s.
const (
	engineGraceSeconds = 5
	trexGraceSeconds   = 30
)

// Generators are the attempt's generator pods, in the Plan's order; none with engine External.
func Generators(in Input) []*corev1.Pod {
	if !hasGeneratorPods(in) {
		return nil
	}
	var pods []*corev1.Pod
	for _, g := range in.Compiled.Plan.Generators {
		pods = append(pods, generator(in, g))
	}
	return pods
}

func generator(in Input, g plan.Generator) *corev1.Pod {
	meta := ofThisAttempt(in, GeneratorPodName(in.Test.Name, in.Attempt, g.Name), roleGenerator)
	meta.Labels[v1alpha1.LabelGenerator] = g.Name
	// Our own list has no template's in it, so that it can't be wrong.
	networks, _ := networkAnnotations("", generatorAttachments(in, g.Name, linksOf(g)))
	meta.Annotations = networks
	pod := newPod(in, meta)
	pod.Spec.Affinity = generatorAffinity(in, g)
	pod.Spec.TopologySpreadConstraints = spread(in)
	wear(in, pod)
	if in.Test.Spec.Generator.Engine == v1alpha1.EngineTRex {
		trex(in, g, pod)
	} else {
		software(in, g, pod)
	}
	requestDevices(&pod.Spec.Containers[0], devicesOf(in, linksOf(g), generatorNetwork))
	return pod
}

// wear gives the pod what generator.pod says; what is linerate's own stays.
func wear(in Input, pod *corev1.Pod) {
	own := in.Test.Spec.Generator.Pod
	if own == nil {
		return
	}
	pod.Labels = over(own.Labels, pod.Labels)
	pod.Annotations = over(own.Annotations, pod.Annotations)
	pod.Spec.NodeSelector = own.NodeSelector
	pod.Spec.Tolerations = own.Tolerations
	pod.Spec.PriorityClassName = own.PriorityClassName
	pod.Spec.ImagePullSecrets = pullSecrets(pod.Spec.ImagePullSecrets, own.ImagePullSecrets)
	if own.RuntimeClassName != "" {
		pod.Spec.RuntimeClassName = new(own.RuntimeClassName)
	}
}

// software makes the pod one of linerate's own engine.
func software(in Input, g plan.Generator, pod *corev1.Pod) {
	arguments := []string{"generator", "--ports", strings.Join(linksOf(g), ","), "--listen", ":" + strconv.Itoa(rpcPort),
		"--cores", strconv.Itoa(in.Compiled.Generator.Cores), "--heartbeat", "10s"}
	if speed := fastest(in, g); speed != "" {
		arguments = append(arguments, "--speed", speed)
	}
	c := ourContainer(in, "generator", arguments...)
	c.Env = whoAmI()
	c.Ports = []corev1.ContainerPort{{Name: "rpc", ContainerPort: rpcPort}}
	c.SecurityContext = engineRights()
	c.Resources = generatorResources(in, g)
	c.StartupProbe, c.LivenessProbe = startup(1, 60, program, "generator", "probe"), liveness(program, "generator", "probe")
	pod.Spec.Containers = []corev1.Container{c}
	pod.Spec.TerminationGracePeriodSeconds = new(int64(engineGraceSeconds))
}

// fastest is the highest line rate of a generator's links: what its ports say of their speed, which no virtual one knows. Empty: the
// engine's own guess.
func fastest(in Input, g plan.Generator) string {
	var most int64
	for _, l := range in.Compiled.Plan.Links {
		if _, on := g.PortOn(l.Name); on {
			most = max(most, int64(l.LineRate))
		}
	}
	if most == 0 {
		return ""
	}
	return strconv.FormatInt(most, 10) + "bps"
}

// exclusive says that a generator gets CPUs of its own: whole ones with equal limits, which make the pod Guaranteed, so that a node with the
// static CPU manager pins it to them. TRex on devices can't do without: it polls. What works on kernel interfaces shares the node's CPUs, as it
// must also run where there are few, unless coresPerPortPair asks for its own.
func exclusive(in Input, g plan.Generator) bool {
	spec := in.Test.Spec.Generator
	return spec.CoresPerPortPair > 0 || spec.Engine == v1alpha1.EngineTRex && onDevices(in, g)
}

// generatorResources are a generator's, but for its devices. Shared CPUs have no limit: a limit is kept by stopping threads for the rest of each
// tenth of a second, and a generator that stands still loses frames that are then the device's.
func generatorResources(in Input, g plan.Generator) corev1.ResourceRequirements {
	want := in.Compiled.Generator
	limits := corev1.ResourceList{corev1.ResourceMemory: want.Memory}
	if name, total := hugepages(in, g); name != "" {
		limits[name] = total
	}
	if exclusive(in, g) {
		limits[corev1.ResourceCPU] = cpus(want.CPUs)
		return corev1.ResourceRequirements{Requests: limits.DeepCopy(), Limits: limits}
	}
	return corev1.ResourceRequirements{Requests: with(limits, corev1.ResourceCPU, cpus(sharedCPUs(in, g))), Limits: limits}
}

// sharedCPUs is what a generator keeps busy: a thread for each pair of ports; TRex's other threads together make one more.
func sharedCPUs(in Input, g plan.Generator) int64 {
	if in.Test.Spec.Generator.Engine == v1alpha1.EngineTRex {
		return pairs(g) + 1
	}
	return pairs(g) * int64(max(in.Compiled.Generator.Cores, 1))
}

// startup asks the program whether it answers until it does; the pod is Ready from then on. There is no readiness probe after it: each call is a
// process on the generator's CPUs, which would be seen in what is measured, and who drives it notices first when it is gone.
func startup(period, failures int32, command ...string) *corev1.Probe {
	return &corev1.Probe{ProbeHandler: call(command), PeriodSeconds: period, TimeoutSeconds: 5, FailureThreshold: failures}
}

// liveness ends what hangs, within two minutes. It is slow for the same reason.
func liveness(command ...string) *corev1.Probe {
	return &corev1.Probe{ProbeHandler: call(command), PeriodSeconds: 30, TimeoutSeconds: 10, FailureThreshold: 3}
}

func call(command []string) corev1.ProbeHandler {
	return corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: command}}
}
