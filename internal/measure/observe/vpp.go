package observe

import (
	"slices"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// Derived is what follows from several series of a window: what power was per traffic, and what a packet took of VPP's nodes.
func Derived(w *report.Window) []report.Observed {
	return append(PerTraffic(w), PerPacket(w.Observed)...)
}

// derived says that a value follows from others of its window.
func derived(o report.Observed) bool {
	return slices.Contains([]string{plan.WattsPerGbps, plan.JoulesPerPacket, plan.ClocksPerPacket, plan.VectorsPerCall}, o.Series)
}

// PerPacket is what a packet took of each node of VPP's in a window, and how many packets the node had at a time: two more series for each node, of what it counted between the same two readings.
func PerPacket(observed []report.Observed) (all []report.Observed) {
	of := func(like report.Observed, series string) report.Observed {
		i := slices.IndexFunc(observed, func(o report.Observed) bool {
			return o.Observer == like.Observer && o.Of == like.Of && o.Series == series
		})
		if i < 0 {
			return report.Observed{Missing: "nobody counted its " + series}
		}
		return observed[i]
	}
	for _, clocks := range observed {
		if clocks.Series != plan.VPPClocks || clocks.Unit != plan.VPPClocks+"/s" {
			continue
		}
		vectors := of(clocks, plan.VPPVectors)
		all = append(all, quotient(clocks, vectors, plan.ClocksPerPacket, "clocks/packet"), quotient(vectors, of(clocks, plan.VPPCalls), plan.VectorsPerCall, "packets/call"))
	}
	return all
}

// quotient is one counter's rate divided by another's of the same node.
func quotient(counted, by report.Observed, series, unit string) report.Observed {
	o := report.Observed{Observer: counted.Observer, Series: series, Of: counted.Of, Unit: unit, Over: counted.Over}
	switch {
	case counted.Missing != "":
		o.Missing = counted.Missing
	case by.Missing != "":
		o.Missing = by.Missing
	case counted.Mean == nil || by.Mean == nil || *by.Mean == 0:
		o.Missing = "no packet passed the node in the window"
	default:
		o.Mean = new(*counted.Mean / *by.Mean)
	}
	return o
}
