package manifests

import (
	"net/netip"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/document/plan"
)

// forwarderSpec is the file that linerate forwarder reads. It repeats forwarder.Spec, whose package the operator
// doesn't import, since it speaks netlink. TestTheForwarderReadsItsSpec holds the two together.
type forwarderSpec struct {
	Forwarding plan.Forwarding      `json:"forwarding"`
	Links      []forwarderLink      `json:"links"`
	Directions []forwarderDirection `json:"directions"`
	Limit      *plan.Limit          `json:"limit,omitempty"`
	Mode       *plan.Mode           `json:"mode,omitempty"`
	Tunnel     *plan.TunnelGateway  `json:"tunnel,omitempty"`
}

// forwarderLink is forwarder.Link. Networks[i] is behind Generator[i].
type forwarderLink struct {
	Interface    string         `json:"interface"`
	Addresses    []netip.Prefix `json:"addresses,omitempty"`
	Generator    []netip.Addr   `json:"generator,omitempty"`
	GeneratorMAC string         `json:"generatorMAC,omitempty"`
	Networks     []netip.Prefix `json:"networks,omitempty"`
}

type forwarderDirection struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// forwarderOf is the Reference's spec. It asks for no CPU of its own, since that needs rights over the whole node's
// devices. Between pods the forwarder works on the CPU where frames arrive, as it does on one machine with a limit.
func forwarderOf(input Input) forwarderSpec {
	p := input.Compiled.Plan
	spec := forwarderSpec{Forwarding: p.DUT.Forwarding}
	if p.DUT.Reference != nil {
		spec.Limit, spec.Mode = p.DUT.Reference.Limit, p.DUT.Reference.Mode
	}
	for _, l := range p.Links {
		spec.Links = append(spec.Links, forwarderLinkOf(input, l))
	}
	for _, d := range p.Directions {
		spec.Directions = append(spec.Directions, forwarderDirection{d.From, d.To})
	}
	return spec
}

func forwarderLinkOf(input Input, l plan.Link) forwarderLink {
	link := forwarderLink{Interface: l.Name, Addresses: l.DUT.Addresses}
	ports := generatorsOn(input, l.Name)
	for _, g := range ports {
		for _, a := range g.port.Addresses {
			link.Generator = append(link.Generator, a.Addr())
		}
		link.Networks = append(link.Networks, g.port.Networks...)
	}
	if len(ports) == 1 { // the forwarder can have one static neighbour; several are resolved
		link.GeneratorMAC = generatorMAC(input, ports[0].generator, l.Name)
	}
	return link
}

// referenceGraceSeconds is short, since the kernel forwards, and the program only waits.
const referenceGraceSeconds = 5

// startupSeconds is how many seconds the setup may take. A million routes behind each of two links take some 15 s of a
// processor's time. A tunnel's gateway waits for the other one, whose pod may have no node yet. schedulingDeadline
// bounds that wait.
func startupSeconds(mode *plan.Mode) int32 {
	switch {
	case mode != nil && mode.Tunnel != nil:
		return int32(podMargin / time.Second)
	case mode.Routes() > 100_000:
		return 300
	}
	return 60
}

// How much memory a route takes that the kernel charges to the pod. Linux 6.18 takes 120 bytes for each of a million
// IPv4 routes behind each of two links, and 272 for IPv6. A third more is for kernels with other structures, and for a
// table that grows while it is filled.
const (
	bytesOfRoute4 = 160
	bytesOfRoute6 = 360
)

// processorOf is how many thousandths of a processor each pod of the Reference requests. The kernel forwards on the
// processors where frames arrive, a tunnel's gateway encrypts on as many as it gets, and testpmd's thread never sleeps.
func processorOf(m *plan.Mode) int64 {
	switch {
	case m != nil && m.Userspace != nil:
		return 1000
	case m != nil && m.Tunnel != nil:
		return 500
	}
	return 100
}

// memoryOf is how many MiB each pod of the Reference may use. It is 256 for the program, and what its routes take.
// testpmd reserves another 256, and needs the rings of its links. A tunnel needs another 768, for packets that wait to
// be encrypted when it is overloaded.
func memoryOf(p *plan.Plan) int64 {
	const mebibyte = 1 << 20
	var bytes int64
	if routes := p.DUT.Mode().Routes(); routes > 1 {
		for _, l := range p.Links {
			routeBytes := int64(bytesOfRoute4)
			if slices.ContainsFunc(l.DUT.Addresses, func(a netip.Prefix) bool { return a.Addr().Is6() }) {
				routeBytes = bytesOfRoute6
			}
			bytes += routeBytes * int64(routes)
		}
	}
	if m := p.DUT.Mode(); m != nil && m.Tunnel != nil {
		bytes = 768 * mebibyte
	}
	if m := p.DUT.Mode(); m != nil && m.Userspace != nil {
		const rings = 2 * 1024 * 16384 // bytes: to receive and to send, each of 1024 frames of the largest room
		bytes = 256*mebibyte + rings*int64(len(p.Links))
	}
	return 256 + (bytes+mebibyte-1)/mebibyte
}

// imageOf is the image with the mode's program. Empty means that linerate's own image has it.
func imageOf(input Input) string {
	if r := input.Test.Spec.DUT.Reference; r != nil {
		return r.Image
	}
	return ""
}

