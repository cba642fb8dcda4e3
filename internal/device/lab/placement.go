package lab

import (
	"slices"

	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/device/forwarder"
	"github.com/linerate-dev/linerate/internal/host/machine"
)

// placement says on which processors the engine sends and the device forwards, by link. It is empty where there are too few for each thread to have one of its own: the kernel's scheduler places all then.
//
//	processor 0                   processor 1
//	sends what leaves on west ──▶ forwards what comes from west
//
//	processor 0                   all others
//	sends what leaves on west ──▶ gateways of a tunnel, whose programs have many threads
//
// A thread of the kernel's that forwards isn't interrupted before it has forwarded 64 frames, not even for a real-time thread. The scheduler may leave both on one processor while another is
// idle, and the sender waits for a third of its time.
type placement struct {
	sends    map[string][]int // one for each thread that sends on the link
	forwards map[string]int
	gateways []int // where a tunnel's gateways may run
}

// placed uses the first processors to send, and the last ones to forward.
func (t Topology) placed(mine *unix.CPUSet) (p placement) {
	var from []string
	for _, d := range t.Directions {
		if !slices.Contains(from, d.From) {
			from = append(from, d.From)
		}
	}
	allowed, threads := machine.ListProcessors(mine), max(t.Cores, 1)
	if !t.forwardsInKernel() && !t.tunnels() || len(from)*(threads+1) > len(allowed) {
		return p
	}
	p = placement{sends: map[string][]int{}, forwards: map[string]int{}}
	if t.tunnels() {
		p.gateways = allowed[len(from)*threads:]
	}
	for i, link := range from {
		p.sends[link] = allowed[i*threads : (i+1)*threads]
		p.forwards[link] = allowed[len(allowed)-len(from)+i]
	}
	return p
}

// forwarderOn is the forwarder's part of the topology, with its threads on these processors.
func (t Topology) forwarderOn(place placement) forwarder.Spec {
	spec := t.forwarderSpec()
	for i, l := range t.Links {
		if processor, has := place.forwards[l.Name]; has {
			spec.Links[i].Processor = &processor
		}
	}
	return spec
}

// forwardsInKernel says whether all that the device does to a frame is done by the kernel's thread of the link that it came from.
func (t Topology) forwardsInKernel() bool {
	return t.Kind == Reference && t.Limit == nil && !t.Ends && !t.tunnels() && (t.Mode == nil || t.Mode.Userspace == nil)
}
