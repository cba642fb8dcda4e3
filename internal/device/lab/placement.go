package lab

import (
	"slices"

	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/device/forwarder"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/host/machine"
)

// placement says on which processors the engine sends and the device forwards, by link. Nothing that sends shares a
// processor with anything that forwards. The zero value leaves all threads to the kernel's scheduler, as on one
// processor.
//
//	processor 0                   processor 1
//	sends what leaves on west ──▶ forwards what comes from west
//
//	processor 0                   processor 1
//	sends on west and east    ──▶ forwards from west and east
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
	// others are where all else of the engine and the runner stays, since a thread that forwards runs before all
	// ordinary work on its processor. Nil means that it may run anywhere, and that no thread runs before it.
	others []int
}

// placement uses the first processors to send, and the last ones to forward. Where each thread can't have a processor
// of its own, those that send share the first processors, and those that forward share the last ones.
func (t Topology) placement(processors *unix.CPUSet) (p placement) {
	var sources []string
	for _, d := range t.Directions {
		if !slices.Contains(sources, d.From) {
			sources = append(sources, d.From)
		}
	}
	allowed, threads := machine.ListProcessors(processors), max(t.Cores, 1)
	enough := len(allowed) >= len(sources)*(threads+1)
	if t.tunnels() && !enough || !t.tunnels() && !t.forwardsInKernel() || len(allowed) < 2 {
		return p
	}
	// The device is what is measured, so it gets the rest that the senders leave, and at least one processor.
	forward := min(len(sources), max(1, len(allowed)-len(sources)*threads))
	sending, forwarding := allowed[:len(allowed)-forward], allowed[len(allowed)-forward:]
	p = placement{senders: map[string][]int{}, forwarders: map[string]int{}}
	if t.tunnels() {
		p.gateways = allowed[len(sources)*threads:]
	}
	for i, link := range sources {
		for k := range threads {
			p.senders[link] = append(p.senders[link], sending[(i*threads+k)%len(sending)])
		}
		p.forwarders[link] = forwarding[i%len(forwarding)]
	}
	// a thread that sends live frames leaves nothing of its processor
	if !t.tunnels() && (t.Path != plan.PathLive || len(sending) > len(sources)*threads) {
		p.others = sending
	}
	return p
}

// forwarderOn is the forwarder's part of the topology, with its threads on these processors.
func (t Topology) forwarderOn(place placement) forwarder.Spec {
	spec := t.forwarderSpec()
	for i, l := range t.Links {
		if processor, ok := place.forwarders[l.Name]; ok {
			spec.Links[i].Processor, spec.Links[i].RunsFirst = &processor, place.others != nil
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
