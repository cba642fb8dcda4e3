package manifests

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/linerate-dev/linerate/internal/document/plan"
)

// sessions is linerate's own program as an end of sessions, in a pod on each link. Its pods are like the software
// engine's, but for their rights, since the kernel makes its frames.
type sessions struct{ software }

// fill makes the pod one link's end.
func (e sessions) fill(input Input, g plan.Generator, pod *corev1.Pod) {
	e.software.fill(input, g, pod)
	c := &pod.Spec.Containers[0]
	link := linksOf(g)[0]
	c.Command = withVerifier(input, program, "sessions", "--link", link, "--interface", link,
		"--listen", ":"+strconv.Itoa(rpcPort))
	c.SecurityContext = sessionsRights()
	c.Resources = request(input, e, g)
	c.StartupProbe = startup(1, 60, program, "sessions", "probe")
}

// busyCPUs is half a CPU for each port. An end is half of what sends and receives on a pair of ports. Its frames are
// made by the kernel, on whichever CPU has time for that.
func (sessions) busyCPUs(ports, cores int64) resource.Quantity { return milli(500 * ports * cores) }

// sessionsRights are those of an end of sessions.
//
//	NET_ADMIN  address and routes of its interface, buffers larger than the node's limits, offloads off
//	           (rtnetlink(7), socket(7), netdevice(7))
//	NET_RAW    sockets bound to their interface, on kernels before 5.7 (socket(7), SO_BINDTODEVICE)
func sessionsRights() *corev1.SecurityContext {
	c := root("NET_ADMIN", "NET_RAW")
	c.ReadOnlyRootFilesystem = new(true)
	return c
}
