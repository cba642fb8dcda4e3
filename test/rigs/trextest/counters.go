package trextest

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/engine/trex/wire"
)

// getPortStats adds up, as TRex does, frames without room and damaged frames.
func (p *port) getPortStats(Call) (any, error) {
	good := p.read(&p.byCounters, 4)
	return object{
		"opackets": good.sent, "obytes": good.sentBytes, "oerrors": 0,
		"ipackets": good.received, "ibytes": good.receivedBytes, "ierrors": p.receiveErrors + p.damaged,
		"m_cpu_util": wire.Float(25), "m_total_tx_pps": wire.Float(p.rate),
	}, nil
}

// readingRegisters is how long it takes to read a card's registers. Frames are sent during that time.
const readingRegisters = time.Millisecond

// frames are those that a port has sent and received.
type frames struct{ sent, sentBytes, received, receivedBytes int64 }

// read is how many of the port's frames a reader has. On Intel's igb and ixgbe reading clears the registers, and each
// reader adds up what it has read. Other cards never forget. A reader counts fcs bytes of each frame check sequence,
// which has 4 bytes. DPDK counts none of them.
func (p *port) read(reader *frames, fcs int64) frames {
	sent, sentBytes := wholeFrames(p.sent, p.sentBytes, p.mean)
	received, receivedBytes := wholeFrames(p.received, p.receivedBytes, p.receivedMean)
	total := frames{int64(sent), int64(math.Round(sentBytes)), int64(received), int64(math.Round(receivedBytes))}
	if p.Driver != "net_e1000_igb" && p.Driver != "net_ixgbe" {
		return total
	}
	fresh := frames{total.sent - p.cleared.sent, total.sentBytes - p.cleared.sentBytes,
		total.received - p.cleared.received, total.receivedBytes - p.cleared.receivedBytes}
	reader.sent, reader.sentBytes = reader.sent+fresh.sent, reader.sentBytes+fresh.sentBytes-(4-fcs)*fresh.sent
	reader.received, reader.receivedBytes = reader.received+fresh.received, reader.receivedBytes+
		fresh.receivedBytes-(4-fcs)*fresh.received
	p.cleared = total
	time.Sleep(readingRegisters)
	return *reader
}

// counter is one of a port's extended statistics.
type counter struct {
	name  string
	value int64
}

// extended are a port's extended statistics. All drivers have the first eight, which are DPDK's own. A virtual port
// has the names of a real net_af_packet.
func (p *port) extended() []counter {
	good := p.read(&p.byExtended, 0)
	counters := []counter{
		{"rx_good_packets", good.received}, {"tx_good_packets", good.sent}, {"rx_good_bytes", good.receivedBytes},
		{"tx_good_bytes", good.sentBytes},
		{"rx_missed_errors", p.receiveErrors}, {"rx_errors", p.damaged}, {"tx_errors", 0},
		{"rx_mbuf_allocation_errors", 0},
	}
	if p.Virtual {
		return append(counters, counter{"rx_q0_packets", int64(p.received)},
			counter{"rx_q0_bytes", int64(p.receivedBytes)}, counter{"rx_q0_errors", 0},
			counter{"tx_q0_packets", int64(p.sent)}, counter{"tx_q0_bytes", int64(p.sentBytes)})
	}
	return append(counters, counter{"rx_crc_errors", p.damaged}, counter{"rx_xoff_packets", 3},
		counter{"rx_xon_packets", 2}, counter{"tx_xoff_packets", 100})
}

func (p *port) getExtendedNames(Call) (any, error) {
	names := []string{}
	for _, c := range p.extended() {
		names = append(names, c.name)
	}
	return object{"xstats_names": names}, nil
}

func (p *port) getExtendedValues(Call) (any, error) {
	values := []int64{}
	for _, c := range p.extended() {
		values = append(values, c.value)
	}
	return object{"xstats_values": values}, nil
}

func (g *Generator) getActiveFlows(Call) (any, error) {
	stats, latency := []uint32{}, []uint32{}
	for _, p := range g.ports {
		for _, s := range p.streams {
			switch {
			case !s.FlowStats.Enabled:
			case s.FlowStats.RuleType == "latency":
				latency = append(latency, s.FlowStats.StreamID)
			default:
				stats = append(stats, s.FlowStats.StreamID)
			}
		}
	}
	return object{"ids": object{"flow_stats": stats, "latency": latency}}, nil
}

// getFlowStats pretends that each flow came back whole, in 34 µs. There is nothing about flows that the server
// doesn't have, and no latency of those that didn't send.
func (g *Generator) getFlowStats(c Call) (any, error) {
	var params struct {
		Flows []uint32 `json:"pgids"`
	}
	if err := c.Decode(&params); err != nil {
		return nil, err
	}
	var versions, flows object
	latency := object{"g": nil}
	for index, p := range g.ports {
		for id, s := range p.streams {
			flow := s.FlowStats.StreamID
			if !s.FlowStats.Enabled || len(params.Flows) > 0 && !slices.Contains(params.Flows, flow) {
				continue
			}
			if flows == nil {
				versions, flows = object{}, object{}
			}
			name, sent := fmt.Sprint(flow), p.framesSent(s, 0)
			versions[name] = p.versions[id]
			flows[name] = object{
				"tp": g.countedAt(index, sent), "tb": g.countedAt(index, 64*sent),
				"rp": g.countedAt(p.ForwardsTo, sent), "rb": g.countedAt(p.ForwardsTo, 64*sent),
			}
			if s.FlowStats.RuleType == "latency" && sent > 0 {
				latency[name] = object{"lat": g.latencyOf(p, s, sent)}
			}
		}
	}
	return object{"ver_id": versions, "flow_stats": flows, "latency": latency}, nil
}

// framesSent is how many frames of a stream the port has sent, or will have sent later.
func (p *port) framesSent(s stream.Stream, later time.Duration) int64 {
	return int64(s.Mode.Rate.Value * math.Max(0, p.sending+later.Seconds()))
}

// countedAt is a counter of a flow that one port counts and the others don't.
func (g *Generator) countedAt(index int, count int64) object {
	counts := object{}
	for other := range g.ports {
		counts[fmt.Sprint(other)] = 0
	}
	counts[fmt.Sprint(index)] = count
	return counts
}

func (g *Generator) latencyOf(p *port, s stream.Stream, sent int64) object {
	lat := object{"average": wire.Float(34), "total_min": 3, "total_max": 8976, "last_max": 40, "jit": 5,
		"histogram": object{"0": 1, "30": sent}}
	if g.Histograms {
		timed := sent
		if p.state == stateTX {
			timed = p.framesSent(s, g.HistogramsLater)
		}
		lat["hdrh"] = hdrOf(timed)
	}
	return lat
}

// hdrOf is the histogram of a TRex with --hdrh for that many frames that took 34 µs, one in a hundred of them 80 µs.
// It covers 1 µs to 10 s in three digits.
func hdrOf(frames int64) string {
	h := hdrhistogram.New(1, 10_000_000, 3)
	slow := frames / 100
	_ = h.RecordValues(34, frames-slow)
	_ = h.RecordValues(80, slow)
	text, err := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