// inImage runs the container in the user's image, into which our program is copied, and returns the program's path.
//
// It mounts one empty folder as both /run and /var/run. Our files for strongSwan are in /run, charon writes its
// process's number to the path that it was built with, and DPDK writes to /var/run. So it doesn't matter whether the
// image has both, one as a link to the other, or neither.
func inImage(input Input, image string, pod *corev1.Pod, c *corev1.Container) (launch string) {
	launch = programFolder + program
	c.Image, c.ImagePullPolicy, c.Command[0] = image, "", launch
	c.VolumeMounts = append(c.VolumeMounts, readOnly("linerate-program", programFolder), corev1.VolumeMount{Name: "tmp",
		MountPath: "/tmp"},
		corev1.VolumeMount{Name: "run", MountPath: "/run"}, corev1.VolumeMount{Name: "run", MountPath: "/var/run"})
	pod.Spec.InitContainers = []corev1.Container{copyProgram(input, containerCopy)}
	pod.Spec.Volumes = append(pod.Spec.Volumes, emptyDir("linerate-program"), emptyDir("tmp"), emptyDir("run"))
	return launch
}

// referencePod is one of the Reference's pods, which is the whole device, or a gateway of a tunnel.
type referencePod struct {
	name      string // of the pod
	container string
	file      string // in the attempt's ConfigMap: the pod's forwarderSpec
	// interfaces are their names in the pod, and attached is how the pod gets them.
	interfaces []string
	attached   []compile.Attachment
	// servesVitals says that it serves its node's vital signs, and resets. A tunnel's second gateway serves neither.
	servesVitals bool
}

// firstReferencePod is the Reference's pod, of a tunnel that of the first gateway.
func firstReferencePod(input Input) referencePod {
	if tunnelOf(input) != nil {
		return gatewayPod(input, 0)
	}
	return referencePod{name: DUTPodName(input.Test.Name, input.Attempt), container: "forwarder", file: keyForwarder,
		interfaces: linkNames(input), attached: dutAttachments(input), servesVitals: true}
}

// reference is a pod of the built-in forwarder. The spec has no section for it. generator.pod's nodeSelector,
// tolerations, priority and pull secrets hold for it, too, since it is on the same networks as the generators.
func reference(input Input, spec referencePod) *corev1.Pod {
	meta := attemptMeta(input, spec.name, roleDUT)
	meta.Annotations = networkAnnotations(input, "", spec.attached)
	pod := newPod(input, meta)
	if endsAtDevice(input) {
		return finishReference(input, spec, pod, deviceEnd(input, pod)) // it serves no vital signs
	}
	c := ourContainer(input, spec.container, append([]string{"forwarder"}, fileArguments("--spec", folderStatic+"/"+
		spec.file, forwarderText(input, spec.file))...)...)
	launch := program
	c.Env = podIdentity()
	if spec.servesVitals {
		pod.Labels[v1alpha1.LabelVitals] = v1alpha1.VitalsServed
		c.Command = append(c.Command, withVerifier(input, "--vitals", "$("+variablePodIP+")")...)
		c.Env = append(c.Env, fieldVariable(variablePodIP, "status.podIP"))
		c.Ports = []corev1.ContainerPort{{Name: "vitals", ContainerPort: vitalsPort}}
	}
	if spec.servesVitals && resets(input) {
		c.Command = append(c.Command, "--reset")
	}
	if tunnelOf(input) != nil {
		c.Env = append(c.Env, corev1.EnvVar{Name: plan.TunnelTokenVariable, Value: tunnelToken(input)})
	}
	c.SecurityContext = forwarderRights(input.Compiled.Plan.DUT.Mode())
	c.Resources = corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: milli(processorOf(input.Compiled.Plan.DUT.Mode())),
			corev1.ResourceMemory: mebi(memoryOf(input.Compiled.Plan))},
		Limits: corev1.ResourceList{corev1.ResourceMemory: mebi(memoryOf(input.Compiled.Plan))},
	}
	c.VolumeMounts = []corev1.VolumeMount{readOnly(volumeStatic, folderStatic)}
	pod.Spec.Volumes = []corev1.Volume{linksFiles(input, corev1.KeyToPath{Key: spec.file, Path: spec.file})}
	if image := imageOf(input); image != "" {
		launch = inImage(input, image, pod, &c)
	}
	c.StartupProbe = startup(1, startupSeconds(input.Compiled.Plan.DUT.Mode()), launch, "forwarder", "probe")
	return finishReference(input, spec, pod, c)
}

// finishReference adds the container, its devices and placement to a pod of the Reference.
func finishReference(input Input, spec referencePod, pod *corev1.Pod, c corev1.Container) *corev1.Pod {
	requestDevices(&c, devicesOf(input, spec.interfaces, dutNetwork))
	pod.Spec.Containers = []corev1.Container{c}
	addPortsContainer(input, pod, spec.interfaces, dutNetwork)
	pod.Spec.TerminationGracePeriodSeconds = new(int64(referenceGraceSeconds))
	pod.Spec.Affinity = avoiding(nil, input.ExcludedNodes)
	if spec.name == DUTPodName(input.Test.Name, input.Attempt) {
		pod.Spec.Affinity = onNode(pod.Spec.Affinity, input.Test.Spec.DUT.Node)
	}
	if podSpec := input.Test.Spec.Generator.Pod; podSpec != nil {
		pod.Spec.NodeSelector = podSpec.NodeSelector
		pod.Spec.Tolerations = podSpec.PodTolerations()
		pod.Spec.PriorityClassName = podSpec.PriorityClassName
		pod.Spec.ImagePullSecrets = pullSecrets(pod.Spec.ImagePullSecrets, podSpec.PodPullSecrets())
	}
	return pod.DeepCopy()
}
