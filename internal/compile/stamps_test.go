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

// Between hosts nothing proves that the clock that stamps a frame and the one that reads the stamp are one.
func TestLatencyBetweenHostsIsRefusedForTheirClocks(t *testing.T) {
	const (
		hosts = "  dut: {type: Device}\n  generator: {engine: Software, placement: {servers: [{link: west, address: 192.0.2.11}, " +
			"{link: east, address: 192.0.2.12}]}}\n"
		pods = "  generator: {engine: Software, layout: PerLink}\n"
		why  = "with a generator on each link one machine sends a frame and another receives it, and nothing proves that " +
			"both have one clock: use "
	)
	for _, c := range []struct{ generator, latency, links, field, instead string }{
		{hosts, latencySpec, links, "spec.procedure.latency", "servers with a port on each link, or leave latency out"},
		{hosts, "  traffic: {stamps: EveryFrame}\n", links, "spec.traffic.stamps",
			"servers with a port on each link, or leave stamps out"},
		{pods, latencySpec, networked(2), "spec.procedure.latency", "layout Paired, or leave latency out"},
	} {
		got := refusal(admit(t, newServer(t), c.generator+c.latency+c.links))
		if !strings.Contains(got, c.field+": ") || !strings.Contains(got, why+c.instead) {
			t.Errorf("%s: %q, want %q", c.field, got, why+c.instead)
		}
	}
}
