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

// Wire is a physical port of a node. All virtual functions of a port share its bandwidth, so only one test at a time may use a wire, and two ends of
// one test may share it only if the test allows that.
//
//	node rack-1 ── port 0000:3b:00.0 ═══ the wire
//	                 ├ virtual function 0000:3b:02.0 ── generator of test a
//	                 └ virtual function 0000:3b:02.1 ── generator of test b: waits for a's end
type Wire struct {
	Node string
	// Port is its name on the node: a PCI address, or a switch's name of it.
	Port string
}

func (w Wire) String() string { return fmt.Sprintf("port %s of node %s", w.Port, w.Node) }

// Holder is the test that a wire's Lease names.
type Holder struct {
	Namespace, Name string
	UID             types.UID
	Attempt         int32
}

func (h Holder) String() string { return h.Namespace + "/" + h.Name }

// Sender is a generator's pod that sends on a test's wires, named by the test's status and the wire's Lease. Only the operator writes these two, so a pod
// that merely has the test's labels or owner reference is no Sender.
type Sender struct {
	Name string
	UID  types.UID
}

// Hold is a wire that a test holds, by its Lease.
type Hold struct {
	Wire   Wire
	Holder Holder
	// Lease is the Lease's namespace and name, UID its UID.
	Lease string
	UID   types.UID
	// Senders are the holder's generators, as the Lease names them. None are named where generators run outside the cluster.
	Senders []Sender
	// Unseen: the holder is in a namespace that this operator doesn't watch. It counts as existing.
	Unseen bool
	// Exists: the holder's LoadTest exists, with the UID of the Lease; Finished is when it became complete, zero: it isn't.
	Exists   bool
	Finished time.Time
	// Pods is how many of the senders could still send; not counted while the test goes on.
	Pods int
}

// Waiter is a test that waits for wires with its pods in place.
type Waiter struct {
	Namespace, Name string
	Wires           []Wire
}

// Wires are what is known of the cluster's wires.
type Wires struct {
	// Holds are those that are somebody's.
	Holds []Hold
	// Ahead are the waiting tests that were created before this one.
	Ahead []Waiter
}

// Take is a wire to claim before anything else is made; if that fails, nothing else is done. Over is the hold of a test that no longer needs the wire, and
// is released first.
type Take struct {
	Wire    Wire
	Holder  Holder
	Senders []Sender
	Over    *Hold
}

// wireGrace is how long after its end a complete test may keep a wire whose generators are still there (keepPods): longer than they send without a
// runner's heartbeat.
const wireGrace = time.Minute

// dead is why a hold no longer counts; empty: it counts. Tests give their wires back when they end; this is for those that couldn't.
func (h Hold) dead(now time.Time) string {
	switch {
	case !h.Exists && h.Pods == 0:
		return "which doesn't exist any more"
	case h.Exists && !h.Finished.IsZero() && (h.Pods == 0 || !now.Before(h.Finished.Add(wireGrace))):
		return "which is complete"
	}
	return ""
}

// wireEnd is an end of a link on a wire.
type wireEnd struct {
	wire      Wire
	pod, link string
}

func (e wireEnd) String() string { return fmt.Sprintf("link %s of pod %s", e.link, e.pod) }

// wireEnds are the links' ends whose physical port is known and may be shared, in the pods' order.
func wireEnds(pods []v1alpha1.PodStatus) []wireEnd {
	var ends []wireEnd
	for _, p := range pods {
		for _, l := range p.Links {
			if p.Node != "" && l.PhysicalPort != "" {
				ends = append(ends, wireEnd{Wire{p.Node, l.PhysicalPort}, p.Name, l.Link})
			}
		}
	}
	return ends
}

// PodStatuses are pods as the status has them.
func PodStatuses(pods []corev1.Pod) []v1alpha1.PodStatus {
	var out []v1alpha1.PodStatus
	for i := range pods {
		out = append(out, podStatus(&pods[i]))
	}
	return out
}

// MaySend says whether a pod of a test that is gone could still send at a time. A pod that has ended can't. Neither can one whose deletion was due long ago, even if a
// finalizer keeps the object: its containers were told to end, and no runner's heartbeat reaches them.
func MaySend(p *corev1.Pod, at time.Time) bool {
	return !Ended(p) && (p.DeletionTimestamp == nil || at.Before(p.DeletionTimestamp.Add(goneGrace)))
}

// WiresOf are the wires that pods are on, each once, in an order that is the same for all tests: so two tests that claim several wires never wait for
// each other.
func WiresOf(pods []v1alpha1.PodStatus) []Wire {
	var wires []Wire
	for _, e := range wireEnds(pods) {
		wires = append(wires, e.wire)
	}
	slices.SortFunc(wires, compareWires)
	return slices.Compact(wires)
}

func compareWires(a, b Wire) int {
	return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Port, b.Port))
}

// sharedWires names each wire that several of the ends are on, with these ends.
func sharedWires(ends []wireEnd) []string {
	on := map[Wire][]string{}
	var order []Wire
	for _, e := range ends {
		if on[e.wire] == nil {
			order = append(order, e.wire)
		}
		on[e.wire] = append(on[e.wire], e.String())
	}
	var out []string
	for _, w := range order {
		if len(on[w]) > 1 {
			out = append(out, fmt.Sprintf("%s is behind %s", w, listed(on[w])))
		}
	}
	return out
}

// nodePorts are wires as the status has them.
func nodePorts(wires []Wire) []v1alpha1.NodePort {
	var out []v1alpha1.NodePort
	for _, w := range wires[:min(len(wires), mostAwaited)] {
		out = append(out, v1alpha1.NodePort{Node: w.Node, Port: w.Port})
	}
	return out
}

// mostAwaited is how many ports the status names.
const mostAwaited = 64
