package compile_test

import (
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/compile"
)

const latencySpec = "  procedure: {type: ConstantLoad, latency: {loads: [50%]}}\n"

// TRex has a latency stream of each frame size in each direction, at a rate of its own, beside the load's streams,
// which bear no stamps.
func TestTRexTimesLatencyStreams(t *testing.T) {
	p := compiled(t, admit(t, newServer(t), "  dut: {type: Device}\n  generator: {engine: TRex, placement: "+
		"{servers: [{address: trex.lab}]}}\n  traffic: {profile: IMIX}\n"+latencySpec+links))
	ids := map[uint32]bool{}
	for _, port := range p.Generators[0].Ports {
		sizes := map[int]bool{}
		for _, s := range port.Streams {
			if s.FlowStats.Stamped {
				t.Errorf("%s: a stamp that TRex doesn't know", port.Link)
			}
			if s.FlowStats.RuleType != "latency" {
				continue
			}
			if ids[s.FlowStats.StreamID] || sizes[len(s.Packet.Binary)] || s.Mode.Rate.Type != "pps" ||
				s.Mode.Rate.Value != 1000 {
				t.Errorf("%s: %+v", port.Link, s)
			}
			ids[s.FlowStats.StreamID], sizes[len(s.Packet.Binary)] = true, true
		}
		if len(sizes) != 3 {
			t.Errorf("%s: latency streams of %d frame sizes, and IMIX has 3", port.Link, len(sizes))
		}
	}
	if len(ids) != 6 {
		t.Errorf("%d latency streams, want 6", len(ids))
	}
}

// refusal is what compiling says of a spec that it refuses.
func refusal(test *v1alpha1.LoadTest) string {
	_, errs := compile.Compile(test)
	if len(errs) == 0 {
		return ""
	}
	return errs.ToAggregate().Error()
}

func TestTRexStampsNotEveryFrame(t *testing.T) {
	const onNetworks = "  links: [{name: west, network: w, lineRate: 1gbps}, {name: east, network: e, lineRate: " +
		"1gbps}]\n"
	if got := refusal(admit(t, newServer(t), "  generator: {engine: TRex, trex: {image: lab/trex:3}}\n  traffic: "+
		"{stamps: EveryFrame}\n"+latencySpec+onNetworks)); !strings.Contains(got, "traffic.stamps") {
		t.Errorf("%q", got)
	}
}
