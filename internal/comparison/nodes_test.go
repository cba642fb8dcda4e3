package comparison_test

import (
	"testing"

	"github.com/linerate-dev/linerate/internal/comparison"
	"github.com/linerate-dev/linerate/internal/report"
)

// tookClocks is a run in which a packet took so many clocks of each node.
func tookClocks(nodes map[string]float64) report.Result {
	var r report.Result
	for name, clocks := range nodes {
		r.Observed = append(r.Observed, report.Observed{Observer: "vpp", Series: "clocksPerPacket", Of: name, Mean: new(clocks)})
	}
	return r
}

func TestTheNodeThatChangedMostIsNamed(t *testing.T) {
	baseline := []report.Result{tookClocks(map[string]float64{"ip4-lookup": 30, "dpdk-input": 50}), tookClocks(map[string]float64{"ip4-lookup": 31, "dpdk-input": 500}), tookClocks(map[string]float64{"ip4-lookup": 32, "dpdk-input": 52})}
	for name, c := range map[string]struct {
		candidate, baseline []report.Result
		want                string
	}{
		"one got slower":      {[]report.Result{tookClocks(map[string]float64{"ip4-lookup": 44.25, "dpdk-input": 55})}, baseline, "of VPP's nodes ip4-lookup changed most: 44.2 clocks/packet, and 31.0 clocks/packet in the baseline"},
		"one is new":          {[]report.Result{tookClocks(map[string]float64{"ip4-lookup": 31, "dpdk-input": 52, "acl": 120})}, baseline, "of VPP's nodes acl changed most: 120.0 clocks/packet, and nothing in the baseline"},
		"one is gone":         {[]report.Result{tookClocks(map[string]float64{"ip4-lookup": 31})}, baseline, "of VPP's nodes dpdk-input changed most: nothing, and 52.0 clocks/packet in the baseline"},
		"nobody observed any": {[]report.Result{{}}, baseline, ""},
		"of neither":          {nil, nil, ""},
	} {
		if got := comparison.NodeChanged(c.candidate, c.baseline); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
