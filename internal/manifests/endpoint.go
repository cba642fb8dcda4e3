package manifests

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/plan"
)

// containerEnd is the container that is the device's end of sessions, in the network namespace of the device's pod.
const containerEnd = "linerate-end"

// endsAtDevice says that the device is an end of the sessions itself.
func endsAtDevice(in Input) bool { return in.Compiled.Plan.DUT.Endpoint() }

// deviceEnd is that container: the same program as the generator's end, with the same resources. Its pod lets in from the pods' network whom NetworkPolicies lets drive an end, and nobody else.
//
//	generator pod             device's pod
//	linerate sessions ─ west ─ linerate sessions --link dut --interface west
func deviceEnd(in Input, pod *corev1.Pod) corev1.Container {
	pod.Labels[v1alpha1.LabelEnd] = v1alpha1.EndOfDevice
	link := linkNames(in)[0]
	c := ourContainer(in, containerEnd, "sessions", "--link", plan.DeviceEnd, "--interface", link, "--listen", ":"+strconv.Itoa(rpcPort))
	c.Env = whoAmI()
	c.Ports = []corev1.ContainerPort{{Name: "end", ContainerPort: rpcPort}}
	c.SecurityContext = sessionsRights()
	c.SecurityContext.RunAsNonRoot = new(false) // whatever the pod says of its other containers
	c.Resources = request(in, sessions{}, in.Compiled.Plan.Generators[0])
	c.StartupProbe, c.LivenessProbe = startup(1, 60, program, "sessions", "probe"), liveness(program, "sessions", "probe")
	return c
}

// besideOthers is that container in a pod of the user's. Where all others have a limit of CPU, it has one too: a Guaranteed pod stays one.
func besideOthers(end corev1.Container, others []corev1.Container) corev1.Container {
	if !slices.ContainsFunc(others, func(c corev1.Container) bool { return c.Resources.Limits.Cpu().IsZero() }) {
		end.Resources.Limits = with(end.Resources.Limits, corev1.ResourceCPU, end.Resources.Requests[corev1.ResourceCPU])
	}
	return end
}

// deviceEndAt is where the device's end is driven, host:port; empty: it is none.
func deviceEndAt(in Input, pods []corev1.Pod) (string, error) {
	if !endsAtDevice(in) {
		return "", nil
	}
	name := DUTPodName(in.Test.Name, in.Attempt)
	pod := podNamed(pods, name)
	if pod == nil {
		return "", fmt.Errorf("device: pod %s isn't there", name)
	}
	address, err := netip.ParseAddr(pod.Status.PodIP)
	if err != nil {
		return "", fmt.Errorf("device: pod %s has no address yet", name)
	}
	return netip.AddrPortFrom(address, rpcPort).String(), nil
}
