package comparison

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units/statistics"
)

// leastVectors is the least mean number of packets per call that a node has if its calls have packets at all. VPP
// calls most nodes with packets only, so it is 1, less the error of two readings. Input nodes poll, and fewer
// belong to a node whose calls mostly found nothing.
const leastVectors = 0.9

// NodeChanged names the VPP node whose clocks per packet changed most from the baseline's results to the
// candidate's, by the medians of their runs. It is where to look for why a figure changed, and no claim. It leaves
// out nodes that one side lacks, as they may have taken too little to be reported, and nodes whose polls mostly
// found nothing, as their clocks are no packet's. It is empty where no node is left.
func NodeChanged(candidate, baseline []report.Answer) string {
	candidateClocks, baselineClocks := clocksOfNodes(candidate), clocksOfNodes(baseline)
	maps.DeleteFunc(candidateClocks, func(n report.VPPNode, _ float64) bool { _, ok := baselineClocks[n]; return !ok })
	if len(candidateClocks) == 0 {
		return ""
	}
	// so that of equal ones it is always the same
	nodes := slices.SortedFunc(maps.Keys(candidateClocks), func(a, b report.VPPNode) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Observer, b.Observer))
	})
	largest := nodes[0]
	for _, n := range nodes {
		if math.Abs(candidateClocks[n]-baselineClocks[n]) > math.Abs(candidateClocks[largest]-baselineClocks[largest]) {
			largest = n
		}
	}
	name := largest.Name
	if slices.ContainsFunc(nodes, func(n report.VPPNode) bool { return n.Observer != largest.Observer }) {
		name += " of observer " + largest.Observer
	}
	return fmt.Sprintf("of VPP's nodes %s changed most: %.1f clocks/packet, and %.1f clocks/packet in the baseline",
		name, candidateClocks[largest], baselineClocks[largest])
}

// clocksOfNodes are the medians of each node's clocks per packet over the runs that report them, without nodes that
// poll.
func clocksOfNodes(results []report.Answer) map[report.VPPNode]float64 {
	clocks, vectors := medians(results, report.Answer.ClocksPerPacket), medians(results, report.Answer.VectorsPerCall)
	maps.DeleteFunc(clocks, func(n report.VPPNode, _ float64) bool { return vectors[n] < leastVectors })
	return clocks
}

func medians(
	results []report.Answer, clocks func(report.Answer) map[report.VPPNode]float64,
) map[report.VPPNode]float64 {
	byNode := map[report.VPPNode][]float64{}
	for _, r := range results {
		for n, mean := range clocks(r) {
			byNode[n] = append(byNode[n], mean)
		}
	}
	shares := map[report.VPPNode]float64{}
	for n, means := range byNode {
		shares[n] = statistics.Summarize(means).Median
	}
	return shares
}
