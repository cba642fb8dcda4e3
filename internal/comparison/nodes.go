package comparison

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/statistics"
)

// NodeChanged names the node of VPP's whose clocks per packet changed most from the baseline's results to the candidate's, by the medians of their runs: it is where to look for why a figure changed, and no claim. A node that
// one side has not was passed by no packet there, or took too little to be told of. Empty: nobody observed nodes on both sides.
func NodeChanged(candidate, baseline []report.Result) string {
	is, was := clocksOfNodes(candidate), clocksOfNodes(baseline)
	if len(is) == 0 || len(was) == 0 {
		return ""
	}
	var most string
	var all []string
	for name := range is {
		all = append(all, name)
	}
	for name := range was {
		all = append(all, name)
	}
	slices.Sort(all) // so that of equal ones it is always the same
	for _, name := range all {
		if most == "" || math.Abs(is[name]-was[name]) > math.Abs(is[most]-was[most]) {
			most = name
		}
	}
	return fmt.Sprintf("of VPP's nodes %s changed most: %s, and %s in the baseline", most, clocksText(is, most), clocksText(was, most))
}

func clocksText(of map[string]float64, node string) string {
	clocks, told := of[node]
	if !told {
		return "nothing"
	}
	return strconv.FormatFloat(clocks, 'f', 1, 64) + " clocks/packet"
}

// clocksOfNodes are the medians of each node's clocks per packet over the runs that tell them.
func clocksOfNodes(results []report.Result) map[string]float64 {
	each := map[string][]float64{}
	for _, r := range results {
		for name, clocks := range r.ClocksPerPacket() {
			each[name] = append(each[name], clocks)
		}
	}
	medians := map[string]float64{}
	for name, clocks := range each {
		medians[name] = statistics.Summarize(clocks).Median
	}
	return medians
}
