package lifecycle

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

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

func (p Port) String() string { return fmt.Sprintf("port %s of node %s", p.Name, p.Node) }

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
	for _, port := range order {
		if len(endsOf[port]) > 1 {
			sentences = append(sentences, fmt.Sprintf("%s is behind %s", port, listed(endsOf[port])))
		}
	}
	return sentences
}

// nodePortsOf are ports as the status has them.
func nodePortsOf(ports []Port) []v1alpha1.NodePort {
	var nodePorts []v1alpha1.NodePort
	for _, p := range ports[:min(len(ports), maxAwaitedPorts)] {
		nodePorts = append(nodePorts, v1alpha1.NodePort{Node: p.Node, Port: p.Name})
	}
	return nodePorts
}

// maxAwaitedPorts is how many ports the status names.
const maxAwaitedPorts = 64
