package comparison

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/statistics"
)

// leastVectors is how many packets a call of a node has at least. VPP calls most nodes for packets alone, so it is 1, but for the error of two readings; input nodes poll, and fewer are of one whose calls found nothing for the most part.
const leastVectors = 0.9

// NodeChanged names the node of VPP's whose clocks per packet changed most from the baseline's results to the candidate's, by the medians of their runs: it is where to look for why a figure changed, and no claim. A node that
// one side has not is left out, as it may have taken too little to be told of; so is one whose polls found nothing for the most part, as their clocks are no packet's. Empty: no node is left.
func NodeChanged(candidate, baseline []report.Result) string {
	is, was := clocksOfNodes(candidate), clocksOfNodes(baseline)
	maps.DeleteFunc(is, func(n report.VPPNode, _ float64) bool { _, both := was[n]; return !both })
	if len(is) == 0 {
		return ""
	}
	all := slices.SortedFunc(maps.Keys(is), func(a, b report.VPPNode) int { // so that of equal ones it is always the same
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Observer, b.Observer))
	})
	most := all[0]
	for _, n := range all {
		if math.Abs(is[n]-was[n]) > math.Abs(is[most]-was[most]) {
			most = n
		}
	}
	name := most.Name
	if slices.ContainsFunc(all, func(n report.VPPNode) bool { return n.Observer != most.Observer }) {
		name += " of observer " + most.Observer
	}
	return fmt.Sprintf("of VPP's nodes %s changed most: %.1f clocks/packet, and %.1f clocks/packet in the baseline", name, is[most], was[most])
}

// clocksOfNodes are the medians of each node's clocks per packet over the runs that tell them, but of nodes that poll.
func clocksOfNodes(results []report.Result) map[report.VPPNode]float64 {
	clocks, vectors := medians(results, report.Result.ClocksPerPacket), medians(results, report.Result.VectorsPerCall)
	maps.DeleteFunc(clocks, func(n report.VPPNode, _ float64) bool { return vectors[n] < leastVectors })
	return clocks
}

func medians(results []report.Result, of func(report.Result) map[report.VPPNode]float64) map[report.VPPNode]float64 {
	each := map[report.VPPNode][]float64{}
	for _, r := range results {
		for n, mean := range of(r) {
			each[n] = append(each[n], mean)
		}
	}
	all := map[report.VPPNode]float64{}
	for n, means := range each {
		all[n] = statistics.Summarize(means).Median
	}
	return all
}
