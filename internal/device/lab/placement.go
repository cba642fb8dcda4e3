package lab

import (
	"slices"

	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/device/forwarder"
	"github.com/linerate-dev/linerate/internal/host/machine"
)

// placement says on which processors the engine sends and the device forwards, by link. It is empty where there
// are too few for each thread to have one of its own, so that the kernel's scheduler places all.
//
//	processor 0                   processor 1
//	sends what leaves on west ──▶ forwards what comes from west
//
//	processor 0                   all others
//	sends what leaves on west ──▶ gateways of a tunnel, whose programs have many threads
//
// A thread of the kernel's that forwards isn't interrupted before it has forwarded 64 frames, not even for a
// real-time thread. The scheduler may leave both on one processor while another is idle, and the sender waits
// for a third of its time.
type placement struct {
	senders    map[string][]int // one for each thread that sends on the link
	forwarders map[string]int
	gateways   []int // where a tunnel's gateways may run
}

// placement uses the first processors to send, and the last ones to forward.
func (t Topology) placement(processors *unix.CPUSet) (p placement) {
	var sources []string
	for _, d := range t.Directions {
		if !slices.Contains(sources, d.From) {
			sources = append(sources, d.From)
		}
	}
	allowed, threads := machine.ListProcessors(processors), max(t.Cores, 1)
	if !t.forwardsInKernel() && !t.tunnels() || len(sources)*(threads+1) > len(allowed) {
		return p
	}
	p = placement{senders: map[string][]int{}, forwarders: map[string]int{}}
	if t.tunnels() {
		p.gateways = allowed[len(sources)*threads:]
	}
	for i, link := range sources {
		p.senders[link] = allowed[i*threads : (i+1)*threads]
		p.forwarders[link] = allowed[len(allowed)-len(sources)+i]
	}
	return p
}

// forwarderOn is the forwarder's part of the topology, with its threads on these processors.
func (t Topology) forwarderOn(place placement) forwarder.Spec {
	spec := t.forwarderSpec()
	for i, l := range t.Links {
		if processor, ok := place.forwarders[l.Name]; ok {
			spec.Links[i].Processor = &processor
		}
	}
	return spec
}

// forwardsInKernel says whether all that the device does to a frame is done by the kernel's thread of the link
// that it came from.
func (t Topology) forwardsInKernel() bool {
	return t.Kind == Reference && t.Limit == nil && !t.Ends && !t.tunnels() &&
		(t.Mode == nil || t.Mode.Userspace == nil)
}
