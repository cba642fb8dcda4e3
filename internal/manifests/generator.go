package manifests

import (
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/compile"
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
	meta.Annotations = networkAnnotations("", generatorAttachments(in, g))
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
	tellPorts(in, pod, linksOf(g), generatorNetwork)
	queued(in, pod)
	return pod.DeepCopy()
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
		"--cores", strconv.Itoa(resourcesOf(in, g).Cores), "--speed", speeds(in, g), "--heartbeat", "10s"}
	c := ourContainer(in, "generator", arguments...)
	c.Env = whoAmI()
	c.Ports = []corev1.ContainerPort{{Name: "rpc", ContainerPort: rpcPort}}
	c.SecurityContext = engineRights()
	c.Resources = request(in, g)
	c.StartupProbe, c.LivenessProbe = startup(1, 60, program, "generator", "probe"), liveness(program, "generator", "probe")
	pod.Spec.Containers = []corev1.Container{c}
	pod.Spec.TerminationGracePeriodSeconds = new(int64(engineGraceSeconds))
}

// engineSpeed is what the engine says of a port that knows no speed and whose link has no line rate: its own default.
const engineSpeed = "10gbps"

// speeds are what a generator's ports say of their speed where they know none, as virtual ones do: their links' line rates, one for all or one for
// each.
func speeds(in Input, g plan.Generator) string {
	var all []string
	for _, link := range linksOf(g) {
		i := slices.IndexFunc(in.Compiled.Plan.Links, func(l plan.Link) bool { return l.Name == link && l.LineRate > 0 })
		if i < 0 {
			all = append(all, engineSpeed)
			continue
		}
		all = append(all, in.Compiled.Plan.Links[i].LineRate.String())
	}
	if different := slices.Compact(slices.Clone(all)); len(different) == 1 {
		return different[0]
	}
	return strings.Join(all, ",")
}

// resourcesOf are a generator's: those on devices where it has any, else those on kernel interfaces.
func resourcesOf(in Input, g plan.Generator) compile.Resources {
	if onDevices(in, g) {
		return in.Compiled.Generator
	}
	return in.Compiled.Kernel
}

// request is what a generator's container requests, but for its devices.
//
// CPUs of its own are whole, with equal limits: the pod is Guaranteed then, and a node with the static CPU manager pins it to them. CPUs that it shares
// have no limit: a limit is kept by stopping threads for the rest of each tenth of a second, and a generator that stands still loses frames
// that look like the device's loss.
func request(in Input, g plan.Generator) corev1.ResourceRequirements {
	want := resourcesOf(in, g)
	limits := corev1.ResourceList{corev1.ResourceMemory: want.Memory}
	if want.HugepageSize != "" {
		limits[corev1.ResourceHugePagesPrefix+corev1.ResourceName(want.HugepageSize)] = want.Hugepages
	}
	if want.CPUs > 0 {
		limits[corev1.ResourceCPU] = cpus(want.CPUs)
		return corev1.ResourceRequirements{Requests: limits.DeepCopy(), Limits: limits}
	}
	return corev1.ResourceRequirements{Requests: with(limits, corev1.ResourceCPU, cpus(shared(in, g, want.Cores))), Limits: limits}
}

// shared is what a generator on shared CPUs keeps busy: a thread for each pair of ports and core; TRex's other threads together make one more.
func shared(in Input, g plan.Generator, cores int) int64 {
	pairs := int64(len(g.Ports)+1) / 2
	if in.Test.Spec.Generator.Engine == v1alpha1.EngineTRex {
		return pairs + 1
	}
	return pairs * int64(cores)
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
