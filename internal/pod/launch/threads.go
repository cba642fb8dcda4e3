package launch

import (
	"cmp"
	"fmt"
	"slices"
)

// housekeeping is how many CPUs TRex wants besides those that send, one for its master and one for latency.
const housekeeping = 2

// layOutThreads pins TRex's threads:
//
//	CPUs of the pod   0  1 │ 2  3  4  5 │ 6  7  8  9
//	                  M  L │ pair 0     │ pair 1        each pair on its NIC's NUMA node as far as that goes
func layOutThreads(c *Config, o Observed, opts Options) []Fault {
	pairs := len(c.Interfaces) / 2
	if c.Kind == Kernel && opts.Cores > 1 {
		return []Fault{{TooManyCores, fmt.Sprintf("%d cores per port pair on kernel interfaces", opts.Cores),
			"AF_PACKET ports have one queue; ask for 1"}}
	}
	if c.Kind == Kernel && len(o.CPUs) > 0 && len(o.CPUs) < pairs+housekeeping {
		return oneThread(c, o, pairs)
	}
	cores := coresPerPair(c.Kind, opts.Cores, len(o.CPUs), pairs)
	if need := max(1, cores)*pairs + housekeeping; cores < 1 || len(o.CPUs) < need {
		return []Fault{{TooFewCores, fmt.Sprintf("the pod has %d CPUs, and TRex needs %d (%d per port pair, %d "+
			"pairs, and 2 for itself)", len(o.CPUs), need, max(1, cores), pairs),
			"raise the pod's CPU request (with equal limits, for CPUs of its own), or lower coresPerPortPair"}}
	}
	c.Cores = cores
	c.Threads = place(o.CPUs, pairNodes(c.Devices, pairs), cores)
	c.Threads.settleSockets(c.Kind, o.CPUs)
	c.Notices = append(c.Notices, crossings(c, o.CPUs)...)
	c.Notices = append(c.Notices, borrowed(o, cores*pairs+housekeeping)...)
	return nil
}

// oneThread runs all of TRex on one CPU. TRex then sleeps between sends, and drops where it would have waited.
func oneThread(c *Config, o Observed, pairs int) []Fault {
	if pairs > 1 {
		return []Fault{{TooFewCores, fmt.Sprintf("the pod has %d CPUs, and TRex needs %d for %d pairs of ports",
			len(o.CPUs), pairs+housekeeping, pairs), "raise the pod's CPU request"}}
	}
	c.Cores, c.OneThread = 1, o.CPUs[0].ID
	c.Notices = append(c.Notices, Notice{OneThread,
		fmt.Sprintf("all of TRex runs on CPU %d, since the pod has fewer than 3: its maximum is low, and where it "+
			"waits for that CPU it sends in bursts", c.OneThread)})
	return nil
}

func coresPerPair(kind Kind, asked, cpus, pairs int) int {
	switch {
	case kind == Kernel:
		return 1
	case asked > 0:
		return asked
	}
	return (cpus - housekeeping) / pairs
}

// pairNodes are the NUMA nodes of the pairs' NICs, -1 unknown.
func pairNodes(devices []LinkDevice, pairs int) []int {
	nodes := make([]int, pairs)
	for p := range nodes {
		nodes[p] = devices[2*p].NUMANode
		if nodes[p] < 0 && 2*p+1 < len(devices) {
			nodes[p] = devices[2*p+1].NUMANode
		}
	}
	return nodes
}

// place gives each thread its CPU. The caller has checked that there are enough of them.
func place(cpus []CPU, nodes []int, cores int) *Threads {
	free := slices.Clone(cpus)
	master, latency := pickHousekeeping(free, nodes)
	free = slices.DeleteFunc(free, func(c CPU) bool { return c == master || c == latency })
	t := &Threads{Master: master.ID, Latency: latency.ID, Pairs: make([]PairThreads, len(nodes))}
	for p, node := range nodes {
		free = t.Pairs[p].take(free, cores, func(c CPU) bool { return c.Node == node })
	}
	for p := range nodes { // what the own node couldn't give
		free = t.Pairs[p].take(free, cores, func(CPU) bool { return true })
	}
	return t
}

