package observe

import (
	"slices"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// Derived is what follows from several series of a window, the power per traffic and the costs of a packet in VPP's
// nodes.
func Derived(w *report.Window) []report.Observed {
	return append(PerTraffic(w), PerPacket(w.Observed)...)
}

// derived says that a value follows from others of its window.
func derived(o report.Observed) bool {
	return slices.Contains([]string{plan.WattsPerGbps, plan.JoulesPerPacket, plan.ClocksPerPacket, plan.VectorsPerCall},
		o.Series)
}

// PerPacket is what a packet took of each node of VPP's in a window, and how many packets the node had at a time.
// Each node gets two more series, from its counters between the same two readings.
func PerPacket(observed []report.Observed) (quotients []report.Observed) {
	divide := func(template report.Observed, series string) report.Observed {
		i := slices.IndexFunc(observed, func(o report.Observed) bool {
			return o.Observer == template.Observer && o.Subject == template.Subject && o.Series == series
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
		vectors := divide(clocks, plan.VPPVectors)
		quotients = append(quotients, quotient(clocks, vectors, plan.ClocksPerPacket, "clocks/packet"),
			quotient(vectors, divide(clocks, plan.VPPCalls), plan.VectorsPerCall, "packets/call"))
	}
	return quotients
}

// quotient is one counter's rate divided by another's of the same node.
func quotient(counted, divisor report.Observed, series, unit string) report.Observed {
	o := report.Observed{Observer: counted.Observer, Series: series, Subject: counted.Subject, Unit: unit,
		Over: counted.Over}
	switch {
	case counted.Missing != "":
		o.Missing = counted.Missing
	case divisor.Missing != "":
		o.Missing = divisor.Missing
	case counted.Mean == nil || divisor.Mean == nil || *divisor.Mean == 0:
		o.Missing = "no packet passed the node in the window"
	default:
		o.Mean = new(*counted.Mean / *divisor.Mean)
	}
	return o
}
