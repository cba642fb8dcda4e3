package manifests

import (
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/plan"
)

// forwarderSpec is forwarder.Spec as JSON. It stands here too, since that package speaks netlink.
type forwarderSpec struct {
	Forwarding plan.Forwarding      `json:"forwarding"`
	Links      []forwarderLink      `json:"links"`
	Directions []forwarderDirection `json:"directions"`
	Limit      *plan.Limit          `json:"limit,omitempty"`
	Mode       *plan.Mode           `json:"mode,omitempty"`
}

// forwarderLink is forwarder.Link: Networks[i] is behind Generator[i].
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

// forwarderOf is what the Reference is told. It asks for no CPU of its own: that takes rights over the whole node's devices, and
// between pods the forwarder works where the frames come in, as it does on a machine with a limit.
func forwarderOf(in Input) forwarderSpec {
	p := in.Compiled.Plan
	spec := forwarderSpec{Forwarding: p.DUT.Forwarding}
	if p.DUT.Reference != nil {
		spec.Limit, spec.Mode = p.DUT.Reference.Limit, p.DUT.Reference.Mode
	}
	for _, l := range p.Links {
		spec.Links = append(spec.Links, forwarderLinkOf(in, l))
	}
	for _, d := range p.Directions {
		spec.Directions = append(spec.Directions, forwarderDirection{d.From, d.To})
	}
	return spec
}

func forwarderLinkOf(in Input, l plan.Link) forwarderLink {
	link := forwarderLink{Interface: l.Name, Addresses: l.DUT.Addresses}
	on := generatorsOn(in, l.Name)
	for _, g := range on {
		for _, a := range g.port.Addresses {
			link.Generator = append(link.Generator, a.Addr())
		}
		link.Networks = append(link.Networks, g.port.Networks...)
	}
	if len(on) == 1 { // the forwarder knows one neighbour by MAC; several are asked for
		link.GeneratorMAC = generatorMAC(in, on[0].generator, l.Name)
	}
	return link
}

// referenceGraceSeconds is enough: the kernel forwards, and the program only waits.
const referenceGraceSeconds = 5

// startsWithin is how many seconds it may take to be set up: a million routes behind each of two links take some 15 s of a processor's time.
func startsWithin(mode *plan.Mode) int32 {
	if mode.Routes() > 100_000 {
		return 300
	}
	return 60
}

// What a route takes of the memory that the kernel charges to the pod: Linux 6.18 takes 120 bytes for one of a million of IPv4 behind each of two links, and 272 for one of IPv6. A third more
// is left for kernels with other structures, and for a table that grows while it is filled.
const (
	bytesOfRoute4 = 160
	bytesOfRoute6 = 360
)

// processorOf is how many thousandths of a processor the Reference requests: the kernel forwards on whose frames come in, and testpmd's thread never sleeps.
func processorOf(m *plan.Mode) int64 {
	if m != nil && m.Userspace != nil {
		return 1000
	}
	return 100
}

// memoryOf is how many MiB the Reference may use: 256 for the program and all else, and what its routes take; of testpmd another 256, which it sets aside, and the rings of its links.
func memoryOf(p *plan.Plan) int64 {
	const mebibyte = 1 << 20
	var bytes int64
	if routes := p.DUT.Mode().Routes(); routes > 1 {
		for _, l := range p.Links {
			each := int64(bytesOfRoute4)
			if slices.ContainsFunc(l.DUT.Addresses, func(a netip.Prefix) bool { return a.Addr().Is6() }) {
				each = bytesOfRoute6
			}
			bytes += each * int64(routes)
		}
	}
	if m := p.DUT.Mode(); m != nil && m.Userspace != nil {
		const rings = 2 * 1024 * 16384 // bytes: to receive and to send, each of 1024 frames of the largest room
		bytes = 256*mebibyte + rings*int64(len(p.Links))
	}
	return 256 + (bytes+mebibyte-1)/mebibyte
}

// imageOf is the image that has the program of the mode; empty: linerate's own does.
func imageOf(in Input) string {
	if r := in.Test.Spec.DUT.Reference; r != nil {
		return r.Image
	}
	return ""
}

