package comparison_test

import (
	"testing"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/comparison"
)

// tookClocks is a run in which a packet took so many clocks of each node; of dpdk-input, which polls, most calls
// found nothing.
func tookClocks(observer string, nodes map[string]float64) report.Answer {
	var r report.Answer
	for name, clocks := range nodes {
		vectors := 8.0
		if name == "dpdk-input" {
			vectors = 0.01
		}
		r.Observed = append(r.Observed, report.Observed{Observer: observer, Series: "clocksPerPacket", Subject: name, Mean: new(clocks)},
			report.Observed{Observer: observer, Series: "vectorsPerCall", Subject: name, Mean: new(vectors)})
	}
	return r
}

func TestTheNodeThatChangedMostIsNamed(t *testing.T) {
	one := func(nodes map[string]float64) report.Answer { return tookClocks("vpp", nodes) }
	baseline := []report.Answer{one(map[string]float64{"ip4-lookup": 30, "acl": 50}), one(map[string]float64{"ip4-lookup": 31, "acl": 500}), one(map[string]float64{"ip4-lookup": 32, "acl": 52})}
	two := func(first, second float64) []report.Answer {
		r := tookClocks("first", map[string]float64{"ip4-lookup": first})
		r.Observed = append(r.Observed, tookClocks("second", map[string]float64{"ip4-lookup": second}).Observed...)
		return []report.Answer{r}
	}
	for name, c := range map[string]struct {
		candidate, baseline []report.Answer
		want                string
	}{
		"one got slower":            {[]report.Answer{one(map[string]float64{"ip4-lookup": 44.25, "acl": 55})}, baseline, "of VPP's nodes ip4-lookup changed most: 44.2 clocks/packet, and 31.0 clocks/packet in the baseline"},
		"one is new":                {[]report.Answer{one(map[string]float64{"ip4-lookup": 31, "acl": 54, "nat": 120})}, baseline, "of VPP's nodes acl changed most: 54.0 clocks/packet, and 52.0 clocks/packet in the baseline"},
		"one is gone":               {[]report.Answer{one(map[string]float64{"ip4-lookup": 33})}, baseline, "of VPP's nodes ip4-lookup changed most: 33.0 clocks/packet, and 31.0 clocks/packet in the baseline"},
		"none is told by both":      {[]report.Answer{one(map[string]float64{"nat": 33})}, baseline, ""},
		"one that polls":            {[]report.Answer{one(map[string]float64{"ip4-lookup": 33, "dpdk-input": 9000})}, []report.Answer{one(map[string]float64{"ip4-lookup": 31, "dpdk-input": 50_000})}, "of VPP's nodes ip4-lookup changed most: 33.0 clocks/packet, and 31.0 clocks/packet in the baseline"},
		"two devices":               {two(31, 60), two(30, 50), "of VPP's nodes ip4-lookup of observer second changed most: 60.0 clocks/packet, and 50.0 clocks/packet in the baseline"},
		"one of another observer's": {two(31, 60), baseline, ""},
		"nobody observed any":       {[]report.Answer{{}}, baseline, ""},
		"of neither":                {nil, nil, ""},
	} {
		if got := comparison.NodeChanged(c.candidate, c.baseline); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
