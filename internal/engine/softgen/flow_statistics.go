package softgen

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/linerate-dev/linerate/internal/engine/softgen/datapath"
	"github.com/linerate-dev/linerate/internal/units/transit"
)

// flowStatistics answer with the counters and latencies of flow ids.
type flowStatistics struct {
	ports ports
	flows *flows
	clock clock
}

// flowStats answers get_pgid_stats. It has the sent and received traffic per flow id and port, and the
// receiver's latency per latency flow that has been sent. A section without flows is null. With the parameter
// transits, which TRex doesn't know, the section "transits" has the latencies of the stamped frames of each
// flow id, and the section "followed" the evidence of their sequence numbers.
func (f *flowStatistics) flowStats(p *params) (any, error) {
	withTransits := p.flag("transits")
	ids, err := f.requestedIDs(p)
	if err != nil {
		return nil, err
	}
	byPort := make([]map[uint32]datapath.FlowCounters, len(f.ports))
	delays := make([]map[uint32]datapath.Latency, len(f.ports))
	for i, port := range f.ports {
		byPort[i], delays[i] = port.path.Flows(), port.path.Latency()
	}
	counters, latency, versions := object{}, object{"g": nil}, object{}
	for _, id := range ids {
		key := strconv.FormatUint(uint64(id), 10)
		counters[key], versions[key] = f.flowCounters(id, byPort), f.flows.versions[id]
		if flow := f.flows.active[id]; flow.latency && flow.started {
			latency[key] = received(flow.slot, delays).report()
		}
	}
	stats := object{"flow_stats": counters, "latency": latency, "ver_id": versions}
	if len(ids) == 0 {
		stats = object{"flow_stats": nil, "latency": latency, "ver_id": nil}
	}
	if withTransits {
		stats["transits"], stats["followed"] = f.transits(ids), f.followed(ids, delays)
	}
	return stats, nil
}

// followed returns the evidence of stamped frames' sequence numbers, by flow id. It counts frames that were timed,
// were lost, or came twice or late. Frames that came too late to know which of these are stale. Frames that came
// merged have no stamp. Some timed frames are in no bucket. varied is the sum of the differences between successive
// frames' times in nanoseconds, and changes is the number of differences. Flows without stamps have no entry.
func (f *flowStatistics) followed(ids []uint32, byPort []map[uint32]datapath.Latency) object {
	flows := object{}
	for _, id := range ids {
		flow := f.flows.active[id]
		if !flow.stamped {
			continue
		}
		latency := received(flow.slot, byPort)
		flows[strconv.FormatUint(uint64(id), 10)] = object{"received": latency.Received, "lost": latency.Dropped,
			"duplicate": latency.Duplicate, "late": latency.OutOfOrder, "stale": latency.Stale,
			"merged": latency.Merged, "uncounted": latency.Uncounted, "varied": latency.Varied.Nanoseconds(),
			"changes": latency.Changes, "anew": latency.SequenceTooHigh + latency.SequenceTooLow}
	}
	return flows
}

// transits returns the frames by flow id and by the shortest time of their bucket, in nanoseconds. The buckets
// are those of internal/units/transit, and empty ones are left out. Flows without stamps have no entry.
func (f *flowStatistics) transits(ids []uint32) object {
	bySlot := map[uint32]transit.Histogram{}
	for _, port := range f.ports {
		for slot, h := range port.path.Transits() {
			merged := bySlot[slot]
			merged.Merge(h)
			bySlot[slot] = merged
		}
	}
	flows := object{}
	for _, id := range ids {
		h := bySlot[f.flows.active[id].slot]
		if h.Frames() == 0 {
			continue
		}
		buckets := object{}
		for i, frames := range h.All() {
			shortest, _ := transit.Bounds(i)
			buckets[strconv.FormatInt(shortest.Nanoseconds(), 10)] = frames
		}
		flows[strconv.FormatUint(uint64(id), 10)] = buckets
	}
	return flows
}

// flowCounters returns a flow's packets, bytes and gauges, sent (t) and received (r), by port.
func (f *flowStatistics) flowCounters(id uint32, byPort []map[uint32]datapath.FlowCounters) map[string]map[int]any {
	member := map[string]map[int]any{}
	for _, name := range []string{"rp", "rb", "rps", "rbs", "tp", "tb", "tps", "tbs"} {
		member[name] = map[int]any{}
	}
	flow := f.flows.active[id]
	for port := range f.ports {
		c := byPort[port][flow.slot]
		g, ok := flow.gauges[port]
		if !ok {
			g = &flowGauges{}
			flow.gauges[port] = g
		}
		g.sent.read(f.clock(), c.Sent)
		g.received.read(f.clock(), c.Received)
		member["tp"][port], member["tb"][port] = c.Sent.Packets, c.Sent.Bytes
		member["rp"][port], member["rb"][port] = c.Received.Packets, c.Received.Bytes
		member["tps"][port], member["tbs"][port] = real(g.sent.pps), real(g.sent.layer2)
		member["rps"][port], member["rbs"][port] = real(g.received.pps), real(g.received.layer2)
	}
	return member
}

// delays is a latency flow's statistics as its receiver has them.
type delays datapath.Latency

// received returns the statistics of the port that received the flow. They are empty if no port has.
func received(slot uint32, byPort []map[uint32]datapath.Latency) delays {
	var best datapath.Latency
	for _, port := range byPort {
		if latency, ok := port[slot]; ok && latency.Received >= best.Received {
			best = latency
		}
	}
	return delays(best)
}

// report writes microseconds. "er" and its members come only where they aren't 0.
func (d delays) report() object {
	lat := object{
		"average": real(float64(d.Average) / float64(time.Microsecond)), "jit": d.Jitter.Microseconds(),
		"last_max": d.Latest.Microseconds(), "total_max": d.Max.Microseconds(), "total_min": d.Min.Microseconds(),
	}
	if len(d.Histogram) > 0 {
		histogram := map[int64]int64{}
		for bound, packets := range d.Histogram {
			histogram[bound.Microseconds()] = packets
		}
		lat["histogram"] = histogram
	}
	whole, errors := object{"lat": lat}, object{
		"drp": d.Dropped, "ooo": d.OutOfOrder, "dup": d.Duplicate, "sth": d.SequenceTooHigh, "stl": d.SequenceTooLow,
	}
	maps.DeleteFunc(errors, func(_ string, count any) bool { return count == int64(0) })
	if len(errors) > 0 {
		whole["er"] = errors
	}
	return whole
}

// activeFlows answers get_active_pgids.
func (f *flowStatistics) activeFlows(*params) (any, error) {
	return object{"ids": object{"flow_stats": f.flows.ids(false), "latency": f.flows.ids(true)}}, nil
}

// requestedIDs reads "pgids". An empty list means all ids. Ids that no stream has are left out.
func (f *flowStatistics) requestedIDs(p *params) ([]uint32, error) {
	wanted := map[uint32]bool{}
	for _, text := range p.list("pgids") {
		id, negative, whole := wholeNumber(text)
		if !whole || negative || id > 1<<32-1 {
			p.fail("'pgids' must hold flow ids, not %s", text)
		}
		wanted[uint32(id)] = true
	}
	ids := slices.Sorted(maps.Keys(f.flows.active))
	if len(wanted) > 0 {
		ids = slices.DeleteFunc(ids, func(id uint32) bool { return !wanted[id] })
	}
	return ids, p.failed()
}