// settleSockets sets the node of the pairs' memory to that of the master, which is the first to touch the huge
// pages. TRex can't ask for huge pages of a certain node, and doesn't start if it finds too few on the
// configured one. Plain memory, which kernel interfaces use, counts as node 0.
func (t *Threads) settleSockets(kind Kind, cpus []CPU) {
	node := 0
	if kind != Kernel {
		node = nodeOf(cpus, t.Master)
	}
	for i := range t.Pairs {
		t.Pairs[i].Socket = node
	}
}

func nodeOf(cpus []CPU, id int) int {
	for _, c := range cpus {
		if c.ID == id {
			return c.Node
		}
	}
	return 0
}

// take adds CPUs that fit until there are enough, one of each physical core before the second of any, and
// returns what is left.
func (p *PairThreads) take(free []CPU, count int, fits func(CPU) bool) []CPU {
	for len(p.CPUs) < count {
		best := -1
		for i, c := range free {
			if fits(c) && (best < 0 || siblings(free, c) > siblings(free, free[best])) {
				best = i
			}
		}
		if best < 0 {
			break
		}
		p.CPUs = append(p.CPUs, free[best].ID)
		free = slices.Delete(free, best, best+1)
	}
	slices.Sort(p.CPUs)
	return free
}

// siblings counts the CPUs of the list that are on the physical core of cpu.
func siblings(cpus []CPU, cpu CPU) int {
	n := 0
	for _, c := range cpus {
		if c.Core == cpu.Core {
			n++
		}
	}
	return n
}

// pickHousekeeping chooses the two CPUs that sending threads need least, which are on a node without NICs, and
// on one physical core. But the master goes on a node with a NIC if there is a CPU for it, as the huge pages
// come from the node of the master, which touches them first.
func pickHousekeeping(cpus []CPU, nodes []int) (master, latency CPU) {
	type choice struct {
		a, b CPU
		cost int
	}
	local := func(c CPU) bool { return slices.Contains(nodes, c.Node) }
	cost := func(master, latency CPU) (k int) {
		if !local(master) {
			k += 4
		}
		if local(latency) {
			k += 2
		}
		if master.Core != latency.Core {
			k++
		}
		return k
	}
	var choices []choice
	for _, a := range cpus {
		for _, b := range cpus {
			if a != b {
				choices = append(choices, choice{a, b, cost(a, b)})
			}
		}
	}
	best := slices.MinFunc(choices, func(x, y choice) int {
		return cmp.Or(cmp.Compare(x.cost, y.cost), cmp.Compare(x.a.ID, y.a.ID), cmp.Compare(x.b.ID, y.b.ID))
	})
	return best.a, best.b
}

// crossings are notices of threads and memory on another NUMA node than their NIC.
func crossings(c *Config, cpus []CPU) []Notice {
	var notices []Notice
	for p, pair := range c.Threads.Pairs {
		for _, d := range c.Devices[2*p : min(2*p+2, len(c.Devices))] {
			far := 0
			for _, id := range pair.CPUs {
				if d.NUMANode >= 0 && nodeOf(cpus, id) != d.NUMANode {
					far++
				}
			}
			if d.NUMANode >= 0 && c.Kind != Kernel && pair.Socket != d.NUMANode {
				notices = append(notices, Notice{CrossNUMA,
					fmt.Sprintf("link %s: its NIC is on NUMA node %d, and TRex's memory is on node %d: expect a "+
						"lower maximum", d.Link, d.NUMANode, pair.Socket)})
			}
			if far > 0 {
				notices = append(notices, Notice{CrossNUMA,
					fmt.Sprintf("link %s: its NIC is on NUMA node %d, and %d of its %d threads are not: expect a "+
						"lower maximum", d.Link, d.NUMANode, far, len(pair.CPUs))})
			}
		}
	}
	return notices
}

// borrowed is a notice of CPUs that other pods use, too. A CPU limit below their number means that they aren't
// exclusive.
func borrowed(o Observed, threads int) []Notice {
	if o.MilliCPU == Unlimited || o.MilliCPU >= int64(len(o.CPUs))*1000 {
		return nil
	}
	return []Notice{{SharedCPUs, fmt.Sprintf("the pod may use %d.%03d CPUs' time on %d CPUs that aren't its own, for "+
		"%d threads: expect jitter and a lower maximum", o.MilliCPU/1000, o.MilliCPU%1000, len(o.CPUs), threads)}}
}