// inImage has the container run in somebody's image, into which our program is copied, and says where that is.
func inImage(in Input, image string, pod *corev1.Pod, c *corev1.Container) (launch string) {
	launch = programFolder + program
	c.Image, c.ImagePullPolicy, c.Command[0] = image, "", launch
	c.VolumeMounts = append(c.VolumeMounts, readOnly("linerate-program", programFolder), corev1.VolumeMount{Name: "tmp", MountPath: "/tmp"}, corev1.VolumeMount{Name: "run", MountPath: "/var/run"})
	pod.Spec.InitContainers = []corev1.Container{copyProgram(in, containerCopy)}
	pod.Spec.Volumes = append(pod.Spec.Volumes, emptyDir("linerate-program"), emptyDir("tmp"), emptyDir("run"))
	return launch
}

// reference is the built-in forwarder's pod. It has no section of its own in the spec: what generator.pod says of nodes that a lab keeps for
// tests (nodeSelector, tolerations), of priority and of pulling images holds for it too, since it stands beside them on the same networks.
func reference(in Input) *corev1.Pod {
	meta := ofThisAttempt(in, DUTPodName(in.Test.Name, in.Attempt), roleDUT)
	meta.Annotations = networkAnnotations(in, "", dutAttachments(in))
	meta.Labels[v1alpha1.LabelVitals] = v1alpha1.VitalsTold
	pod := newPod(in, meta)
	if endsAtDevice(in) {
		delete(meta.Labels, v1alpha1.LabelVitals) // nobody tells them here
		return standing(in, pod, deviceEnd(in, pod))
	}
	c := ourContainer(in, "forwarder", "forwarder", "--spec", folderStatic+"/"+keyForwarder, "--vitals", "$("+variablePodIP+")")
	launch := program
	c.Env = append(whoAmI(), fieldVariable(variablePodIP, "status.podIP"))
	if resets(in) {
		c.Env = append(c.Env, corev1.EnvVar{Name: variableResetToken, Value: resetTokenOf(in)})
	}
	c.Ports = []corev1.ContainerPort{{Name: "vitals", ContainerPort: vitalsPort}}
	c.SecurityContext = forwarderRights(in.Compiled.Plan.DUT.Mode())
	c.Resources = corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: milli(processorOf(in.Compiled.Plan.DUT.Mode())), corev1.ResourceMemory: mebi(memoryOf(in.Compiled.Plan))},
		Limits:   corev1.ResourceList{corev1.ResourceMemory: mebi(memoryOf(in.Compiled.Plan))},
	}
	c.VolumeMounts = []corev1.VolumeMount{readOnly(volumeStatic, folderStatic)}
	pod.Spec.Volumes = []corev1.Volume{linksFiles(in, corev1.KeyToPath{Key: keyForwarder, Path: keyForwarder})}
	if image := imageOf(in); image != "" {
		launch = inImage(in, image, pod, &c)
	}
	c.StartupProbe = startup(1, startsWithin(in.Compiled.Plan.DUT.Mode()), launch, "forwarder", "probe")
	return standing(in, pod, c)
}

// standing is the Reference's pod with its container, where the lab keeps such pods.
func standing(in Input, pod *corev1.Pod, c corev1.Container) *corev1.Pod {
	requestDevices(&c, devicesOf(in, linkNames(in), dutNetwork))
	pod.Spec.Containers = []corev1.Container{c}
	tellPorts(in, pod, linkNames(in), dutNetwork)
	pod.Spec.TerminationGracePeriodSeconds = new(int64(referenceGraceSeconds))
	pod.Spec.Affinity = avoiding(nil, in.ExcludedNodes)
	if own := in.Test.Spec.Generator.Pod; own != nil {
		pod.Spec.NodeSelector = own.NodeSelector
		pod.Spec.Tolerations = own.Tolerations
		pod.Spec.PriorityClassName = own.PriorityClassName
		pod.Spec.ImagePullSecrets = pullSecrets(pod.Spec.ImagePullSecrets, own.ImagePullSecrets)
	}
	return pod.DeepCopy()
}
