package manifests

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
)

// containerEnd is the container that is the device's end of sessions, in the network namespace of the device's pod.
const containerEnd = "linerate-end"

// endsAtDevice says that the device is itself an end of the sessions, by a program of linerate's.
func endsAtDevice(input Input) bool { return input.Compiled.Plan.DUT.HasOurEnd() }

// deviceEnd is that container. It is the same program as the generator's end, with a whole CPU, as its request may
// become a limit. From the pods' network only the runner reaches it (NetworkPolicies).
//
//	generator pod             device's pod
//	linerate sessions ─ west ─ linerate sessions --link dut --interface west
func deviceEnd(input Input, pod *corev1.Pod) corev1.Container {
	pod.Labels[v1alpha1.LabelEnd] = v1alpha1.EndOfDevice
	link := linkNames(input)[0]
	c := ourContainer(input, containerEnd, withVerifier(input, "sessions", "--link", plan.DeviceEnd, "--interface",
		link,
		"--listen", ":"+strconv.Itoa(rpcPort))...)
	c.Env = podIdentity()
	c.Ports = []corev1.ContainerPort{{Name: "end", ContainerPort: rpcPort}}
	c.SecurityContext = sessionsRights()
	c.SecurityContext.RunAsNonRoot = new(false) // whatever the pod says of its other containers
	c.Resources = request(input, software{}, input.Compiled.Plan.Generators[0])
	c.StartupProbe = startup(1, 60, program, "sessions", "probe")
	return c
}

// besideOthers is that container in a user's pod. If all other containers have CPU limits, it has one too, so
// that a Guaranteed pod stays Guaranteed.
func besideOthers(end corev1.Container, containers []corev1.Container) corev1.Container {
	if !slices.ContainsFunc(containers, func(c corev1.Container) bool { return c.Resources.Limits.Cpu().IsZero() }) {
		end.Resources.Limits = withResource(end.Resources.Limits, corev1.ResourceCPU,
			end.Resources.Requests[corev1.ResourceCPU])
	}
	return end
}
