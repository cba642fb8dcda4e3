package softgen

import (
	"encoding/base64"
	"fmt"

	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/engine/softgen/fieldengine"
)

// maxGap bounds gaps in microseconds, to 115 days.
const maxGap = 1e13

// flagNull is the bit of null streams in a stream's "flags".
const flagNull = 8

// readStream reads a stream object and checks everything that doesn't depend on other streams. Its errors are
// add_stream's texts.
func readStream(p *params) (stream.Stream, error) {
	s := stream.Stream{
		Enabled: p.boolean("enabled"), SelfStart: p.boolean("self_start"), StartPaused: p.flag("start_paused"),
		Flags: int(p.integer("flags")), ActionCount: p.uint32("action_count"), ISG: p.real("isg"),
		NextStreamID: int(p.integer("next_stream_id")), CoreID: int(optional(p, "core_id", -1, p.integer)),
		RandomSeed: optional(p, "random_seed", 0, p.uint32),
	}
	s.Mode = readMode(p.object("mode"))
	s.Packet = readPacket(p.object("packet"))
	s.VM = readProgram(p.object("vm"))
	s.FlowStats = readFlow(p.object("flow_stats"))
	checkGap(p, "isg", s.ISG)
	if s.Flags&flagNull != 0 || s.StartPaused {
		p.fail("null streams and start_paused are not supported by the software engine")
	}
	if *p.wrong != "" {
		return stream.Stream{}, fmt.Errorf("%s", *p.wrong)
	}
	return s, nil
}

func readMode(p *params) stream.Mode {
	m := stream.Mode{Type: p.choice("type", "continuous", "single_burst", "multi_burst")}
	rate := p.object("rate")
	m.Rate = stream.Rate{Type: rate.choice("type", "pps", "bps_L1", "bps_L2", "percentage"), Value: rate.real("value")}
	if !(m.Rate.Value > 0) {
		p.fail("Rate value should be positive.")
	}
	switch m.Type {
	case "single_burst":
		m.TotalPackets = readCount(p, "total_pkts")
	case "multi_burst":
		m.PacketsPerBurst, m.Count = readCount(p, "pkts_per_burst"), readCount(p, "count")
		m.InterBurstGap = p.real("ibg")
		checkGap(p, "ibg", m.InterBurstGap)
	}
	return m
}

func checkGap(p *params, name string, microseconds float64) {
	if microseconds < 0 {
		p.fail("%s cannot be negative", name)
	}
	if microseconds > maxGap {
		p.fail("%s of %s us is too long: at most %s", name, plain(microseconds), plain(maxGap))
	}
}

// readCount refuses 0 also where TRex takes it for 2^32.
func readCount(p *params, name string) uint32 {
	count := p.uint32(name)
	if count == 0 {
		p.fail("'%s' cannot be zero", name)
	}
	return count
}

func readPacket(p *params) stream.Packet {
	binary, err := base64.StdEncoding.DecodeString(p.text("binary"))
	if err != nil {
		p.fail("'binary' is not base64: %v", err)
	}
	if len(binary) < fieldengine.MinTemplate || len(binary) > fieldengine.MaxFrame {
		p.fail("Bad packet size provided: %d. Should be between %d and %d",
			len(binary), fieldengine.MinTemplate, fieldengine.MaxFrame)
	}
	return stream.Packet{Binary: binary, Meta: p.text("meta")}
}

func readFlow(p *params) stream.Flow {
	f := stream.Flow{Enabled: p.boolean("enabled")}
	if !f.Enabled {
		return f
	}
	f.StreamID, f.RuleType, f.Stamped = p.uint32("stream_id"), p.choice("rule_type", "stats", "latency", "tpg"),
		p.flag("stamped")
	if f.RuleType == "tpg" || p.flag("vxlan") || p.flag("ieee_1588") {
		p.fail("tpg, vxlan and ieee_1588 are not supported by the software engine")
	}
	return f
}
