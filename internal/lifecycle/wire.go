package lifecycle

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// Wire is a physical port of a node. All virtual functions of a port share its bandwidth, so two tests are never on one wire at a time, and two
// ends of one test only where it allows that.
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

// Holder is a test that is on a wire.
type Holder struct {
	Namespace, Name string
	UID             types.UID
	Attempt         int32
}

func (h Holder) String() string { return h.Namespace + "/" + h.Name }

// Sender is a generator's pod that sends on a test's wires, as the test's status and the wire's Lease name it. The operator alone writes these two, so a pod
// that only bears the test's labels, or calls the test its owner, is none.
type Sender struct {
	Name string
	UID  types.UID
}

// Hold is a wire that is a test's, as its Lease says.
type Hold struct {
	Wire   Wire
	Holder Holder
	// Lease is the Lease's namespace and name, UID its UID.
	Lease string
	UID   types.UID
	// Senders are the holder's generators, as the Lease names them; none: it is of an earlier release, which named none.
	Senders []Sender
	// Unseen: the holder is in a namespace that this operator doesn't look after, so that nothing is known of it. It counts as there.
	Unseen bool
	// Exists: the holder is there, the very LoadTest; Finished is when it was complete, zero: it isn't.
	Exists   bool
	Finished time.Time
	// Pods is how many of the senders could still send; of a test that goes on they aren't counted.
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

// Take is a wire to take before anything else is made; where that fails nothing else is done. Over is the hold of a test that needs it no more, to
// be ended first.
type Take struct {
	Wire    Wire
	Holder  Holder
	Senders []Sender
	Over    *Hold
}

// wireGrace is how long after its end a complete test may keep a wire whose generators are still there (keepPods): longer than they send without a
// runner's heartbeat.
const wireGrace = time.Minute

// dead is why a hold counts no more; empty: it does. A test that ended gives its wires back by itself; this is for what was missed.
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

// wireEnds are the ends on wires that others may be on, too, in the pods' order.
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

// MaySend says whether a pod of a test that is gone could be sending at a time. One that has ended can't, nor one that should be gone since long: its containers
// were told to end, and where its node doesn't answer no runner's heartbeat reaches them. That something else keeps the object, as a finalizer does, changes
// nothing in that.
func MaySend(p *corev1.Pod, at time.Time) bool {
	return !ended(p) && (p.DeletionTimestamp == nil || at.Before(p.DeletionTimestamp.Add(goneGrace)))
}

// Sending are the pods of a test that is gone which could still be sending, for who doesn't know them by their UIDs: generators whose controller it was.
func Sending(pods []corev1.Pod, test types.UID, at time.Time) (sending []corev1.Pod) {
	for i := range pods {
		p := &pods[i]
		if owner := metav1.GetControllerOf(p); owner != nil && owner.UID == test && roleOf(p) == v1alpha1.RoleGenerator && MaySend(p, at) {
			sending = append(sending, *p)
		}
	}
	return sending
}

// WiresOf are the wires that pods are on, each once, in an order that is the same for all tests: who takes several never waits for one that waits
// for them.
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

// sharedWires says of each wire that has several of the ends which those are.
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
