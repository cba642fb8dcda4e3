package manifests

import (
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/linerate-dev/linerate/internal/document/plan"
)

// software is linerate's own engine, in our own image.
type software struct{}

// softwareGraceSeconds is short, since the engine stops at once.
const softwareGraceSeconds = 5

// fill makes the pod one of the engine's.
func (e software) fill(input Input, g plan.Generator, pod *corev1.Pod) {
	arguments := withVerifier(input, "generator", "--ports", strings.Join(linksOf(g), ","),
		"--listen", ":"+strconv.Itoa(rpcPort),
		"--cores", strconv.Itoa(resourcesOf(input, g).Cores), "--speed", speeds(input, g), "--heartbeat", "10s")
	if s := input.Compiled.Plan.Sending; s != nil && s.Path != "" {
		arguments = append(arguments, "--path", s.Path)
	}
	c := ourContainer(input, "generator", arguments...)
	c.Env = podIdentity()
	c.Ports = []corev1.ContainerPort{{Name: "rpc", ContainerPort: rpcPort}}
	c.SecurityContext = softwareRights()
	c.Resources = request(input, e, g)
	c.StartupProbe = startup(1, 60, program, "generator", "probe")
	pod.Spec.Containers = []corev1.Container{c}
	pod.Spec.TerminationGracePeriodSeconds = new(int64(softwareGraceSeconds))
}

// engineSpeed is the speed that the engine assumes for a port without one whose link has no lineRate. It is the
// engine's default.
const engineSpeed = "10gbps"

// speeds are the speeds that the engine assumes for a generator's ports without one, such as virtual ports. They are
// their links' line rates, one for all or one for each.
func speeds(input Input, g plan.Generator) string {
	var rates []string
	for _, link := range linksOf(g) {
		i := slices.IndexFunc(input.Compiled.Plan.Links,
			func(l plan.Link) bool { return l.Name == link && l.LineRate > 0 })
		if i < 0 {
			rates = append(rates, engineSpeed)
			continue
		}
		rates = append(rates, input.Compiled.Plan.Links[i].LineRate.String())
	}
	if different := slices.Compact(slices.Clone(rates)); len(different) == 1 {
		return different[0]
	}
	return strings.Join(rates, ",")
}

// documents are none, since the engine needs only its arguments.
func (software) documents(Input) map[string]string { return nil }

// check has nothing to refuse, since the engine sends on any interface.
func (software) check(Input) []error { return nil }

// busyCPUs is a thread for each pair of ports and core.
func (software) busyCPUs(ports, cores int64) resource.Quantity { return cpus(pairs(ports) * cores) }

// ownsCPUs is false, since the engine sleeps when it has nothing to send.
func (software) ownsCPUs() bool { return false }

func (software) asksSpeed() bool { return true }

func (software) asksCallers() bool { return true }

// heartbeatPort is none, since the engine stops all traffic by itself when no request comes (--heartbeat).
func (software) heartbeatPort() uint16 { return 0 }

// softwareRights are the software engine's.
//
//	NET_RAW    AF_PACKET and AF_XDP sockets, for frames past the kernel's protocols (packet(7))
//	NET_ADMIN  sets its interfaces up, and binds AF_XDP sockets to them (netdevice(7); kernel:
//	           Documentation/networking/af_xdp.rst)
//	BPF        frames that come back are counted in the kernel, by a program on its own interfaces. Frames that are
//	           copied out instead are lost whenever the node is busy, and the generator would be the bottleneck
//	           (capabilities(7))
//	IPC_LOCK   the frames that AF_XDP sends from are locked in memory, more of it than a container may otherwise
//	SYS_NICE   sends from real-time threads, as long as these have time to spare. Otherwise whatever runs on the node
//	           stretches gaps into bursts, which a device at its limit drops (sched(7))
//
// Where the node's kernel forbids the last three, the engine does without them, and says so in its log and in
// the Report.
func softwareRights() *corev1.SecurityContext {
	c := root("BPF", "IPC_LOCK", "NET_ADMIN", "NET_RAW", "SYS_NICE")
	c.ReadOnlyRootFilesystem = new(true)
	return c
}
