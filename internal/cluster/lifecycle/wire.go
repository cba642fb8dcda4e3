package lifecycle

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// Port is a physical port of a node. All virtual functions of a port share its bandwidth, so only one test at a time
// may use a port, and two ends of one test may share it only if the test allows that.
//
//	node rack-1 ── port 0000:3b:00.0 ═══ the wire
//	                 ├ virtual function 0000:3b:02.0 ── generator of test a
//	                 └ virtual function 0000:3b:02.1 ── generator of test b: waits for a's end
type Port struct {
	Node string
	// Name is the port's on the node, which is a PCI address, or a switch's name of the port.
	Name string
}

func (w Port) String() string { return fmt.Sprintf("port %s of node %s", w.Name, w.Node) }

// Holder is the test that a port's Lease names.
type Holder struct {
	Namespace, Name string
	UID             types.UID
	Attempt         int32
}

func (h Holder) String() string { return h.Namespace + "/" + h.Name }

// Sender is a generator's pod that sends on a test's ports, named by the test's status and the port's Lease. Only the
// operator writes these two, so a pod that merely has the test's labels or owner reference is no Sender.
type Sender struct {
	Name string
	UID  types.UID
}

// PortClaim is a test's claim to a port, by the port's Lease.
type PortClaim struct {
	Port   Port
	Holder Holder
	// Lease is the Lease's namespace and name, UID its UID.
	Lease string
	UID   types.UID
	// Senders are the holder's generators, as the Lease names them. It names none where generators run outside the
	// cluster.
	Senders []Sender
	// Unseen says that the holder is in a namespace that this operator doesn't watch. Such a holder counts as existing.
	Unseen bool
	// Exists says that the holder's LoadTest exists, with the UID of the Lease. Finished is when the holder became
	// complete, or zero.
	Exists   bool
	Finished time.Time
	// Pods is how many of the senders could still send. They aren't counted while the test goes on.
	Pods int
}

// Waiter is a test that waits for ports with its pods in place.
type Waiter struct {
	Namespace, Name string
	Ports           []Port
}

// ObservedPorts are what is known of the cluster's physical ports.
type ObservedPorts struct {
	// Claims are those of all tests on the ports that matter to this test.
	Claims []PortClaim
	// Older are the waiting tests that were created before this one.
	Older []Waiter
}

// PortRequest is a port to claim before anything else is made. If that fails, nothing else is done. Replaces is the
// claim of a test that no longer needs the port, and is released first.
type PortRequest struct {
	Port     Port
	Holder   Holder
	Senders  []Sender
	Replaces *PortClaim
}

// portGrace is how long after its end a complete test may keep a port whose generators are still there (keepPods).
// Without a runner's heartbeat they stop sending sooner.
const portGrace = time.Minute

// lapse is why a claim no longer counts. Empty means that it counts. Tests release their ports when they end, and
// claims lapse of tests that couldn't.
func (h PortClaim) lapse(moment time.Time) string {
	switch {
	case !h.Exists && h.Pods == 0:
		return "which doesn't exist any more"
	case h.Exists && !h.Finished.IsZero() && (h.Pods == 0 || !moment.Before(h.Finished.Add(portGrace))):
		return "which is complete"
	}
	return ""
}

// portEnd is an end of a link on a port.
type portEnd struct {
	port      Port
	pod, link string
}

func (e portEnd) String() string { return fmt.Sprintf("link %s of pod %s", e.link, e.pod) }

// portEnds are the links' ends whose physical port is known and may be shared, in the pods' order.
func portEnds(pods []v1alpha1.PodStatus) []portEnd {
	var ends []portEnd
	for _, p := range pods {
		for _, l := range p.Links {
			if p.Node != "" && l.PhysicalPort != "" {
				ends = append(ends, portEnd{Port{p.Node, l.PhysicalPort}, p.Name, l.Link})
			}
		}
	}
	return ends
}

// PodStatuses are pods as the status has them.
func PodStatuses(pods []corev1.Pod) []v1alpha1.PodStatus {
	var statuses []v1alpha1.PodStatus
	for i := range pods {
		statuses = append(statuses, podStatus(&pods[i]))
	}
	return statuses
}

// MaySend says whether a pod of a test that is gone could still send at a moment. A pod that has ended can't. Neither
// can one whose deletion was due long ago, even if a finalizer keeps the object, since its containers were told to end,
// and no runner's heartbeat reaches them.
func MaySend(p *corev1.Pod, moment time.Time) bool {
	return !Ended(p) && (p.DeletionTimestamp == nil || !stuck(p, moment))
}

// PortsOf are the ports that pods are on, each once, in an order that is the same for all tests. So two tests that
// claim several ports never wait for each other.
func PortsOf(pods []v1alpha1.PodStatus) []Port {
	var ports []Port
	for _, e := range portEnds(pods) {
		ports = append(ports, e.port)
	}
	slices.SortFunc(ports, comparePorts)
	return slices.Compact(ports)
}

func comparePorts(a, b Port) int {
	return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Name, b.Name))
}

// sharedPorts names each port that several of the ends are on, with these ends.
func sharedPorts(ends []portEnd) []string {
	endsOf := map[Port][]string{}
	var order []Port
	for _, e := range ends {
		if endsOf[e.port] == nil {
			order = append(order, e.port)
		}
		endsOf[e.port] = append(endsOf[e.port], e.String())
	}
	var sentences []string
	for _, w := range order {
		if len(endsOf[w]) > 1 {
			sentences = append(sentences, fmt.Sprintf("%s is behind %s", w, listed(endsOf[w])))
		}
	}
	return sentences
}

// nodePortsOf are ports as the status has them.
func nodePortsOf(ports []Port) []v1alpha1.NodePort {
	var nodePorts []v1alpha1.NodePort
	for _, w := range ports[:min(len(ports), maxAwaitedPorts)] {
		nodePorts = append(nodePorts, v1alpha1.NodePort{Node: w.Node, Port: w.Name})
	}
	return nodePorts
}

// maxAwaitedPorts is how many ports the status names.
const maxAwaitedPorts = 64
